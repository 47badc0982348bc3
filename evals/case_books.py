"""The part of a book that belongs to one labelled case; each case has an owner of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from memoranda.door import Door
from memoranda.formation.extract.prompt import Prompt, compose
from memoranda.formation.reconcile.reconciler import CurrentRecords, reconcile
from memoranda.model.changes import NOTHING_EXPECTED, Append, Change, Expect, OpenThread
from memoranda.model.drafts import Formed, Reading, ReadMessage, WantedSchema
from memoranda.model.ledger import Actor
from memoranda.model.memories import Memory
from memoranda.model.messages import Message, Thread
from memoranda.model.query import Filter
from memoranda.model.records import TRUST_OF_ROLE, WHOLE, Limits, Owner, RecordType
from memoranda.ports import Engine
from memoranda_conformance.builders import a_message, a_thread

_ACTOR: Final = Actor("application", "evaluation")


@dataclass(frozen=True, slots=True)
class CaseBook:
    """The part of a book that belongs to the owner of one case."""

    engine: Engine
    owner: Owner
    #: The moment at which the case is formed.
    now: datetime

    async def say(
        self,
        turns: Sequence[Mapping[str, Any]],
        at: datetime,
        *,
        schemas: Sequence[WantedSchema],
        candidates: Sequence[Memory],
    ) -> Reading:
        """Append messages to a new thread, one a minute, and return the data of the prompt."""
        thread = a_thread(self.owner, at)
        said = [
            a_message(
                self.owner,
                thread.id,
                turn["content"],
                at + timedelta(minutes=place),
                role=turn["role"],
                trust=turn.get("trust") or TRUST_OF_ROLE[turn["role"]],
                speaker=turn.get("speaker"),
            )
            for place, turn in enumerate(turns)
        ]
        await self.write(OpenThread(thread))
        await self.write(Append(thread.id, tuple(said)))
        found = await self.engine.get(self.owner, WHOLE, [thread.id, *(one.id for one in said)])
        opened = found[thread.id]
        assert isinstance(opened, Thread)
        messages = [one for id in said if isinstance(one := found[id.id], Message)]
        return Reading(
            thread=opened,
            messages=tuple(ReadMessage(message=one) for one in messages),
            candidates=tuple(candidates),
            schemas=tuple(schemas),
            now=self.now,
        )

    async def form(
        self, reading: Reading, answered: Callable[[Prompt], Formed]
    ) -> tuple[Formed, tuple[str, ...]]:
        """Read an answer and write its changes; return the results, and the codes of parts that
        were left out.
        """
        prompt = compose(reading)
        assert prompt is not None
        formed = answered(prompt)
        found = reconcile(formed, reading, CurrentRecords(memories=reading.candidates))
        if found.changes:
            await self.write(*found.changes, expect=Expect(versions=found.versions))
        return formed, tuple(one.code for one in found.left_out)

    async def memories(self) -> list[Memory]:
        """Return all memories, also those no longer active."""
        asked = Filter(types=frozenset({RecordType.MEMORY}))
        page = await self.engine.scan(self.owner, WHOLE, asked, None, 1_000)
        return [record for record in page.records if isinstance(record, Memory)]

    async def write(self, *changes: Change, expect: Expect = NOTHING_EXPECTED) -> None:
        """Write changes for the owner of the case."""
        door = Door(self.engine, Limits(), lambda: self.now)
        await door.write(self.owner, WHOLE, _ACTOR, changes, request=None, expect=expect)
