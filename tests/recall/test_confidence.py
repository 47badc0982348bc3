"""Confidence: the chance that a hit answers, and hits left out below one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from math import nan

import numpy as np
import pytest

import memoranda
from memoranda import Book, InvalidInput
from memoranda.model.query import WhyMissing
from memoranda.recall.scoring.ranking import CURVES, Ranking, clues_of, confidences

TALK = (
    "The spare key of the boat house hangs behind the red lantern",
    "We painted the fence on Sunday and it rained at once",
    "The dentist moved my appointment to the ninth of May",
    "Tomatoes grow better since we changed the soil",
    "The red bicycle needs a new chain before summer",
    "My cousin plays the cello in a small orchestra",
    "The neighbours keep bees and sell honey in autumn",
    "I returned the library books about Norway",
)
ANSWERED, UNANSWERED = (
    "where does the spare key of the boat house hang",
    "which bank gave us the red loan",
)


@pytest.fixture
async def book() -> AsyncIterator[Book]:
    async with memoranda.open("memory://", embed=None) as opened:
        thread = await opened.thread("ana")
        await thread.append([{"role": "user", "content": text} for text in TALK])
        yield opened


async def test_a_question_with_an_answer_is_surer_than_one_without(book: Book) -> None:
    surest = (await book.recall("ana", ANSWERED))[0]
    doubtful = (await book.recall("ana", UNANSWERED))[0]
    assert surest.text == TALK[0]
    assert surest.confidence is not None and doubtful.confidence is not None
    assert 1 > surest.confidence > 0.6 > 0.4 > doubtful.confidence > 0


async def test_hits_below_the_least_confidence_are_left_out_and_explained(book: Book) -> None:
    every = await book.recall("ana", ANSWERED)
    sure = await book.recall("ana", ANSWERED, at_least=0.5, explain=[hit.id for hit in every])
    assert len(every) > 1
    assert [(hit.id, hit.rank, hit.score) for hit in sure] == [(every[0].id, 1, every[0].score)]
    assert {missing.id: missing.because for missing in sure.missing} == {
        hit.id: WhyMissing.UNSURE for hit in every[1:]
    }
    assert "is below at_least 0.5" in sure.missing[0].reason
    assert await book.recall("ana", UNANSWERED, at_least=0.5) == []


async def test_a_least_confidence_of_0_leaves_out_nothing(book: Book) -> None:
    every = await book.recall("ana", ANSWERED)
    assert await book.recall("ana", ANSWERED, at_least=0) == every
    assert await book.recall("ana", ANSWERED, at_least=1) == []


@pytest.mark.parametrize("least", [-0.1, 1.1, nan, True, "0.5"])
async def test_what_is_no_share_is_refused(book: Book, least: float) -> None:
    with pytest.raises(InvalidInput, match="at_least: pass a number from 0 to 1"):
        await book.recall("ana", ANSWERED, at_least=least)


@pytest.mark.parametrize("mode", ["recent", "most_used"])
async def test_modes_that_ignore_the_question_have_no_confidence(book: Book, mode: str) -> None:
    await book.remember("ana", "Plays chess")
    hits = await book.recall("ana", ANSWERED, mode=mode)
    assert hits
    assert {hit.confidence for hit in hits} == {None}
    with pytest.raises(InvalidInput, match=f"at_least: {mode} ignores the question"):
        await book.recall("ana", ANSWERED, mode=mode, at_least=0.1)


async def test_confidence_does_not_depend_on_the_limit(book: Book) -> None:
    few, many = (
        await book.recall("ana", ANSWERED, limit=1),
        await book.recall("ana", ANSWERED, limit=8),
    )
    assert few[0].confidence == many[0].confidence


def _ranking(*scores: float, words: tuple[list[list[float]], list[float]] | None = None) -> Ranking:
    return Ranking(np.array(scores), sorted(scores, reverse=True), words, None)


def test_a_hit_is_compared_with_the_fifth_to_the_tenth_passage() -> None:
    clues = clues_of(_ranking(*(1.0, 0.9, 0.8, 0.7), *(0.5, 0.4), *(0.3,) * 4, *(0.1,) * 9))
    assert clues[0][0] == pytest.approx(1.0 - (0.5 + 0.4 + 4 * 0.3) / 6)
    assert [clue[0] for clue in clues_of(_ranking(1.0, 0.9))] == [1.0, 0.9]
    assert confidences(Ranking(np.zeros(3), (), None, None)) == []


def test_the_first_hits_tell_how_much_of_the_question_was_found() -> None:
    rows = [[0.0] * 3 for _ in range(7)]
    rows[0][0], rows[4][1], rows[6][2] = 1.0, 0.5, 2.0
    clues = clues_of(_ranking(*range(7, 0, -1), words=(rows, [1.0, 1.0, 2.0])))
    assert [clue[3] for clue in clues] == [0.5] * 7
    assert [clue[1] for clue in clues] == pytest.approx([np.log1p(sum(row)) for row in rows])


@pytest.mark.parametrize("there", [(True, True), (True, False), (False, True)])
def test_standing_out_and_a_better_rank_make_surer(there: tuple[bool, bool]) -> None:
    ahead, _, rank, *_ = CURVES[there]
    assert ahead > 0 > rank
