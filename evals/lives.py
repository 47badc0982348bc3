"""Two narrated lives, each of one voice over a thousand days: diary notes composed from
``sets/lives``, and questions.

A file has the sentences that answer (``@`` and the day), the questions after them (``?``, of what
is the case by now ``?u``, of a time ``?t`` with its day, of several days ``?s`` with all of them)
and sentences of every day (``~`` with choices), which the program puts around them. The same file
always gives the same notes. The life ``held`` is opened once, for the final figures.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from evals.corpora import Conversation, Corpus, Question, Turn

FOLDER = Path(__file__).parent / "sets" / "lives"
#: The lives: one to work with, and one for the final figures.
OPEN: Final = "open"
HELD: Final = "held"
_KINDS = {"": "fact", "u": "by now", "t": "time", "s": "several"}
_ASKED = re.compile(r"\?([uts]?) ((?:\d+ )*)(.+)")
_CHOICE = re.compile(r"\{([^}]*)\}")
#: Days between two notes in which nothing is told, and the number of everyday sentences of a note.
_PAUSE, _FEWEST, _MOST = 3, 3, 7
#: An everyday sentence does not return within so many others.
_APART = 12


def load_life(name: str) -> Corpus:
    """Compose a life, and return it with its questions."""
    raw = (FOLDER / f"{name}.txt").read_bytes()
    told: dict[int, str] = {}
    questions: list[Question] = []
    everyday: list[str] = []
    began, day = datetime(2000, 1, 1, tzinfo=UTC), 0
    for line in raw.decode("utf-8").splitlines():
        if line.startswith("begins "):
            began = datetime.fromisoformat(line.removeprefix("begins ")).replace(
                hour=21, tzinfo=UTC
            )
        elif line.startswith("@"):
            number, told_then = line[1:].split(" ", 1)
            day = int(number)
            told[day] = told_then
        elif line.startswith("~ "):
            everyday.append(line[2:])
        elif asked := _ASKED.fullmatch(line):
            days = [int(one) for one in asked[2].split()] or [day]
            assert all(one in told for one in days), line
            questions.append(Question(asked[3], frozenset(map(_id_of, days)), _KINDS[asked[1]]))
    turns = tuple(
        Turn(_id_of(day), day, began + timedelta(days=day), None, "user", text)
        for day, text in _notes(told, everyday, random.Random(name))
    )
    life = Conversation(f"life {name}", turns, tuple(questions))
    return Corpus(f"life.{name}", hashlib.sha256(raw).hexdigest(), (life,), {})


def _id_of(day: int) -> str:
    return f"day {day}"


def _notes(
    told: dict[int, str], everyday: list[str], chance: random.Random
) -> Iterator[tuple[int, str]]:
    """Yield the notes, each with its day: what is told stands among everyday sentences."""
    lately: list[str] = []
    for day in range(max(told) + 1):
        if day not in told and day % _PAUSE:
            continue
        sentences = []
        for _ in range(chance.randint(_FEWEST, _MOST)):
            form = chance.choice([one for one in everyday if one not in lately])
            lately = [*lately, form][-_APART:]
            sentences.append(_CHOICE.sub(lambda found: chance.choice(found[1].split("|")), form))
        if day in told:
            sentences.insert(chance.randint(0, len(sentences)), told[day])
        yield day, " ".join(sentences)
