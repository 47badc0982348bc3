"""Searches of a shelf index while deltas change it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from memoranda.model.passages import ShelfDelta
from memoranda.recall.arrays.segments import Segment
from memoranda.recall.index import ShelfIndex
from memoranda.recall.scoring.matches import Match
from tests.recall.plain import (
    change,
    find,
    numbers,
    passage,
    shelf_of,
)


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


def test_changes_that_arrive_late_do_not_take_an_index_back() -> None:
    index = shelf_of(passage(1, "tea"))
    late = ShelfDelta(index.mark + 1, False, [passage(2, "tea")], ())
    index.apply(ShelfDelta(index.mark + 2, False, [passage(2, "milk"), passage(3, "tea")], ()))
    index.apply(late)
    assert sorted(numbers(find(index, "tea"))) == [1, 3]
    assert index.mark == late.mark + 1


def test_a_search_in_another_thread_sees_all_of_a_delta_or_nothing() -> None:
    # each delta replaces one pair by another: with half a delta, an answer would be torn
    base = [passage(number, "rain") for number in range(1000, 1040)]
    index = shelf_of(*base, passage(0, "tea"), passage(1, "tea"))
    one_score = find(index, "tea")[0].amounts
    done = False

    def read() -> list[list[Match]]:
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
        assert [one.amounts for one in answer] == [one_score, one_score]
