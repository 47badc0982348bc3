"""Tests of recall's hits: strength, folding, order, and the reasons why a passage is or is not a
hit.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

import pytest

import memoranda
from memoranda.model.passages import Use
from memoranda.model.query import Because, Hit
from memoranda.testing.clock import HandClock


def texts(hits: Sequence[Hit]) -> list[str]:
    return [hit.text for hit in hits]


async def said(book: memoranda.Book, *turns: tuple[str, str], owner: str = "ana") -> list[UUID]:
    thread = await book.thread(owner)
    receipt = await thread.append(
        [{"role": "user", "speaker": who, "content": what} for who, what in turns]
    )
    return list(receipt.ids("message"))


# ── Strength ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("days", "strength"), [(0, 1.0), (7, 0.85), (14, 0.72), (30, 0.5), (60, 0.25), (90, 0.125)]
)
def test_strength_fades_by_half_in_thirty_days(
    days: int, strength: float, clock: HandClock
) -> None:
    learnt = clock.now
    assert Use().strength_at(learnt + timedelta(days=days), learnt) == pytest.approx(
        strength, abs=0.005
    )


def test_each_use_gives_back_three_tenths_of_what_is_lacking(clock: HandClock) -> None:
    use, now = Use(strength=0.5, used_at=clock.now), clock.now
    strengths = []
    for _ in range(4):
        use = use.again(now, now)
        strengths.append(use.strength)
    assert strengths == pytest.approx([0.65, 0.755, 0.8285, 0.88], abs=0.0005)


async def test_of_like_memories_the_stronger_comes_first(
    book: memoranda.Book, clock: HandClock
) -> None:
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
        await book.memories.mark_used("ana", [old.id])
    again = await book.recall("ana", "which units")
    assert [(hit.id, hit.uses) for hit in again] == [(old.id, 3), (new.id, 0)]


async def test_looking_is_no_use_and_a_context_is(book: memoranda.Book) -> None:
    await book.remember("ana", "Prefers metric units")
    for _ in range(3):
        assert (await book.recall("ana", "units"))[0].uses == 0
    await book.context("ana", "units")
    await book.memories.uses.settled()
    assert (await book.recall("ana", "units"))[0].uses == 1


async def test_scores_stay_the_same_within_the_hour(book: memoranda.Book, clock: HandClock) -> None:
    await book.remember("ana", "Prefers metric units")
    clock.advance(days=3)
    first = await book.recall("ana", "units")
    clock.advance(minutes=20)
    assert [hit.score for hit in await book.recall("ana", "units")] == [hit.score for hit in first]


# ── Folding ───────────────────────────────────────────────────────────────────────────────────────


async def test_what_one_says_again_in_the_same_words_is_one_hit(book: memoranda.Book) -> None:
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


async def test_folds_leave_as_many_hits_as_were_asked_for(book: memoranda.Book) -> None:
    await said(
        book, *[("Ana", "tea again")] * 6, *[("Ana", f"tea {number}") for number in range(8)]
    )
    hits = await book.recall("ana", "tea", limit=5)
    assert len(hits) == 5 and len(set(texts(hits))) == 5


async def test_memories_that_differ_by_case_and_signs_alone_are_one_hit(
    book: memoranda.Book,
) -> None:
    await book.remember("ana", "Likes green tea.")
    await book.remember("ana", "likes GREEN tea")
    await book.remember("ana", "Likes green tea", subject="Bo")
    await book.remember("ana", "likes no green tea")
    hits = await book.recall("ana", "green tea")
    assert sorted(len(hit.folded) for hit in hits) == [0, 0, 1]


async def test_the_same_event_of_another_day_is_another_hit(book: memoranda.Book) -> None:
    for day in ("2026-05-07", "2026-05-07", "2026-06-07"):
        await book.remember("ana", "Ran a 10k race", happened=day)
    assert sorted(len(hit.folded) for hit in await book.recall("ana", "race")) == [0, 1]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Blood type is A+", "Blood type is A-"),
        ("Balance is -500 euros", "Balance is 500 euros"),
        ("Is 18+ years", "Is 18 years"),
        ("Password hint is !", "Password hint is ?"),
        ("Prefers => over <=", "Prefers <= over =>"),
    ],
)
async def test_statements_that_a_sign_tells_apart_are_two(
    book: memoranda.Book, one: str, other: str
) -> None:
    await book.remember("ana", one)
    await book.remember("ana", other)
    assert len(await book.recall("ana", one)) == 2


async def test_what_applies_at_other_times_is_another_statement(book: memoranda.Book) -> None:
    for when in ("in the morning", "never with alcohol"):
        await book.remember("ana", "Take two pills", applies_when=when)
    assert len(await book.recall("ana", "pills")) == 2


async def test_a_summary_stands_beside_what_it_sums_up(book: memoranda.Book) -> None:
    cities = ("Kyoto", "Lima", "Oslo", "Rome", "Cairo", "Quito")
    ids = await said(book, *[("Ana", f"In {place} I lived and worked") for place in cities])
    await book.remember("ana", "Has lived and worked in many cities", sources=ids)
    hits = await book.recall("ana", "in which cities have I lived and worked")
    assert len(hits) == 7 and not any(hit.folded for hit in hits)
    text = (await book.context("ana", "in which cities have I lived and worked")).text
    assert all(place in text for place in cities)


async def test_what_was_concluded_from_one_message_is_not_folded_into_its_sisters(
    book: memoranda.Book,
) -> None:
    (source,) = await said(
        book, ("Ana", "Penicillin makes me ill, and Eva, my sister, lives in Kyoto, allergic too")
    )
    for text in (
        "Is allergic to penicillin",
        "Sister Eva lives in Kyoto",
        "Has a sister called Eva",
    ):
        await book.remember("ana", text, sources=[source])
    hits = await book.recall("ana", "penicillin allergic")
    for hit in hits:
        assert all(
            hit.id in part.record.rests_on() or part.record.id in hit.record.rests_on()
            for part in hit.folded
        )


async def test_what_happens_again_and_again_is_told_each_time(book: memoranda.Book) -> None:
    for _ in range(3):
        await book.remember("ana", "Took the medicine", cardinality="recurring")
    assert len(await book.recall("ana", "medicine")) == 3


async def test_a_memory_and_what_it_rests_on_are_one_hit(book: memoranda.Book) -> None:
    (source, _) = await said(
        book,
        ("Ana", "We moved, it was a long day, and home is Boston now, by the harbour"),
        ("Bo", "Fine"),
    )
    home = await book.remember("ana", "Home: Boston", sources=[source])
    hits = await book.recall("ana", "home Boston")
    assert hits[0].id == home.id and source not in {hit.id for hit in hits}
    assert [(part.record.id, part.because) for part in hits[0].folded] == [(source, Because.SOURCE)]
    assert [one.quote for one in hits[0].sources] == [
        "We moved, it was a long day, and home is Boston now, by the harbour"
    ]


async def test_where_the_source_answers_better_it_stands_for_what_was_concluded(
    book: memoranda.Book,
) -> None:
    (source,) = await said(book, ("Ana", "The harbour tour in Boston starts at nine at pier four"))
    memory = await book.remember("ana", "Was in Boston", sources=[source])
    hits = await book.recall("ana", "harbour tour pier Boston")
    assert [hit.id for hit in hits] == [source]
    assert [(part.record.id, part.because) for part in hits[0].folded] == [
        (memory.id, Because.CONCLUSION)
    ]
    context = await book.context("ana", "harbour tour pier Boston")
    assert "Was in Boston" in context.text and "pier four" in context.text


async def test_a_hit_quotes_the_sources_that_are_left(book: memoranda.Book) -> None:
    first, second = await said(book, ("Ana", "The harbour code is walnut"), ("Bo", "Yes, walnut"))
    await book.remember("ana", "There is a harbour code", sources=[first, second])
    assert [one.id for one in (await book.recall("ana", "harbour", types="memory"))[0].sources] == [
        first,
        second,
    ]
    await book.forget("ana", first, as_owner=True)
    assert [one.id for one in (await book.recall("ana", "harbour", types="memory"))[0].sources] == [
        second
    ]


# ── Why it is there ───────────────────────────────────────────────────────────────────────────────


async def test_a_hit_tells_its_words_and_the_terms_of_its_score(book: memoranda.Book) -> None:
    await said(book, ("Ana", "green tea"), ("Bo", "fine"))
    first, second = await book.recall(
        "ana", "what did Ana say of tea", types="message", only={"kinds": ["user"]}
    )
    assert [word for word, _ in first.words] == ["Ana", "tea"] and first.cosine is None
    assert sum(amount for _, amount in first.terms) == pytest.approx(first.score)
    assert "names the speaker" in dict(first.terms) and "names the speaker" not in dict(
        second.terms
    )
    assert second.words == () and dict(second.terms)["words"] > 0
    assert first.conditions == {"types": ["message"], "kinds": ["user"]}


# ── Orders ────────────────────────────────────────────────────────────────────────────────────────


async def test_pinned_memories_that_answer_come_first_where_asked(book: memoranda.Book) -> None:
    await book.remember("ana", "tea tea tea")
    pinned = await book.remember(
        "ana", "Is allergic to one sort of tea that was served", pinned=True
    )
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
    await book.memories.amend("ana", pinned.id, {"pinned": False})
    assert (await book.recall("ana", "tea", pinned_first=True))[0].id != pinned.id


async def test_the_most_used_come_with_one_place_in_five_for_the_newest(
    book: memoranda.Book,
) -> None:
    ids = [(await book.remember("ana", f"fact {number}")).id for number in range(20)]
    for times, id in enumerate(ids[:9], start=1):
        for _ in range(times):
            await book.memories.mark_used("ana", [id])
    hits = await book.recall("ana", "", mode="most_used", limit=10)
    assert [hit.id for hit in hits] == [*reversed(ids[1:9]), ids[19], ids[18]]
    assert [hit.uses for hit in hits] == [9, 8, 7, 6, 5, 4, 3, 2, 0, 0]
    assert [hit.id for hit in await book.recall("ana", "", mode="most_used", limit=1)] == [ids[8]]
    # Looking changed nothing.
    assert [hit.id for hit in await book.recall("ana", "", mode="most_used", limit=10)] == [
        hit.id for hit in hits
    ]
    await book.memories.retract("ana", ids[8])
    assert (await book.recall("ana", "", mode="most_used", limit=1))[0].id == ids[7]
    assert await book.recall("ana", "", mode="most_used", only={"kinds": ["none"]}) == []
    assert await book.recall("bo", "", mode="most_used") == []


async def test_the_most_used_are_those_of_the_view(book: memoranda.Book) -> None:
    private = (await book.remember("ana", "between us", agent="coach")).id
    await book.memories.mark_used("ana", [private], agent="coach")
    assert texts(await book.recall("ana", "", mode="most_used", agent="coach")) == ["between us"]
    assert await book.recall("ana", "", mode="most_used", agent="tutor") == []


async def test_the_most_used_are_memories_and_tell_who_is_not_among_them(
    book: memoranda.Book,
) -> None:
    with pytest.raises(memoranda.InvalidInput):
        await book.recall("ana", "", mode="most_used", types=["message"])
    first, second = [(await book.remember("ana", text)).id for text in ("one", "two")]
    await book.memories.mark_used("ana", [first])
    (message,) = await said(book, ("Ana", "three"))
    hits = await book.recall(
        "ana", "", mode="most_used", limit=1, explain=[second, message, UUID(int=1)]
    )
    assert [one.because.value for one in hits.missing] == ["outranked", "filtered", "unknown"]
    recent = await book.recall("ana", "", mode="recent", limit=1, explain=[first])
    assert "newer" in recent.missing[0].reason
