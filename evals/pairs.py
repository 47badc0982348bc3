"""Pairs of statements: gives a book both, and reports if the first one is still active after the
second is formed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from evals.case_books import CaseBook
from evals.scripted import WAYS, Way, answer, spoken
from memoranda.formation.extract.by_model import read_answer
from memoranda.formation.extract.by_rules import formed_by_rules
from memoranda.formation.extract.prompt import Prompt
from memoranda.formation.schemas.definitions import NOTE
from memoranda.formation.schemas.request_schemas import wanted
from memoranda.model.drafts import Formed, Reading
from memoranda.model.memories import Memory
from memoranda.model.records import Limits, Owner
from memoranda.ports import Engine

#: Outcomes that a label may name as right.
EXPECTED: Final = ("keep-both", "confirm", "supersede", "retract-old")
#: The column without any model.
RULES: Final = "rules"
#: Outcomes that are wrong.
FAULTS: Final = (
    "wrong_retirements",
    "missed_retirements",
    "wrong_merges",
    "missed_duplicates",
    "not_noted",
)
_FIRST: Final = datetime(2026, 3, 2, 9, tzinfo=UTC)
_SECOND: Final = _FIRST + timedelta(days=30)
_NOW: Final = _SECOND + timedelta(minutes=1)
_NOTES: Final = wanted(NOTE)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one pair under one column."""

    id: str
    relation: str
    #: The right outcome: keep-both, confirm, supersede or retract-old.
    expect: str
    #: True if all memories of the first statement are still active.
    kept: bool
    #: True if the second message became a source of the first statement's memory.
    again: bool
    #: Active memories made from the second message.
    made: int
    #: Codes of notes that were left out.
    told: tuple[str, ...] = ()

    @property
    def stays(self) -> bool:
        """Return True if the first statement is still true."""
        return self.expect in {"keep-both", "confirm"}

    @property
    def faults(self) -> frozenset[str]:
        """Return everything that went wrong with it."""
        twice = self.expect == "confirm"
        wrong = {
            "wrong_retirements": self.stays and not self.kept,
            "missed_retirements": not self.stays and self.kept,
            "wrong_merges": not twice and self.again,
            "missed_duplicates": twice and not (self.kept and self.again and not self.made),
            "not_noted": self.expect in {"keep-both", "supersede"} and not self.made,
        }
        return frozenset(name for name in FAULTS if wrong[name])


async def judge(item: Mapping[str, Any], column: str, engine: Engine) -> Outcome:
    """Give a pair's first statement to the book, then the second, and read the active memories."""
    way = next((way for way in WAYS if way.name == column), None)
    book = CaseBook(engine, Owner(id=item["id"]), _NOW)
    reading = await _said(book, item["old"]["content"], _FIRST)
    codes = await _form(book, reading, way, item, "old")
    if way is None and not await book.memories():
        # If rules do not understand the first statement, the scripted model stores it.
        codes += await _form(book, reading, WAYS[0], item, "old")
    before = {memory.id for memory in await book.memories()}
    if not before:
        raise ValueError(f"{item['id']}: its first statement cannot be noted: {', '.join(codes)}")
    item, which = (_twice(item), "old") if way is not None and way.again else (item, "new")
    reading = await _said(book, item[which]["content"], _SECOND)
    codes = await _form(book, reading, way, item, which)
    return _outcome(item, await book.memories(), before, reading.messages[0].message.id, codes)


async def _said(book: CaseBook, content: str, at: datetime) -> Reading:
    known = [memory for memory in await book.memories() if memory.active]
    turn = {"role": "user", "content": spoken(content)}
    return await book.say([turn], at, schemas=[_NOTES], candidates=known)


async def _form(
    book: CaseBook, reading: Reading, way: Way | None, item: Mapping[str, Any], which: str
) -> tuple[str, ...]:
    return (await book.form(reading, lambda prompt: _formed(way, item, which, prompt)))[1]


def _formed(way: Way | None, item: Mapping[str, Any], which: str, prompt: Prompt) -> Formed:
    """Return the notes of the scripted model, or of the rules if there is no model."""
    if way is None:
        return formed_by_rules(prompt.reading, Limits())
    return read_answer(answer(way, item, which, prompt), prompt)


def _twice(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return the pair of a statement with itself: one memory, unless the statement recurs."""
    expect = "keep-both" if item["relation"] == "recurring" else "confirm"
    return {**item, "new": item["old"], "expect": expect}


def _outcome(
    item: Mapping[str, Any],
    memories: Iterable[Memory],
    before: set[UUID],
    said: UUID,
    codes: Iterable[str],
) -> Outcome:
    first = [memory for memory in memories if memory.id in before]
    return Outcome(
        id=item["id"],
        relation=item["relation"],
        expect=item["expect"],
        kept=all(memory.active for memory in first),
        again=any(said in memory.sources for memory in first),
        made=sum(memory.active and memory.id not in before for memory in memories),
        told=tuple(codes),
    )
