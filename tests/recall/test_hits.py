"""What recall gives of what it found: strength, folds, orders, and why something is or is not among the hits."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

import pytest

import commonplace
from commonplace import InvalidInput
from commonplace.model.memories import Memory, Use
from commonplace.model.query import Absent, Because, Hit, Recalled
from tests.conftest import HandClock


def texts(hits: Sequence[Hit]) -> list[str]:
    return [hit.text for hit in hits]


async def said(book: commonplace.Book, *turns: tuple[str, str], owner: str = "ana") -> list[UUID]:
    thread = await book.thread(owner)
    receipt = await thread.append([{"role": "user", "speaker": who, "content": what} for who, what in turns])
    return list(receipt.ids("message"))


# ── Strength ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("days", "strength"), [(0, 1.0), (7, 0.85), (14, 0.72), (30, 0.5), (60, 0.25), (90, 0.125)]
)
def test_strength_fades_by_half_in_thirty_days(days: int, strength: float, clock: HandClock) -> None:
    learnt = clock.now
    assert Use().strength_at(learnt + timedelta(days=days), learnt) == pytest.approx(strength, abs=0.005)


def test_each_use_gives_back_three_tenths_of_what_is_lacking(clock: HandClock) -> None:
    use, now = Use(strength=0.5, used_at=clock.now), clock.now
    strengths = []
    for _ in range(4):
        use = use.again(now, now)
        strengths.append(use.strength)
    assert strengths == pytest.approx([0.65, 0.755, 0.8285, 0.88], abs=0.0005)


async def test_of_like_memories_the_stronger_comes_first(book: commonplace.Book, clock: HandClock) -> None:
    old = await book.remember("ana", "Prefers metric units")
    clock.advance(days=60)
    new = await book.remember("ana", "Prefers imperial units")
    hits = await book.recall("ana", "which units")
    assert [hit.id for hit in hits] == [new.id, old.id]
    assert hits[0].strength == pytest.approx(1, abs=0.01)
    assert hits[1].strength == pytest.approx(0.25, abs=0.01)
    assert hits[0].score > hits[1].score
    clock.advance(days=30)
    for _ in range(3):
        await book.mark_used("ana", [old.id])
    again = await book.recall("ana", "which units")
    assert [(hit.id, hit.uses) for hit in again] == [(old.id, 3), (new.id, 0)]


async def test_looking_is_no_use_and_a_context_is(book: commonplace.Book) -> None:
    await book.remember("ana", "Prefers metric units")
    for _ in range(3):
        assert (await book.recall("ana", "units"))[0].uses == 0
    await book.context("ana", "units")
    await book._contexts.settled()
    assert (await book.recall("ana", "units"))[0].uses == 1


async def test_scores_stay_the_same_within_the_hour(book: commonplace.Book, clock: HandClock) -> None:
    await book.remember("ana", "Prefers metric units")
    clock.advance(days=3)
    first = await book.recall("ana", "units")
    clock.advance(minutes=20)
    assert [hit.score for hit in await book.recall("ana", "units")] == [hit.score for hit in first]


# ── Folding ───────────────────────────────────────────────────────────────────────────────────────────────


async def test_what_one_says_again_in_the_same_words_is_one_hit(book: commonplace.Book) -> None:
    once, other, again, almost = await said(
        book,
        ("Ana", "I am off to tea"),
        ("Bo", "I am off to tea"),
        ("Ana", "I am off to tea"),
        ("Ana", "Off to tea"),
    )
    hits = await book.recall("ana", "tea")
    assert {hit.id for hit in hits} == {again, other, almost} or {hit.id for hit in hits} == {
        once,
        other,
        almost,
    }
    folded = [(part.record.id, part.because) for hit in hits for part in hit.folded]
    assert folded in ([(once, Because.SAME)], [(again, Because.SAME)])


async def test_folds_leave_as_many_hits_as_were_asked_for(book: commonplace.Book) -> None:
    await said(book, *[("Ana", "tea again")] * 6, *[("Ana", f"tea {number}") for number in range(8)])
    hits = await book.recall("ana", "tea", limit=5)
    assert len(hits) == 5 and len(set(texts(hits))) == 5


async def test_memories_that_differ_by_case_and_signs_alone_are_one_hit(book: commonplace.Book) -> None:
    await book.remember("ana", "Likes green tea.")
    await book.remember("ana", "likes GREEN tea")
    await book.remember("ana", "Likes green tea", subject="Bo")
    await book.remember("ana", "likes no green tea")
    hits = await book.recall("ana", "green tea")
    assert sorted(len(hit.folded) for hit in hits) == [0, 0, 1]


async def test_what_happens_again_and_again_is_told_each_time(book: commonplace.Book) -> None:
    for _ in range(3):
        await book.remember("ana", "Took the medicine", cardinality="recurring")
    assert len(await book.recall("ana", "medicine")) == 3


async def test_a_memory_and_what_it_rests_on_are_one_hit(book: commonplace.Book) -> None:
    (source, _) = await said(
        book, ("Ana", "We moved, it was a long day, and home is Boston now, by the harbour"), ("Bo", "Fine")
    )
    home = await book.remember("ana", "Home: Boston", sources=[source])
    hits = await book.recall("ana", "home Boston")
    assert hits[0].id == home.id and source not in {hit.id for hit in hits}
    assert [(part.record.id, part.because) for part in hits[0].folded] == [(source, Because.SOURCE)]
    assert [one.quote for one in hits[0].sources] == [
        "We moved, it was a long day, and home is Boston now, by the harbour"
    ]


async def test_where_the_source_answers_better_it_stands_for_what_was_concluded(
    book: commonplace.Book,
) -> None:
    (source,) = await said(book, ("Ana", "The harbour tour in Boston starts at nine at pier four"))
    memory = await book.remember("ana", "Was in Boston", sources=[source])
    hits = await book.recall("ana", "harbour tour pier Boston")
    assert [hit.id for hit in hits] == [source]
    assert [(part.record.id, part.because) for part in hits[0].folded] == [(memory.id, Because.CONCLUSION)]
    context = await book.context("ana", "harbour tour pier Boston")
    assert "Was in Boston" in context.text and "pier four" in context.text


async def test_a_hit_quotes_the_sources_that_are_left(book: commonplace.Book) -> None:
    first, second = await said(book, ("Ana", "The harbour code is walnut"), ("Bo", "Yes, walnut"))
    await book.remember("ana", "There is a harbour code", sources=[first, second])
    assert [one.id for one in (await book.recall("ana", "harbour", types="memory"))[0].sources] == [
        first,
        second,
    ]
    await book.forget("ana", first, view="owner")
    assert [one.id for one in (await book.recall("ana", "harbour", types="memory"))[0].sources] == [second]


# ── Why it is there ───────────────────────────────────────────────────────────────────────────────────────


async def test_a_hit_tells_what_each_way_of_finding_says_of_it(book: commonplace.Book) -> None:
    await said(book, ("Ana", "green tea"), ("Bo", "fine"))
    first, second = await book.recall(
        "ana", "what did Ana say of tea", types="message", only={"kinds": ["user"]}
    )
    assert [(arm.arm, arm.rank) for arm in first.arms] == [("words", 1), ("words_near", 1)]
    assert sum(arm.weight for arm in first.arms) == pytest.approx(1)
    assert sum(share for _, share in first.words) == pytest.approx(first.arms[0].score)
    assert first.named and not second.named
    assert second.words == () and second.arms[1].score > 0
    assert first.conditions == {"types": ["message"], "kinds": ["user"]}


# ── Orders ────────────────────────────────────────────────────────────────────────────────────────────────


async def test_pinned_memories_that_answer_come_first_where_asked(book: commonplace.Book) -> None:
    await book.remember("ana", "tea tea tea")
    pinned = await book.remember("ana", "Is allergic to one sort of tea that was served", pinned=True)
    await book.remember("ana", "never late", pinned=True)
    await said(book, ("Ana", "tea"))
    plain = await book.recall("ana", "tea")
    assert plain[0].id != pinned.id
    first = await book.recall("ana", "tea", pinned_first=True)
    assert first[0].id == pinned.id
    assert {hit.id for hit in first} == {hit.id for hit in plain}
    assert [hit.rank for hit in first] == [1, 2, 3]
    only = await book.recall("ana", "tea late", types="memory", only={"pinned": True})
    assert len(only) == 2
    await book.amend("ana", pinned.id, {"pinned": False})
    assert (await book.recall("ana", "tea", pinned_first=True))[0].id != pinned.id


async def test_the_most_used_come_with_one_place_in_five_for_the_newest(book: commonplace.Book) -> None:
    ids = [(await book.remember("ana", f"fact {number}")).id for number in range(20)]
    for times, id in enumerate(ids[:9], start=1):
        for _ in range(times):
            await book.mark_used("ana", [id])
    hits = await book.recall("ana", "", mode="most_used", limit=10)
    assert [hit.id for hit in hits] == [*reversed(ids[1:9]), ids[19], ids[18]]
    assert [hit.uses for hit in hits] == [9, 8, 7, 6, 5, 4, 3, 2, 0, 0]
    assert [hit.id for hit in await book.recall("ana", "", mode="most_used", limit=1)] == [ids[8]]
    # Looking changed nothing.
    assert [hit.id for hit in await book.recall("ana", "", mode="most_used", limit=10)] == [
        hit.id for hit in hits
    ]
    await book.retract("ana", ids[8])
    assert (await book.recall("ana", "", mode="most_used", limit=1))[0].id == ids[7]
    assert await book.recall("ana", "", mode="most_used", only={"kinds": ["none"]}) == []
    assert await book.recall("bo", "", mode="most_used") == []


async def test_the_most_used_are_those_of_the_view(book: commonplace.Book) -> None:
    private = (await book.remember("ana", "between us", agent="coach")).id
    await book.mark_used("ana", [private], agent="coach")
    assert texts(await book.recall("ana", "", mode="most_used", agent="coach")) == ["between us"]
    assert await book.recall("ana", "", mode="most_used", agent="tutor") == []


# ── Why it is not there ───────────────────────────────────────────────────────────────────────────────────


def reason(hits: Recalled, id: UUID) -> Absent:
    return next(one.because for one in hits.absent if one.id == id)


async def test_for_every_reason_it_is_told_why_a_passage_is_no_hit(book: commonplace.Book) -> None:
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


async def test_the_conditions_that_a_passage_does_not_meet_are_named(book: commonplace.Book) -> None:
    id = (await book.remember("ana", "green tea", kind="preference", tags=["drink"])).id
    only = {"kinds": ["note"], "tags": ["drink"], "subject": "bo"}
    hits = await book.recall("ana", "tea", only=only, types="memory", explain=id)  # type: ignore[arg-type]
    assert hits == [] and hits.absent[0].reason == "it does not meet: kinds, subject"


async def test_what_comes_next_is_told_where_no_id_is_named(book: commonplace.Book) -> None:
    for number in range(6):
        await book.remember("ana", f"tea {number}")
    hits = await book.recall("ana", "tea", limit=2, explain=True)
    assert [one.rank for one in hits.absent] == [3, 4]
    assert all(one.because is Absent.OUTRANKED and one.arms for one in hits.absent)
    assert (await book.recall("ana", "tea", limit=2)).absent == ()
    with pytest.raises(InvalidInput):
        await book.recall("ana", "tea", explain="no id")


# ── Days of one's own ─────────────────────────────────────────────────────────────────────────────────────


async def noted(book: commonplace.Book, clock: HandClock, months: int = 12) -> None:
    """The same entry on many days, so that its day alone can tell it apart."""
    for _ in range(months * 2):
        await book.remember("ana", f"Diary of {clock.now:%j}: rested", observed_at=clock.now)
        clock.advance(days=15)


def days(hits: Sequence[Hit]) -> list[str]:
    return [f"{hit.record.observed_at:%m-%d}" for hit in hits if isinstance(hit.record, Memory)]


@pytest.mark.parametrize("where", ["profile", "memory", "message"])
async def test_times_are_counted_from_a_birthday_that_the_book_knows(
    book: commonplace.Book, clock: HandClock, where: str
) -> None:
    await noted(book, clock)
    if where == "profile":
        await book.profile.patch("ana", {"birthday": "1990-08-12"})
    elif where == "memory":
        await book.remember("ana", "August 12, 1990", key="birthday")
    else:
        await said(book, ("Ana", "By the way, my birthday is on the 12th of August"))
    question = "What did the diary say two weeks before my birthday?"
    hits = await book.recall("ana", question, types="memory", only={"kinds": ["fact"]})
    assert days(hits)[0] == "07-30"
    assert any(word == "two weeks before my birthday" for word, _ in hits[0].words)


async def test_another_agents_knowledge_of_a_birthday_moves_no_score(
    book: commonplace.Book, clock: HandClock
) -> None:
    await noted(book, clock)
    question = "What did the diary say two weeks before my birthday?"
    before = [(hit.id, hit.score) for hit in await book.recall("ana", question)]
    await book.remember("ana", "August 12", key="birthday", agent="coach")
    assert [(hit.id, hit.score) for hit in await book.recall("ana", question)] == before
