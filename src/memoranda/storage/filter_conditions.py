"""A caller's filter as conditions, which each engine spells."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from memoranda.model.query import Filter
from memoranda.model.records import COMMITMENT
from memoranda.model.values import micros
from memoranda.storage.conditions import Among, Begins, Either, Every, Is, Meets, Not, Shares, Than
from memoranda.storage.rows import TAKEN_BACK

_MEMORY, _WITHDRAWN = Is("type", "memory"), Is("status", "withdrawn")


def _ends_after(at: int) -> Either:
    return Either((Is("valid_to", None), Than("valid_to", ">", at)))


def _held_at(at: int) -> list[Any]:
    return [Either((Is("valid_from", None), Than("valid_from", "<=", at))), _ends_after(at)]


def conditions_of(filter: Filter, at: datetime | None) -> list[Any]:
    """Return a filter as conditions; what had expired at the moment ``at`` does not meet it."""
    return list(_conditions(filter, at))


def _conditions(only: Filter, at: datetime | None) -> Iterator[Any]:
    yield _WITHDRAWN if only.withdrawn else Not(_WITHDRAWN)
    if at is not None:
        now = micros(at)
        kept = Every((_MEMORY, Either((Is("expires", None), Than("expires", ">", now)))))
        yield Either((*_ends_after(now).parts, kept))
    if only.expired_at is not None:
        late = micros(only.expired_at)
        yield Than("valid_to", "<=", late)
        yield Either((Not(_MEMORY), Than("expires", "<=", late)))
    for column, values in (
        ("type", only.types), ("kind", only.kinds), ("status", only.statuses), ("slot", only.slots),
        ("key", only.keys), ("trust", only.trust),
    ):  # fmt: skip
        if values is not None:
            yield Among(column, sorted(values))
    if only.kind_prefix is not None:
        yield Begins("kind", only.kind_prefix)
    if only.thread is not None:
        yield Is("thread", only.thread.bytes)
    if only.not_thread is not None:
        yield Not(Either((Is("thread", None), Is("thread", only.not_thread.bytes))))
    for column, text in (("agent", only.agent), ("subject", only.subject)):
        if text is not None:
            yield Is(column, text)
    if only.sources is not None:
        yield Shares("sources", sorted(id.bytes for id in only.sources))
    if only.tags is not None:
        yield Shares("tags", sorted(only.tags))
    if only.since is not None:
        yield Than("at", ">=", micros(only.since))
    if only.until is not None:
        yield Than("at", "<", micros(only.until))
    if only.valid_at is not None:
        yield from _held_at(micros(only.valid_at))
    if only.as_of is not None:
        yield Not(Among("status", sorted(TAKEN_BACK)))
        yield from _held_at(micros(only.as_of))
    if only.current_at is not None:
        ends = _ends_after(micros(only.current_at))
        yield Either((*ends.parts, Is("kind", COMMITMENT), Not(_MEMORY)))
    if only.known_at is not None:
        known = micros(only.known_at)
        yield Than("learnt", "<=", known)
        yield Either((Is("ended", None), Than("ended", ">", known)))
    if only.pinned:
        yield Either((Not(_MEMORY), Is("pinned", True)))
    if only.data is not None:
        yield Meets(only.data)
