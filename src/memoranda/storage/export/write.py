"""Writes the lines of an export from the rows of an owner."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Set
from dataclasses import replace
from typing import Any
from uuid import UUID

from memoranda.errors import Corrupt
from memoranda.model.book_rows import OwnerPieces, RecordPiece
from memoranda.model.ledger import Entry
from memoranda.model.memories import Memory
from memoranda.model.messages import Episode
from memoranda.model.records import Owner, Record, RecordType, those_of
from memoranda.model.service_records import Restriction
from memoranda.model.values import moment
from memoranda.storage.episode_links import EpisodeLinks
from memoranda.storage.export.owner_data import BookDump
from memoranda.storage.rows import StoredRow, audience_of, decode, dump_entry, entry_of, owner_of

_log = logging.getLogger("memoranda.export")

#: The id of a record and the number of a version; None means all of it.
_Version = tuple[UUID, int | None]


#: Makes of a record what an export shows of it.
Showing = Callable[[Record], Record]


def owner_lines(
    whole: OwnerPieces,
    restriction: Restriction | None = None,
    *,
    private: bool,
    showing: Showing | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield the lines of an owner's part in an export; the last one counts the others by kind.

    With ``private`` they hold the digests of operations, which only a book with the same key
    understands.
    """
    counts: Counter[str] = Counter()
    for line in _owner_lines(whole, restriction, private, showing or unchanged):
        counts[line["line"]] += 1
        yield line
    yield {"line": "end", "counts": dict(sorted(counts.items()))}


def unchanged(record: Record) -> Record:
    """Return the record itself: an export that masks nothing."""
    return record


def _owner_lines(
    whole: OwnerPieces, restriction: Restriction | None, private: bool, showing: Showing
) -> Iterator[dict[str, Any]]:
    frame = whole.frame
    assert frame.names is not None
    owner, era = owner_of(*frame.names), UUID(bytes=frame.era)
    tenant, kind, id = frame.names
    told = {} if restriction is None else {"restriction": restriction_part(restriction)}
    yield {"line": "owner", "tenant": tenant, "kind": kind, "id": id, "era": str(era), **told}
    damaged = {version for piece in whole.records for version in _unreadable(piece, owner)}
    gone = {record for record, version in damaged if version is None}
    for record, version in sorted(damaged, key=str):
        what = f"version {version} of record" if version else "record"
        _log.warning(
            "the export leaves out %s %s of %s: it cannot be read; run verify", what, record, owner
        )
    for entry in whole.entries:
        yield _entry_line(
            _without(entry_of((0, *entry, frame.era, None), owner), damaged), private=private
        )
    linked = _linking(whole, owner, gone)
    for piece in whole.records:
        if UUID(bytes=piece.key) not in gone:
            yield from _record_lines(piece, owner, damaged, showing, linked)
    for piece in whole.records:
        if piece.use is not None and UUID(bytes=piece.key) not in gone:
            strength, used_at, count = piece.use
            at = None if used_at is None else moment(used_at).isoformat()
            id = str(UUID(bytes=piece.key))
            yield {"line": "use", "id": id, "strength": strength, "used_at": at, "count": count}


def _linking(whole: OwnerPieces, owner: Owner, gone: Set[UUID]) -> Showing:
    """Return a function that gives a memory its ``source_episode``, found among all of the owner's
    episodes.
    """
    episodes: list[Record] = []
    threads: dict[UUID, UUID] = {}
    for piece in whole.records:
        row = StoredRow(*piece.row)
        id = UUID(bytes=row.id)
        if row.type == RecordType.EPISODE.value and id not in gone:
            readers = audience_of(*piece.readers)
            episodes.append(
                decode(row.type, id, owner, readers, row.version, row.recorded_at, row.body)
            )
        elif row.type == RecordType.MESSAGE.value and row.thread is not None:
            threads[id] = UUID(bytes=row.thread)
    links = EpisodeLinks(those_of(Episode, episodes))

    def linked(record: Record) -> Record:
        if not links or not isinstance(record, Memory):
            return record
        said = {threads[id]: None for id in record.sources if id in threads}
        link = links.of(record, tuple(said) if record.thread is None else (record.thread,))
        return record if link is None else record.changed(source_episode=link)

    return linked


def _unreadable(piece: RecordPiece, owner: Owner) -> Iterator[_Version]:
    """Yield the versions of a record that cannot be read; None for its version if the current one
    cannot.
    """
    row = StoredRow(*piece.row)
    id = UUID(bytes=row.id)
    try:
        decode(
            row.type, id, owner, audience_of(*piece.readers), row.version, row.recorded_at, row.body
        )
    except (Corrupt, ValueError, TypeError):
        yield id, None
        return
    for old in piece.earlier:
        if old.body:
            try:
                decode(
                    row.type,
                    id,
                    owner,
                    audience_of(*old.readers),
                    old.version,
                    old.recorded_at,
                    old.body,
                )
            except (Corrupt, ValueError, TypeError):
                yield id, old.version


def _without(entry: Entry, damaged: Set[_Version]) -> Entry:
    """Return an entry whose lines on unreadable versions say, as after an erasure, that their
    content is gone.
    """
    lines = (
        replace(
            line,
            erased=line.erased or not damaged.isdisjoint({(line.id, None), (line.id, line.after)}),
        )
        for line in entry.lines
    )
    return replace(entry, lines=tuple(lines)) if damaged else entry


def _record_lines(
    piece: RecordPiece, owner: Owner, damaged: Set[_Version], showing: Showing, linked: Showing
) -> Iterator[dict[str, Any]]:
    """Yield the export lines of a record: earlier versions that still have content, then the
    current one.
    """
    row = StoredRow(*piece.row)
    id = UUID(bytes=row.id)
    for old in piece.earlier:
        if old.body and (id, old.version) not in damaged:
            audience = audience_of(*old.readers)
            version = decode(row.type, id, owner, audience, old.version, old.recorded_at, old.body)
            yield _version_line("version", showing(version), old.position)
    record = decode(
        row.type, id, owner, audience_of(*piece.readers), row.version, row.recorded_at, row.body
    )
    line = _version_line("record", showing(linked(record)), piece.position)
    if record.type is RecordType.THREAD:
        line["tail"] = row.seq
    if piece.unlisted:
        members: dict[str, list[str]] = {}
        for group, source in piece.unlisted:
            members.setdefault(str(UUID(bytes=group)), []).append(str(UUID(bytes=source)))
        line["unlisted"] = members
    yield line


def _version_line(kind: str, record: Record, position: int) -> dict[str, Any]:
    return {"line": kind, "position": position, "record": portable(record)}


def _entry_line(entry: Entry, *, private: bool) -> dict[str, Any]:
    """Return the export line of a ledger entry, without digests of content: the importing book
    computes its own.
    """
    bare = replace(entry, lines=tuple(replace(line, hash=None) for line in entry.lines))
    line = {
        "line": "entry",
        "position": entry.position,
        "at": entry.at.isoformat(),
        "actor": [entry.actor.kind, entry.actor.id],
        "body": json.loads(dump_entry(bare)),
    }
    if private and entry.operation is not None and entry.request is not None:
        line["keys"] = [entry.operation.hex(), entry.request.hex()]
    return line


def restriction_part(restriction: Restriction) -> dict[str, str]:
    """Return a restriction as a JSON-ready object for a line of an export."""
    return {"at": restriction.at.isoformat(), "appends": restriction.appends.value}


def book_line(book: BookDump) -> dict[str, Any]:
    """Return the export line with the data that belong to no owner."""
    return {
        "line": "book",
        "secret": book.secret.hex(),
        "erased_eras": [
            [
                each.era.hex,
                each.digest.hex(),
                each.at,
                [[id.hex(), request.hex()] for id, request in each.operations],
            ]
            for each in book.eras
        ],
        "tombstones": [[digest.hex(), at] for digest, at in book.tombstones],
        "restrictions": [[digest.hex(), at, appends] for digest, at, appends in book.restrictions],
        "restricting": [
            [line.at, line.id.hex(), line.owner.hex(), line.principal, line.verb, line.surface]
            for line in book.restricting
        ],
    }


def portable(record: Record) -> dict[str, Any]:
    """Return a record as a JSON-ready object for a line of an export."""
    body: dict[str, Any] = json.loads(
        record.model_dump_json(exclude={"owner"}, exclude_defaults=True)
    )
    body["id"] = str(record.id)
    body["version"] = record.version
    body["recorded_at"] = record.recorded_at.isoformat()
    return {"type": record.type.value, **body}
