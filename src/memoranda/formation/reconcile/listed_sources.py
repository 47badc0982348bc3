"""Records that also list those of their unlisted sources that are compared with what was formed."""

from __future__ import annotations

from typing import TypeVar, cast
from uuid import UUID

from memoranda.model.memories import Memory
from memoranda.model.profiles import ProfileDocument
from memoranda.model.records import Record

_M = TypeVar("_M", bound=Record)


def listing(record: _M, found: list[tuple[UUID, UUID]]) -> _M:
    """Return a record that lists these of its unlisted sources, too; it is only compared, and never
    stored.
    """
    if isinstance(record, Memory):
        return cast(_M, record.changed(sources=(*record.sources, *(source for _, source in found))))
    if not isinstance(record, ProfileDocument):
        return record
    more: dict[UUID, list[UUID]] = {}
    for group, source in found:
        more.setdefault(group, []).append(source)
    grounds = {
        name: tuple(
            (*entry, *(source for part in entry for source in more.get(part, ()))) for entry in held
        )
        for name, held in record.grounds.items()
    }
    return cast(_M, record.changed(grounds=grounds))
