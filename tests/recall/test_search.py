"""Tests of search: scorers, their blend, named speakers, times and filters."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

from memoranda.errors import Corrupt
from memoranda.recall.arrays.columns import PassageFilter
from memoranda.recall.index import ShelfIndex, field_of
from memoranda.recall.scoring import search as searching
from memoranda.recall.scoring.ranking import Term
from memoranda.recall.scoring.search import Mode, SearchQuestion, search
from tests.recall.plain import (
    EVERYTHING,
    change,
    find,
    identity,
    numbers,
    passage,
    shelf_of,
    unit,
    words,
)


def facets(
    speaker: str | None = None,
    agent: str | None = None,
    key: str | None = None,
    subject: str | None = None,
    trust: str | None = None,
    tags: tuple[str, ...] = (),
) -> str:
    return json.dumps([speaker, agent, key, subject, trust, tags])


# ── Arms ──────────────────────────────────────────────────────────────────────────────────────────


def test_a_passage_is_found_by_what_was_said_beside_it_in_its_thread() -> None:
    index = shelf_of(
        passage(1, "which tea then", thread=b"a"),
        passage(2, "the green one", thread=b"a"),
        passage(3, "fine", thread=b"a"),
        passage(4, "good night", thread=b"a"),
        passage(5, "the green one", thread=b"b"),
        passage(6, "the green one"),
    )
    found = find(index, "tea")
    assert numbers(found) == [1, 2, 3]
    assert [one.words for one in found[1:]] == [(), ()]
    assert all(dict(one.terms(1.0))["words"] > 0 for one in found)


def test_neighbours_stay_neighbours_however_their_thread_came_in() -> None:
    rows = [
        passage(number, f"w{number} tea", thread=b"a", vector=unit(number, 1, 2))
        for number in range(30)
    ]
    index = ShelfIndex()
    for number in random.Random(3).sample(range(30), 30):
        change(index, [rows[number]])
    change(index, gone=[11, 12, 20])
    left = [row for number, row in enumerate(rows) if number not in {11, 12, 20}]
    vector = unit(1, 0, 0)
    assert find(index, "w10 w21", vector=vector) == find(shelf_of(*left), "w10 w21", vector=vector)
    assert numbers(find(index, "w10", mode=Mode.WORDS)) == [10, 9, 13, 8, 14]


def test_memories_of_a_thread_are_no_neighbours_of_its_messages() -> None:
    index = shelf_of(
        passage(1, "tea", thread=b"a", seq=1),
        passage(2, "milk", type="memory", thread=b"a", seq=0),
        passage(3, "rain", thread=b"a", seq=2),
    )
    assert numbers(find(index, "milk")) == [2]


def test_meaning_finds_what_shares_no_word() -> None:
    index = shelf_of(
        passage(1, "tea", vector=unit(1, 0, 0)),
        passage(2, "rain", vector=unit(0, 1, 0)),
        passage(3, "sun"),
    )
    (first, *_) = find(index, "drizzle", vector=unit(0.1, 1, 0))
    assert numbers([first]) == [2]
    assert first.cosine == pytest.approx(0.995, abs=1e-3)
    assert "words" not in dict(first.terms(1.0))
    assert find(index, "drizzle", vector=unit(0.1, 1, 0), mode=Mode.WORDS) == []


def test_a_vector_of_another_dimension_is_left_alone() -> None:
    index = shelf_of(
        passage(1, "tea", vector=unit(1, 0, 0)), passage(2, "rain", vector=unit(0, 1, 0))
    )
    assert numbers(find(index, "tea", vector=unit(0, 1))) == [1]
    assert find(index, "", vector=unit(0, 1), mode=Mode.MEANING) == []
    change(index, [passage(2, "rain", vector=unit(0, 1))])
    assert numbers(find(index, "", vector=unit(0, 1), mode=Mode.MEANING)) == [2]


def test_one_passage_alone_is_found_by_its_meaning() -> None:
    assert numbers(find(shelf_of(passage(1, "tea", vector=unit(1, 2))), "", vector=unit(1, 1))) == [
        1
    ]


def test_the_newest_come_first_where_only_that_is_asked() -> None:
    index = shelf_of(*(passage(number, "tea", at=number // 2) for number in range(10)))
    assert numbers(find(index, "anything", mode=Mode.RECENT, limit=4)) == [8, 9, 6, 7]


# ── Together ──────────────────────────────────────────────────────────────────────────────────────


def test_what_holds_the_word_is_found_however_far_its_neighbours_are_from_the_question() -> None:
    index = shelf_of(
        passage(1, "rain", thread=b"a", seq=1, vector=unit(-1, 0.1)),
        passage(2, "tea", thread=b"a", seq=2),
        passage(3, "sun", vector=unit(0.01, 1)),
        *(passage(number, "snow", vector=unit(-0.1, 1)) for number in range(4, 9)),
    )
    assert 2 in numbers(find(index, "tea", vector=unit(1, 0)))


def test_what_a_reader_may_not_see_moves_no_score() -> None:
    mine = shelf_of(
        passage(1, "tea milk", vector=unit(1, 2)), passage(2, "rain", vector=unit(2, 1))
    )
    before = find(mine, "tea rain", vector=unit(1, 1))
    shelf_of(*(passage(number, "tea rain", vector=unit(1, 1)) for number in range(3, 50)))
    assert find(mine, "tea rain", vector=unit(1, 1)) == before


def test_a_thread_is_not_continued_by_a_thread_of_another_shelf() -> None:
    one = shelf_of(passage(1, "tea", thread=b"a"), passage(2, "milk", thread=b"a"))
    other = shelf_of(passage(3, "rain", thread=b"b"), passage(4, "sun", thread=b"b"))
    assert numbers(find(one, "rain", other)) == [3, 4]
    assert numbers(find(one, "milk", other)) == [2, 1]


def test_shelves_read_together_are_laid_out_anew_when_one_changes() -> None:
    one, other = shelf_of(passage(1, "tea")), shelf_of(passage(2, "tea"))
    assert numbers(find(one, "tea", other)) == [1, 2]
    change(other, gone=[2])
    assert numbers(find(one, "tea", other)) == [1]
    assert numbers(find(one, "tea")) == [1]


# ── Who and when ──────────────────────────────────────────────────────────────────────────────────


def test_who_is_named_in_the_question_is_heard_first() -> None:
    index = shelf_of(
        passage(1, "bo likes tea", facets=facets("Bo Lind")),
        passage(2, "ana likes tea", facets=facets("Ana Roth")),
        passage(3, "we like tea"),
    )
    found = find(index, "ana tea")
    assert numbers(found)[0] == 2
    named = [Term.SPEAKER in dict(one.terms(1.0)) for one in found]
    assert named == [True, False, False]
    for question in ("tea", "roth tea"):
        assert not any(Term.SPEAKER in dict(one.terms(1.0)) for one in find(index, question))


def test_a_time_that_is_named_counts_like_a_word() -> None:
    index = shelf_of(*(passage(number, "tea", at=number * 10) for number in range(1, 6)))
    asked = SearchQuestion(
        words("tea"), times=(("then", ((30, 40), (50, 60))), ("never", ((900, 901),)))
    )
    found = search(field_of([index]), asked, limit=10, only=EVERYTHING)
    assert numbers(found) == [5, 3, 4, 2, 1]
    assert [word for word, _ in found[0].words] == ["tea", "then"]
    only_then = SearchQuestion((), times=(("then", ((30, 40),)),))
    assert numbers(search(field_of([index]), only_then, limit=10, only=EVERYTHING)) == [3]


# ── Filters ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("only", "expected"),
    [
        (PassageFilter(agents=frozenset({"helper"})), [1, 2]),
        (PassageFilter(keys=frozenset({"drink", "food"})), [2]),
        (PassageFilter(subjects=frozenset({"ana"})), [2]),
        (PassageFilter(trusts=frozenset({"user"})), [1, 3]),
        (PassageFilter(tags=frozenset({"cold", "hot"})), [2, 3]),
        (PassageFilter(tags=frozenset({"hot"}), agents=frozenset({"helper"})), [2]),
        (PassageFilter(tags=frozenset({"none"})), []),
        (PassageFilter(not_statuses=frozenset({"retracted"})), [1, 2, 4]),
        (PassageFilter(known_at=5), [1, 4]),
        (PassageFilter(known_at=8), [1, 2, 4]),
        (PassageFilter(known_at=10), [2, 4]),
    ],
)
def test_a_filter_admits_by_facets_and_by_what_was_known(
    only: PassageFilter, expected: list[int]
) -> None:
    index = shelf_of(
        passage(1, "tea", facets=facets("Ana", "helper", trust="user"), learnt=1, ended=10),
        passage(
            2, "tea", facets=facets(None, "helper", "drink", "ana", "agent", ("hot",)), learnt=7
        ),
        passage(
            3,
            "tea",
            facets=facets(trust="user", tags=("cold", "dry")),
            status="retracted",
            learnt=20,
        ),
        passage(4, "tea"),
    )
    assert sorted(numbers(find(index, "tea", only=only))) == expected


def test_many_distinct_facets_are_filtered_too() -> None:
    index = shelf_of(
        *(passage(number, "tea", facets=facets(key=f"k{number}")) for number in range(60))
    )
    found = find(index, "tea", only=PassageFilter(keys=frozenset({"k7", "k59", "k99"})))
    assert sorted(numbers(found)) == [7, 59]


def test_damaged_facets_are_told() -> None:
    index = shelf_of(passage(1, "tea", facets="[1"))
    with pytest.raises(Corrupt):
        find(index, "tea")


# ── Large shelves ─────────────────────────────────────────────────────────────────────────────────


def large(count: int, chance: random.Random) -> ShelfIndex:
    """Passages in threads over a few themes, each with a vector that leans to its theme."""
    themes = np.random.default_rng(5).normal(size=(60, 64))
    noise = np.random.default_rng(6)

    def row(number: int) -> object:
        theme = number // 9 % 60
        text = " ".join(f"w{int(chance.paretovariate(0.8))}" for _ in range(9)) + f" t{theme}"
        vector = unit(*(themes[theme] + noise.normal(size=64)))
        return passage(number, text, thread=identity(number // 9), at=number % 40, vector=vector)

    return shelf_of(*(row(number) for number in range(count)))  # type: ignore[arg-type]


def test_the_ten_best_of_a_large_shelf_are_found_without_scoring_all_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chance = random.Random(8)
    index = large(5000, chance)
    assert field_of([index]).hole > searching.SHORT and index.passages > searching.COMPARED
    questions = []
    for number in range(40):
        theme = chance.randrange(60)
        vector = unit(
            *(np.random.default_rng(5).normal(size=(60, 64))[theme] + chance.gauss(0, 0.5))
        )
        questions.append((f"t{theme} w{number} w{int(chance.paretovariate(0.8))}", vector))
    quick = [find(index, text, vector=vector) for text, vector in questions]
    monkeypatch.setattr(searching, "SHORT", 10**9)
    exact = [find(index, text, vector=vector) for text, vector in questions]
    same = [
        set(numbers(one)) == set(numbers(other)) for one, other in zip(quick, exact, strict=True)
    ]
    assert sum(same) >= len(same) - 1


def test_a_filter_is_kept_where_few_are_looked_at_closely(monkeypatch: pytest.MonkeyPatch) -> None:
    index = large(3000, random.Random(9))
    only = PassageFilter(since=39)
    monkeypatch.setattr(searching, "COMPARED", 0)
    vector = unit(*np.random.default_rng(5).normal(size=64))
    for mode in (Mode.HYBRID, Mode.WORDS, Mode.MEANING):
        found = find(index, "w1 w2 t5", vector=vector, only=only, mode=mode)
        assert len(found) == 10
        assert all(number % 40 == 39 for number in numbers(found))
