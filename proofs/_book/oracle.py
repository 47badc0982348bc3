"""A small independent model of visibility, which knows nothing of how the product decides it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, combinations
from uuid import UUID

from memoranda.model.records import Audience, AudienceKind, Owner, View
from proofs._book.canaries import canaries_in
from proofs._book.truth import Row


class Leak(Exception):
    """Something was seen or changed that should not have been."""


def may_read(audience: Audience, view: View) -> bool:
    """Return True if a view may see records with this audience."""
    if view.whole or audience.kind is AudienceKind.GLOBAL:
        return True
    if audience.kind is AudienceKind.SELF:
        return view.agent == audience.agent
    return view.agent is not None and any(group in audience.groups for group in view.groups)


@dataclass(slots=True)
class Known:
    """The oracle's knowledge of one record."""

    id: UUID
    party: Owner
    type: str
    audience: Audience
    version: int = 0
    status: str | None = None
    kind: str | None = None
    thread: UUID | None = None
    agent: str | None = None
    key: str | None = None
    run: str | None = None
    #: Of an item.
    name: str | None = None
    #: The owner that a key opens.
    opens: Owner | None = None
    sources: tuple[UUID, ...] = ()
    #: Canaries that the present version holds.
    words: frozenset[str] = frozenset()
    #: The one by which recall finds it.
    word: str | None = None
    #: Version → its audience and canaries.
    seen: dict[int, tuple[Audience, frozenset[str]]] = field(default_factory=dict)

    @property
    def grounds(self) -> tuple[UUID, ...]:
        """Return the records on which it depends."""
        if self.type == "message":
            return ()
        if self.sources or self.type in ("thread", "experience"):
            return self.sources
        return () if self.thread is None else (self.thread,)

    @property
    def found_by_words(self) -> bool:
        """Return True if recall may return it when no status is asked for."""
        return self.type in ("message", "memory", "episode", "item") and self.status in (
            None,
            "active",
            "archived",
        )


@dataclass(slots=True)
class Oracle:
    """All records of the world, with their owners and audiences."""

    agents: tuple[str, ...]
    groups: tuple[str, ...]
    records: dict[UUID, Known] = field(default_factory=dict)
    of: dict[Owner, dict[UUID, Known]] = field(default_factory=dict)
    #: Canary → the records that hold it.
    home: dict[str, set[UUID]] = field(default_factory=dict)
    #: Where a whole era ended: its id.
    ended: dict[Owner, list[UUID]] = field(default_factory=dict)

    # ── seeing ────────────────────────────────────────────────────────────────────────────────────

    def sees(self, party: Owner, view: View, id: UUID) -> bool:
        """Return True if a view of this owner may see a record."""
        known = self.of.get(party, {}).get(id)
        return known is not None and known.status != "withdrawn" and may_read(known.audience, view)

    def visible(self, party: Owner, view: View) -> Iterator[Known]:
        """Yield all records that a view of this owner sees."""
        own = self.of.get(party, {}).values()
        return (
            known for known in own if known.status != "withdrawn" and may_read(known.audience, view)
        )

    def judge(self, output: object, party: Owner, view: View, what: str) -> None:
        """Raise Leak if an output contains a canary that the view may not see."""
        for word in canaries_in(output):
            if not any(self._told(id, word, party, view) for id in self.home.get(word, ())):
                raise Leak(f"{what} of {party.parts} as {view} shows {word}")

    def _told(self, id: UUID, word: str, party: Owner, view: View) -> bool:
        known = self.of.get(party, {}).get(id)
        return (
            known is not None
            and may_read(known.audience, view)
            and any(
                word in words and may_read(audience, view)
                for audience, words in known.seen.values()
            )
        )

    def readers(self, audience: Audience) -> frozenset[tuple[str | None, frozenset[str]]]:
        """Return everyone who may read an audience: all agents in all combinations of groups."""
        every = chain.from_iterable(
            combinations(self.groups, n) for n in range(len(self.groups) + 1)
        )
        universe = [View(agent=agent, groups=some) for some in every for agent in self.agents]
        found = {(v.agent, frozenset(v.groups)) for v in universe if may_read(audience, v)}
        return frozenset(found | ({(None, frozenset())} if may_read(audience, View()) else set()))

    def within(self, audience: Audience, wider: Audience, writer: View) -> bool:
        """Return True if every reader of the one may read the other; a writer may keep for itself
        what it sees.
        """
        if (
            audience.kind.value == "self"
            and may_read(wider, writer)
            and audience.agent == writer.agent
        ):
            return True
        if writer.whole and audience.kind.value == "self":
            return wider.kind.value != "self" or wider == audience
        return self.readers(audience) <= self.readers(wider)

    # ── changing ──────────────────────────────────────────────────────────────────────────────────

    def learn(self, row: Row, *, run: str | None = None) -> Known:
        """Record the current state of a record; the caller checks its owner and audience."""
        known = self.records.get(row.id)
        if known is None:
            known = self.records[row.id] = Known(row.id, row.owner, row.type, row.audience, run=run)
            self.of.setdefault(row.owner, {})[row.id] = known
        body = row.body
        known.audience, known.version = row.audience, row.version
        known.status, known.kind, known.thread = row.status, row.kind, row.thread
        known.agent, known.key = body.get("agent"), body.get("key")
        known.name = body.get("name")
        known.opens = Owner(**body["opens"]) if "opens" in body else None
        known.sources = tuple(map(UUID, _sources(body)))
        known.words = canaries_in(row.text)
        known.word = next(iter(canaries_in(body.get("content") or body.get("goal") or "")), None)
        known.seen[row.version] = (row.audience, known.words)
        for word in known.words:
            self.home.setdefault(word, set()).add(row.id)
        return known

    def let_go(self, ids: Iterable[UUID]) -> None:
        """Record that these records were erased; their canaries stay known, with no owner."""
        for id in ids:
            known = self.records.pop(id)
            del self.of[known.party][id]
            for _, words in known.seen.values():
                for word in words:
                    self.home.get(word, set()).discard(id)

    def forget_versions(self, id: UUID) -> None:
        """Record that a record lost a source, and with it its earlier versions."""
        known = self.records[id]
        known.seen = {known.version: known.seen[known.version]}

    def citing(self, party: Owner, id: UUID) -> set[UUID]:
        """Return a record with all of its owner's records that are derived from it, directly or
        not.
        """
        found = {id}
        while True:
            own = (
                known
                for known in self.records.values()
                if known.party == party and known.id not in found
            )
            more = {known.id for known in own if not found.isdisjoint(known.grounds)}
            if not more:
                return found
            found |= more

    def resting_on(self, ids: set[UUID]) -> set[UUID]:
        """Return all records that an erasure of these removes: those inside them, about them, or
        with no other source.
        """
        doomed = set(ids)
        while True:
            more = {
                known.id
                for known in self.records.values()
                if known.id not in doomed
                and (
                    (known.type in ("message", "episode") and known.thread in doomed)
                    or (known.grounds and doomed.issuperset(known.grounds))
                    or (known.type == "episode" and not doomed.isdisjoint(known.grounds))
                )
            }
            if not more:
                return doomed
            doomed |= more


def _sources(body: dict[str, object]) -> list[str]:
    evidence = body.get("evidence")
    if isinstance(evidence, list):
        return [source for part in evidence for source in part["sources"]]
    sources = body.get("sources")
    return [str(source) for source in sources] if isinstance(sources, list) else []
