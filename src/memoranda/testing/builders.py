"""Small builders of what the suites write, and a pen that writes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np

from memoranda.model.changes import Append, Batch, Change, OpenThread, Remember
from memoranda.model.episodes import Episode, Outcome
from memoranda.model.erasure import ErasureReceipt, Target
from memoranda.model.experience import Evidence, ExperienceLine
from memoranda.model.ids import new_id
from memoranda.model.ledger import Actor, Entry, Receipt
from memoranda.model.memories import Memory
from memoranda.model.messages import Message, Thread
from memoranda.model.owner import WHOLE, Audience, Owner, OwnerKind, View
from memoranda.model.passages import PassageRow
from memoranda.model.query import Filter
from memoranda.model.records import Record
from memoranda.model.trust import Limits
from memoranda.model.vectors import Embedding, pack_vector
from memoranda.ports import Engine
from memoranda.text.terms import pack, terms_of

START = datetime(2025, 3, 1, 9, tzinfo=UTC)
ANN = Owner(id="ann")
BEN = Owner(id="ben")
GUIDE = Owner(kind=OwnerKind.AGENT, id="guide")
AT_A = View(agent="a")
AT_B = View(agent="b")
FOR_A = Audience.of_agent("a")
FOR_B = Audience.of_agent("b")
SMALL = Embedding("local", "small", 4)
LARGE = Embedding("remote", "large", 6)
#: As many as a test may need; what is limited is tested with limits of its own.
ROOMY = Limits(writes_per_run=10_000, memories_per_owner=10_000)


def packed(text: str) -> bytes:
    """The terms of a text as passages carry them."""
    return pack(terms_of(text))


def terms_of_record(record: Record) -> bytes | None:
    """The terms of a passage; None for what is none."""
    text = record.passage_text()
    return None if text is None else packed(text)


def vector(embedding: Embedding, seed: int) -> bytes:
    """A vector of unit length, packed; another for another seed."""
    numbers = np.random.default_rng(seed).normal(size=embedding.dimension)
    return pack_vector((numbers / np.linalg.norm(numbers)).astype(np.float32))


def vectors_of(embedding: Embedding, *ids: UUID) -> Mapping[UUID, bytes]:
    """A vector for each id, told by nothing but the id."""
    return {id: vector(embedding, id.int % 2**32) for id in ids}


def a_memory(owner: Owner, content: str, at: datetime = START, **fields: Any) -> Memory:
    """A statement, as the door would bring it."""
    return Memory.model_validate(
        {"id": new_id(), "owner": owner, "content": content, "observed_at": at, **fields}
    )


def a_message(owner: Owner, thread: UUID, content: str, at: datetime = START, **fields: Any) -> Message:
    """A message that a user says, unless it is told otherwise."""
    given = {
        "id": new_id(),
        "owner": owner,
        "thread": thread,
        "content": content,
        "observed_at": at,
        "role": "user",
    }
    return Message.model_validate({**given, **fields})


def a_thread(owner: Owner, at: datetime = START, **fields: Any) -> Thread:
    """A conversation."""
    return Thread.model_validate({"id": new_id(), "owner": owner, "started_at": at, **fields})


def an_episode(owner: Owner, goal: str = "book a table", at: datetime = START, **fields: Any) -> Episode:
    """The record of a run that succeeded."""
    given = {"id": new_id(), "owner": owner, "goal": goal, "outcome": Outcome.SUCCEEDED}
    return Episode.model_validate({**given, "started_at": at, "ended_at": at, **fields})


def a_line(
    owner: Owner,
    line: str,
    evidence: Iterable[tuple[Owner, UUID]] = (),
    *,
    guarded: bool = True,
    **fields: Any,
) -> ExperienceLine:
    """A line of an agent's experience, that passed the guard unless it is told otherwise."""
    at = START if guarded else None
    seen = tuple(Evidence(owner=whose, sources=(id,), guarded_at=at) for whose, id in evidence)
    given = {"id": new_id(), "owner": owner, "field": "heuristics", "line": line, "observed_at": START}
    return ExperienceLine.model_validate({**given, "evidence": seen, **fields})


class Pen:
    """Writes for one owner into one book; its clock moves by a second with every batch."""

    def __init__(
        self, engine: Engine, owner: Owner = ANN, *, view: View = WHOLE, limits: Limits = ROOMY
    ) -> None:
        self.engine = engine
        self.owner = owner
        self.view = view
        self.limits = limits
        self.now = START

    def tick(self, seconds: float = 1.0) -> datetime:
        """Let time pass."""
        self.now += timedelta(seconds=seconds)
        return self.now

    def batch(self, *changes: Change, **fields: Any) -> Batch:
        """A batch of this owner's, to be applied later."""
        actor = Actor("application", "the suite")
        batch = Batch(self.owner, self.view, actor, self.tick(), changes, self.limits)
        return replace(batch, **fields)

    async def write(self, *changes: Change, **fields: Any) -> Receipt:
        """Apply changes at once."""
        return await self.engine.apply(self.batch(*changes, **fields))

    async def open(self, **fields: Any) -> UUID:
        """Begin a thread."""
        return (await self.write(OpenThread(a_thread(self.owner, self.now, **fields)))).id

    def saying(self, thread: UUID, *contents: str, **fields: Any) -> Append:
        """The change that adds messages."""
        messages = tuple(a_message(self.owner, thread, content, self.now, **fields) for content in contents)
        return Append(thread, messages, tuple(packed(message.passage_text()) for message in messages))

    async def say(self, thread: UUID, *contents: str, **fields: Any) -> tuple[UUID, ...]:
        """Add messages to a thread."""
        return (await self.write(self.saying(thread, *contents, **fields))).ids()

    def remembering(
        self, content: str, *, audience: Audience | None = None, run: str | None = None, **fields: Any
    ) -> Remember:
        """The change that keeps a statement."""
        memory = a_memory(self.owner, content, self.now, **fields)
        return Remember(memory, packed(memory.passage_text()), audience, run)

    async def remember(self, content: str, **fields: Any) -> UUID:
        """Keep a statement."""
        return (await self.write(self.remembering(content, **fields))).id

    async def erase(self, *ids: UUID, view: View | None = None) -> ErasureReceipt:
        """Forget some records."""
        target = Target(self.owner, view or self.view, Actor("owner", self.owner.id), ids)
        return await self.engine.erase(target, self.tick())

    async def erase_all(self) -> ErasureReceipt:
        """Forget the owner."""
        target = Target(self.owner, WHOLE, Actor("owner", self.owner.id), everything=True)
        return await self.engine.erase(target, self.tick())

    async def find(self, id: UUID, view: View | None = None) -> Record | None:
        """A record as it stands; None where the view does not see one."""
        return (await self.engine.get(self.owner, view or self.view, [id])).get(id)

    async def read(self, id: UUID) -> Any:
        """A record that must be there, of whichever type."""
        found = await self.find(id)
        assert found is not None, f"{id} is not there"
        return found

    async def scan(self, view: View | None = None, **conditions: Any) -> list[Any]:
        """All records that meet conditions, of whichever types."""
        page = await self.engine.scan(self.owner, view or self.view, Filter(**conditions), None, 10_000)
        return list(page.records)

    async def ledger(self) -> list[Entry]:
        """The owner's whole ledger."""
        return await self.engine.entries(self.owner, 0, 10_000)

    async def era(self) -> UUID:
        """The owner's present era."""
        return (await self.ledger())[0].era


class Follower:
    """Keeps shelves as an index does: it fetches what came since its marks, and lets go of what left."""

    def __init__(self, engine: Engine, owner: Owner = ANN, view: View = WHOLE) -> None:
        self._engine = engine
        self._owner = owner
        self._view = view
        self._marks: dict[int, int] = {}
        self.shelves: dict[Audience, dict[UUID, PassageRow]] = {}
        #: What the last call brought and took, of all shelves.
        self.came: list[UUID] = []
        self.left: list[UUID] = []

    async def follow(self) -> dict[Audience, dict[UUID, PassageRow]]:
        """Bring the shelves up to date."""
        self.came, self.left = [], []
        for shelf, delta in await self._engine.since(self._owner, self._view, self._marks.get):
            held = {} if delta.whole else self.shelves.get(shelf.audience, {})
            for raw in delta.gone:
                held.pop(UUID(bytes=raw), None)
                self.left.append(UUID(bytes=raw))
            for row in delta.rows:
                held[UUID(bytes=row.id)] = row
                self.came.append(UUID(bytes=row.id))
            self.shelves[shelf.audience] = held
            self._marks[shelf.number] = delta.mark
        return self.shelves
