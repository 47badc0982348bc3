"""Builders of records for the conformance suites, and a ``Pen`` that writes them into a book."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np

from memoranda.model.changes import Append, Batch, Change, OpenThread, Remember
from memoranda.model.experience_lines import Evidence, ExperienceLine
from memoranda.model.ledger import Actor, Entry, ErasureReceipt, Receipt, Target
from memoranda.model.memories import Memory, searched_text
from memoranda.model.messages import Episode, Message, Outcome, Thread
from memoranda.model.passages import PassageRow
from memoranda.model.query import Filter
from memoranda.model.records import WHOLE, Audience, Limits, Owner, OwnerKind, Record, View
from memoranda.model.values import new_id
from memoranda.model.vectors import Embedding, pack_vector
from memoranda.ports import Engine
from memoranda.storage import export
from memoranda.text.terms import RULE, pack, terms_of

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
#: Limits that no test reaches; limits themselves are tested with others.
ROOMY = Limits(writes_per_run=10_000, memories_per_agent=10_000)


def packed(text: str) -> bytes:
    """Return a text's terms, packed as passages store them."""
    return pack(terms_of(text))


def terms_of_record(record: Record) -> bytes | None:
    """Return the packed search terms of a record; None if it is not a passage."""
    text = searched_text(record)
    return None if text is None else packed(text)


async def exported(engine: Engine, owner: Owner, *, private: bool = False) -> list[dict[str, Any]]:
    """Return the lines of an export that belong to an owner; none if the book does not have the
    owner.
    """
    whole = await engine.owner_pieces(owner)
    return [] if whole is None else list(export.owner_lines(whole, private=private))


async def adopted(
    engine: Engine,
    owner: Owner,
    lines: Sequence[dict[str, Any]],
    terms: export.TermsOf = terms_of_record,
) -> Counter[str] | None:
    """Import a whole owner from the lines of an export; returns counts, or None if the book has the
    owner already.
    """
    dump = export.parse(owner, lines)
    secret = (await engine.whereabouts()).secret
    return dump.counts() if await engine.adopt(secret, dump.pieces(secret, RULE, terms)) else None


def vector(embedding: Embedding, seed: int) -> bytes:
    """Return a packed vector of unit length that depends on the seed."""
    numbers = np.random.default_rng(seed).normal(size=embedding.dimension)
    return pack_vector((numbers / np.linalg.norm(numbers)).astype(np.float32))


def vectors_of(embedding: Embedding, *ids: UUID) -> Mapping[UUID, bytes]:
    """Return a vector for each id that depends on the id only."""
    return {id: vector(embedding, id.int % 2**32) for id in ids}


def a_memory(owner: Owner, content: str, at: datetime = START, **fields: Any) -> Memory:
    """Return a memory, as the door would pass it on."""
    return Memory.model_validate(
        {"id": new_id(), "owner": owner, "content": content, "observed_at": at, **fields}
    )


def a_message(
    owner: Owner, thread: UUID, content: str, at: datetime = START, **fields: Any
) -> Message:
    """Return a message; by default one of a user."""
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
    """Return a thread."""
    return Thread.model_validate({"id": new_id(), "owner": owner, "started_at": at, **fields})


def an_episode(
    owner: Owner, goal: str = "book a table", at: datetime = START, **fields: Any
) -> Episode:
    """Return an episode of a successful run."""
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
    """Return a line (a short lesson) of an agent's experience; by default one that passed the
    privacy check.
    """
    at = START if guarded else None
    seen = tuple(Evidence(owner=whose, sources=(id,), guarded_at=at) for whose, id in evidence)
    given = {
        "id": new_id(),
        "owner": owner,
        "field": "heuristics",
        "line": line,
        "observed_at": START,
    }
    return ExperienceLine.model_validate({**given, "evidence": seen, **fields})


class Pen:
    """Writes for one owner into one book; its clock advances by a second with each batch."""

    def __init__(
        self, engine: Engine, owner: Owner = ANN, *, view: View = WHOLE, limits: Limits = ROOMY
    ) -> None:
        self.engine = engine
        self.owner = owner
        self.view = view
        self.limits = limits
        self.now = START

    def tick(self, seconds: float = 1.0) -> datetime:
        """Advance the clock."""
        self.now += timedelta(seconds=seconds)
        return self.now

    def batch(self, *changes: Change, **fields: Any) -> Batch:
        """Return a batch of this owner, to be applied later."""
        actor = Actor("application", "the suite")
        batch = Batch(self.owner, self.view, actor, self.tick(), changes, self.limits)
        return replace(batch, **fields)

    async def write(self, *changes: Change, **fields: Any) -> Receipt:
        """Apply changes at once."""
        return await self.engine.apply(self.batch(*changes, **fields))

    async def open(self, **fields: Any) -> UUID:
        """Open a thread and return its id."""
        return (await self.write(OpenThread(a_thread(self.owner, self.now, **fields)))).id

    def saying(self, thread: UUID, *contents: str, **fields: Any) -> Append:
        """Return the change that appends messages."""
        messages = tuple(
            a_message(self.owner, thread, content, self.now, **fields) for content in contents
        )
        return Append(
            thread, messages, tuple(packed(message.passage_text()) for message in messages)
        )

    async def say(self, thread: UUID, *contents: str, **fields: Any) -> tuple[UUID, ...]:
        """Append messages to a thread and return their ids."""
        return (await self.write(self.saying(thread, *contents, **fields))).ids()

    def remembering(
        self,
        content: str,
        *,
        audience: Audience | None = None,
        run: str | None = None,
        **fields: Any,
    ) -> Remember:
        """Return the change that stores a statement as a memory."""
        memory = a_memory(self.owner, content, self.now, **fields)
        return Remember(memory, packed(searched_text(memory) or ""), audience, run)

    async def remember(self, content: str, **fields: Any) -> UUID:
        """Store a statement as a memory and return its id."""
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
        """Return the current record; None if the view sees no such record."""
        return (await self.engine.get(self.owner, view or self.view, [id])).get(id)

    async def read(self, id: UUID) -> Any:
        """Return a record of any type; fail if it does not exist."""
        found = await self.find(id)
        assert found is not None, f"{id} is not there"
        return found

    async def scan(self, view: View | None = None, **conditions: Any) -> list[Any]:
        """Return all records that meet the conditions."""
        page = await self.engine.scan(
            self.owner, view or self.view, Filter(**conditions), None, 10_000
        )
        return list(page.records)

    async def ledger(self) -> list[Entry]:
        """Return the owner's whole ledger."""
        return await self.engine.entries(self.owner, 0, 10_000)

    async def era(self) -> UUID:
        """Return the owner's current era (the owner's life since the last whole erasure)."""
        return (await self.ledger())[0].era


class Follower:
    """Follows shelves as recall's index does: reads the changes since the last call, and drops
    removed passages.
    """

    def __init__(self, engine: Engine, owner: Owner = ANN, view: View = WHOLE) -> None:
        self._engine = engine
        self._owner = owner
        self._view = view
        self._marks: dict[int, int] = {}
        self.shelves: dict[Audience, dict[UUID, PassageRow]] = {}
        #: The passages that the last call added and removed, of all shelves.
        self.came: list[UUID] = []
        self.left: list[UUID] = []

    async def follow(self) -> dict[Audience, dict[UUID, PassageRow]]:
        """Read the changes of the shelves since the last call; return the passages by audience."""
        self.came, self.left = [], []
        for shelf, delta in await self._engine.since(self._owner, self._view, self._marks.get):
            passages = {} if delta.whole else self.shelves.get(shelf.audience, {})
            for raw in delta.gone:
                passages.pop(UUID(bytes=raw), None)
                self.left.append(UUID(bytes=raw))
            for row in delta.rows:
                passages[UUID(bytes=row.id)] = row
                self.came.append(UUID(bytes=row.id))
            self.shelves[shelf.audience] = passages
            self._marks[shelf.number] = delta.mark
        return self.shelves
