"""Why something is not among the hits; and times that count from days which the book knows."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import pytest

import memoranda
from memoranda import InvalidInput
from memoranda.model.memories import Memory
from memoranda.model.query import Absent, Hit, Recalled
from tests.conftest import HandClock

# ── Why it is not there ───────────────────────────────────────────────────────────────────────────────────


def reason(hits: Recalled, id: UUID) -> Absent:
    return next(one.because for one in hits.absent if one.id == id)


async def test_for_every_reason_it_is_told_why_a_passage_is_no_hit(book: memoranda.Book) -> None:
    best, second, unlike = [
        (await book.remember("ana", text)).id
        for text in ("green tea", "tea in the evening, if at all", "cake")
    ]
    old = (await book.remember("ana", "black tea", key="drink")).id
    await book.remember("ana", "coffee", key="drink")
    private = (await book.remember("ana", "secret tea", agent="coach")).id
    thread = await book.thread("ana")
    twin = (await book.remember("ana", "Green tea!")).id
    asked = [best, second, unlike, old, private, thread.id, twin, UUID(int=7)]
    hits = await book.recall("ana", "green tea", limit=1, explain=asked)
    shown, hidden = (best, twin) if hits[0].id == best else (twin, best)
    assert [hit.id for hit in hits] == [shown]
    assert shown not in {one.id for one in hits.absent}
    assert reason(hits, hidden) is Absent.FOLDED
    assert reason(hits, second) is Absent.OUTRANKED
    assert reason(hits, unlike) is Absent.UNLIKE
    assert reason(hits, old) is Absent.CONDITION
    assert "statuses" in next(one.reason for one in hits.absent if one.id == old)
    assert reason(hits, thread.id) is Absent.NO_PASSAGE
    # What the view may not see is told as what is not there.
    assert reason(hits, private) is reason(hits, UUID(int=7)) is Absent.UNKNOWN


async def test_the_conditions_that_a_passage_does_not_meet_are_named(book: memoranda.Book) -> None:
    id = (await book.remember("ana", "green tea", kind="preference", tags=["drink"])).id
    only = {"kinds": ["note"], "tags": ["drink"], "subject": "bo"}
    hits = await book.recall("ana", "tea", only=only, types="memory", explain=id)  # type: ignore[arg-type]
    assert hits == [] and hits.absent[0].reason == "it does not meet: kinds, subject"


async def test_what_comes_next_is_told_where_no_id_is_named(book: memoranda.Book) -> None:
    for number in range(6):
        await book.remember("ana", f"tea {number}")
    hits = await book.recall("ana", "tea", limit=2, explain=True)
    assert [one.rank for one in hits.absent] == [3, 4]
    assert all(one.because is Absent.OUTRANKED and one.arms for one in hits.absent)
    assert (await book.recall("ana", "tea", limit=2)).absent == ()
    with pytest.raises(InvalidInput):
        await book.recall("ana", "tea", explain="no id")


# ── Days of one's own ─────────────────────────────────────────────────────────────────────────────────────


async def noted(book: memoranda.Book, clock: HandClock, months: int = 12) -> None:
    """The same entry on many days, so that its day alone can tell it apart."""
    for _ in range(months * 2):
        await book.remember("ana", f"Diary of {clock.now:%j}: rested", observed_at=clock.now)
        clock.advance(days=15)


def days(hits: Sequence[Hit]) -> list[str]:
    return [f"{hit.record.observed_at:%m-%d}" for hit in hits if isinstance(hit.record, Memory)]


@pytest.mark.parametrize("where", ["profile", "memory", "message"])
async def test_times_are_counted_from_a_birthday_that_the_book_knows(
    book: memoranda.Book, clock: HandClock, where: str
) -> None:
    await noted(book, clock)
    if where == "profile":
        await book.profile.patch("ana", {"birthday": "1990-08-12"})
    elif where == "memory":
        await book.remember("ana", "August 12, 1990", key="birthday")
    else:
        thread = await book.thread("ana")
        await thread.append("user", "By the way, my birthday is on the 12th of August")
    question = "What did the diary say two weeks before my birthday?"
    hits = await book.recall("ana", question, types="memory", only={"kinds": ["fact"]})
    assert days(hits)[0] == "07-30"
    assert any(word == "two weeks before my birthday" for word, _ in hits[0].words)


async def test_another_agents_knowledge_of_a_birthday_moves_no_score(
    book: memoranda.Book, clock: HandClock
) -> None:
    await noted(book, clock)
    question = "What did the diary say two weeks before my birthday?"
    before = [(hit.id, hit.score) for hit in await book.recall("ana", question)]
    await book.remember("ana", "August 12", key="birthday", agent="coach")
    assert [(hit.id, hit.score) for hit in await book.recall("ana", question)] == before
