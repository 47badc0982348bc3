"""Every pattern of the rules is read in the examples beside it, and forms what they say."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from memoranda.formation.extract.by_rules import formed_by_rules
from memoranda.formation.rules import LANGUAGES, TOPICS
from memoranda.formation.rules.patterns import data, language_of, ways
from memoranda.formation.rules.sentences import mask_quoted, readable_text
from memoranda.model.records import Limits
from tests.formation.readings import talk

#: Lists whose first turn is the assistant's.
ASKED = ("answers", "confirms")


def patterns(code: str) -> Iterator[tuple[str, str, list[str]]]:
    """Yield the patterns of all lists of a language: the list, the pattern, its examples."""
    for given in data(code).values():
        for name, entries in given.items() if isinstance(given, dict) else ():
            if isinstance(entries, list):
                yield from ((name, pattern, examples) for _, (pattern, *examples) in ways(entries))


def held(name: str, said: str) -> list[str]:
    """Return what holds after a talk; "/" stands between its turns."""
    roles = ["assistant"] if name in ASKED else []
    turns = said.split(" / ")
    roles += ["user"] * (len(turns) - len(roles))
    reading = talk(*zip(roles, turns, strict=True))
    return [note.content for note in formed_by_rules(reading, Limits()).notes]


@pytest.mark.parametrize("code", LANGUAGES)
def test_an_example_forms_what_it_says(code: str) -> None:
    wrong = []
    for name, _, examples in patterns(code):
        for said, _, expected in (example.partition(" →") for example in examples):
            found = "; ".join(held(name, said))
            if found != expected.strip():
                wrong.append(f"{name}: {said} → {found} instead of {expected}")
    assert wrong == []


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_pattern_is_read_in_an_example_of_its_own(code: str) -> None:
    language = language_of(code)
    alone = [
        f"{name}: {source}"
        for name, source, examples in patterns(code)
        if not any(
            language.pattern(source, small=small).search(mask_quoted(readable_text(part)))
            for example in examples
            for turn in example.partition(" →")[0].split(" / ")
            for part in (turn, re.split(" ?[?:]", turn)[0])
            for small in (False, True)
        )
    ]
    assert alone == []


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_rule_is_about_something_that_the_book_knows(code: str) -> None:
    language = language_of(code)
    assert {rule.about for rule in language.rules} <= TOPICS.keys()
    assert set().union(*(ending.topics for ending in language.endings)) <= TOPICS.keys()
