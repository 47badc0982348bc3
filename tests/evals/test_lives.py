"""The narrated lives: composed the same every time, long enough, and with an answer to every
question.
"""

from __future__ import annotations

from evals.lives import HELD, OPEN, load_life


def test_a_life_is_the_same_each_time_and_every_question_has_its_note() -> None:
    asked = 0
    for name in (OPEN, HELD):
        life = load_life(name)
        assert load_life(name) == life
        (told,) = life.conversations
        days = [turn.at for turn in told.turns if turn.at is not None]
        assert (days[-1] - days[0]).days > 990 and len(told.turns) > 350
        there = {turn.id: turn.text for turn in told.turns}
        assert all(question.gold <= there.keys() for question in told.questions)
        assert len({question.text for question in told.questions}) == len(told.questions)
        asked += len(told.questions)
    assert asked >= 150


def test_the_two_lives_share_no_sentence_that_answers() -> None:
    told = [{turn.text for turn in load_life(name).conversations[0].turns} for name in (OPEN, HELD)]
    assert told[0].isdisjoint(told[1])
