"""Use cases that read a record's history, its unlisted sources, threads by their name, and an
owner's ledger.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from uuid import UUID

from memoranda.model.ledger import Entry, Verb
from memoranda.model.messages import Thread
from memoranda.model.query import Filter, HistoryStep, Scan
from memoranda.model.records import Owner, Record, RecordType, View
from memoranda.model.unlisted import SourcePage
from memoranda.storage.decide.source_lists import standing_groups
from memoranda.storage.decide.state import load_all
from memoranda.storage.questions import (
    EntriesAfter,
    EntriesAt,
    FindOwner,
    Members,
    ScanRecords,
    SeenVersion,
    ShelvesSince,
    VersionsInView,
)
from memoranda.storage.use_case import Deciding, ask

#: No shelf has a later revision, so nothing has changed since.
_LATEST = 2**62


def history(owner: Owner, view: View, id: UUID) -> Deciding[list[HistoryStep]]:
    """Return a record's versions, each with the ledger line that wrote it; none if the view may not
    see the record.
    """
    yield from ask(FindOwner(owner))
    versions = yield from ask(VersionsInView(owner, view, id))
    if not versions:
        return []
    entries = yield from ask(EntriesAt(tuple(version.position for version in versions)))
    by_position = {entry.position: entry for entry in entries}
    at = [by_position[version.position] for version in versions]
    hidden = _hidden_at([(entry, _verb(entry, id)) for entry in at])
    return [
        _step(entry, view, id, version, hidden) for entry, version in zip(at, versions, strict=True)
    ]


def _step(entry: Entry, view: View, id: UUID, seen: SeenVersion, hidden: int) -> HistoryStep:
    # A version that this view could not read is listed without its content, and so is one that
    # tells what was hidden since.
    is_told = entry.position < hidden or (
        entry.position == hidden and seen.record is not None and seen.record.withdrawn
    )
    shown = seen.record if seen.audience.readable_by(view) and not is_told else None
    return HistoryStep(entry.position, entry.at, entry.actor, _verb(entry, id), seen.version, shown)


def _verb(entry: Entry, id: UUID) -> Verb:
    return next(line.verb for line in entry.lines if line.id == id)


def _hidden_at(changes: Iterable[tuple[Entry, Verb]]) -> int:
    """Return the last position at which something of a record was hidden, or hidden again, that no
    undo has brought back; 0 if there is none.
    """
    turned: dict[int, set[int]] = {}
    hidden: dict[int, int] = {}
    for entry, verb in changes:
        undone = (turned.get(position, set()) for position in entry.note.get("undoes", ()))
        turned[entry.position] = {entry.position} if verb is Verb.HIDE else set().union(*undone)
        for one in turned[entry.position]:
            if hidden.pop(one, None) is None:
                hidden[one] = entry.position
    return max(hidden.values(), default=0)


def versions(owner: Owner, view: View, ids: Sequence[UUID]) -> Deciding[dict[UUID, list[Record]]]:
    """Return the versions of records that the view may read, oldest first, without those that were
    emptied.
    """
    yield from ask(FindOwner(owner))
    found: dict[UUID, list[Record]] = {}
    for id in ids:
        seen = yield from ask(VersionsInView(owner, view, id))
        found[id] = [
            one.record for one in seen if one.record is not None and one.audience.readable_by(view)
        ]
    return found


def threads_named(owner: Owner, view: View, name: str) -> Deciding[list[Record]]:
    """Return the threads with a name that a view may see; each audience can use a name once."""
    shelves = yield from ask(ShelvesSince(owner, view, lambda _: _LATEST))
    slots = tuple(Thread.slot_of_name(name, shelf.audience) for shelf, _ in shelves)
    if not slots:
        return []
    named = Filter(types=frozenset({RecordType.THREAD}), slots=slots)
    (page,) = yield from ask(ScanRecords([Scan(owner, view, named, None, len(slots))]))
    return list(page.records)


def unlisted(
    owner: Owner, view: View, id: UUID, page: SourcePage
) -> Deciding[list[tuple[UUID, UUID]]]:
    """Return sources that a record does not list, each after its group's id; none if the view may
    not see the record.
    """
    yield from ask(FindOwner(owner))
    record = (yield from load_all((id,))).get(id)
    if record is None or not record.audience.readable_by(view):
        return []
    found: list[tuple[UUID, UUID]] = []
    groups, more = standing_groups(record), page
    while groups and more.limit > 0:
        some = yield from ask(Members(id, groups, more))
        found += some if view.whole else (yield from _readable(view, some))
        if len(some) < more.limit:
            break
        more = page._replace(after=some[-1][1], limit=page.limit - len(found))
    return found


def _readable(view: View, pairs: list[tuple[UUID, UUID]]) -> Deciding[list[tuple[UUID, UUID]]]:
    """Return the pairs of a group and a source that the view may see, or that left by its age."""
    there = yield from load_all(source for _, source in pairs)
    return [
        pair for pair in pairs if pair[1] not in there or there[pair[1]].audience.readable_by(view)
    ]


def entries(owner: Owner, after: int, limit: int) -> Deciding[list[Entry]]:
    """Return the owner's ledger entries after a position, oldest first."""
    base = yield from ask(FindOwner(owner))
    if base.era is None:
        return []
    return [replace(entry, owner=owner) for entry in (yield from ask(EntriesAfter(after, limit)))]
