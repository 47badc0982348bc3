"""Random work for engines; each step has its own seed, so a failing run can be shortened to a few
steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

from memoranda.model import changes as c
from memoranda.model.changes import JobDraft
from memoranda.model.ledger import Actor, Receipt, Target
from memoranda.model.messages import SummariseThread, ThreadStatus
from memoranda.model.profiles import Agent, Key
from memoranda.model.records import EVERYONE, WHOLE, Audience, Limits, Owner, Trust, View
from memoranda.model.redactions import Redaction
from memoranda.model.values import Span, new_id
from memoranda_conformance.builders import (
    ANN,
    AT_A,
    AT_B,
    BEN,
    FOR_A,
    GUIDE,
    ROOMY,
    START,
    a_memory,
    a_message,
    a_thread,
    an_episode,
    terms_of_record,
)
from tests.engines.dice import Dice
from tests.engines.random_runs import AUDIENCES, OWNERS, an_item, episode, experience

GROUPS = Audience.of_groups(["g1", "g2"])
VIEWS = (WHOLE, AT_A, AT_B, View(agent="a", groups=("g1",)), View())
TIGHT = Limits(
    writes_per_run=2, memories_per_owner=4, at_capacity="evict_oldest", archived_per_owner=1
)
STRICT = Limits(writes_per_run=3, memories_per_owner=4, at_capacity="reject", items_per_owner=2)
EACH = Limits(writes_per_run=3, memories_per_agent=2, items_per_owner=1)
TEXTS = ("likes tea", "Likes  tea.", "likes gin", "tea ☕ für 2", "100% _")


@dataclass
class World:
    """The batches that a random run has tried so far, and their results."""

    #: What was written, and has been erased perhaps.
    pools: dict[tuple[Owner, str], list[UUID]] = field(default_factory=dict)
    #: Every id that anything was given, whether it was written or not.
    tried: list[UUID] = field(default_factory=list)
    batches: list[c.Batch] = field(default_factory=list)
    positions: dict[Owner, int] = field(default_factory=dict)
    now = START

    def tick(self, dice: Dice) -> None:
        """Let some time pass."""
        self.now += timedelta(seconds=dice.pick((1, 1, 4, 20)))

    def fresh(self) -> UUID:
        """An id for a new record."""
        self.tried.append(new_id())
        return self.tried[-1]

    def written(self, receipt: Receipt) -> None:
        """Record the result of a batch."""
        self.positions[receipt.owner] = receipt.position
        for item in receipt.items:
            pool = self.pools.setdefault((receipt.owner, item.type.value), [])
            if item.id not in pool:
                pool.append(item.id)

    def ids_of(self, owner: Owner) -> list[UUID]:
        """Return the ids of all records written for an owner, including erased ones."""
        return [id for (whose, _), pool in self.pools.items() if whose == owner for id in pool]

    def some(self, dice: Dice, owner: Owner, *kinds: str) -> UUID:
        """Return an id of one of these kinds; sometimes another owner's, or one that was never
        written.
        """
        if dice.rarely(20):
            owner = dice.pick(OWNERS)
        pool = [id for kind in kinds for id in self.pools.get((owner, kind), ())]
        if not pool or dice.rarely(30):
            pool = self.tried
        return dice.pick(pool) if pool else self.fresh()

    def any_of(self, dice: Dice, owner: Owner, most: int = 2) -> tuple[UUID, ...]:
        """Return a few ids of any kind."""
        kinds = ("message", "memory", "thread", "episode")
        return tuple(self.some(dice, owner, *kinds) for _ in range(dice.number(most + 1)))

    # ── batches ───────────────────────────────────────────────────────────────────────────────────

    def first(self, owner: Owner) -> c.Batch:
        """A thread with a message, and two statements."""
        thread = a_thread(owner, self.now, id=self.fresh(), agent="a")
        said = a_message(owner, thread.id, "tea, please", self.now, id=self.fresh())
        derived = a_memory(
            owner, "likes tea", self.now, id=self.fresh(), sources=(said.id,), agent="a"
        )
        alone = a_memory(owner, "likes gin", self.now, id=self.fresh(), key="drink")
        made = (
            c.OpenThread(thread),
            c.Append(thread.id, (said,), (b"",)),
            c.Remember(derived, b""),
            c.Remember(alone, b""),
        )
        return c.Batch(owner, WHOLE, Actor(), self.now, made, ROOMY)

    def batch(self, dice: Dice, *, undo: bool = False) -> c.Batch:
        """A batch of one owner."""
        self.tick(dice)
        owner = dice.pick((ANN, ANN, ANN, BEN, GUIDE))
        made: list[c.Change] = []
        if undo:
            latest = self.positions.get(owner, 0)
            made.append(
                c.Undo(max(1, latest - dice.number(6)), with_dependents=bool(dice.number(2)))
            )
        else:
            made += [self.change(dice, owner) for _ in range(dice.pick((1, 1, 1, 2, 3)))]
        batch = c.Batch(
            owner,
            dice.pick((*(WHOLE,) * 9, *VIEWS)),
            dice.pick(
                (
                    Actor(),
                    Actor("agent", "a"),
                    Actor("owner", owner.id),
                    Actor("system", "formation"),
                )
            ),
            self.now,
            tuple(made),
            dice.pick((*(ROOMY,) * 8, TIGHT, STRICT, EACH)),
            self._jobs(dice, owner),
            self._expect(dice, owner),
            dice.pick((*(None,) * 9, "one", "two")),
            dice.pick((b"x", b"x", b"y")),
            also=None if undo or owner == GUIDE else self._also(dice),
        )
        self.batches.append(batch)
        return batch

    def _also(self, dice: Dice) -> tuple[Owner, tuple[c.Change, ...]] | None:
        return (GUIDE, (experience(self, dice, GUIDE),)) if dice.rarely(5) else None

    def _jobs(self, dice: Dice, owner: Owner) -> tuple[JobDraft, ...]:
        if not dice.rarely():
            return ()
        name, delay, wait = (
            dice.pick(("one", "two")),
            dice.pick((0.0, 3.0, 30.0)),
            dice.pick((None, 10.0)),
        )
        insists = not dice.number(4)
        return (
            JobDraft(
                "form", name, {"n": dice.number(9)}, self.any_of(dice, owner), delay, wait, insists
            ),
        )

    def _expect(self, dice: Dice, owner: Owner) -> c.Expect:
        if not dice.rarely(12):
            return c.Expect()
        versions = {self.some(dice, owner, "memory", "thread"): 1 + dice.number(3)}
        return dice.pick(
            (
                c.Expect(versions=versions),
                c.Expect(last={self.some(dice, owner, "thread"): dice.number(4)}),
            )
        )

    def target(self, dice: Dice, *, everything: bool = False) -> Target:
        """Return the target of an erasure."""
        self.tick(dice)
        owner = dice.pick((ANN, ANN, ANN, BEN, GUIDE))
        view, actor = dice.pick((WHOLE, WHOLE, *VIEWS)), Actor("owner", owner.id)
        if everything:
            return Target(owner, view, actor, everything=True)
        if dice.rarely(5):
            leaving = tuple(self.some(dice, owner, "message") for _ in range(1 + dice.number(4)))
            return Target(owner, WHOLE, actor, leaving, ageing=True)
        if dice.rarely(5):
            id, path = (
                self.some(dice, owner, "item", "message", "memory"),
                dice.pick((None, "", "", "/t/0")),
            )
            cut = (Span(start=0, end=1 + dice.number(4), path=path),)
            redaction = Redaction(id, cut, 1 + dice.number(2), dice.pick((None, None, self.now)))
            return Target(owner, view, actor, redactions=(redaction,))
        return Target(
            owner, view, actor, (self.some(dice, owner, *KINDS), *self.any_of(dice, owner))
        )

    # ── changes ───────────────────────────────────────────────────────────────────────────────────

    def change(self, dice: Dice, owner: Owner) -> c.Change:
        """Return one change of any sort."""
        make = dice.pick(
            (
                self._remember,
                self._remember,
                self._append,
                self._open,
                self._memory,
                self._other,
                self._item,
            )
        )
        return make(dice, owner)

    def _item(self, dice: Dice, owner: Owner) -> c.Change:
        return an_item(self, dice, owner)

    def _open(self, dice: Dice, owner: Owner) -> c.Change:
        thread = a_thread(
            owner,
            self.now,
            id=self.fresh(),
            audience=dice.pick((EVERYONE, EVERYONE, *AUDIENCES)),
            agent=dice.pick(("a", "b", None)),
            name=dice.pick((None, None, "order 7")),
            status=dice.pick((ThreadStatus.RUNNING, ThreadStatus.CREATED)),
        )
        return c.OpenThread(thread)

    def _append(self, dice: Dice, owner: Owner) -> c.Change:
        thread = self.some(dice, owner, "thread")
        messages = tuple(
            a_message(
                owner,
                thread,
                dice.pick(TEXTS),
                self.now,
                id=self.fresh(),
                role=dice.pick(("user", "user", "assistant", "tool")),
                trust=dice.pick((Trust.USER, Trust.WEB)),
            )
            for _ in range(1 + dice.number(3))
        )
        return c.Append(
            thread, messages, tuple(terms_of_record(message) or b"" for message in messages)
        )

    def _remember(self, dice: Dice, owner: Owner) -> c.Change:
        agent = dice.pick(("a", "b", None))
        sources = self.any_of(dice, owner)
        memory = a_memory(
            owner,
            dice.pick(TEXTS),
            self.now + timedelta(days=dice.pick((0, -1, 1))),
            agent=agent,
            key=dice.pick((None, "drink", "drink", "home")),
            thread=dice.pick((None, None, self.some(dice, owner, "thread"))),
            sources=tuple(dict.fromkeys(sources)),
            pinned=dice.rarely(),
            valid_from=dice.pick((None, None, START)),
            expires_at=dice.pick((None, None, None, self.now + timedelta(seconds=3))),
            supersedes=dice.pick(((), (), (self.some(dice, owner, "memory"),))),
            external_id=dice.pick((None, None, None, "m1", "m2")),
            id=self.some(dice, owner, "memory", "thread") if dice.rarely(30) else self.fresh(),
        )
        audience = dice.pick((None, None, None, EVERYONE, GROUPS, FOR_A))
        return c.Remember(
            memory, terms_of_record(memory) or b"", audience, dice.pick((None, None, "run"))
        )

    def _memory(self, dice: Dice, owner: Owner) -> c.Change:
        memory = self.some(dice, owner, "memory")
        amended: dict[str, Any] = dice.pick(({"pinned": True}, {"tags": ("x",)}, {"content": "y"}))
        changes: tuple[c.Change, ...] = (
            c.Supersede(memory, self.some(dice, owner, "memory")),
            c.Retract(memory, "so"),
            c.RetractSource(self.some(dice, owner, "message", "episode"), "so"),
            c.Confirm(memory, self.any_of(dice, owner)),
            c.Amend(memory, amended),
            c.ChangeAudience(memory, dice.pick(AUDIENCES)),
            c.Archive(memory, 1 + dice.number(3), "so"),
            c.Restore(memory),
        )
        return dice.pick(changes)

    def _other(self, dice: Dice, owner: Owner) -> c.Change:
        makers: tuple[Callable[[Dice, Owner], c.Change], ...] = (
            self._patch,
            self._thread,
            partial(episode, self),
            partial(experience, self),
            self._named,
            self._import,
        )
        return dice.pick(makers)(dice, owner)

    def _patch(self, dice: Dice, owner: Owner) -> c.Change:
        id = self.fresh()
        fields: dict[str, Any] = {dice.pick(("name", "age")): dice.number(3)}
        listed = [dice.number(3) for _ in range(dice.number(3))]
        fields = dice.pick((fields, {"likes": listed}, {"home": {"town": dice.number(3)}}))
        unset = dice.pick(((), (), ("name",)))
        sources = dice.pick(((), self.any_of(dice, owner)))
        again = {"likes": [dice.number(3)]} if dice.rarely() else {}
        audience = dice.pick(AUDIENCES)
        return c.PatchProfile(
            id, "Profile", audience, fields, unset, dice.rarely(), sources=sources, again=again
        )

    def _thread(self, dice: Dice, owner: Owner) -> c.Change:
        thread = self.some(dice, owner, "thread")
        status = dice.pick(tuple(ThreadStatus))
        fields: dict[str, Any] = {"status": status, "state": {"n": dice.number(3)}}
        episode = an_episode(
            owner,
            at=self.now,
            id=self.fresh(),
            sources=tuple(dict.fromkeys(self.any_of(dice, owner))),
        )
        closing = c.CloseThread(thread, status, None, episode, terms_of_record(episode) or b"")
        formed = c.MarkFormed(thread, dice.number(4), dice.pick((None, None, 0, 1)))
        summed = SummariseThread(
            thread, dice.pick(("", "tea", "rum")), dice.number(4), dice.pick((0, 0, 1))
        )
        return (closing, c.SetThread(thread, fields), formed, summed)[dice.number(4)]

    def _named(self, dice: Dice, owner: Owner) -> c.Change:
        if dice.rarely():
            return c.RevokeKey(
                self.some(dice, owner, "key"), dice.pick((None, self.now + timedelta(days=1)))
            )
        id, audience = self.fresh(), dice.pick((EVERYONE, FOR_A))
        if dice.number(2):
            opens = dice.pick((None, *OWNERS))
            users = dice.pick((None, ("ann",), ("ben", "ann")))
            fields: dict[str, Any] = {
                "id": id,
                "owner": owner,
                "audience": audience,
                "name": "phone",
                "digest": "0" * 64,
            }
            return c.PutNamed(Key(**fields, opens=opens, owners=users))
        return c.PutNamed(
            Agent(id=id, owner=owner, audience=audience, name="waiter", model=dice.pick(TEXTS))
        )

    def _import(self, dice: Dice, owner: Owner) -> c.Change:
        id = self.some(dice, owner, "memory", "message") if dice.rarely() else self.fresh()
        if dice.number(2):
            thread = self.some(dice, owner, "thread")
            message = a_message(owner, thread, "brought", self.now, id=id, seq=dice.number(7))
            return c.Import(message, b"")
        sources, key = self.any_of(dice, owner), dice.pick((None, "drink"))
        memory = a_memory(
            dice.pick(OWNERS),
            "brought",
            self.now,
            id=id,
            sources=tuple(dict.fromkeys(sources)),
            key=key,
        )
        return c.Import(memory.changed(version=1 + dice.number(3)), b"")


KINDS = ("message", "memory", "thread", "episode", "profile", "experience", "key", "agent", "item")
