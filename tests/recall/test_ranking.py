"""The ranking: the terms of a score, what each of them raises, and candidates that are chosen by
all of them.
"""

from __future__ import annotations

import json
import random
from collections.abc import AsyncIterator
from typing import Any

import numpy as np
import pytest

import memoranda
from memoranda import Book, Hits
from memoranda.recall.arrays.columns import PassageFilter
from memoranda.recall.index import ShelfIndex, field_of
from memoranda.recall.scoring import search as searching
from memoranda.recall.scoring.ranking import COEFFICIENTS, Ranks, Term, rank
from memoranda.recall.scoring.search import Mode, SearchQuestion, search
from memoranda.testing.embedder import StubEmbedder
from tests.recall.plain import EVERYTHING, find, numbers, passage, shelf_of, unit, words


@pytest.fixture
async def book() -> AsyncIterator[Book]:
    async with memoranda.open("memory://", embed=None) as opened:
        yield opened


async def _told(book: Book, *turns: tuple[str, str], **more: Any) -> None:
    thread = await book.thread("ana")
    await thread.append([{"role": role, "content": text} | more for role, text in turns])


def _terms(hits: Hits, text: str) -> dict[str, float]:
    return next(dict(hit.terms) for hit in hits if text in hit.text)


TALK = (
    ("user", "My grandmother left me her old piano last spring"),
    ("assistant", "An old piano from a grandmother needs tuning twice a year and a dry room"),
    ("user", "Thank you for that advice about the room then"),
)

# ── Terms ─────────────────────────────────────────────────────────────────────────────────────────


async def test_the_terms_of_a_hit_add_up_to_its_score_and_the_best_has_about_1() -> None:
    async with memoranda.open("memory://", embed=StubEmbedder("terms", 32)) as book:
        await _told(book, *TALK)
        await book.remember("ana", "Owns the old piano of her grandmother")
        await book.admin.embed()
        hits = await book.recall("ana", "the old piano of grandmother")
        assert len(hits) > 2
        for hit in hits:
            assert sum(amount for _, amount in hit.terms) == pytest.approx(hit.score)
        assert 1 <= hits[0].score <= 1.1
        named = {name for hit in hits for name, _ in hit.terms}
        assert named == {"words", "meaning", "its conversation", "the user's own words", "strength"}


async def test_in_a_talk_with_an_assistant_the_users_own_words_come_first(book: Book) -> None:
    await _told(book, *TALK)
    hits = await book.recall("ana", "Whose grandmother had the old piano")
    assert hits[0].text.startswith("My grandmother")
    assert Term.USER in _terms(hits, "My grandmother") and Term.USER not in _terms(
        hits, "needs tuning"
    )


async def test_a_memory_counts_like_the_users_own_words(book: Book) -> None:
    await _told(book, *TALK)
    await book.remember("ana", "Owns the old piano of her grandmother")
    assert Term.USER in _terms(await book.recall("ana", "old piano of grandmother"), "Owns the old")


async def test_a_question_for_what_the_assistant_said_raises_the_users_words_less(
    book: Book,
) -> None:
    await _told(book, *TALK)
    mine = await book.recall("ana", "old piano of a grandmother")
    yours = await book.recall("ana", "old piano of a grandmother: what did you say")
    gap = [
        _terms(hits, "My grandmother")[Term.USER] / _terms(hits, "My grandmother")[Term.WORDS]
        for hits in (mine, yours)
    ]
    assert 0 < gap[1] < gap[0] / 2


async def test_between_people_with_names_length_counts_and_nobody_is_raised_as_the_user(
    book: Book,
) -> None:
    for role, speaker in (("user", "Ana"), ("assistant", "Ben")):
        text = (
            f"{speaker} repaired the piano of grandmother today"
            + " with new felt and strings" * (role == "user")
        )
        await _told(book, (role, text), speaker=speaker)
    hits = await book.recall("ana", "piano of grandmother")
    assert all(Term.USER not in dict(hit.terms) for hit in hits)
    assert _terms(hits, "felt")[Term.LENGTH] > _terms(hits, "Ben")[Term.LENGTH] > 0


async def test_the_messages_of_a_thread_share_what_its_best_message_has(book: Book) -> None:
    await _told(
        book,
        ("user", "The piano came"),
        *[("user", f"Then it rained on day {day}") for day in range(5)],
    )
    await _told(book, *[("user", f"Then it snowed on day {day}") for day in range(5)])
    hits = await book.recall("ana", "piano on a day", limit=20)
    assert (
        _terms(hits, "rained on day 4")[Term.CONVERSATION]
        == _terms(hits, "The piano")[Term.CONVERSATION]
    )
    assert _terms(hits, "snowed")[Term.CONVERSATION] < _terms(hits, "The piano")[Term.CONVERSATION]


async def test_a_passage_with_a_near_word_is_found_without_a_model(book: Book) -> None:
    await _told(
        book,
        ("user", "The physician told me to rest for two weeks"),
        ("assistant", "Rest is important after an operation of that sort"),
    )
    hits = await book.recall("ana", "doctor")
    assert "physician" in hits[0].text
    assert [word for word, share in hits[0].near_words if share > 0] == ["doctor"] and hits[
        0
    ].words == ()
    await _told(book, ("user", "My doctor has his office beside the bakery"))
    first, second = (await book.recall("ana", "doctor"))[:2]
    assert first.text[:9] == "My doctor" and first.words and not first.near_words
    assert second.near_words


DAYS = (
    "Fixed the bicycle and rode along the canal",
    "Went to the market for strawberries and bread",
    "Planted beans behind the shed with my niece",
    "Watched a film about whales and slept early",
    "Did the taxes, then did nothing at all",
)


async def test_what_was_done_on_a_day_that_is_named_comes_first() -> None:
    async with memoranda.open("memory://", embed=StubEmbedder("days", 32)) as book:
        for month in (4, 5, 6):
            for day in range(1, 29):
                thread = await book.thread("ana")
                text = DAYS[(day + month) % len(DAYS)]
                await thread.append(
                    [
                        {
                            "role": "user",
                            "content": text,
                            "observed_at": f"2025-{month:02}-{day:02}T20:00:00Z",
                        }
                    ]
                )
        await book.admin.embed()
        for question in (
            "What did I do on 3 May?",
            "what did I do on May 3, 2025",
            "Was habe ich am 3. Mai gemacht?",
        ):
            first = (await book.recall("ana", question))[0]
            assert f"{first.record.observed_at:%m-%d}" == "05-03", question  # type: ignore[attr-defined]


async def test_what_is_missing_is_compared_with_the_last_hit_by_its_terms(book: Book) -> None:
    await _told(book, *TALK)
    hits = await book.recall("ana", "old piano of grandmother", limit=1, explain=True)
    missing = hits.missing[0]
    assert sum(amount for _, amount in missing.terms) == pytest.approx(missing.score)
    assert "the last hit's score is 1.000 (words 0." in missing.reason and " more" in missing.reason


# ── The whole field ───────────────────────────────────────────────────────────────────────────────


def _row(number: int, chance: random.Random, speakers: tuple[str, ...]) -> Any:
    text = " ".join(f"w{int(chance.paretovariate(0.7))}" for _ in range(chance.randrange(2, 40)))
    facets = json.dumps([chance.choice(speakers), None, None, None, None, []]) if speakers else ""
    vector = unit(*(chance.gauss(0.4, 1) for _ in range(24)))
    kind = "user" if chance.random() < 0.4 else "assistant"
    thread = bytes([number // 3]) if number % 13 else None
    return passage(number, text, kind=kind, thread=thread, at=number, facets=facets, vector=vector)


def _field(seed: int, speakers: tuple[str, ...]) -> ShelfIndex:
    chance = random.Random(seed)
    return shelf_of(*(_row(number, chance, speakers) for number in range(1, 150)))


def _asked(seed: int) -> SearchQuestion:
    chance = random.Random(seed)
    text = " ".join(f"w{int(chance.paretovariate(0.5))}" for _ in range(3)) + " ana"
    day = ("then", ((20, 30),))
    return SearchQuestion(words(text), unit(*(chance.gauss(0.4, 1) for _ in range(24))), (day,))


_FIELDS = 40


def _share_equal(
    monkeypatch: pytest.MonkeyPatch, speakers: tuple[str, ...], mode: Mode = Mode.HYBRID
) -> float:
    """Return for how many fields a few candidates give the same first hits as all passages."""
    same = 0
    for seed in range(_FIELDS):
        field, asked = field_of([_field(seed, speakers)]), _asked(seed)
        found = []
        for short in (0, 10**9):
            monkeypatch.setattr(searching, "SHORT", short)
            best = search(field, asked, limit=2, only=EVERYTHING, mode=mode)
            found.append([(one.id, one.score, one.amounts) for one in best])
        same += found[0] == found[1]
    return same / _FIELDS


@pytest.fixture
def few_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CANDIDATES", "CANDIDATES_BY_MEANING", "CANDIDATES_BY_WORDS"):
        monkeypatch.setattr(searching, name, 6)
    for name, value in {"FEW": 0, "_CANDIDATES_A_HIT": 1, "_NEAREST": 1}.items():
        monkeypatch.setattr(searching, name, value)


def test_a_place_between_threads_is_no_candidate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "SHORT", 0)
    rows = [
        passage(number, f"tea w{number}", thread=bytes([number // 4]), seq=number)
        for number in range(4, 40)
    ]
    found = find(shelf_of(*rows), "tea", limit=99)
    assert sorted(numbers(found)) == list(range(4, 40))


@pytest.mark.usefixtures("few_candidates")
@pytest.mark.parametrize(
    ("mode", "least"), [(Mode.HYBRID, 0.98), (Mode.WORDS, 0.75), (Mode.MEANING, 1.0)]
)
@pytest.mark.parametrize("speakers", [(), ("Ana", "Bo", "Cy")])
def test_few_candidates_give_the_hits_that_all_passages_give(
    monkeypatch: pytest.MonkeyPatch, speakers: tuple[str, ...], mode: Mode, least: float
) -> None:
    assert _share_equal(monkeypatch, speakers, mode) >= least


@pytest.mark.usefixtures("few_candidates")
@pytest.mark.parametrize("term", Term)
def test_candidates_that_are_chosen_without_one_of_the_terms_are_not_enough(
    monkeypatch: pytest.MonkeyPatch, term: Term
) -> None:
    def without(field: Any, places: Any, own: Any, named: Any) -> Ranks:
        found = rank(field, places, own, named)
        if places is not None:
            return found
        if term in own:
            return rank(field, places, own | {term: np.zeros(field.hole + 1)}, named)
        return found._replace(together=found.together - found.terms.get(term, 0.0))

    speakers = () if term is Term.USER else ("Ana", "Bo", "Cy")
    monkeypatch.setitem(COEFFICIENTS, term, 8 * COEFFICIENTS[term])
    before = _share_equal(monkeypatch, speakers)
    monkeypatch.setattr(searching, "rank", without)
    assert _share_equal(monkeypatch, speakers) <= before - 0.05


@pytest.mark.parametrize("short", [0, 10**9])
def test_a_filter_leaves_out_passages_and_changes_no_score(
    monkeypatch: pytest.MonkeyPatch, short: int
) -> None:
    monkeypatch.setattr(searching, "SHORT", short)
    for seed in range(20):
        field, asked = field_of([_field(seed, ("Ana", "Bo"))]), _asked(seed)
        every = {one.id: one.amounts for one in search(field, asked, limit=999, only=EVERYTHING)}
        some = search(field, asked, limit=999, only=PassageFilter(since=50))
        assert 0 < len(some) < len(every)
        assert all(one.amounts == every[one.id] for one in some)


def test_meaning_counts_more_for_a_model_whose_cosines_differ_less() -> None:
    field = field_of(
        [shelf_of(passage(1, "tea milk", vector=unit(1, 5)), passage(2, "rain", vector=unit(1, 1)))]
    )
    asked = SearchQuestion(words("tea milk"), unit(5, 1))
    shares = []
    for vectors in ("local/all-MiniLM-L6-v2/384", "local/multilingual-e5-small/384"):
        best = search(field, asked, limit=1, only=EVERYTHING, vectors=vectors)[0]
        shares.append(dict(best.terms(best.score))[Term.MEANING])
    assert shares[0] < shares[1]


def test_in_a_group_of_four_words_count_half() -> None:
    shares = []
    for people in (3, 4):
        facets = [
            json.dumps([f"P{number % people}", None, None, None, None, []]) for number in range(12)
        ]
        rows = [passage(number, f"w{number}", facets=one) for number, one in enumerate(facets, 1)]
        shares.append(dict(find(shelf_of(*rows), "w3")[0].terms(1.0))[Term.WORDS])
    assert shares[1] == pytest.approx(shares[0] / 2)


def test_meaning_counts_little_where_all_passages_are_alike_to_the_model() -> None:
    alike = shelf_of(
        *(passage(number, f"w{number}", vector=unit(9, number / 30)) for number in range(1, 30))
    )
    apart = shelf_of(
        passage(1, "w1", vector=unit(1, 0)),
        *(passage(number, f"w{number}", vector=unit(number / 90, 1)) for number in range(2, 30)),
    )
    parts = [dict(find(index, "w1", vector=unit(1, 0))[0].terms(1.0)) for index in (alike, apart)]
    assert 0 < parts[0][Term.MEANING] < 0.3 < parts[1][Term.MEANING]


def test_passages_that_all_have_the_same_words_are_told_apart_by_meaning() -> None:
    index = shelf_of(*(passage(number, "tea", vector=unit(1, number)) for number in range(1, 6)))
    found = find(index, "tea", vector=unit(0, 1))
    assert numbers(found) == [5, 4, 3, 2, 1]
    terms = dict(found[0].terms(1.0))
    assert 0 < terms[Term.MEANING] < terms[Term.WORDS] < 1
