"""A trial in one world: books for its tenants, the oracle, and random choices of owners and
records.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

import memoranda
from memoranda import Book, MemorandaError
from memoranda.embedding import VectorMaker
from memoranda.errors import NotFound
from memoranda.model.ledger import Receipt, ReceiptItem, Verb
from memoranda.model.records import Audience, Owner, View
from memoranda.testing.embedder import StubEmbedder
from proofs._book import world
from proofs._book.canaries import Mint, canaries_in, owner_of
from proofs._book.oracle import Known, Leak, Oracle, may_read
from proofs._book.truth import Row, Truth, columns_of

T = TypeVar("T")

#: More passages than a world has.
_ALL = 100_000
#: Makes the vectors that recall reads; the other one's set is never switched to.
EMBEDDER, OTHER_EMBEDDER = StubEmbedder(), StubEmbedder("others")
#: How many owners ever act in a world, so that each gets far, and how many act at a time.
_CAST, _AT_A_TIME = 14, 7

#: What an owner's own earlier statements may suffer although the writer's view does not see them: a
#: newer one under their key, the cap, and a night of their agent.
_OWN_DOING = (Verb.SUPERSEDE, Verb.ARCHIVE, Verb.RESTORE)


@dataclass(slots=True)
class Notes:
    """Notes of the test about a world, in addition to the oracle; they are copied with the world's
    file.
    """

    oracle: Oracle
    mint: Mint
    clock: world.TickingClock
    #: Operations that were applied: owner, operation id, content, the record made.
    operations: list[tuple[Owner, str, str, UUID]] = field(default_factory=list)


class Session:
    """Books of every tenant on one file."""

    def __init__(
        self, path: Path, notes: Notes, books: dict[str, Book], rng: random.Random
    ) -> None:
        self.path = path
        self.rng = rng
        self.books = books
        self.oracle = notes.oracle
        self.mint = notes.mint
        self.clock = notes.clock
        self.operations = notes.operations
        #: Those that can be asked again word by word.
        self.repeatable: list[tuple[Owner, str, str, UUID]] = []
        self.truth = Truth(path)
        #: Owners that act in this world, and those that may act now; everyone else must stay as
        #: they are.
        self._cast = rng.sample(world.EVERYBODY, _CAST)
        self.actors: list[Owner] = list(self._cast)
        #: What each owner's rows came to after the last window.
        self._sums: dict[int | None, int] | None = None
        #: Owners whose rows another's erasure rightly touched: agents who had learnt from what is
        #: gone.
        self.touched: set[Owner] = set()

    @classmethod
    async def open(cls, path: Path, notes: Notes, rng: random.Random) -> Session:
        # Vectors are made when this proof asks for them, and not by a worker beside it.
        given: dict[str, Any] = {
            "limits": world.LIMITS,
            "clock": notes.clock,
            "embed": EMBEDDER,
            "worker": False,
        }
        books = {
            tenant: await memoranda.open(path, tenant=tenant, **given) for tenant in world.TENANTS
        }
        return cls(path, notes, books, rng)

    async def close(self) -> None:
        self.truth.close()
        for book in self.books.values():
            await book.close()

    def book(self, party: Owner) -> Book:
        return self.books[party.tenant]

    async def embed(self) -> None:
        """Make missing vectors, in the set that recall reads and in the second one."""
        engine = self.books[world.TENANTS[0]].engine
        for embedder in (EMBEDDER, OTHER_EMBEDDER):
            # The oldest last, and no oftener: where a condition is left out, something may lack a
            # vector forever.
            maker, lacking = (
                VectorMaker(engine, embedder),
                await engine.lacking(embedder.embedding, _ALL),
            )
            await maker.make(lacking[1:])
            await maker.make(await engine.lacking(embedder.embedding, _ALL))
        if miscounted := self.truth.lacking_vectors():
            raise Leak(f"sets of vectors lack some, or are counted wrongly: {miscounted}")

    # ── picking ───────────────────────────────────────────────────────────────────────────────────

    def someone(self) -> tuple[Owner, View]:
        """An owner that acts now, mostly one with a life, and a view."""
        party = self.rng.choice(self.actors)
        if party.kind.value in ("agent", "tenant") and self.rng.random() < 0.5:
            party = self.rng.choice(self.actors)
        return party, self.rng.choice(world.VIEWS)

    def pick(self, party: Owner, view: View, *types: str, strange: float = 0.5) -> UUID:
        """An id of one of these types: in half of the tries one that this view must not see."""
        wanted = frozenset(types)
        if self.rng.random() >= strange:
            own = [k.id for k in self.oracle.visible(party, view) if not wanted or k.type in wanted]
            if own:
                return self.rng.choice(own)
        return self._strange(party, view, wanted)

    def _strange(self, party: Owner, view: View, wanted: frozenset[str]) -> UUID:
        """An id under another audience, under an owner who looks alike, or under anyone else."""
        hidden = [
            k.id
            for k in self.oracle.of.get(party, {}).values()
            if (not wanted or k.type in wanted) and not may_read(k.audience, view)
        ]
        if hidden and self.rng.random() < 0.4:
            return self.rng.choice(hidden)
        twins = [other for other in world.EVERYBODY if other.id == party.id and other != party]
        for _ in range(20):
            whose = self.rng.choice(twins if twins and self.rng.random() < 0.5 else world.EVERYBODY)
            there = [
                k.id
                for k in self.oracle.of.get(whose, {}).values()
                if not wanted or k.type in wanted
            ]
            if whose != party and there:
                return self.rng.choice(there)
        return self.rng.choice(list(self.oracle.records))

    def audience(self, view: View) -> Audience:
        """An audience to write for: mostly one that the writer belongs to."""
        readable = [audience for audience in world.AUDIENCES if may_read(audience, view)]
        return self.rng.choice(readable if self.rng.random() < 0.8 else world.AUDIENCES)

    def word(self, party: Owner, readers: Audience) -> str:
        number = (
            world.AUDIENCES.index(readers) if readers in world.AUDIENCES else len(world.AUDIENCES)
        )
        return self.mint(world.NUMBER_OF[party], number)

    def held(self, party: Owner) -> int:
        """How many memories an owner holds."""
        return sum(known.status == "active" for known in self.oracle.of.get(party, {}).values())

    # ── judging ───────────────────────────────────────────────────────────────────────────────────

    async def told(
        self, asking: Awaitable[T], party: Owner, view: View, what: str
    ) -> T | MemorandaError:
        """Return the answer, or the book's own error, after the oracle has checked it."""
        try:
            answer: T | MemorandaError = await asking
        except MemorandaError as error:
            answer = error
        self.oracle.judge(
            str(answer) if isinstance(answer, Exception) else answer, party, view, what
        )
        return answer

    async def only_if(
        self, allowed: bool, asking: Awaitable[T], party: Owner, view: View, what: str
    ) -> T | None:
        """The answer where it is allowed, and NotFound where it is not; anything else is a leak or
        a fault.
        """
        answer = await self.told(asking, party, view, what)
        if isinstance(answer, MemorandaError):
            if isinstance(answer, NotFound) and not allowed:
                return None
            raise Leak(f"{what} of {party.parts} as {view}: {type(answer).__name__}: {answer}")
        if not allowed:
            raise Leak(
                f"{what} of {party.parts} as {view} answered about what it may not see: {answer!r:.200}"
            )
        return answer

    # ── taking in what was written ────────────────────────────────────────────────────────────────

    def absorb(
        self,
        receipt: Receipt,
        party: Owner,
        view: View,
        *,
        born: Audience | None = None,
        moved: Audience | None = None,
        run: str | None = None,
        asked: Iterable[UUID] | None = None,
    ) -> list[Known]:
        """Hold a receipt against what truly stands: ``born`` is the audience of new records,
        ``moved`` the new one of a record that was shared, ``asked`` the only ids that might change.
        """
        if receipt.owner != party:
            raise Leak(f"a receipt for {party.parts} is of {receipt.owner.parts}")
        changed = []
        for item in receipt.items:
            before = self.oracle.records.get(item.id)
            row = self.truth.row(item.id)
            if row is None or row.owner != party or not row.in_place or row.version != item.version:
                raise Leak(f"{item} for {party.parts} is not so: {row}")
            if before is None:
                if born is None or row.audience != born:
                    raise Leak(
                        f"{item} of {party.parts} as {view} was born as {row.audience}, not {born}"
                    )
            else:
                self._check_change(item, before, row, party, view, moved, asked)
            changed.append(self.oracle.learn(row, run=run))
        return changed

    def _check_change(
        self,
        item: ReceiptItem,
        before: Known,
        row: Row,
        party: Owner,
        view: View,
        moved: Audience | None,
        asked: Iterable[UUID] | None,
    ) -> None:
        now, words = row.audience, canaries_in(row.text)
        name = f"{item.verb} of {before.type} {before.id} by {party.parts} as {view}"
        if before.party != party:
            raise Leak(f"{name}: it belongs to {before.party.parts}")
        if not may_read(before.audience, view) and not (
            item.verb in _OWN_DOING and (before.agent == view.agent or before.key is not None)
        ):
            raise Leak(f"{name}: this view does not see it")
        if item.verb is Verb.ARCHIVE and before.agent != view.agent:
            raise Leak(f"{name}: another agent's memory made room")
        if asked is not None and item.verb not in _OWN_DOING and item.id not in asked:
            raise Leak(f"{name}: it was not asked for")
        if item.verb is Verb.UNDO:
            if not words <= {word for _, held in before.seen.values() for word in held}:
                raise Leak(f"{name}: it was never what it became")
            if now not in {audience for audience, _ in before.seen.values()}:
                raise Leak(f"{name}: it never had the audience {now}")
        elif now != (moved if item.verb is Verb.SHARE else before.audience):
            raise Leak(f"{name}: its audience went from {before.audience} to {now}")

    async def populate(self, party: Owner, taught_by: UUID | None = None) -> UUID | None:
        """Give an owner a life; gives a record from which an agent may learn."""

        def learn(receipt: Receipt) -> None:
            for item in receipt.items:
                row = self.truth.row(item.id)
                if row is None or row.owner != party or not row.in_place:
                    raise Leak(f"{item} of {party.parts} is not where it was written: {row}")
                known = self.oracle.learn(row)
                if any(owner_of(word) != world.NUMBER_OF[party] for word in known.words):
                    raise Leak(f"{item} of {party.parts} holds what was written for another")

        return await world.Builder(self.book(party), self.mint, self.clock, learn).populate(
            party, taught_by
        )

    # ── the others ────────────────────────────────────────────────────────────────────────────────

    async def window(self, tries: Sequence[Callable[[Session], Awaitable[None]]]) -> None:
        """Let a few owners act, and find everyone else as they were."""
        self.actors = self.rng.sample(self._cast, _AT_A_TIME)
        self.touched = set()
        before, names = self._sums or self.truth.fingerprints(), self.truth.numbers()
        for attempt in tries:
            await attempt(self)
            for book in self.books.values():
                # What a recall found is noted after it.
                await book.memories.uses.settled()
        await self.embed()
        after = self._sums = self.truth.fingerprints()
        acting = {party.parts for party in (*self.actors, *self.touched)}
        for number, sum_ in before.items():
            # 0 is the book's own upkeep: clearing the file after an erasure.
            if number != 0 and names.get(number or -1) not in acting and after.get(number) != sum_:
                raise Leak(
                    f"what belongs to owner {number} {names.get(number or -1)} was changed by others"
                )
        living = self.truth.numbers()
        new = after.keys() - before.keys() - self.truth.ended() - {0}
        came = {living.get(number or -1) for number in new}
        if came - acting:
            raise Leak(f"rows came to stand for {came - acting}, who did nothing")
        if miscounted := self.truth.miscounted():
            raise Leak(f"{miscounted} hold more or fewer memories or items than are counted")
        self._compare_acting()

    def _compare_acting(self) -> None:
        for party in {*self.actors, *self.touched}:
            known, standing = self.oracle.of.get(party, {}), self.truth.standing(party)
            if strange := known.keys() ^ standing.keys():
                raise Leak(
                    f"{len(strange)} records of {party.parts} came or went without a word in a receipt"
                )
            for id, found in standing.items():
                if found != (known[id].version, columns_of(known[id].audience)):
                    raise Leak(
                        f"{known[id].type} {id} of {party.parts} changed without a word in a receipt"
                    )


def who(view: View) -> dict[str, Any]:
    """A view as the book's verbs take it."""
    return {"as_owner": True} if view.whole else {"agent": view.agent, "groups": view.groups}
