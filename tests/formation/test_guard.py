"""Tests of the privacy guard: it stops lines that could identify a user, in any disguise, and
passes useful ones.
"""

from __future__ import annotations

from typing import Any

import pytest

from memoranda.engines.inmemory import InMemoryEngine
from memoranda.formation.privacy.distinctive import features_of
from memoranda.formation.privacy.line_checks import PrivacyGuard
from memoranda.formation.privacy.numerals import numbers
from memoranda.model.changes import AddEvidence, AddExperience, PatchProfile, RecordEpisode
from memoranda.model.experience_lines import Evidence
from memoranda.model.records import EVERYONE
from memoranda.model.values import new_id
from memoranda_conformance.builders import ANN, BEN, GUIDE, START, Pen, a_line, an_episode
from tests.formation.guarded_lines import (
    HARMLESS,
    IDENTIFYING,
    MEMORIES,
    PROFILE,
    SAID,
    TRADE_HARMLESS,
    TRADE_IDENTIFYING,
    TRADE_SAID,
)


async def known(engine: Any) -> PrivacyGuard:
    pen = Pen(engine)
    thread = await pen.open(title="Trip to Ullapool")
    await pen.say(thread, *SAID)
    for content, subject in MEMORIES:
        await pen.remember(content, subject=subject)
    await pen.write(PatchProfile(new_id(), "Profile", EVERYONE, PROFILE, pin=True))
    return PrivacyGuard(engine)


def test_there_are_lines_enough_of_both_sorts():
    assert len(set(IDENTIFYING)) == len(IDENTIFYING) >= 60
    assert len(set(HARMLESS)) == len(HARMLESS) >= 30


@pytest.mark.parametrize("line", IDENTIFYING)
async def test_a_line_that_tells_of_a_user_does_not_pass(line):
    assert not await (await known(InMemoryEngine())).passes(line, ANN)


@pytest.mark.parametrize("line", HARMLESS)
async def test_a_line_that_tells_nothing_of_a_user_passes(line):
    assert await (await known(InMemoryEngine())).passes(line, ANN)


async def of_the_trade() -> PrivacyGuard:
    engine = InMemoryEngine()
    pen = Pen(engine)
    await pen.say(await pen.open(title="The export is slow"), *TRADE_SAID)
    return PrivacyGuard(engine)


@pytest.mark.parametrize("line", TRADE_HARMLESS)
async def test_a_lesson_in_the_words_of_the_trade_passes_though_the_user_used_them(line):
    assert await (await of_the_trade()).passes(line, ANN)


@pytest.mark.parametrize("line", TRADE_IDENTIFYING)
async def test_a_name_or_a_number_does_not_pass_among_words_of_the_trade(line):
    assert not await (await of_the_trade()).passes(line, ANN)


async def test_a_name_is_a_users_own_and_nothing_to_one_who_never_had_it():
    guard = await known(InMemoryEngine())
    assert await guard.passes("Users from Regensburg want trains.", BEN)
    assert await guard.check_lines(["Ullapool is far.", "Keep it short."], ANN) == [False, True]
    assert await guard.check_lines(["Ullapool is far.", "ask ben"], BEN) == [True, False]


async def test_what_a_user_has_superseded_or_done_is_found_too():
    engine = InMemoryEngine()
    pen, guard = Pen(engine), PrivacyGuard(engine)
    await pen.remember("Lives in Inverness", key="home")
    await pen.remember("Lives in Oban", key="home")
    await pen.remember("Has a vehicle", data={"plate": "ZK81 TTR", "paid": 8450})
    await pen.write(
        RecordEpisode(an_episode(ANN, "Repaired the Broomfield pump", tags=("stornoway",)))
    )
    lines = [
        "Inverness is far.",
        "Plates like ZK81 TTR.",
        "It costs 8450.",
        "Broomfield!",
        "ask stornoway people",
    ]
    assert await guard.check_lines([*lines, "Pumps break."], ANN) == [
        False,
        False,
        False,
        False,
        False,
        True,
    ]


async def test_a_user_of_whom_not_everything_could_be_read_passes_nothing():
    engine = InMemoryEngine()
    await known(engine)
    assert not await PrivacyGuard(engine, most_records=3).passes("Keep answers short.", ANN)
    assert not await PrivacyGuard(engine, most_characters=100).passes("Keep answers short.", ANN)
    assert not await PrivacyGuard(engine).passes("Keep answers short. " * 200, ANN)


async def test_each_users_part_of_a_line_is_answered_by_itself():
    engine = InMemoryEngine()
    guard = await known(engine)
    fine, telling = (
        a_line(GUIDE, "Keep it short.", [(ANN, new_id())], guarded=False),
        "Ask in Regensburg.",
    )
    shared = a_line(GUIDE, telling, [(BEN, new_id()), (ANN, new_id())])
    more = AddEvidence(fine.id, Evidence(owner=BEN, sources=(new_id(),)))
    lost = AddEvidence(new_id(), Evidence(owner=BEN, sources=(new_id(),), guarded_at=START))
    first, second, third, fourth = await guard.with_results(
        [AddExperience(fine), AddExperience(shared), more, lost], [fine], START
    )
    assert isinstance(first, AddExperience) and isinstance(second, AddExperience)
    assert isinstance(third, AddEvidence) and isinstance(fourth, AddEvidence)
    assert first.line.guarded and third.evidence.guarded_at == START
    assert [part.guarded_at for part in second.line.evidence] == [START, None]
    assert fourth.evidence.guarded_at is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("room 12, floor 3", {"12"}),
        ("555-0142", {"555", "0142", "5550142"}),
        ("forty-two", {"42"}),
        ("nineteen eighty four", {"1984"}),
        ("one hundred and twenty", {"120"}),
        ("einundzwanzig", {"21"}),
        ("veintidós", {"22"}),
        ("四十二", {"42"}),
        ("٤٢", {"42"}),
        ("one two", {"12"}),
        ("just one", set()),
    ],
)
def test_numbers_are_read_however_they_are_written(text, found):
    assert found <= numbers(text)
    assert found or not numbers(text)


@pytest.mark.parametrize(
    "line",
    ["", "\u200b", "'" * 500, "A." * 900, "１" * 900, "田" * 900, "\u0301" * 900, "a b " * 400],
)
def test_nothing_in_a_line_is_too_much_for_it(line):
    assert features_of(line).words is not None
