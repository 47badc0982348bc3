"""Tests of hidden facts: they are listed, erased on request or after a time, or restored by an
undo.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

import memoranda
from memoranda.book.input import as_actor
from memoranda.errors import Conflict, InvalidInput, NotFound, OperationReused
from memoranda.model.changes import FINISH_FORGETTING, Hide
from memoranda.model.ledger import Receipt
from memoranda.model.records import Owner, View
from memoranda.model.redactions import Redaction
from memoranda.model.values import Span
from memoranda.testing.clock import HandClock

ANA, COACH = Owner(id="ana"), View(agent="coach")
SAID = "I live in Oslo. I like tea."


async def hidden(book: memoranda.Book, after: float | None = None) -> tuple[Receipt, UUID]:
    thread = await book.thread("ana", agent="coach")
    said = await thread.append("user", SAID)
    memory = await book.remember("ana", "Lives in Oslo", agent="coach", sources=[said.id])
    change = Hide(
        (memory.id,), (Redaction(said.id, (Span(start=0, end=16),), 1),), finish_after=after
    )
    return await book.door.write(ANA, COACH, as_actor(COACH), [change], request=None), said.id


async def test_what_is_hidden_is_listed_for_who_hid_it_and_for_the_person(
    book: memoranda.Book,
) -> None:
    receipt, _ = await hidden(book)
    (found,) = (await book.about("ana", as_owner=True)).pending
    assert (found.position, found.actor.id, found.records, found.parts, found.due) == (
        receipt.position,
        "coach",
        1,
        1,
        None,
    )
    assert (await book.about("ana", agent="coach")).pending == (found,)
    assert (await book.about("ana", agent="tutor")).pending == ()
    assert (await book.about("ben", as_owner=True)).pending == ()
    await book.undo("ana", receipt.position, agent="coach")
    assert (await book.about("ana", as_owner=True)).pending == ()


async def test_a_hidden_part_of_an_item_is_counted_beside_those_of_messages(
    book: memoranda.Book,
) -> None:
    file = {"text": "Is allergic to walnuts. Likes tea."}
    await book.items.put("ana", ("notes",), "food", file, agent="coach")
    nuts = await book.remember("ana", "Is allergic to walnuts", agent="coach")
    await book.forgetting.hide("ana", nuts.id, agent="coach")
    for who in ({"as_owner": True}, {"agent": "coach"}):
        (found,) = (await book.about("ana", **who)).pending
        assert (found.records, found.parts) == (1, 1)
    kept = await book.items.get("ana", ("notes",), "food", agent="coach")
    assert kept is not None and kept.value == {"text": "Likes tea."}


async def told_by_history(book: memoranda.Book, *ids: UUID) -> str:
    steps = [await book.records.history("ana", id, agent="coach") for id in ids]
    return " ".join(one.record.model_dump_json() for each in steps for one in each if one.record)


async def test_the_history_of_what_is_hidden_tells_it_again_only_after_an_undo(
    book: memoranda.Book,
) -> None:
    thread = await book.thread("ana", agent="coach")
    said = await thread.append("user", SAID)
    kept = await book.remember("ana", "Lives in Oslo", agent="coach", sources=[said.id])
    both = kept.id, said.id
    hiding = await book.forgetting.hide("ana", kept.id, agent="coach")
    assert "Oslo" not in await told_by_history(book, *both)
    verbs = [step.verb for step in await book.records.history("ana", kept.id, agent="coach")]
    assert [str(verb) for verb in verbs] == ["remember", "hide"]
    back = await book.undo("ana", hiding.receipt.position, agent="coach")
    told = await told_by_history(book, *both)
    assert "Lives in Oslo" in told and SAID in told
    again = await book.undo("ana", back.position, agent="coach")
    assert "Oslo" not in await told_by_history(book, *both)
    await book.undo("ana", again.position, agent="coach")
    assert await told_by_history(book, kept.id) != ""


async def test_finishing_erases_what_was_hidden_and_leaves_nothing_pending(
    book: memoranda.Book,
) -> None:
    receipt, said = await hidden(book)
    with pytest.raises(NotFound):
        await book.forgetting.finish("ana", receipt, agent="tutor")
    with pytest.raises(InvalidInput, match="receipt"):
        await book.forgetting.finish("ben", receipt, as_owner=True)
    erased = await book.forgetting.finish("ana", receipt, as_owner=True)
    assert erased.removed["memory"] == 1 and [one.message for one in erased.redacted] == [said]
    assert (await book.about("ana", as_owner=True)).pending == ()
    again = await book.forgetting.finish("ana", receipt.position, as_owner=True)
    assert not again.removed
    assert (await book.records.get("ana", said, as_owner=True)).content == "I like tea."  # type: ignore[attr-defined]


async def test_finishing_takes_what_hiding_returned(book: memoranda.Book) -> None:
    nuts = await book.remember("ana", "Is allergic to walnuts", agent="coach")
    hidden = await book.forgetting.hide("ana", nuts.id, agent="coach")
    assert hidden is not None
    with pytest.raises(InvalidInput, match="it is of"):
        await book.forgetting.finish("ben", hidden, agent="coach")
    erased = await book.forgetting.finish("ana", hidden, agent="coach")
    assert nuts.id in erased.ids


async def test_an_undone_one_cannot_be_finished(book: memoranda.Book) -> None:
    receipt, said = await hidden(book, 3600)
    await book.undo("ana", receipt.position, as_owner=True)
    with pytest.raises(Conflict, match="undone"):
        await book.forgetting.finish("ana", receipt, as_owner=True)
    assert (await book.records.get("ana", said, as_owner=True)).content == SAID  # type: ignore[attr-defined]


async def test_it_is_erased_when_its_time_is_up_and_not_before(
    book: memoranda.Book, clock: HandClock
) -> None:
    receipt, _ = await hidden(book, 3600)
    (found,) = (await book.about("ana", as_owner=True)).pending
    assert found.due == receipt.at + timedelta(hours=1)
    await book.jobs.run()
    assert [one.position for one in (await book.about("ana", as_owner=True)).pending] == [
        receipt.position
    ]
    clock.advance(hours=2)
    await book.jobs.run()
    assert (await book.about("ana", as_owner=True)).pending == ()
    with pytest.raises(memoranda.Erased):
        await book.undo("ana", receipt.position, as_owner=True)


async def test_what_nobody_decided_stays_hidden_however_long_it_takes(
    book: memoranda.Book, clock: HandClock
) -> None:
    receipt, said = await hidden(book)
    clock.advance(days=365 * 50)
    await book.jobs.run()
    # A person who retries all jobs decides nothing, either.
    (job,) = [job for job in await book.engine.jobs(None, 100) if job.kind == FINISH_FORGETTING]
    await book.engine.replay(job.id, clock())
    await book.jobs.run()
    assert [one.position for one in (await book.about("ana", as_owner=True)).pending] == [
        receipt.position
    ]
    await book.undo("ana", receipt.position, as_owner=True)
    assert (await book.records.get("ana", said, as_owner=True)).content == SAID  # type: ignore[attr-defined]


async def test_hiding_under_the_id_of_another_operation_is_refused_and_a_repetition_is_not(
    book: memoranda.Book,
) -> None:
    kept = await book.remember("ana", "Lives in Oslo", agent="coach", operation="o-1")
    tea = await book.remember("ana", "Likes tea", agent="coach")
    with pytest.raises(OperationReused):
        await book.forgetting.hide("ana", kept.id, agent="coach", operation="o-1")
    first = await book.forgetting.hide("ana", kept.id, agent="coach", operation="o-2")
    again = await book.forgetting.hide("ana", kept.id, agent="coach", operation="o-2")
    assert (again.receipt.position, again.receipt.repeated) == (first.receipt.position, True)
    with pytest.raises(OperationReused):
        await book.forgetting.hide("ana", tea.id, agent="coach", operation="o-2")
    (left,) = await book.records.list("ana", types="memory", agent="coach")
    assert left.id == tea.id


@pytest.mark.parametrize("operation", ["", "\ud800", "x" * 256, 7])
async def test_an_operation_id_that_is_none_is_refused_by_every_call(
    book: memoranda.Book, operation: Any
) -> None:
    kept = await book.remember("ana", "Lives in Oslo", agent="coach")
    newer = await book.update("ana", kept.id, "Lives in Bergen", agent="coach")
    for call in (
        book.update("ana", kept.id, "Lives in Rome", agent="coach", operation=operation),
        book.forgetting.hide("ana", newer.id, agent="coach", operation=operation),
        book.items.delete("ana", ("notes",), "none", agent="coach", operation=operation),
        book.agents.put("coach", new=True, operation=operation),
    ):
        with pytest.raises(InvalidInput, match="operation"):
            await call
