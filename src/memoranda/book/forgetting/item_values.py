"""Earlier versions of records, which history still shows: parts of items' earlier values that tell a
fact, or repeat words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final
from uuid import UUID

from memoranda.model.items import Item
from memoranda.model.records import Owner, Record, View, those_of
from memoranda.model.redactions import Redaction, Telling, as_said
from memoranda.ports import Records
from memoranda.storage.decide.redaction import places_of, texts_of

#: Records whose versions are read at a time.
_AT_ONCE: Final = 500


async def earlier_values(
    records: Records, owner: Owner, view: View, items: Iterable[Item]
) -> Sequence[Item]:
    """Return the earlier values of items that the view may read, each in its first version."""
    changed, found = {item.id: item for item in items}, dict[tuple[UUID, datetime], Item]()
    for one in those_of(Item, await earlier_versions(records, owner, view, changed.values())):
        if one.updated_at != changed[one.id].updated_at:
            found.setdefault((one.id, one.updated_at), one)
    return list(found.values())


async def earlier_versions(
    records: Records, owner: Owner, view: View, now: Iterable[Record]
) -> list[Record]:
    """Return the earlier versions of records that the view may read."""
    changed = {one.id: one.version for one in now if one.version > 1}
    ids, found = list(changed), list[Record]()
    for start in range(0, len(ids), _AT_ONCE):
        read = await records.versions(owner, view, ids[start : start + _AT_ONCE])
        found += [one for id in read for one in read[id] if one.version < changed[id]]
    return found


def as_stored(one: Telling, value: Item) -> Telling:
    """Return a part of an earlier value with its place in what was stored."""
    (span,) = as_said([one.span], value.removed)
    return replace(one, span=span, version=value.version, at=value.updated_at)


async def in_earlier_values(
    records: Records, owner: Owner, view: View, item: Item, words: str
) -> list[Redaction]:
    """Return where earlier values of an item have some words, so that no copy of the book keeps
    them.
    """
    found = []
    for value in await earlier_values(records, owner, view, [item]):
        spans = tuple(places_of([words], texts_of(value).items()))
        found.append(Redaction(item.id, as_said(spans, value.removed), at=value.updated_at))
    return [one for one in found if one.spans]
