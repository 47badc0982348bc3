"""Pairs of statements: gives a book both, and reports if the first one is still active after the second is formed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from evals.scripted import WAYS, Way, answer, spoken
from memoranda.door import Door
from memoranda.formation.extract.by_model import read_answer
from memoranda.formation.extract.by_rules import formed_by_rules
from memoranda.formation.extract.prompt import Prompt, compose
from memoranda.formation.reconcile.reconciler import CurrentRecords, reconcile
from memoranda.formation.schemas.definitions import NOTE
from memoranda.model.changes import NOTHING_EXPECTED, Append, Change, Expect, OpenThread
from memoranda.model.drafts import Formed, Reading, ReadMessage, WantedSchema
from memoranda.model.ledger import Actor
from memoranda.model.memories import Memory
from memoranda.model.messages import Message, Thread
from memoranda.model.query import Filter
from memoranda.model.records import WHOLE, Limits, Owner, RecordType
from memoranda.ports import Engine
from memoranda.testing.builders import a_message, a_thread

#: Outcomes that a label may name as right.
EXPECTED: Final = ("keep-both", "confirm", "supersede", "retract-old")
#: The column without any model.
RULES: Final = "rules"
#: Outcomes that are wrong.
FAULTS: Final = ("wrong_retirements", "missed_retirements", "wrong_merges", "missed_duplicates", "not_noted")
_FIRST: Final = datetime(2026, 3, 2, 9, tzinfo=UTC)
_SECOND: Final = _FIRST + timedelta(days=30)
_NOW: Final = _SECOND + timedelta(minutes=1)
_ACTOR: Final = Actor("application", "evaluation")
_NOTES: Final = WantedSchema(
    name=NOTE.name,
    description=NOTE.description,
    parameters=dict(NOTE.parameters),
    update_mode=NOTE.update_mode,
    instructions=NOTE.instructions,
)


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


@dataclass(slots=True)
class _Pair:
    """One pair in a book of many; it has an owner of its own."""

    door: Door
    engine: Engine
    owner: Owner
    told: list[str] = field(default_factory=list)

    async def say(self, content: str, at: datetime) -> Reading:
        """Append one message in a conversation of its own, and gather it with all active memories."""
        thread = a_thread(self.owner, at)
        await self._write(OpenThread(thread))
        said = a_message(self.owner, thread.id, content, at)
        await self._write(Append(thread.id, (said,)))
        found = await self.engine.get(self.owner, WHOLE, [thread.id, said.id])
        message, opened = found[said.id], found[thread.id]
        assert isinstance(message, Message) and isinstance(opened, Thread)
        return Reading(
            thread=opened,
            messages=(ReadMessage(message=message),),
            candidates=tuple(memory for memory in await self.memories() if memory.active),
            schemas=(_NOTES,),
            now=_NOW,
        )

    async def form(self, reading: Reading, form: Callable[[Prompt], Formed]) -> None:
        """Form notes, reconcile them with the current memories, and write the changes."""
        prompt = compose(reading)
        assert prompt is not None
        formed = form(prompt)
        found = reconcile(formed, reading, CurrentRecords(memories=reading.candidates))
        self.told += [one.code for one in found.left_out]
        if found.changes:
            await self._write(*found.changes, expect=Expect(versions=found.versions))

    async def say_first(self, way: Way | None, item: Mapping[str, Any]) -> None:
        """Give the first statement to the book; if rules do not understand it, the scripted model stores it."""
        reading = await self.say(spoken(item["old"]["content"]), _FIRST)
        await self.form(reading, lambda prompt: _formed(way, item, "old", prompt))
        if way is None and not await self.memories():
            await self.form(reading, lambda prompt: _formed(WAYS[0], item, "old", prompt))

    async def memories(self) -> list[Memory]:
        """Return all memories, also those no longer active."""
        asked = Filter(types=frozenset({RecordType.MEMORY}))
        page = await self.engine.scan(self.owner, WHOLE, asked, None, 1_000)
        return [record for record in page.records if isinstance(record, Memory)]

    async def _write(self, *changes: Change, expect: Expect = NOTHING_EXPECTED) -> None:
        await self.door.write(self.owner, WHOLE, _ACTOR, changes, request=None, expect=expect)


async def judge(item: Mapping[str, Any], column: str, engine: Engine) -> Outcome:
    """Give a pair's first statement to the book, then the second, and read the active memories."""
    way = next((way for way in WAYS if way.name == column), None)
    pair = _Pair(Door(engine, Limits(), lambda: _NOW), engine, Owner(id=item["id"]))
    await pair.say_first(way, item)
    before = {memory.id for memory in await pair.memories()}
    if not before:
        raise ValueError(f"{item['id']}: its first statement cannot be noted: {', '.join(pair.told)}")
    pair.told.clear()
    item, which = (_twice(item), "old") if way is not None and way.again else (item, "new")
    reading = await pair.say(spoken(item[which]["content"]), _SECOND)
    await pair.form(reading, lambda prompt: _formed(way, item, which, prompt))
    return _outcome(item, await pair.memories(), before, reading.messages[0].message.id, pair.told)


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
    item: Mapping[str, Any], memories: Iterable[Memory], before: set[UUID], said: UUID, told: Iterable[str]
) -> Outcome:
    first = [memory for memory in memories if memory.id in before]
    return Outcome(
        id=item["id"],
        relation=item["relation"],
        expect=item["expect"],
        kept=all(memory.active for memory in first),
        again=any(said in memory.sources for memory in first),
        made=sum(memory.active and memory.id not in before for memory in memories),
        told=tuple(told),
    )
