"""The shelf index against a plain reading of BM25, and against itself built anew."""

from __future__ import annotations

import json
import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from memoranda.errors import Corrupt
from memoranda.model.passages import PassageRow, ShelfDelta
from memoranda.model.vectors import pack_vector
from memoranda.recall.arrays.columns import PassageFilter
from memoranda.recall.index import ShelfIndex, field_of
from memoranda.recall.scoring import search as searching
from memoranda.recall.scoring.search import Mode, SearchQuestion, search
from memoranda.text.terms import TermGroup, term_hash
from tests.recall.plain import (
    EVERYTHING,
    change,
    find,
    identity,
    numbers,
    packed,
    passage,
    plain,
    shelf_of,
    terms,
    together,
    unit,
    words,
    words_of,
)

# ── Scores ────────────────────────────────────────────────────────────────────────────────────────


def test_a_score_is_bm25_worked_out_by_hand() -> None:
    index = shelf_of(passage(1, "tea tea milk"), passage(2, "tea"), passage(3, "rain and wind too"))
    long, short = find(index, "tea")
    # three passages, 8 terms, so 8/3 on average; two of them hold the word
    rarity = math.log(1 + 1.5 / 2.5)
    assert words_of(long) == pytest.approx(
        rarity * 2 * 2.2 / (2 + 1.2 * (0.5 + 0.5 * 3 / (8 / 3))), abs=1e-12
    )
    assert words_of(short) == pytest.approx(
        rarity * 1 * 2.2 / (1 + 1.2 * (0.5 + 0.5 * 1 / (8 / 3))), abs=1e-12
    )
    assert numbers([long, short]) == [1, 2]


def test_parts_name_the_words_in_the_order_asked_and_add_up_to_the_score() -> None:
    index = shelf_of(passage(1, "milk tea sugar"), passage(2, "tea cup"), passage(3, "rain"))
    found = find(index, "sugar snow tea milk")
    assert [[word for word, _ in one.words] for one in found] == [["sugar", "tea", "milk"], ["tea"]]
    alone = find(
        shelf_of(passage(1, "milk tea sugar"), passage(2, "tea cup"), passage(3, "rain")), "tea"
    )
    assert dict(found[0].words)["tea"] == words_of(alone[1])


def test_a_word_with_alternatives_counts_once_with_all_its_terms() -> None:
    index = shelf_of(
        passage(1, "run runs"), passage(2, "run run"), passage(3, "runs"), passage(4, "sleep")
    )
    both, twice, one = find(index, "run|runs|ran")
    assert numbers([both, twice, one]) == [1, 2, 3]
    assert both.score == twice.score
    assert [word for word, _ in both.words] == ["run|runs|ran"]


def test_equal_scores_go_to_the_newer_and_then_to_the_lower_id() -> None:
    rows = [passage(number, "ok", at=number // 10) for number in range(100)]
    random.Random(5).shuffle(rows)
    index = shelf_of(*rows[:70])
    change(index, rows[70:95])
    change(index, rows[95:])
    assert numbers(find(index, "ok", limit=13)) == [*range(90, 100), 80, 81, 82]


def test_nothing_is_found_by_no_words_nowhere_or_without_room() -> None:
    index = shelf_of(passage(1, "tea"), passage(2))
    assert find(index, "tea", limit=0) == []
    assert find(index, "") == []
    assert find(index, "snow") == []
    assert find(ShelfIndex(), "tea") == []
    assert search(field_of([]), SearchQuestion(words("tea")), limit=10, only=EVERYTHING) == []
    assert find(shelf_of(passage(1)), "tea") == []


def test_a_passage_without_terms_counts_in_the_statistics() -> None:
    alone, beside = shelf_of(passage(1, "tea")), shelf_of(passage(1, "tea"), passage(2))
    assert words_of(find(beside, "tea")[0]) > words_of(find(alone, "tea")[0])


# ── Visibility ────────────────────────────────────────────────────────────────────────────────────


def test_statistics_are_those_of_the_shelves_that_are_read_together() -> None:
    rows = [
        passage(number, text)
        for number, text in enumerate(["tea milk", "tea", "rain", "wind rain tea", "sun"])
    ]
    apart = find(shelf_of(*rows[:2]), "tea rain", shelf_of(*rows[2:]))
    assert apart == find(shelf_of(*rows), "tea rain")


def test_what_another_shelf_holds_moves_no_score() -> None:
    mine = shelf_of(passage(1, "tea milk"), passage(2, "rain"))
    before = find(mine, "tea rain")
    shelf_of(*(passage(number, "tea rain") for number in range(3, 50)))
    assert find(mine, "tea rain") == before


def test_a_passage_that_left_moves_no_score() -> None:
    index = shelf_of(*(passage(number, f"tea w{number}") for number in range(10)))
    change(index, gone=[3])
    assert index.passages == 9
    assert find(index, "tea w3 w4") == find(
        shelf_of(*(passage(number, f"tea w{number}") for number in range(10) if number != 3)),
        "tea w3 w4",
    )


def test_a_changed_passage_is_found_by_its_new_words_only() -> None:
    index = shelf_of(passage(1, "tea"), passage(2, "milk"))
    change(index, [passage(1, "coffee")])
    assert find(index, "tea") == []
    assert numbers(find(index, "coffee")) == [1]
    assert index.passages == 2


def test_a_passage_that_left_and_came_again_is_there() -> None:
    index = shelf_of(passage(1, "tea"), passage(2, "milk"))
    change(index, [passage(1, "tea")], gone=[1])
    assert numbers(find(index, "tea")) == [1]


def test_an_id_that_was_never_there_may_leave() -> None:
    index = shelf_of(passage(1, "tea"))
    change(index, gone=[2])
    assert (numbers(find(index, "tea")), index.mark, index.passages) == ([1], 2, 1)


def test_a_whole_shelf_replaces_what_was_held() -> None:
    index = shelf_of(passage(1, "tea"), passage(2, "tea"))
    index.apply(ShelfDelta(9, True, [passage(3, "tea")], ()))
    assert (numbers(find(index, "tea")), index.mark, index.passages) == ([3], 9, 1)


def test_damaged_terms_are_refused_and_change_nothing() -> None:
    index = shelf_of(passage(1, "tea"))
    damaged = passage(2)._replace(terms=b"12345678")
    with pytest.raises(Corrupt, match=identity(2).hex()):
        change(index, [damaged], gone=[1])
    assert (numbers(find(index, "tea")), index.mark) == ([1], 1)


# ── Filters ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("only", "expected"),
    [
        (PassageFilter(types=frozenset({"memory"})), [2, 3]),
        (PassageFilter(types=frozenset({"other"})), []),
        (PassageFilter(kinds=frozenset({"fact"})), [2]),
        (PassageFilter(kinds=frozenset({"fact", None})), [1, 2]),
        (PassageFilter(statuses=frozenset({"active", None})), [1, 2]),
        (PassageFilter(threads=frozenset({b"thread"})), [1]),
        (PassageFilter(threads=frozenset()), []),
        (PassageFilter(since=20), [2, 3]),
        (PassageFilter(until=20), [1]),
        (PassageFilter(valid_at=4), [1]),
        (PassageFilter(valid_at=5), [1, 2]),
        (PassageFilter(valid_at=9), [1, 2, 3]),
        (PassageFilter(valid_at=10), [1, 3]),
    ],
)
def test_a_filter_admits(only: PassageFilter, expected: list[int]) -> None:
    index = shelf_of(
        passage(1, "tea", thread=b"thread", at=10),
        passage(2, "tea", type="memory", kind="fact", status="active", at=20, valid=(5, 10)),
        passage(3, "tea", type="memory", kind="note", status="retracted", at=30, valid=(6, None)),
    )
    found = find(index, "tea", only=only)
    assert sorted(numbers(found)) == expected
    unfiltered = {one.id: one.amounts for one in find(index, "tea")}
    assert all(one.amounts == unfiltered[one.id] for one in found)


def test_many_threads_can_be_asked_for_among_many() -> None:
    index = shelf_of(*(passage(number, "tea", thread=identity(number)) for number in range(60)))
    chosen = {identity(number) for number in range(0, 90, 3)}
    found = find(index, "tea", limit=100, only=PassageFilter(threads=frozenset(chosen)))
    assert sorted(numbers(found)) == list(range(0, 60, 3))


# ── Any sequence of changes ───────────────────────────────────────────────────────────────────────

#: Hashes that differ in their lowest bits alone are among them, and the lowest and highest there
#: are.
HASHES = [0, 1, 2, 3, 2**63, 2**63 + 1, 2**40, 2**64 - 1, term_hash("ann")]
#: Ids with zero bytes at either end are among them.
IDS = [number.to_bytes(16, "big") for number in range(6)] + [
    bytes([n]) + bytes(14) + bytes([n % 2]) for n in range(1, 9)
]

some_terms = st.dictionaries(
    st.sampled_from(HASHES), st.sampled_from([1, 1, 2, 3, 255]), max_size=5
)
some_time = st.none() | st.integers(0, 3)
some_vector = st.lists(st.integers(-3, 3), min_size=4, max_size=4).map(
    lambda numbers: unit(*numbers)
)
some_row = st.builds(
    PassageRow,
    id=st.sampled_from(IDS),
    type=st.sampled_from(["message", "memory", "episode"]),
    kind=st.sampled_from([None, "fact", "note"]),
    status=st.sampled_from([None, "active", "retracted"]),
    thread=st.sampled_from([None, b"one", b"two"]),
    seq=st.just(0),
    at=st.integers(0, 3),
    valid_from=some_time,
    valid_to=some_time,
    terms=some_terms.map(packed),
    vector=st.none() | some_vector.filter(np.any).map(pack_vector),
    facets=st.sampled_from(["", json.dumps(["Ann", "a", None, None, "user", []])]),
    learnt=st.integers(0, 2),
    ended=some_time,
)
some_delta = st.builds(
    ShelfDelta,
    mark=st.just(0),
    whole=st.sampled_from([False] * 9 + [True]),
    rows=st.lists(some_row, max_size=7),
    gone=st.lists(st.sampled_from(IDS), max_size=3),
)
some_question = st.lists(
    st.lists(st.sampled_from(HASHES), min_size=1, max_size=3, unique=True).map(
        lambda hashes: TermGroup(str(hashes), tuple(hashes))
    ),
    max_size=4,
)


def some_choice(
    *values: str | bytes | None,
) -> st.SearchStrategy[frozenset[str | bytes | None] | None]:
    return st.none() | st.frozensets(st.sampled_from(values))


some_filter = st.just(EVERYTHING) | st.builds(
    PassageFilter,
    types=some_choice("message", "memory", "episode"),
    kinds=some_choice(None, "fact", "note", "other"),
    statuses=some_choice(None, "active"),
    threads=some_choice(None, b"one", b"three"),
    since=some_time,
    until=some_time,
    valid_at=some_time,
    known_at=some_time,
)


def after(state: dict[bytes, PassageRow], delta: ShelfDelta) -> dict[bytes, PassageRow]:
    kept = {} if delta.whole else {id: row for id, row in state.items() if id not in delta.gone}
    return kept | {row.id: row for row in delta.rows}


def prefixed(delta: ShelfDelta, mark: int, *, shelf: int) -> ShelfDelta:
    """The same delta with ids that are the shelf's own."""

    def own(id: bytes) -> bytes:
        return id[:8] + bytes([shelf]) + id[9:]

    rows = [
        row._replace(
            id=own(row.id),
            seq=IDS.index(row.id),
            thread=None if row.thread is None else row.thread + bytes(shelf),
        )
        for row in delta.rows
    ]
    return ShelfDelta(mark, delta.whole, rows, [own(id) for id in delta.gone])


@settings(deadline=None, max_examples=200)
@given(
    deltas=st.lists(st.tuples(st.sampled_from([0, 0, 1]), some_delta), max_size=12),
    question=some_question,
    vector=st.none() | some_vector,
    only=some_filter,
    limit=st.integers(1, 12),
)
def test_after_any_changes_it_answers_as_if_built_anew_and_as_the_books_say(
    deltas: list[tuple[int, ShelfDelta]],
    question: list[TermGroup],
    vector: NDArray[np.float32] | None,
    only: PassageFilter,
    limit: int,
) -> None:
    shelves = [ShelfIndex(), ShelfIndex()]
    states: list[dict[bytes, PassageRow]] = [{}, {}]
    for mark, (shelf, delta) in enumerate(deltas, start=1):
        delta = prefixed(delta, mark, shelf=shelf)
        shelves[shelf].apply(delta)
        states[shelf] = after(states[shelf], delta)
    asked = SearchQuestion(question, vector)
    found = search(field_of(shelves), asked, limit=limit, only=only)

    rows = {id: row for state in states for id, row in state.items()}
    assert [shelf.passages for shelf in shelves] == [len(state) for state in states]
    anew = field_of([shelf_of(*rows.values())])
    assert found == search(anew, asked, limit=limit, only=only)

    every = list(rows.values())
    said, parts = plain(every, question, vector), terms(every, question, vector)
    for one in found:
        if question:
            assert words_of(one) == pytest.approx(said[one.id]["words"], abs=1e-4)
        assert (one.cosine or 0.0) == pytest.approx(said[one.id].get("meaning", 0.0), abs=1e-4)
        of_terms = {term: amount for term, amount in parts[one.id].items() if amount}
        assert dict(one.terms(1.0)) == pytest.approx(of_terms, abs=1e-3)
    scores = together(every, question, vector, only)
    assert {one.id: one.score for one in found} == pytest.approx(
        {one.id: scores[one.id] for one in found}, abs=1e-3
    )
    assert found == sorted(found, key=lambda one: (-one.score, -rows[one.id].at, one.id))
    found_ids = {one.id for one in found}
    missed = [score for id, score in scores.items() if id not in found_ids]
    least = found[-1].score if len(found) == limit else 0.0
    assert not missed or max(missed) <= least + 1e-3


def looked_at_closely(monkeypatch: pytest.MonkeyPatch) -> None:
    """Search as in a shelf that is too large to be scored whole."""
    monkeypatch.setattr(searching, "SHORT", 0)
    monkeypatch.setattr(searching, "COMPARED", 0)


@settings(deadline=None, max_examples=100)
@given(
    rows=st.lists(some_row, max_size=14),
    question=some_question,
    vector=st.none() | some_vector,
    only=some_filter,
)
def test_a_close_look_at_few_says_what_a_look_at_all_says(
    rows: list[PassageRow],
    question: list[TermGroup],
    vector: NDArray[np.float32] | None,
    only: PassageFilter,
) -> None:
    field = field_of([shelf_of(*prefixed(ShelfDelta(1, True, rows, ()), 1, shelf=0).rows)])
    asked = SearchQuestion(question, vector)
    whole = search(field, asked, limit=5, only=only)
    with pytest.MonkeyPatch.context() as patch:
        looked_at_closely(patch)
        assert search(field, asked, limit=5, only=only) == whole


def test_a_large_shelf_grown_in_pieces_answers_as_if_built_anew() -> None:
    chance = random.Random(11)

    def row(number: int) -> PassageRow:
        text = " ".join(f"w{int(chance.paretovariate(0.6))}" for _ in range(chance.randint(0, 30)))
        vector = unit(*(chance.gauss(0, 1) for _ in range(8))) if chance.random() < 0.8 else None
        return passage(number, text, thread=identity(number // 7), at=number % 50, vector=vector)

    rows = {number: row(number) for number in range(1500)}
    index = shelf_of(*rows.values())
    for step in range(200):
        fresh = [
            row(number) for number in chance.sample(range(2500), chance.choice([1, 1, 1, 5, 60]))
        ]
        gone = chance.sample(range(2500), chance.choice([0, 1, 10]))
        change(index, fresh, gone)
        rows = {number: row for number, row in rows.items() if number not in gone}
        rows |= {int.from_bytes(row.id, "big"): row for row in fresh}
        if step % 20 == 0:
            anew, question = shelf_of(*rows.values()), "w1 w2|w3 w7 w40 w900|w12 w5"
            vector = unit(*(chance.gauss(0, 1) for _ in range(8)))
            for mode in (Mode.WORDS, Mode.MEANING, Mode.HYBRID):
                found = find(index, question, limit=40, vector=vector, mode=mode)
                assert found == find(anew, question, limit=40, vector=vector, mode=mode)
            assert index.passages == len(rows)


# ── What it costs ─────────────────────────────────────────────────────────────────────────────────


def test_appends_one_by_one_leave_few_segments() -> None:
    index = ShelfIndex()
    most = 0
    for number in range(1000):
        change(index, [passage(number, "tea milk")])
        most = max(most, len(index.segments()))
    assert 1 < most <= 5


def test_memory_is_given_back_when_most_of_a_shelf_has_left() -> None:
    index = shelf_of(*(passage(number, f"tea w{number} x{number}") for number in range(2000)))
    before = index.nbytes
    change(index, gone=range(200, 2000))
    assert 0 < index.nbytes < before / 8
    change(index, gone=range(200))
    assert (index.nbytes, index.passages) == (0, 0)
