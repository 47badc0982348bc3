"""Errors tell a newcomer how to correct the mistake."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

import memoranda
from memoranda import HasDependents, InvalidInput, LimitReached
from memoranda.settings import settings
from memoranda.testing.embedder import StubEmbedder


async def test_a_limit_that_is_no_number_is_refused_as_such(book: memoranda.Book) -> None:
    limit: Any
    for limit in ("5", 5.0, None, True):
        with pytest.raises(InvalidInput, match="limit: give a whole number from 1 to 1000"):
            await book.recall("ana", "tea", limit=limit)
    with pytest.raises(InvalidInput, match="limit: give a whole number from 1 to 1000, not 0"):
        await book.records.list("ana", limit=0)


def test_limits_that_are_impossible_raise_invalid_input() -> None:
    with pytest.raises(InvalidInput, match=r"limits\.batch: Input should be greater") as refused:
        memoranda.Limits(batch=0)
    assert refused.value.field == "limits.batch"
    with pytest.raises(InvalidInput, match=r"limits\.memories"):
        memoranda.Limits(memories=5)  # type: ignore[call-arg]
    with pytest.raises(InvalidInput, match=r"^limits\.batch"):
        settings("limits", memoranda.Limits, {"limits": {"batch": 0}})
    assert memoranda.Limits(batch=5) == memoranda.Limits().model_copy(update={"batch": 5})


async def test_too_many_statements_in_a_run_name_the_setting_and_say_what_a_run_is(
    book: memoranda.Book,
) -> None:
    with pytest.raises(
        LimitReached, match=r"limits\.writes_per_run allows 10 statements in a run.*run="
    ):
        await book.memories.remember_all("ana", [{"content": f"Fact {n}"} for n in range(11)])


async def test_a_read_that_is_empty_because_of_its_view_tells_the_developer(
    book: memoranda.Book, caplog: pytest.LogCaptureFixture
) -> None:
    await book.remember("ana", "Likes tea", agent="coach")
    caplog.set_level(logging.DEBUG, "memoranda.view")
    assert await book.recall("ana", "tea") == []
    assert (
        "recall found nothing: the view of no agent sees 0 of 1 such records; give agent=…"
        in caplog.text
    )
    caplog.clear()
    assert len(await book.records.list("ana", agent="tutor", groups=["blue"])) == 0
    assert "agent tutor in blue sees 0 of 1" in caplog.text and "agent=" not in caplog.text
    assert "groups=" not in caplog.text and "as_owner=True" in caplog.text
    caplog.clear()
    # What is not there for anybody, or not the answer, is no matter of the view.
    await book.recall("ben", "tea")
    await book.recall("ana", "tea", as_owner=True, types="episode")
    await book.recall("ana", "zebra", agent="coach")
    assert caplog.text == ""
    caplog.set_level(logging.INFO, "memoranda.view")
    await book.recall("ana", "tea")
    assert caplog.text == ""


async def test_undoing_an_append_says_what_to_do_instead_and_it_works(book: memoranda.Book) -> None:
    thread = await book.thread("ana", agent="coach")
    said = await thread.append("user", "I like tea")
    await book.remember("ana", "Likes tea", agent="coach", sources=[said.id])
    for together in (False, True):
        with pytest.raises(
            InvalidInput,
            match=r"position 2 appended messages.*forget them by their ids.*retract_source",
        ):
            await book.undo("ana", said.position, agent="coach", with_dependents=together)
    # The thread's own position is no way round.
    with pytest.raises(
        HasDependents, match=r"position 2 appended messages.*forget these messages or their thread"
    ):
        await book.undo("ana", 1, agent="coach")
    with pytest.raises(
        InvalidInput, match="a later change that depends on position 1 appended messages"
    ):
        await book.undo("ana", 1, agent="coach", with_dependents=True)
    await book.forget("ana", thread.id, agent="coach")
    assert len(await book.records.list("ana", as_owner=True)) == 0


async def test_a_change_with_dependents_names_the_argument_that_undoes_them(
    book: memoranda.Book,
) -> None:
    first = await book.remember("ana", "Likes tea", agent="coach")
    await book.memories.amend("ana", first.id, {"pinned": True}, agent="coach")
    with pytest.raises(HasDependents, match="with_dependents=True"):
        await book.undo("ana", first.position, agent="coach")
    await book.undo("ana", first.position, agent="coach", with_dependents=True)


async def test_retracting_what_was_superseded_prints_that_nothing_changed(
    book: memoranda.Book,
) -> None:
    old = await book.remember("ana", "Lives in Lisbon", key="home", agent="coach")
    await book.remember("ana", "Lives in Porto", key="home", agent="coach")
    receipt = await book.memories.retract("ana", old.id, agent="coach")
    assert repr(receipt) == "<Receipt for ana: nothing changed; ignored: superseded>"


async def test_vectors_that_are_no_numbers_are_named(tmp_path: Path) -> None:
    class Broken(StubEmbedder):
        async def passages(self, texts: Any) -> Any:
            return np.full((len(texts), self.embedding.dimension), np.nan, dtype=np.float32)

    async with memoranda.open(tmp_path / "book.db", embed=Broken()) as book:
        receipt = await book.remember("ana", "Likes tea", wait_for="embedded")
        assert "NaN or infinite numbers in 1 of 1 vectors" in receipt.no_vectors_because


@pytest.mark.parametrize(
    ("place", "name", "told"),
    [
        ("", "add", "book.remember"),
        ("", "search", "book.recall"),
        ("memories", "list", "book.records.list"),
        ("memories", "delete", "book.forget"),
    ],
)
async def test_an_operation_that_is_elsewhere_is_named(
    book: memoranda.Book, place: str, name: str, told: str
) -> None:
    part = getattr(book, place) if place else book
    with pytest.raises(AttributeError, match=rf"no attribute '{name}'; there is {told}\b"):
        getattr(part, name)
    assert not hasattr(book, "_unknown")


async def test_an_argument_that_there_is_not_is_refused_with_the_nearest_or_all(
    book: memoranda.Book,
) -> None:
    given: Any = {"limt": 3}
    # Over HTTP the service refuses it.
    refused = (TypeError, InvalidInput)
    with pytest.raises(refused, match=r"limt: there is no such argument; did you mean limit\?"):
        await book.recall("ana", "tea", **given)
    given = {"top_k": 3}
    with pytest.raises(refused, match=r"top_k: there is no such argument; give .*\blimit\b"):
        await book.recall("ana", "tea", **given)
    given = {"kindd": "fact"}
    with pytest.raises(
        InvalidInput, match=r"kindd: there is no such (field|argument); did you mean kind"
    ):
        await book.remember("ana", "tea", **given)


@pytest.mark.parametrize("make", [memoranda.Owner, memoranda.Audience, memoranda.View])
def test_what_owners_audiences_and_views_raise_is_a_value_error_like_invalid_input(
    make: Any,
) -> None:
    with pytest.raises(ValueError, match="id") as refused:
        make(kind="team", id="x")
    assert isinstance(refused.value, ValidationError) and issubclass(InvalidInput, ValueError)
