"""Tools of agents over the book of a service: they do what they do over a book in the process."""

from __future__ import annotations

from memoranda import Book
from memoranda.client import RemoteBook
from memoranda.integrations.plain_tools import Call, MemoryTools, Scope


async def test_the_tool_that_forgets_hides_a_fact_for_as_long_as_the_service_says(
    book: RemoteBook, own_book: Book
) -> None:
    await book.remember("ana", "Lives in Lisbon", key="home", agent="coach")
    tools = MemoryTools(book, Scope("ana", "coach"))
    answer = await tools.forget(Call("run", "call", said="Forget my home."), "home")
    assert answer.startswith("Forgotten: home. Taken out")
    hours = own_book.forget_settings.tool_grace_hours
    assert f"It is erased in {hours:g} hours" in answer
    (pending,) = (await own_book.about("ana", as_owner=True)).pending
    assert pending.due is not None and not await book.recall("ana", "Lisbon", agent="coach")
