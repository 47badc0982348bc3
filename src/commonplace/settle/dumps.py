"""Dumps: everything of one owner as JSON-ready lines, the same from every engine and for every engine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from commonplace.model.ledger import Actor, Entry, dump_entry, load_entry_body
from commonplace.model.memories import Use
from commonplace.model.owner import Owner
from commonplace.model.records import Record
from commonplace.settle.codec import from_portable, portable


class DumpedVersion(NamedTuple):
    """One version of a record as a line brought it."""

    record: Record
    position: int
    #: The record stands so now; earlier versions of it came before.
    current: bool
    #: Of a thread: the last place given out in it.
    tail: int | None


def owner_line(owner: Owner, era: UUID) -> dict[str, Any]:
    """The first line of a dump."""
    return {
        "line": "owner",
        "tenant": owner.tenant,
        "kind": owner.kind.value,
        "id": owner.id,
        "era": str(era),
    }


def version_line(record: Record, position: int, *, current: bool, tail: int | None = None) -> dict[str, Any]:
    """A version of a record, with the ledger position that wrote it."""
    line = {"line": "record" if current else "version", "position": position, "record": portable(record)}
    return line if tail is None else {**line, "tail": tail}


def dumped_version(line: Mapping[str, Any], owner: Owner) -> DumpedVersion:
    """The version that a line holds; raises pydantic's ValidationError where it holds none."""
    record = from_portable(line["record"], owner)
    return DumpedVersion(record, line["position"], line["line"] == "record", line.get("tail"))


def use_line(id: UUID, use: Use) -> dict[str, Any]:
    """How a memory has served."""
    used_at = None if use.used_at is None else use.used_at.isoformat()
    return {"line": "use", "id": str(id), "strength": use.strength, "used_at": used_at, "count": use.count}


def dumped_use(line: Mapping[str, Any]) -> tuple[UUID, Use]:
    """What a use line holds."""
    return UUID(line["id"]), Use(strength=line["strength"], used_at=line["used_at"], count=line["count"])


def entry_line(entry: Entry, *, private: bool = False) -> dict[str, Any]:
    """A ledger entry without its digests, which are keyed with this book's secret; ``private`` keeps the operation's."""
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


def dumped_entry(line: Mapping[str, Any], era: UUID, hashes: Mapping[tuple[UUID, int], bytes]) -> Entry:
    """The entry of a line, with the digests that the versions have in this book."""
    lines, ignored, note = load_entry_body(json.dumps(line["body"]))
    lines = tuple(replace(each, hash=hashes.get((each.id, each.after))) for each in lines)
    at = datetime.fromisoformat(line["at"])
    operation, request = (bytes.fromhex(key) for key in line["keys"]) if "keys" in line else (None, None)
    return Entry(
        None, era, line["position"], at, Actor(*line["actor"]), lines, ignored, note, operation, request
    )
