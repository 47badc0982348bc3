"""What is written into a dump: a line for each thing, and the line that ends it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any
from uuid import UUID

from memoranda.model.ledger import Entry
from memoranda.model.owner import Owner
from memoranda.model.passages import Use
from memoranda.model.records import Record
from memoranda.settle.codec import portable
from memoranda.settle.dumps.held import BookDump
from memoranda.settle.rows import dump_entry


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


def use_line(id: UUID, use: Use) -> dict[str, Any]:
    """How a memory has served."""
    used_at = None if use.used_at is None else use.used_at.isoformat()
    return {"line": "use", "id": str(id), "strength": use.strength, "used_at": used_at, "count": use.count}


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


def ended(lines: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The lines of a dump, and after them the one that counts them by kind."""
    counts: Counter[str] = Counter()
    for line in lines:
        counts[line["line"]] += 1
        yield line
    if counts:
        yield {"line": "end", "counts": dict(sorted(counts.items()))}


def book_line(book: BookDump) -> dict[str, Any]:
    """What belongs to no owner, as a line."""
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
    }
