"""Stores records in the PostgreSQL tables, a batch in as few round trips as possible."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

import asyncpg

from memoranda.engines.postgres.server.session import Session
from memoranda.errors import Conflict
from memoranda.model.ledger import Entry
from memoranda.model.records import PASSAGE_TYPES, Audience
from memoranda.model.values import micros
from memoranda.model.vectors import EMBED
from memoranda.storage import Put, StoredRow
from memoranda.storage.rows import audience_columns, dump_entry
from memoranda.storage.writes import StoreRecords
from memoranda.text.terms import RULE


class Writing(NamedTuple):
    """A record to be stored, with its row."""

    put: Put
    row: StoredRow
    #: Position of the ledger entry that describes the change.
    position: int
    #: Its links to its sources are written again.
    rests_anew: bool

    @property
    def is_new(self) -> bool:
        """True if this is the first version of a record."""
        return self.put.before is None

    @property
    def is_passage(self) -> bool:
        """True if recall can find the record: for a new one, if it has terms; for a later version,
        by its type.
        """
        return self.put.terms is not None if self.is_new else self.put.record.type in PASSAGE_TYPES


class Storing:
    """Stores records of one owner; each call increases the revision of each changed shelf once."""

    def __init__(self, session: Session, secret: bytes, owner_no: int) -> None:
        self._session = session
        self._secret = secret
        self._owner_no = owner_no

    def writings(self, write: StoreRecords) -> list[Writing]:
        """Return the records of a write as they will be stored."""
        found = []
        for put, row in zip(write.puts, write.rows, strict=True):
            anew = write.relink or put.before is None or put.before.links() != put.record.links()
            found.append(Writing(put, row, write.entry.position, anew))
        return found

    async def store(
        self,
        writings: Sequence[Writing],
        *,
        entry: Entry | None = None,
        gain: int = 0,
        items: int = 0,
        tails: Mapping[UUID, int] | None = None,
    ) -> list[str]:
        """Store records, each once, and their ledger entry, which advances the owner's position.

        Returns the names of the sets that now need vectors and have no waiting job.
        """
        changed = [writing for writing in writings if not writing.is_new]
        if changed:
            await self._change(changed)
        added = [writing for writing in writings if writing.is_new]
        shelves = _shelves(added, {audience for one in changed for audience in _audiences(one)})
        try:
            named = await self._session.all(
                "store",
                owner=self._owner_no,
                rule=RULE,
                upkeep=EMBED,
                gain=gain,
                items=items,
                **_asked(shelves),
                **_given(added, list(shelves), tails or {}),
                **_links(writings),
                **_tails(tails or {}, added),
                **_entered(entry),
            )
        except asyncpg.UniqueViolationError as exc:
            raise Conflict(
                f"id: {_named(exc)} is in this book already; leave ids to the book"
            ) from exc
        return [row[0] for row in named]

    async def _change(self, changed: Sequence[Writing]) -> None:
        leaving = [
            writing.row.id
            for writing in changed
            if writing.put.before is not None
            and writing.put.before.slot() is not None
            and writing.put.before.slot() != writing.put.record.slot()
        ]
        if leaving:
            await self._session.run("free_slots", self._owner_no, leaving)
        await self._session.run(
            "change_records",
            owner=self._owner_no,
            positions=[writing.position for writing in changed],
            shelves=[await self._new_shelf(writing) for writing in changed],
            passages=[writing.is_passage for writing in changed],
            held=[writing.row.held for writing in changed],
            **_columns(changed, _BOTH),
        )
        rests = [writing.row.id for writing in changed if writing.rests_anew]
        if rests:
            await self._session.run("unlink", self._owner_no, rests)
        unlinked = _columns_of(
            [(o.row.id, *_raw(pair)) for o in changed for pair in o.put.unlinked]
        )
        if unlinked["sources"]:
            await self._session.run("unlink_some", owner=self._owner_no, **unlinked)

    async def _new_shelf(self, writing: Writing) -> int | None:
        """Return the number of the shelf that a record moves to; None if it stays on its shelf."""
        assert writing.put.before is not None
        audience = writing.put.record.audience
        if audience == writing.put.before.audience:
            return None
        columns = audience_columns(audience)
        number: int | None = await self._session.value("shelf", self._owner_no, *columns)
        if number is None:
            number = await self._session.value("add_shelf", self._owner_no, *columns)
            groups = list(audience.groups)
            await self._session.run("add_shelf_groups", self._owner_no, number, groups)
        return number


#: Columns of a row, and the parameters that carry their values.
_BOTH = {
    "id": "ids",
    "version": "versions",
    "recorded_at": "times",
    "slot": "slots",
    "thread": "threads",
    "kind": "kinds",
    "status": "statuses",
    "at": "ats",
    "valid_from": "valid_froms",
    "valid_to": "valid_tos",
    "facets": "facets",
    "body": "bodies",
    "hash": "hashes",
}
_ADDED = {**_BOTH, "type": "types"}


def _columns(writings: Iterable[Writing], names: Mapping[str, str]) -> dict[str, list[Any]]:
    rows = [writing.row for writing in writings]
    return {given: [getattr(row, column) for row in rows] for column, given in names.items()}


def _audiences(writing: Writing) -> list[Audience]:
    """Return the audiences of the shelves whose revision a change increases."""
    assert writing.put.before is not None
    return [writing.put.before.audience, writing.put.record.audience] if writing.is_passage else []


def _shelves(added: Sequence[Writing], marked: set[Audience]) -> dict[Audience, tuple[int, int]]:
    """Return for each shelf of new records by how much its revision increases, and how many
    passages are added.
    """
    shelves: dict[Audience, tuple[int, int]] = {}
    for writing in added:
        audience = writing.put.record.audience
        _, comers = shelves.get(audience, (0, 0))
        comers += writing.is_passage
        shelves[audience] = int(comers > 0 and audience not in marked), comers
    return shelves


def _asked(shelves: Mapping[Audience, tuple[int, int]]) -> dict[str, Any]:
    columns = [audience_columns(audience) for audience in shelves]
    return {
        "audiences": [column[0] for column in columns],
        "agents": [column[1] for column in columns],
        "groups": [column[2] for column in columns],
        "steps": [step for step, _ in shelves.values()],
        "comers": [comers for _, comers in shelves.values()],
    }


def _given(
    added: Sequence[Writing], shelves: list[Audience], tails: Mapping[UUID, int]
) -> dict[str, Any]:
    place = {audience: number for number, audience in enumerate(shelves, start=1)}
    return {
        **_columns(added, _ADDED),
        # A new thread that comes with messages is stored with its last place at once.
        "seqs": [max(one.row.seq, tails.get(one.put.record.id, 0)) for one in added],
        "shelves": [place[one.put.record.audience] for one in added],
        "positions": [one.position for one in added],
        "ends": [None if one.row.held else one.row.recorded_at for one in added],
        "runs": [one.put.run for one in added],
        "terms": [one.put.terms for one in added],
    }


def _links(writings: Sequence[Writing]) -> dict[str, Any]:
    listed = [
        (one.row.id, b"", source.bytes)
        for one in writings
        if one.rests_anew
        for source in one.put.record.links()
    ]
    others = [(one.row.id, *_raw(pair)) for one in writings for pair in one.put.linked]
    return _columns_of(listed + others)


def _columns_of(links: Sequence[tuple[bytes, bytes, bytes]]) -> dict[str, list[bytes]]:
    return {
        name: [link[i] for link in links] for i, name in enumerate(("records", "parts", "sources"))
    }


def _raw(pair: tuple[UUID, UUID]) -> tuple[bytes, bytes]:
    return pair[0].bytes, pair[1].bytes


def _tails(tails: Mapping[UUID, int], added: Sequence[Writing]) -> dict[str, Any]:
    new = {writing.put.record.id for writing in added}
    there = {id: tail for id, tail in tails.items() if id not in new}
    return {"tailed": [id.bytes for id in there], "tails": list(there.values())}


def _entered(entry: Entry | None) -> dict[str, Any]:
    if entry is None:
        names = ("position", "at", "actor_kind", "actor", "operation", "request", "entry")
        return dict.fromkeys(names)
    return {
        "position": entry.position,
        "at": micros(entry.at),
        "actor_kind": entry.actor.kind,
        "actor": entry.actor.id,
        "operation": entry.operation,
        "request": entry.request,
        "entry": dump_entry(entry),
    }


def _named(exc: asyncpg.UniqueViolationError) -> str:
    """Return words for the record that exists already: with its id, if the server's error names
    it.
    """
    told = re.search(r"\\x([0-9a-f]{32})\b", str(getattr(exc, "detail", "") or ""))
    return f"record {UUID(hex=told[1])}" if told else "one of these records"
