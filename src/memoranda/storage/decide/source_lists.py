"""Keeps the list of sources in a record short: of many it lists a few, and links the others to it
as a group.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any
from uuid import UUID

from memoranda.errors import Erased
from memoranda.first_use import dataclass
from memoranda.model.memories import Memory, quotes_of
from memoranda.model.profiles import ProfileDocument
from memoranda.model.records import Record, Trust
from memoranda.model.unlisted import (
    MOST_LISTED,
    SourcePage,
    Unlisted,
    between,
    listed_again,
    to_list,
    unlisted_of,
)
from memoranda.model.values import canonical, derived_id
from memoranda.storage.decide.state import BatchState
from memoranda.storage.questions import Members, VersionOf
from memoranda.storage.use_case import Deciding, ask

#: Sources that are loaded at a time.
_AT_A_TIME = 500

_BEST_FIRST = [*Trust]


def standing_groups(record: Record) -> tuple[UUID, ...]:
    """Return the groups of unlisted sources that the present version of a record has."""
    standing = set(record.stands_on()) if unlisted_of(record) else ()
    return tuple(group.id for group in unlisted_of(record) if group.id in standing)


def members_of(
    state: BatchState, record: Record, groups: Iterable[UUID], among: Collection[UUID] | None = None
) -> Deciding[dict[UUID, set[UUID]]]:
    """Return the sources in some groups of a record after this batch; ``among`` limits them."""
    found: dict[UUID, set[UUID]] = {group: set() for group in groups}
    if not found or (among is not None and not among):
        return found
    page = SourcePage(None if among is None else tuple(among))
    for group, source in (yield from ask(Members(record.id, tuple(found), page))):
        found[group].add(source)
    linked, unlinked = state.links_of(record.id)
    for group, source in linked:
        if group in found and (among is None or source in among):
            found[group].add(source)
    for group, source in unlinked:
        if group in found:
            found[group].discard(source)
    return found


def sources_among(state: BatchState, record: Record, ids: Collection[UUID]) -> Deciding[set[UUID]]:
    """Return the ids among these that are sources of a record's present version, listed or not."""
    found = set(ids) & set(record.stands_on())
    for members in (yield from members_of(state, record, standing_groups(record), ids)).values():
        found |= members
    return found


def unlisted_sources(state: BatchState, record: Record) -> Deciding[list[UUID]]:
    """Return the sources of the present version of a record that it does not list, in order."""
    groups = yield from members_of(state, record, standing_groups(record))
    return sorted(set().union(*groups.values()))


def some_at_a_time(ids: Iterable[UUID]) -> Iterator[list[UUID]]:
    """Yield ids in lists of bounded length."""
    rest = iter(ids)
    while some := list(islice(rest, _AT_A_TIME)):
        yield some


def with_short_list(state: BatchState, memory: Memory) -> Deciding[Memory]:
    """Return a memory that lists a few of its sources; the others are linked to it as a group."""
    listed = yield from _to_list(state, memory.sources, memory)
    if len(listed) == len(memory.sources):
        return memory
    rest = [id for id in memory.sources if id not in listed]
    standing = standing_groups(memory)
    groups = _grown(state, memory, standing[0] if standing else _group_id(state, memory), rest)
    short: Memory = memory.changed(
        sources=listed, unlisted=groups, quotes=quotes_of(memory.quotes, listed)
    )
    return short


def with_short_lists(
    state: BatchState, document: ProfileDocument, sources: Collection[UUID]
) -> Deciding[ProfileDocument]:
    """Return a profile whose values list a few of their sources each; ``sources`` are those that
    were added now.
    """
    groups = {group.id for group in document.unlisted}
    standing = standing_groups(document)
    known = yield from members_of(state, document, standing, sources)
    grounds = dict(document.grounds)
    for name, entries in document.grounds.items():
        changed = []
        for entry in entries:
            own = next((id for id in entry if id in groups), None)
            listed = [id for id in entry if id != own and (own is None or id not in known[own])]
            kept = yield from _to_list(state, listed, document)
            rest = [id for id in listed if id not in kept]
            if rest:
                own = own or _group_id(state, document)
                document = document.changed(unlisted=_grown(state, document, own, rest))
            changed.append((*kept, *(() if own is None else (own,))))
        grounds[name] = tuple(changed)
    short: ProfileDocument = document.changed(grounds=grounds)
    return short


def with_short_past(state: BatchState, record: Any) -> Deciding[Any]:
    """Return a record that lists few sources of earlier versions; the others are linked to it as
    one group.

    A source that this batch moved from a list to a group is still a source.
    """
    groups = {group.id for group in unlisted_of(record)}
    moved = {source for _, source in state.links_of(record.id)[0]}
    if moved:
        record = record.changed(past=tuple(id for id in record.past if id not in moved))
    listed = [id for id in getattr(record, "past", ()) if id not in groups]
    if len(listed) <= MOST_LISTED or not isinstance(record, (Memory, ProfileDocument)):
        return record
    held = next((group.id for group in record.unlisted if group.past), None)
    into = held or _group_id(state, record)
    known = (yield from members_of(state, record, () if held is None else (held,), listed)).get(
        into, set()
    )
    more = [id for id in listed if id not in known]
    unlisted = _grown(state, record, into, more, past=True)
    past = (*(id for id in record.past if id in groups), *(() if held else (into,)))
    return record.changed(past=past, unlisted=unlisted)


def as_it_was(state: BatchState, now: Record, then: Any) -> Deciding[Any]:
    """Return an earlier version of a record as its next version: it gets the unlisted sources that
    it had then.
    """
    if not unlisted_of(now) and not unlisted_of(then):
        return then.following(now)
    back = yield from _way_back(now, then.version)
    version = state.next_version(now.id)
    held = {group.id: group for group in unlisted_of(now)}
    groups, past = [], []
    for group in unlisted_of(then):
        add, drop = back.get(group.id, (set(), set()))
        if group.past:
            # Earlier versions have these sources in any case.
            groups.append(held[group.id])
            continue
        if add or drop:
            state.link(now.id, group.id, add)
            state.unlink(now.id, group.id, drop)
            delta = {
                "version": version,
                "added": tuple(sorted(add)),
                "dropped": tuple(sorted(drop)),
            }
            group = group.model_copy(update=delta)
            past += sorted(drop)
        groups.append(group)
    restored = (
        then.changed(unlisted=tuple(groups)).following(now) if groups else then.following(now)
    )
    fresh = (id for id in past if id not in restored.past and id not in restored.stands_on())
    return (yield from with_short_past(state, restored.changed(past=(*restored.past, *fresh))))


def _way_back(now: Record, version: int) -> Deciding[dict[UUID, tuple[set[UUID], set[UUID]]]]:
    """Return for each group the sources to add and to drop, so that it is as it was in an earlier
    version.
    """
    back: dict[UUID, tuple[set[UUID], set[UUID]]] = {}
    for number in range(now.version, version, -1):
        later = now if number == now.version else (yield from ask(VersionOf(now.id, number)))
        if later is None:
            raise Erased(
                "a version since this operation was erased, so the one before cannot be restored; change the record instead"
            )
        for group in unlisted_of(later):
            if group.version == number:
                add, drop = back.setdefault(group.id, (set(), set()))
                for id in group.added:
                    (add.discard if id in add else drop.add)(id)
                for id in group.dropped:
                    (drop.discard if id in drop else add.add)(id)
    return back


def with_groups(record: Any, left: dict[UUID, frozenset[UUID]], version: int) -> Any:
    """Return a record that lost sources, with the unlisted ones that are left; it lists some of
    them instead of lost ones.

    Afterwards ``left`` has the sources that it still does not list.
    """
    if not left:
        return record
    if isinstance(record, Memory):
        entry = listed_again((*record.sources, *left), left)
        record = record.changed(sources=tuple(id for id in entry if id not in left))
    elif isinstance(record, ProfileDocument):
        grounds = {
            name: tuple(listed_again(entry, left) for entry in entries)
            for name, entries in record.grounds.items()
        }
        record = record.changed(grounds=grounds)
    groups = tuple(Unlisted.of(id, sources, version) for id, sources in left.items() if sources)
    return record.changed(unlisted=groups)


@dataclass(frozen=True, slots=True)
class Lost:
    """Erased sources, and the groups of unlisted sources of which all are erased."""

    sources: Container[UUID]
    members: Mapping[UUID, Collection[UUID]]

    def __contains__(self, id: object) -> bool:
        """True if the source is erased, or every source of the group."""
        members = self.members.get(id) if isinstance(id, UUID) else None
        return (
            id in self.sources
            if members is None
            else all(source in self.sources for source in members)
        )


def _to_list(state: BatchState, sources: Sequence[UUID], of: Record) -> Deciding[tuple[UUID, ...]]:
    """Return the sources to list: of many the first, the last, and the most trusted one with the
    longest quote between.
    """
    middle = between(sources)
    if not middle:
        return tuple(sources)
    yield from state.fetch(middle)
    quotes = of.quotes if isinstance(of, Memory) else ()
    quoted = {one.message: len(one.quote) for one in quotes}

    def rank(id: UUID) -> tuple[int, int]:
        trust = getattr(state.current(id), "trust", None)
        return -_BEST_FIRST.index(trust) if trust is not None else -len(_BEST_FIRST), quoted.get(
            id, 0
        )

    return to_list(sources, max(middle, key=rank))


def _grown(
    state: BatchState,
    record: Memory | ProfileDocument,
    id: UUID,
    sources: Sequence[UUID],
    *,
    past: bool = False,
) -> tuple[Unlisted, ...]:
    """Return a record's groups with more sources in one of them, which is made if it is new; the
    sources are linked.
    """
    version = state.next_version(record.id)
    state.link(record.id, id, sources)
    if all(group.id != id for group in record.unlisted):
        return (*record.unlisted, Unlisted.of(id, sources, version, past=past))
    return tuple(
        g.grown(sources, version) if g.id == id and sources else g for g in record.unlisted
    )


def _group_id(state: BatchState, record: Memory | ProfileDocument) -> UUID:
    version = state.next_version(record.id)
    return derived_id(
        state.batch.at, canonical(["unlisted", str(record.id), version, len(record.unlisted)])
    )
