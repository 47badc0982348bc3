"""The shelf index against a plain reading of BM25, and against itself built anew."""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.errors import Corrupt
from commonplace.ports import PassageRow, ShelfDelta
from commonplace.recall.index import ShelfIndex, WordScore, search
from commonplace.recall.segments import PassageFilter, Segment
from commonplace.text.terms import TermGroup, pack, term_hash

EVERYTHING = PassageFilter()


def packed(counts: Mapping[int, int]) -> bytes:
    hashes = sorted(counts)
    return struct.pack(f"<{len(hashes)}Q", *hashes) + bytes(counts[number] for number in hashes)


def passage(
    number: int,
    text: str | Mapping[int, int] = "",
    *,
    type: str = "message",
    kind: str | None = None,
    status: str | None = None,
    thread: bytes | None = None,
    at: int = 0,
    valid: tuple[int | None, int | None] = (None, None),
) -> PassageRow:
    terms = pack(text.split()) if isinstance(text, str) else packed(text)
    return PassageRow(identity(number), type, kind, status, thread, 0, at, *valid, terms)


def identity(number: int) -> bytes:
    return number.to_bytes(16, "big")


def words(text: str) -> list[TermGroup]:
    return [TermGroup(word, tuple(term_hash(term) for term in word.split("|"))) for word in text.split()]


def shelf_of(*rows: PassageRow) -> ShelfIndex:
    index = ShelfIndex()
    index.apply(ShelfDelta(1, True, rows, ()))
    return index


def change(index: ShelfIndex, rows: Sequence[PassageRow] = (), gone: Iterable[int] = ()) -> None:
    index.apply(ShelfDelta(index.mark + 1, False, rows, [identity(number) for number in gone]))


def find(
    index: ShelfIndex, question: str, *others: ShelfIndex, limit: int = 10, only: PassageFilter = EVERYTHING
) -> list[WordScore]:
    return search([index, *others], words(question), limit=limit, only=only)


def numbers(found: Sequence[WordScore]) -> list[int]:
    return [int.from_bytes(one.id, "big") for one in found]


def plain_scores(rows: Sequence[PassageRow], question: Sequence[TermGroup]) -> dict[bytes, float]:
    """BM25 as the books write it, one passage and one word after another."""
    held = {}
    for row in rows:
        count = len(row.terms) // 9
        held[row.id] = dict(
            zip(struct.unpack(f"<{count}Q", row.terms[: 8 * count]), row.terms[8 * count :], strict=True)
        )
    if not held:
        return {}
    average = sum(sum(terms.values()) for terms in held.values()) / len(held)
    scores = {}
    for id, terms in held.items():
        score = 0.0
        for group in question:
            holders = sum(any(term in others for term in group.hashes) for others in held.values())
            rarity = math.log(1 + (len(held) - holders + 0.5) / (holders + 0.5))
            if frequency := sum(terms.get(term, 0) for term in group.hashes):
                length = 1 - 0.75 + 0.75 * sum(terms.values()) / average
                score += rarity * frequency * (1.2 + 1) / (frequency + 1.2 * length)
        if score:
            scores[id] = score
    return scores


def admits(only: PassageFilter, row: PassageRow) -> bool:
    return (
        (only.types is None or row.type in only.types)
        and (only.kinds is None or row.kind in only.kinds)
        and (only.statuses is None or row.status in only.statuses)
        and (only.threads is None or row.thread in only.threads)
        and (only.since is None or row.at >= only.since)
        and (only.until is None or row.at < only.until)
        and (only.valid_at is None or row.valid_from is None or row.valid_from <= only.valid_at)
        and (only.valid_at is None or row.valid_to is None or only.valid_at < row.valid_to)
    )


# ── Scores ────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_score_is_bm25_worked_out_by_hand() -> None:
    index = shelf_of(passage(1, "tea tea milk"), passage(2, "tea"), passage(3, "rain and wind too"))
    short, long = find(index, "tea")
    # three passages, 8 terms, so 8/3 on average; two of them hold the word
    rarity = math.log(1 + 1.5 / 2.5)
    assert long.score == pytest.approx(rarity * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 3 / (8 / 3))), abs=1e-12)
    assert short.score == pytest.approx(rarity * 1 * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 1 / (8 / 3))), abs=1e-12)
    assert numbers([short, long]) == [2, 1]


def test_parts_name_the_words_in_the_order_asked_and_add_up_to_the_score() -> None:
    index = shelf_of(passage(1, "milk tea sugar"), passage(2, "tea cup"), passage(3, "rain"))
    found = find(index, "sugar snow tea milk")
    assert [[word for word, _ in one.parts] for one in found] == [["sugar", "tea", "milk"], ["tea"]]
    assert all(sum(share for _, share in one.parts) == one.score for one in found)


def test_a_word_with_alternatives_counts_once_with_all_its_terms() -> None:
    index = shelf_of(passage(1, "run runs"), passage(2, "run run"), passage(3, "runs"), passage(4, "sleep"))
    both, twice, one = find(index, "run|runs|ran")
    assert numbers([both, twice, one]) == [1, 2, 3]
    assert both.score == twice.score
    assert [word for word, _ in both.parts] == ["run|runs|ran"]


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
    assert search([], words("tea"), limit=10, only=EVERYTHING) == []
    assert find(shelf_of(passage(1)), "tea") == []


def test_a_passage_without_terms_counts_in_the_statistics() -> None:
    alone, beside = shelf_of(passage(1, "tea")), shelf_of(passage(1, "tea"), passage(2))
    assert find(beside, "tea")[0].score > find(alone, "tea")[0].score


# ── Visibility ────────────────────────────────────────────────────────────────────────────────────────────


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
        shelf_of(*(passage(number, f"tea w{number}") for number in range(10) if number != 3)), "tea w3 w4"
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
    damaged = PassageRow(identity(2), "message", None, None, None, 0, 0, None, None, b"12345678")
    with pytest.raises(Corrupt, match=identity(2).hex()):
        change(index, [damaged], gone=[1])
    assert (numbers(find(index, "tea")), index.mark) == ([1], 1)


# ── Filters ───────────────────────────────────────────────────────────────────────────────────────────────


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
    unfiltered = {one.id: one for one in find(index, "tea")}
    assert all(one == unfiltered[one.id] for one in found)


def test_many_threads_can_be_asked_for_among_many() -> None:
    index = shelf_of(*(passage(number, "tea", thread=identity(number)) for number in range(60)))
    chosen = {identity(number) for number in range(0, 90, 3)}
    found = find(index, "tea", limit=100, only=PassageFilter(threads=frozenset(chosen)))
    assert sorted(numbers(found)) == list(range(0, 60, 3))


# ── Any sequence of changes ───────────────────────────────────────────────────────────────────────────────

#: Hashes that differ in their lowest bits alone are among them, and the lowest and highest there are.
HASHES = [0, 1, 2, 3, 2**63, 2**63 + 1, 2**40, 2**64 - 1]
#: Ids with zero bytes at either end are among them.
IDS = [number.to_bytes(16, "big") for number in range(6)] + [
    bytes([n]) + bytes(14) + bytes([n % 2]) for n in range(1, 9)
]

some_terms = st.dictionaries(st.sampled_from(HASHES), st.sampled_from([1, 1, 2, 3, 255]), max_size=5)
some_time = st.none() | st.integers(0, 3)
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


def some_choice(*values: str | bytes | None) -> st.SearchStrategy[frozenset[str | bytes | None] | None]:
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
)


def after(state: dict[bytes, PassageRow], delta: ShelfDelta) -> dict[bytes, PassageRow]:
    kept = {} if delta.whole else {id: row for id, row in state.items() if id not in delta.gone}
    return kept | {row.id: row for row in delta.rows}


def prefixed(delta: ShelfDelta, mark: int, *, shelf: int) -> ShelfDelta:
    """The same delta with ids that are the shelf's own."""

    def own(id: bytes) -> bytes:
        return id[:8] + bytes([shelf]) + id[9:]

    rows = [row._replace(id=own(row.id)) for row in delta.rows]
    return ShelfDelta(mark, delta.whole, rows, [own(id) for id in delta.gone])


@settings(deadline=None, max_examples=150)
@given(
    deltas=st.lists(st.tuples(st.sampled_from([0, 0, 1]), some_delta), max_size=12),
    question=some_question,
    only=some_filter,
    limit=st.integers(1, 12),
)
def test_after_any_changes_it_answers_as_if_built_anew_and_as_the_books_say(
    deltas: list[tuple[int, ShelfDelta]], question: list[TermGroup], only: PassageFilter, limit: int
) -> None:
    shelves = [ShelfIndex(), ShelfIndex()]
    states: list[dict[bytes, PassageRow]] = [{}, {}]
    for mark, (shelf, delta) in enumerate(deltas, start=1):
        delta = prefixed(delta, mark, shelf=shelf)
        shelves[shelf].apply(delta)
        states[shelf] = after(states[shelf], delta)
    found = search(shelves, question, limit=limit, only=only)

    rows = {id: row for state in states for id, row in state.items()}
    assert [shelf.passages for shelf in shelves] == [len(state) for state in states]
    assert found == search([shelf_of(*rows.values())], question, limit=limit, only=only)

    scores = {
        id: score
        for id, score in plain_scores(list(rows.values()), question).items()
        if admits(only, rows[id])
    }
    assert len(found) == min(limit, len(scores))
    assert {one.id: one.score for one in found} == pytest.approx(
        {one.id: scores[one.id] for one in found}, abs=1e-9
    )
    assert found == sorted(found, key=lambda one: (-one.score, -rows[one.id].at, one.id))
    missed = [score for id, score in scores.items() if id not in {one.id for one in found}]
    assert not missed or max(missed) <= found[-1].score + 1e-9


def test_a_large_shelf_grown_in_pieces_answers_as_if_built_anew() -> None:
    chance = random.Random(11)

    def row(number: int) -> PassageRow:
        text = " ".join(f"w{int(chance.paretovariate(0.6))}" for _ in range(chance.randint(0, 30)))
        return passage(number, text, thread=identity(number // 7), at=number % 50)

    rows = {number: row(number) for number in range(1500)}
    index = shelf_of(*rows.values())
    for step in range(200):
        fresh = [row(number) for number in chance.sample(range(2500), chance.choice([1, 1, 1, 5, 60]))]
        gone = chance.sample(range(2500), chance.choice([0, 1, 10]))
        change(index, fresh, gone)
        rows = {number: row for number, row in rows.items() if number not in gone}
        rows |= {int.from_bytes(row.id, "big"): row for row in fresh}
        if step % 20 == 0:
            anew, question = shelf_of(*rows.values()), "w1 w2|w3 w7 w40 w900|w12 w5"
            assert find(index, question, limit=40) == find(anew, question, limit=40)
            assert index.passages == len(rows)


# ── What it costs ─────────────────────────────────────────────────────────────────────────────────────────


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


# ── Searching while it changes ────────────────────────────────────────────────────────────────────────────


class Held(ShelfIndex):
    """An index as a search found it when it began."""

    def __init__(self, index: ShelfIndex) -> None:
        super().__init__()
        self._found = index.segments()

    def segments(self) -> tuple[Segment, ...]:
        return self._found


def test_what_a_search_began_with_is_not_altered_by_later_deltas() -> None:
    index = shelf_of(*(passage(number, "tea") for number in range(40)))
    change(index, gone=[39])
    held, before = Held(index), find(index, "tea", limit=40)
    change(index, [passage(1, "milk"), passage(50, "tea")], gone=[2])
    assert find(held, "tea", limit=40) == before
    assert find(index, "tea", limit=40) != before


def test_a_search_in_another_thread_sees_all_of_a_delta_or_nothing() -> None:
    # each delta replaces one pair by another: with half a delta, an answer would be torn
    base = [passage(number, "rain") for number in range(1000, 1040)]
    index = shelf_of(*base, passage(0, "tea"), passage(1, "tea"))
    one_score = find(index, "tea")[0].score
    done = False

    def read() -> list[list[WordScore]]:
        seen = []
        while not done:
            seen.append(find(index, "tea"))
        return seen

    with ThreadPoolExecutor(2) as pool:
        readers = [pool.submit(read) for _ in range(2)]
        try:
            for step in range(1, 300):
                pair = [passage(2 * step, "tea"), passage(2 * step + 1, "tea")]
                change(index, pair, gone=[2 * step - 2, 2 * step - 1])
        finally:
            done = True
    answers = [answer for reader in readers for answer in reader.result()]
    assert answers
    for answer in answers:
        first, second = numbers(answer)
        assert first % 2 == 0
        assert second == first + 1
        assert [one.score for one in answer] == [one_score, one_score]
