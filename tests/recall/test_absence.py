"""The reasons why a passage is not among the hits."""

from __future__ import annotations

from uuid import UUID

import pytest

import memoranda
from memoranda import NotFound
from memoranda.model.query import Hits, WhyMissing

# ── Why it is not there ───────────────────────────────────────────────────────────────────────────


def reason(hits: Hits, id: UUID) -> WhyMissing:
    return next(one.because for one in hits.missing if one.id == id)


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
    assert shown not in {one.id for one in hits.missing}
    assert reason(hits, hidden) is WhyMissing.FOLDED
    assert reason(hits, second) is WhyMissing.OUTRANKED
    assert reason(hits, unlike) is WhyMissing.NO_MATCH
    assert reason(hits, old) is WhyMissing.FILTERED
    assert "statuses" in next(one.reason for one in hits.missing if one.id == old)
    assert reason(hits, thread.id) is WhyMissing.NOT_A_PASSAGE
    # What the view may not see is told as what is not there.
    assert reason(hits, private) is reason(hits, UUID(int=7)) is WhyMissing.UNKNOWN


async def test_the_conditions_that_a_passage_does_not_meet_are_named(book: memoranda.Book) -> None:
    id = (await book.remember("ana", "green tea", kind="preference", tags=["drink"])).id
    only = {"kinds": ["note"], "tags": ["drink"], "subject": "bo"}
    hits = await book.recall("ana", "tea", only=only, types="memory", explain=id)
    assert (
        hits == [] and hits.missing[0].reason == "it does not meet these conditions: kinds, subject"
    )


async def test_what_comes_next_is_told_where_no_id_is_named(book: memoranda.Book) -> None:
    for number in range(6):
        await book.remember("ana", f"tea {number}")
    hits = await book.recall("ana", "tea", limit=2, explain=True)
    assert [one.rank for one in hits.missing] == [3, 4]
    assert all(one.because is WhyMissing.OUTRANKED and one.terms for one in hits.missing)
    assert (await book.recall("ana", "tea", limit=2)).missing == ()
    with pytest.raises(NotFound):
        await book.recall("ana", "tea", explain="no id")
