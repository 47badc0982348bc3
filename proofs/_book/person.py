"""A person's data in a book, with a canary in every field of every type of record, in parts to be
forgotten.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

from memoranda import Book
from memoranda.model import changes as c
from memoranda.model.changes import JobDraft
from memoranda.model.ledger import Actor, Receipt
from memoranda.model.memories import Cited, Memory
from memoranda.model.messages import SummariseThread
from memoranda.model.records import WHOLE, Audience, Owner, View
from memoranda.model.redactions import Redaction
from memoranda.model.values import Span, new_id
from proofs._book.paid import keep_answer, pay
from proofs._book.redacting import write_documents, write_gone_items, write_items
from proofs._book.scanning import Marks

#: Sizes of what is said, in characters: within a page, around one, and over many.
SIZES = (20, 300, 4_000, 5_000, 12_000)
LARGEST = 100_000
#: What is forgotten, one after the other: by the person, but for what an agent forgets of its own.
PARTS = ("memory", "agent", "words", "messages", "thread", "owner")
#: Kinds of job that the proof's own worker does.
FORM = "derive"
#: When work is due that is not given up at once.
LATER_SECONDS = 3600.0


class Moving:
    """A clock that advances a little with every reading."""

    def __init__(self) -> None:
        self._now = datetime(2025, 5, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        self._now += timedelta(milliseconds=250)
        return self._now

    def skip(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)


@dataclass(slots=True)
class Part:
    """A part of the data that will be forgotten."""

    name: str
    #: What is named when it is forgotten.
    ids: list[UUID] = field(default_factory=list)
    #: What rests on it alone, and goes with it, of whichever owner.
    derived: list[UUID] = field(default_factory=list)
    #: What rests on it and on something else, and stays without it.
    kept: list[UUID] = field(default_factory=list)
    #: Operation ids whose every record goes, with what was asked.
    operations: list[tuple[str, Any]] = field(default_factory=list)
    #: Words of records that stay: what is taken out, and the text and native form, or the data,
    #: that must be left.
    redactions: list[Redaction] = field(default_factory=list)
    left: dict[UUID, Any] = field(default_factory=dict)
    #: Hidden first, and erased when that is finished.
    hidden: bool = False
    #: The position of the operation that hid them.
    position: int = 0
    #: Writes of records that stay, to be repeated under their operation ids.
    repeats: list[Callable[[], Awaitable[Receipt]]] = field(default_factory=list)


class Person:
    """A writer of one owner's data, and of a neighbour's that stays."""

    def __init__(
        self, book: Book, marks: Marks, rng: random.Random, clock: Moving, rows: int
    ) -> None:
        self.book = book
        self.marks = marks
        self.rng = rng
        self.clock = clock
        #: Small rows among others that grow; the more, the likelier is it that a page keeps an old
        #: copy of one.
        self._rows = rows
        self.owner = Owner(id=marks.name("owner"))
        self.neighbour = Owner(id="ben")
        self.agent = f"agent {marks('owner agent')}"
        self.group = f"group {marks('owner group')}"
        self.view = View(agent=self.agent, groups=(self.group,))
        self.parts = {name: Part(name) for name in PARTS}
        #: A memory of the person and one of the neighbour that outlive the first three parts.
        self.standing: UUID = UUID(int=0)
        self.next_door: UUID = UUID(int=0)
        self._pushing: tuple[UUID, ...] = ()

    def text(self, label: str, size: int = 60) -> str:
        """Return a text of about this size, full of one canary."""
        word = self.marks(label)
        return " ".join([word] * max(1, size // (len(word) + 1)))

    async def live(self) -> None:
        """Write everything, while other rows grow and disappear in between."""
        await self._ground()
        await self._among_others()
        for write in (
            self._memory,
            self._agents,
            self._words,
            self._messages,
            self._thread,
            self._rest,
        ):
            await write()
        await self._wear()

    async def _ground(self) -> None:
        book = self.book
        self.next_door = (await book.remember(self.neighbour, "Ben tends the garden.")).id
        self.standing = (await book.remember(self.owner, self.text("owner memory.content", 900))).id
        self.talk = await book.thread(
            self.owner, name="talk", agent=self.agent, groups=[self.group]
        )

    # ── (a) a memory ──────────────────────────────────────────────────────────────────────────────

    async def _memory(self) -> None:
        part, mark = self.parts["memory"], self.marks
        statement: dict[str, Any] = {
            "content": self.text("memory content", 700), "key": mark("memory key"), "subject": mark("memory subject"),
            "applies_when": self.text("memory applies_when", 5000), "data": {mark("memory data key"): mark("memory data")},
            "tags": [mark("memory tag")],
        }  # fmt: skip
        operation = mark("memory operation")
        made = await self.remember_again(operation, **statement)
        part.ids.append(made.id)
        part.operations.append((operation, statement))
        await self.book.memories.amend(
            self.owner, made.id, {"tags": [mark("memory tag before")]}, as_owner=True
        )
        await self.book.memories.amend(self.owner, made.id, {"tags": []}, as_owner=True)
        alone = await self.remember_again(
            None, content=self.text("memory derived"), sources=[made.id]
        )
        shared = await self.remember_again(
            None, content="It rests on more than one.", sources=[made.id, self.standing]
        )
        part.derived.append(alone.id)
        part.kept.append(shared.id)
        part.ids += await write_gone_items(self, "memory")
        await self.book.memories.retract(
            self.owner, alone.id, reason=self.text("memory reason"), as_owner=True
        )
        await self._experience(part, made.id)
        await self._job(part, made.id, dead=True)
        await self.book.memories.mark_used(self.owner, [made.id], as_owner=True)
        await self._profile(part)

    async def remember_again(self, operation: str | None, **statement: Any) -> Receipt:
        return await self.book.remember(
            self.owner,
            operation=operation,
            audience="global",
            agent=self.agent,
            groups=[self.group],
            **statement,
        )

    async def _experience(self, part: Part, lesson: UUID) -> None:
        """Write one line that was learnt from the person alone, and one that was also learnt from
        the neighbour.
        """
        learnt = await self.book.experience.add(
            "guide",
            "heuristics",
            self.text(f"{part.name} experience"),
            evidence={self.owner.id: [lesson]},
        )
        also = await self.book.experience.add(
            "guide", "known_pitfalls", "Gardens need water.",
            evidence={self.owner.id: [lesson], self.neighbour.id: [self.next_door]},
        )  # fmt: skip
        part.derived.append(learnt.id)
        part.kept.append(also.id)

    async def _job(self, part: Part, about: UUID, *, dead: bool = False) -> None:
        """Add a job about a record; it waits, or is dead with an error that quotes the record."""
        draft = JobDraft(
            kind=FORM, key=str(about), payload={"text": self.text(f"{part.name} job payload", 3000)}, records=(about,),
            delay=0.0 if dead else LATER_SECONDS,
        )  # fmt: skip
        await self._note(draft)
        await keep_answer(self.book, self.clock(), about, self.text(f"{part.name} job kept", 3000))
        if dead:
            leased = await self.book.engine.lease([FORM], "w", self.clock(), 60)
            assert leased is not None and leased.records == (about,)
            await self.book.engine.fail(
                leased, self.text(f"{part.name} job error"), self.clock(), None
            )

    async def _profile(self, part: Part) -> None:
        """Write a profile with a pinned field that an agent tried to change; the ledger names the
        field.
        """
        field, schema = self.marks(f"{part.name} profile field"), self.marks(f"{part.name} schema")
        fields = {field: self.text(f"{part.name} profile")}
        made = await self.book.profiles.patch(
            self.owner, fields, schema=schema, audience="global", as_owner=True
        )
        await self.book.profiles.patch(
            self.owner,
            {field: "other"},
            schema=schema,
            audience="global",
            agent=self.agent,
            groups=[self.group],
        )
        part.ids.append(made.id)

    # ── (b) what an agent wrote, and forgets itself ───────────────────────────────────────────────

    async def _agents(self) -> None:
        """Let another agent draw a conclusion that only it may read when the backups are made."""
        part = self.parts["agent"]
        made = await self.remember_again(None, content=self.text("agent content", 500))
        drawn = await self.book.remember(
            self.owner,
            self.text("agent derived", 300),
            sources=[made.id],
            audience="self",
            agent="other",
        )
        part.ids, part.derived = [made.id], [drawn.id]
        await self.book.memories.share(
            self.owner, made.id, Audience.of_agent("other"), as_owner=True
        )

    async def live_on(self) -> None:
        """Write more after the backups were made."""
        await self.book.memories.share(
            self.owner, self.parts["agent"].ids[0], "global", as_owner=True
        )

    async def _note(self, draft: JobDraft) -> None:
        note = Memory(
            id=new_id(), owner=self.owner, content="There is work.", observed_at=self.clock()
        )
        await self.book.door.write(
            self.owner, WHOLE, Actor("owner"), [c.Remember(note)], request=None, jobs=(draft,)
        )

    # ── (c) words of messages that stay ───────────────────────────────────────────────────────────

    async def _words(self) -> None:
        """Say things with some words beside others, and write what came from these words alone, and
        from more.
        """
        part = self.parts["words"]
        part.hidden = self.rng.random() < 0.5
        talk = await self.book.thread(
            self.owner, name="words", agent=self.agent, groups=[self.group]
        )
        before, after = (self.text(f"owner words {side}", 50) for side in ("before", "after"))
        drafts, places, lefts = [], [], []
        for size in SIZES[:4]:
            words = self.text("words content", size)
            said, raw = f"{before}. {words} {after}.", f"{after}: {words} {before}"
            drafts.append({"role": "user", "content": said, "native": {"raw": [raw], "id": "x"}})
            places.append((len(before) + 2, len(before) + 3 + len(words)))
            lefts.append((f"{before}. {after}.", {"raw": [f"{after}: {before}"], "id": "x"}))
        operation = self.marks("words operation")
        receipt = await talk.append(drafts, operation=operation)
        part.repeats.append(partial(talk.append, drafts, operation=operation))
        part.left = dict(zip(receipt.ids(), lefts, strict=True))
        part.kept += receipt.ids()
        for id, (start, end) in zip(receipt.ids(), places, strict=True):
            part.redactions.append(Redaction(id, (Span(start=start, end=end),), 1))
        await self._from_words(part, talk.id, drafts, receipt.ids())
        for write in (write_documents, write_items):
            await write(self, part, self.text("words document", 900), before)

    async def _from_words(
        self, part: Part, thread: UUID, drafts: Sequence[dict[str, Any]], said: Sequence[UUID]
    ) -> None:
        start, end = part.redactions[0].spans[0].start, part.redactions[0].spans[0].end
        words = drafts[0]["content"][start:end].strip()
        quoting = Memory(
            id=new_id(), owner=self.owner, content=self.text("words derived"), sources=(said[0],),
            quotes=(Cited(message=said[0], quote=words),), observed_at=self.clock(),
        )  # fmt: skip
        bare = Memory(
            id=new_id(),
            owner=self.owner,
            content=words,
            sources=(said[0],),
            observed_at=self.clock(),
        )
        both = Memory(
            id=new_id(), owner=self.owner, content="It was said, and it was known.", sources=(said[0], self.standing),
            quotes=tuple(Cited(message=said[0], quote=quote) for quote in (words, drafts[0]["content"][:start].strip())), observed_at=self.clock(),
        )  # fmt: skip
        # It comes from the other words of the sentence that it quotes, and stays.
        beside = quoting.changed(
            id=new_id(), content=drafts[0]["content"][:start].strip(),
            quotes=(Cited(message=said[0], quote=drafts[0]["content"][: start + 20]),),
        )  # fmt: skip
        told_by = (quoting, bare, both, beside)
        changes = [c.Remember(one, audience=Audience.of_agent(self.agent)) for one in told_by]
        profile = {"items": [words, "The rest stays."]}
        patch = c.PatchProfile(
            new_id(), "Words", Audience.of_agent(self.agent), profile, sources=(said[0],)
        )
        summed = SummariseThread(thread, self.text("words summary", 900), len(said))
        await self.book.door.write(
            self.owner, WHOLE, Actor("owner"), [*changes, patch, summed], request=None
        )
        part.derived += [quoting.id, bare.id]
        part.kept += [both.id, beside.id]
        told = await self.book.episodes.record(
            self.owner, goal=self.text("words goal", 300), outcome="succeeded", sources=[said[0], self.standing],
            agent=self.agent, groups=[self.group],
        )  # fmt: skip
        part.derived.append(told.id)

    # ── (d) some messages ─────────────────────────────────────────────────────────────────────────

    async def _messages(self) -> None:
        part, mark = self.parts["messages"], self.marks
        said = [
            {"role": "user", "content": self.text("messages content", size), "speaker": mark("messages speaker"),
             "native": {"raw": self.text("messages native", size // 4)}}
            for size in (*SIZES, LARGEST)
        ]  # fmt: skip
        await self.talk.append(
            [{"role": "user", "content": self.text("owner message before", 4000)}]
        )
        operation = mark("messages operation")
        receipt = await self.talk.append(said, operation=operation)
        part.ids = list(receipt.ids())
        part.operations.append((operation, said))
        rest = await self.talk.append(
            [{"role": "tool", "content": self.text("owner message", size)} for size in SIZES]
        )
        alone = await self._derived("messages derived", [part.ids[0]])
        both = [part.ids[1], rest.id]
        quoting = await self.book.remember(
            self.owner, "It was said twice.", sources=both, agent=self.agent, groups=[self.group]
        )
        part.derived.append(alone.id)
        part.kept.append(quoting.id)
        await self._job(part, part.ids[2])

    async def _derived(self, label: str, sources: Sequence[UUID]) -> Receipt:
        return await self.book.remember(
            self.owner,
            self.text(label, 800),
            sources=sources,
            agent=self.agent,
            groups=[self.group],
        )

    # ── (e) a thread ──────────────────────────────────────────────────────────────────────────────

    async def _thread(self) -> None:
        part, mark = self.parts["thread"], self.marks
        operation = mark("thread operation")
        thread = await self.book.thread(
            self.owner, name=mark("thread name"), title=self.text("thread title", 900), tags=[mark("thread tag")],
            operation=operation, agent=self.agent, groups=[self.group],
        )  # fmt: skip
        part.ids = [thread.id]
        for round_ in range(6):
            await thread.set(state={"step": self.text("thread state", 700 * round_)})
        said = await thread.append(
            [{"role": "user", "content": self.text("thread message", s)} for s in SIZES]
        )
        told = await thread.remember(self.text("thread memory", 900))
        part.derived += [*said.ids(), told.id]
        both = await self.book.remember(
            self.owner, "It was also said elsewhere.", sources=[said.id, self.standing], thread=thread.id, audience="self",
            agent=self.agent, groups=[self.group],
        )  # fmt: skip
        part.kept.append(both.id)
        episode = {**self._episode("thread"), "sources": [self.standing]}
        closed = await thread.close(
            result={"answer": self.text("thread result", 3000)}, episode=episode
        )
        part.derived += closed.ids("episode")
        await self._job(part, said.id, dead=True)

    def _episode(self, name: str) -> dict[str, Any]:
        mark = self.marks
        call = {"tool": mark(f"{name} tool"), "inputs": {"q": self.text(f"{name} tool inputs", 3000)},
                "output": self.text(f"{name} tool output", 1800)}  # fmt: skip
        return {"goal": self.text(f"{name} goal", 900), "summary": self.text(f"{name} summary", 6000),
                "tool_calls": [call], "outcome": "succeeded", "tags": [mark(f"{name} episode tag")]}  # fmt: skip

    # ── (f) all the rest ──────────────────────────────────────────────────────────────────────────

    async def _rest(self) -> None:
        part, mark, book = self.parts["owner"], self.marks, self.book
        for audience in ("global", "self", "group"):
            await book.profiles.patch(
                self.owner, {mark("owner profile field"): self.text("owner profile body", 5000)}, audience=audience,
                schema=mark("owner schema name"), agent=self.agent, groups=[self.group],
            )  # fmt: skip
        await book.episodes.record(
            self.owner,
            agent=self.agent,
            audience="group",
            groups=[self.group],
            **self._episode("owner"),
        )
        operation, statement = (
            mark("owner operation"),
            {"content": self.text("owner last memory", 400)},
        )
        await self.remember_again(operation, **statement)
        part.operations.append((operation, statement))
        await self._experience(part, self.standing)
        await self._job(part, self.standing, dead=True)
        await write_gone_items(self, "owner")
        await self._note(
            JobDraft(kind="another", key="k", payload={"text": self.text("owner job of no record")})
        )
        await book.recall(self.owner, "garden", as_owner=True)
        await pay(book, self.clock(), self.owner, self.agent)

    # ── others, and the wear of years ─────────────────────────────────────────────────────────────

    async def _among_others(self) -> None:
        """Write small rows of the person between rows of the neighbour that will grow and move
        them.
        """
        part = self.parts["memory"]
        for _ in range(self._rows // 5):
            small = [
                {"content": self.text("memory small", self.rng.randint(20, 120))} for _ in range(5)
            ]
            part.ids += (await self.book.memories.remember_all(self.owner, small)).ids()
            some = [{"content": f"Ben saw bird {number}."} for number in range(5)]
            self._pushing += (await self.book.memories.remember_all(self.neighbour, some)).ids()

    async def _wear(self) -> None:
        """Let rows grow, shrink and disappear, so that pages split and merge with old copies in
        their gaps.
        """
        thread = await self.book.thread(self.neighbour, agent="guide")
        for number in range(4):
            said = [
                {"role": "user", "content": "the garden grows " * (size // 17 + 1)}
                for size in SIZES
            ]
            receipt = await thread.append(said)
            await self.talk.set(
                state={"grown": self.text("owner thread state", self.rng.choice(SIZES))}
            )
            await self.talk.append("user", self.text("owner churn", self.rng.choice(SIZES)))
            fields = {"applies_when": self.text("owner applies_when", self.rng.choice(SIZES))}
            await self.book.memories.amend(self.owner, self.standing, fields, as_owner=True)
            if number == 1:
                await self.book.forget(
                    self.neighbour, self.rng.sample(receipt.ids(), 2), as_owner=True
                )
        for _ in range(4):
            pushing = self.rng.sample(self._pushing, len(self._pushing) // 2)
            grown = [
                c.Amend(id, {"applies_when": "x" * self.rng.randint(50, 3000)}) for id in pushing
            ]
            await self.book.door.write(self.neighbour, WHOLE, Actor("owner"), grown, request=None)
