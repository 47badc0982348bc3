"""The operations of the kill proof as plain data, so that an interrupted one can be sent again
unchanged.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from memoranda import Book, Receipt, ThreadHandle
from memoranda.book.input import as_actor, as_view, owner_named
from memoranda.book.message_input import message_of
from memoranda.model.changes import Append, JobDraft, OpenThread
from memoranda.model.ledger import Verb
from memoranda.model.messages import Message, Thread
from memoranda.model.records import Audience, Record
from memoranda.model.values import new_id

OWNERS = ("ann", "ben", "cleo")
AGENT = "helper"
JOB = "proof"

_READERS = Audience.of_agent(AGENT)
_FILLING = "and then they talked about the garden, the weather, a friend's visit and what to cook on Sunday"


@dataclass(frozen=True, slots=True)
class Operation:
    """One requested write; ``id`` is its operation id, and a word in all of its texts."""

    id: str
    owner: str
    verb: str
    arguments: dict[str, Any] = field(default_factory=dict)

    @property
    def texts(self) -> list[str]:
        """Return the texts of its records, in order."""
        return list(self.arguments.get("texts", ()))

    @property
    def has_job(self) -> bool:
        return bool(self.arguments.get("job"))


async def perform(book: Book, operation: Operation) -> Receipt:
    """Send one operation to the book."""
    given = operation.arguments
    owner, id = operation.owner, operation.id
    match operation.verb:
        case "open":
            return await _open(book, operation)
        case "append" if operation.has_job:
            return await _append_with_job(book, operation)
        case "append":
            return await _thread(book, operation).append(_drafts(operation), operation=id)
        case "remember":
            fields = {
                name: given[name] for name in ("key", "sources", "supersedes") if name in given
            }
            return await book.remember(
                owner, operation.texts[0], operation=id, agent=AGENT, **fields
            )
        case "save":
            # The agent's line is stored with the user's memory, or neither.
            return await book.records.save(
                owner,
                memories=[{"content": operation.texts[0]}],
                experience=[{"field": "heuristics", "line": f"lesson {id}"}],
                operation=id,
                agent=AGENT,
            )
        case "supersede":
            return await book.memories.supersede(
                owner, given["loser"], given["winner"], operation=id, agent=AGENT
            )
        case "retract":
            return await book.memories.retract(
                owner, given["id"], reason=id, operation=id, agent=AGENT
            )
        case "put":
            return await book.items.put(
                owner, given["space"], given["name"], given["value"], operation=id, agent=AGENT
            )
        case "delete":
            return await book.items.delete(
                owner, given["space"], given["name"], operation=id, agent=AGENT
            )
        case "undo":
            return await book.undo(
                owner, given["position"], with_dependents=True, operation=id, agent=AGENT
            )
        case "close":
            episode = {
                "goal": operation.texts[0],
                "outcome": "succeeded",
                "tool_calls": [{"tool": "oven", "output": "hot"}],
            }
            return await _thread(book, operation).close(
                result=given["result"], episode=episode, operation=id
            )
        case other:
            raise ValueError(f"no such operation: {other}")


async def _open(book: Book, operation: Operation) -> Receipt:
    name = operation.arguments["name"]
    owner, view = owner_named(operation.owner, book.tenant), as_view({"agent": AGENT})
    now = book.door.clock()
    thread = Thread(
        id=new_id(), owner=owner, name=name, agent=AGENT, audience=_READERS, started_at=now
    )
    request = ["thread", name]
    change = OpenThread(thread)
    return await book.door.write(
        owner, view, as_actor(view), [change], request=request, operation=operation.id
    )


async def _append_with_job(book: Book, operation: Operation) -> Receipt:
    """Append messages together with the job that forms them, in one commit."""
    owner, view = owner_named(operation.owner, book.tenant), as_view({"agent": AGENT})
    thread = UUID(operation.arguments["thread"])
    now = book.door.clock()
    messages = tuple(message_of(draft, owner, thread, now) for draft in _drafts(operation))
    job = JobDraft(
        JOB, operation.id, {"about": operation.id}, tuple(message.id for message in messages)
    )
    return await book.door.write(
        owner,
        view,
        as_actor(view),
        [Append(thread, messages)],
        request=["append", str(thread), _drafts(operation)],
        operation=operation.id,
        jobs=(job,),
    )


def _thread(book: Book, operation: Operation) -> ThreadHandle:
    owner, view = owner_named(operation.owner, book.tenant), as_view({"agent": AGENT})
    return ThreadHandle(book._services, owner, UUID(operation.arguments["thread"]), view, AGENT)


def _drafts(operation: Operation) -> list[dict[str, Any]]:
    return [{"role": "user", "content": text} for text in operation.texts]


@dataclass(slots=True)
class Known:
    """A writer's knowledge of one owner, from which it chooses its next operation."""

    threads: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    memories: list[str] = field(default_factory=list)
    #: Positions of statements and retractions, which can be undone.
    positions: list[int] = field(default_factory=list)

    @classmethod
    async def read(cls, book: Book, owner: str) -> Known:
        known = cls()
        for type_, ids in (("thread", known.threads), ("message", known.messages)):
            page = await book.records.list(
                owner, types=type_, newest_first=True, limit=10, agent=AGENT
            )
            ids.extend(str(record.id) for record in page.records if _usable(record))
        only: Any = {"statuses": "active"}
        page = await book.records.list(
            owner, types="memory", only=only, newest_first=True, limit=20, agent=AGENT
        )
        known.memories.extend(str(record.id) for record in page.records)
        return known

    def learn(self, operation: Operation, receipt: Receipt) -> None:
        """Update this knowledge from a receipt."""
        for item in receipt.items:
            id = str(item.id)
            if item.verb is Verb.OPEN:
                self.threads.append(id)
            elif item.verb is Verb.APPEND:
                self.messages.append(id)
            elif item.verb is Verb.REMEMBER:
                self.memories.append(id)
        if operation.verb in ("remember", "save", "retract", "put", "delete"):
            self.positions.append(receipt.position)

    def choose(self, id: str, owner: str, rng: random.Random) -> Operation:
        """Return the next operation, with this operation id."""
        if not self.threads:
            return Operation(id, owner, "open", {"name": id})
        verb = rng.choices(
            (
                "append",
                "remember",
                "save",
                "supersede",
                "retract",
                "undo",
                "close",
                "put",
                "delete",
            ),
            (8, 6, 2, 1, 1, 2, 1, 3, 1),
        )[0]
        if verb in ("put", "delete"):
            given: dict[str, Any] = {
                "space": rng.choice((["notes"], ["notes", "work"])),
                "name": rng.choice("ab"),
            }
            if verb == "put":
                given["value"] = {"text": _text(id, rng), "n": rng.random()}
            return Operation(id, owner, verb, given)
        if verb == "save":
            return Operation(id, owner, verb, {"texts": [_text(id, rng)]})
        if verb == "append":
            return self._append(id, owner, rng)
        if verb == "supersede" and len(self.memories) > 2:
            loser, winner = rng.sample(self.memories[-12:], 2)
            return Operation(id, owner, verb, {"loser": loser, "winner": winner})
        if verb == "retract" and self.memories:
            return Operation(id, owner, verb, {"id": rng.choice(self.memories)})
        if verb == "undo" and self.positions:
            position = self.positions.pop(rng.randrange(len(self.positions)))
            return Operation(id, owner, verb, {"position": position})
        if verb == "close":
            thread = self.threads.pop(rng.randrange(len(self.threads)))
            return Operation(
                id, owner, verb, {"thread": thread, "result": id, "texts": [_text(id, rng)]}
            )
        return self._remember(id, owner, rng)

    def _append(self, id: str, owner: str, rng: random.Random) -> Operation:
        texts = [_text(id, rng) for _ in range(rng.choice((1, 1, 2, 3, 10)))]
        given = {"thread": rng.choice(self.threads), "texts": texts, "job": rng.random() < 0.3}
        return Operation(id, owner, "append", given)

    def _remember(self, id: str, owner: str, rng: random.Random) -> Operation:
        given: dict[str, Any] = {"texts": [_text(id, rng)]}
        if rng.random() < 0.4:
            given["key"] = rng.choice(("drink", "town", "car"))
        if self.messages and rng.random() < 0.5:
            given["sources"] = rng.sample(self.messages, min(2, len(self.messages)))
        if self.memories and rng.random() < 0.2:
            given["supersedes"] = [rng.choice(self.memories)]
        return Operation(id, owner, "remember", given)


def _usable(record: Record) -> bool:
    return isinstance(record, Message) or getattr(record, "status", "") == "running"


def _text(word: str, rng: random.Random) -> str:
    return f"{word} {_FILLING[: rng.randrange(len(_FILLING))]}".strip()
