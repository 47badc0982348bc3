"""The number of statements that a write takes."""

from __future__ import annotations

from memoranda import Book
from memoranda.engines.sqlite.engine import SqliteEngine


async def _statements_of_an_append(book: Book) -> list[str]:
    """Return the statements of one append to a thread that has a message, from its BEGIN to its
    COMMIT.
    """
    assert isinstance(book.engine, SqliteEngine)
    seen: list[str] = []
    thread = await book.thread("ana", agent="helper")
    await thread.append("user", "I like tea.")
    await book.engine.file.write(lambda connection: connection.set_trace_callback(seen.append))
    await thread.append("user", "I like coffee.")
    await book.engine.file.write(lambda connection: connection.set_trace_callback(None))
    begin = seen.index("BEGIN IMMEDIATE")
    return seen[begin : seen.index("COMMIT", begin) + 1]


async def test_an_append_asks_the_whole_book_once(book: Book) -> None:
    statements = await _statements_of_an_append(book)
    assert sum("FROM book" in statement for statement in statements) == 1
    assert len(statements) <= 16


async def test_an_append_looks_for_its_owners_restriction_where_anybody_is_restricted(
    book: Book,
) -> None:
    await book.admin.restrict("ben")
    statements = await _statements_of_an_append(book)
    assert (
        sum(statement.startswith("SELECT mode FROM restrictions") for statement in statements) == 1
    )
