"""Races of an erasure with everything that writes for the same owner, and the states that may
result.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

from memoranda import Book
from memoranda.book.nouns.threads import ThreadHandle
from memoranda.embedding import VectorMaker
from memoranda.errors import Erased, NotFound
from memoranda.model import changes as c
from memoranda.model.changes import Job, JobDraft
from memoranda.model.ledger import Actor
from memoranda.model.memories import Memory
from memoranda.model.records import EVERYONE, WHOLE, Owner
from memoranda.model.values import new_id, utc_now
from memoranda.testing.embedder import StubEmbedder
from memoranda.worker import Worker

#: Two models whose vectors take each other's place.
EMBEDDERS = (StubEmbedder("one"), StubEmbedder("two"))
#: The kind of the jobs that write down what was said.
#: A kind of the proof's own: threads put work of theirs by themselves.
FORM = "derive"
#: In how many races all vectors are made anew.
_REEMBEDDING = 0.2
Kind = Literal[
    "forget", "append", "remember", "derive", "both", "import", "work", "drain", "embed", "reembed"
]
Target = Literal["owner", "thread", "messages"]


class Returned(Exception):
    """Forgotten data is there, or other data is missing."""


@dataclass(frozen=True, slots=True)
class Action:
    """One action in a race; it can be sent to another process."""

    kind: Kind
    owner: Owner
    #: What it writes holds this word.
    word: str
    ids: tuple[UUID, ...] = ()
    lines: tuple[str, ...] = ()
    job: Job | None = None
    #: Seconds to wait at the start.
    delay: float = 0.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of an action, and its times."""

    action: Action
    began: float
    ended: float
    #: The error's name; empty where it was acknowledged.
    error: str = ""


async def perform(book: Book, action: Action) -> Outcome:
    """Do the action and return its result; raise errors that no race explains."""
    await asyncio.sleep(action.delay)
    began = time.monotonic()
    error = ""
    try:
        await _do(book, action)
    except (Erased, NotFound) as refused:
        error = type(refused).__name__
    return Outcome(action, began, time.monotonic(), error)


async def _do(book: Book, action: Action) -> Any:
    match action.kind:
        case "forget":
            return await book.forget(
                action.owner, action.ids, everything=not action.ids, as_owner=True
            )
        case "append":
            thread = ThreadHandle(book._services, action.owner, action.ids[0], WHOLE, None)
            return await thread.append("user", f"said {action.word}", operation=action.word)
        case "import":
            return await book.admin.import_(action.lines)
        case "work":
            assert action.job is not None
            return await form(book, action.job)
        case "embed":
            return await book.admin.embed()
        case "reembed":
            # Another model's vectors are made beside those that are read, and then read.
            other = await _other_embedder(book)
            await VectorMaker(book.engine, other).renew()
        case "drain":
            return await Worker(book.engine, {FORM: lambda job: form(book, job)}, utc_now).drain(
                limit=5
            )
        case _:
            return await book.remember(
                action.owner, f"known {action.word}", sources=action.ids, operation=action.word
            )


async def _other_embedder(book: Book) -> StubEmbedder:
    active = (await book.engine.vector_sets())[0].name
    return next(embedder for embedder in EMBEDDERS if embedder.embedding.name != active)


async def form(book: Book, job: Job) -> None:
    """Do a job's work: remember its quote, with its records as sources, in the owner's era of that
    time.
    """
    assert job.owner is not None
    memory = Memory(
        id=new_id(),
        owner=job.owner,
        content=job.payload["text"],
        sources=job.records,
        observed_at=utc_now(),
    )
    await book.door.write(
        job.owner, WHOLE, Actor("system"), [c.Remember(memory, audience=EVERYONE)], request=None, era=job.era,
        operation=f"job {job.id}",
    )  # fmt: skip


@dataclass(slots=True)
class Race:
    """One owner's data before the race, and the part that is forgotten."""

    owner: Owner
    target: Target
    rng: random.Random
    thread: UUID = field(default_factory=new_id)
    said: tuple[UUID, ...] = ()
    base: UUID = field(default_factory=new_id)
    lines: tuple[str, ...] = ()
    leased: Job | None = None
    #: What may be written down by a job that is about nothing in particular.
    free: str = ""
    _made: int = 0

    def word(self, what: str) -> str:
        self._made += 1
        return f"{what}{self._made}x{self.owner.id.replace(' ', '')}"

    async def prepare(self, book: Book) -> None:
        """Write messages, two jobs about them, one of them leased, and an export."""
        handle = await book.thread(self.owner, name="talk")
        self.thread = handle.id
        old = [{"role": "user", "content": f"said {self.word('old')}"} for _ in range(4)]
        self.said = (await handle.append(old, operation="first words")).ids()
        self.base = (await book.remember(self.owner, "the base stays")).id
        await book.remember(self.owner, f"known {self.word('old')}", sources=[self.said[0]])
        for key, about in (("some", self.said[:1]), ("all", ())):
            await self._put(book, key, about)
        await self._put(book, "in hand", self.said[1:2])
        self.leased = await book.engine.lease([f"{FORM} {self.owner.id}"], "slow", utc_now(), 600)
        self.lines = tuple([line async for line in book.admin.export(self.owner)])

    async def _put(self, book: Book, key: str, about: Sequence[UUID]) -> None:
        kind = f"{FORM} {self.owner.id}" if key == "in hand" else FORM
        word = self.word("job")
        self.free = word if not about else self.free
        draft = JobDraft(
            kind=kind, key=key, payload={"text": f"formed {word}"}, records=tuple(about)
        )
        note = c.PatchProfile(new_id(), "Profile", EVERYONE, {key: "x"})
        await book.door.write(
            self.owner, WHOLE, Actor("system"), [note], request=None, jobs=(draft,)
        )

    def actions(self, longest: float) -> list[Action]:
        """Return all actions, the erasure first."""
        ids = {"owner": (), "thread": (self.thread,), "messages": self.said[:2]}[self.target]
        parts: list[tuple[Kind, tuple[UUID, ...]]] = [("append", (self.thread,))] * 3
        parts += [("remember", ())] * 2
        parts += [
            ("derive", (self.said[0],)),
            ("derive", self.said[:2]),
            ("both", (self.said[0], self.base)),
        ]
        found = [Action("forget", self.owner, "", ids, delay=self._delay(longest))]
        found += [
            Action(kind, self.owner, self.word(kind), on, delay=self._delay(longest))
            for kind, on in parts
        ]
        found.append(Action("import", self.owner, "", lines=self.lines, delay=self._delay(longest)))
        found.append(Action("work", self.owner, "", job=self.leased, delay=self._delay(longest)))
        found.append(Action("drain", self.owner, "", delay=self._delay(longest)))
        found += [Action("embed", self.owner, "", delay=self._delay(longest)) for _ in range(2)]
        if self.rng.random() < _REEMBEDDING:
            found.append(Action("reembed", self.owner, "", delay=self._delay(longest)))
        return found

    def late(self) -> list[Action]:
        """Return the actions after the erasure."""
        found = [Action("remember", self.owner, self.word("remember"))]
        found += [Action("append", self.owner, self.word("append"), (self.thread,))]
        return [*found, Action("derive", self.owner, self.word("derive"), self.said[:1])]

    def _delay(self, longest: float) -> float:
        return 0.0 if self.rng.random() < 0.4 else self.rng.uniform(0, longest)

    # ── afterwards ────────────────────────────────────────────────────────────────────────────────

    async def judge(self, book: Book, outcomes: Sequence[Outcome], when: str) -> None:
        """Check that only allowed data is there, and all required data."""
        forgetting = _forgetting(outcomes)
        page = await book.records.list(self.owner, limit=1000, as_owner=True)
        standing = " ".join(record.model_dump_json() for record in page.records)
        may, must = self._expected(outcomes, forgetting)
        for word in must:
            if word not in standing:
                raise Returned(
                    f"{when}: {word} of {self.owner.id} is gone, and only {self.target} was forgotten"
                )
        for part in ("old", "append", "remember", "derive", "both", "job"):
            for word in {w.split('"')[0] for w in standing.split() if w.startswith(part)}:
                if word not in may:
                    raise Returned(
                        f"{when}: {word} of {self.owner.id} stands, though {self.target} was forgotten"
                    )
        self._check_named(standing, when)

    def _check_named(self, standing: str, when: str) -> None:
        gone = {
            "owner": (self.thread, *self.said),
            "thread": (self.thread, *self.said),
            "messages": self.said[:2],
        }
        for id in gone[self.target]:
            if str(id) in standing:
                raise Returned(
                    f"{when}: {id} of {self.owner.id} is named, though {self.target} was forgotten"
                )

    def _expected(
        self, outcomes: Sequence[Outcome], forgetting: Outcome
    ) -> tuple[set[str], set[str]]:
        """Return the words that may be there, and those that must."""
        may: set[str] = set() if self.target == "owner" else {self.free}
        must: set[str] = set()
        for outcome in outcomes:
            kind, word = outcome.action.kind, outcome.action.word
            innocent = kind in ("forget", "remember", "import", "drain", "embed", "reembed")
            if outcome.error and (innocent or (kind == "append" and self.target == "messages")):
                raise Returned(
                    f"{kind} of {self.owner.id} was refused while {self.target} was forgotten: {outcome.error}"
                )
            if outcome.error or kind in (
                "forget",
                "import",
                "work",
                "drain",
                "derive",
                "embed",
                "reembed",
            ):
                continue
            if self.target == "owner":
                if kind == "remember" and outcome.ended > forgetting.began:
                    may.add(word)
                    must |= {word} if outcome.began > forgetting.ended else set()
            elif kind in ("remember", "both") or (kind == "append" and self.target == "messages"):
                may.add(word)
                must.add(word)
        if self.target == "messages":
            may |= {f"old{n}x{self.owner.id.replace(' ', '')}" for n in (3, 4)}
        return may, must

    async def bring_back(self, book: Book, outcomes: Sequence[Outcome]) -> None:
        """Run the waiting jobs, import the old export again, and repeat every operation."""
        await Worker(book.engine, {FORM: lambda job: form(book, job)}, utc_now).drain(limit=20)
        await book.admin.import_(self.lines)
        for outcome in outcomes:
            action = outcome.action
            if action.kind not in ("append", "remember", "derive", "both"):
                continue
            again = await perform(book, action)
            stood = (
                action.word in self._expected(outcomes, _forgetting(outcomes))[0]
                and not outcome.error
            )
            if outcome.error and not again.error and action.kind != "remember":
                raise Returned(
                    f"{action.kind} of {self.owner.id} was refused, and its repetition was not"
                )
            if not outcome.error and not stood and not again.error:
                raise Returned(f"a repetition of {action.kind} of {self.owner.id} was not refused")
        again = await perform(book, Action("work", self.owner, "", job=self.leased))
        if not again.error:
            raise Returned(f"a job of {self.owner.id} about what was forgotten did its work")


def _forgetting(outcomes: Sequence[Outcome]) -> Outcome:
    return next(outcome for outcome in outcomes if outcome.action.kind == "forget")
