"""Earlier values of items, which history still shows: their parts that tell a fact, or repeat words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from memoranda.model.items import Item
from memoranda.model.records import Owner, View
from memoranda.model.redactions import Redaction, Telling, as_said
from memoranda.ports import Records
from memoranda.storage.decide.redaction import places_of, texts_of


async def earlier_values(records: Records, owner: Owner, view: View, item: Item) -> Sequence[Item]:
    """Return the earlier values of an item that the view may read, each in its first version."""
    steps = await records.history(owner, view, item.id)
    found: dict[datetime, Item] = {}
    for step in steps:
        if isinstance(step.record, Item) and step.record.updated_at != item.updated_at:
            found.setdefault(step.record.updated_at, step.record)
    return list(found.values())


def as_stored(one: Telling, value: Item) -> Telling:
    """Return a part of an earlier value with its place in what was stored."""
    (span,) = as_said([one.span], value.removed)
    return replace(one, span=span, version=value.version, at=value.updated_at)


async def in_earlier_values(
    records: Records, owner: Owner, view: View, item: Item, words: str
) -> list[Redaction]:
    """Return where earlier values of an item have some words, so that no copy of the book keeps them."""
    found = []
    for value in await earlier_values(records, owner, view, item):
        spans = tuple(places_of([words], texts_of(value).items()))
        found.append(Redaction(item.id, as_said(spans, value.removed), at=value.updated_at))
    return [one for one in found if one.spans]
