"""Quotes records as evidence: who said or did it, when, and in what words."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import cast
from uuid import UUID

from memoranda.model.episodes import Episode
from memoranda.model.experience import ExperienceLine
from memoranda.model.memories import Memory
from memoranda.model.messages import Message, Thread
from memoranda.model.query import Source, quote
from memoranda.model.records import Record

#: As many sources of a record are quoted where it is found.
MOST_CITED = 3


def source_of(record: Record, sources: tuple[Source, ...] = ()) -> Source:
    """Quote a record; ``sources`` are its own sources."""
    return Source(record.id, record.type, _by(record), _at(record), quote(_text(record)), sources)


def cited(record: Record) -> tuple[UUID, ...]:
    """The sources that a record names, as far as they are quoted where it is found."""
    return record.sources[:MOST_CITED] if isinstance(record, (Memory, Episode)) else ()


def cited_by(records: Iterable[Record]) -> list[UUID]:
    """The sources of several records, each once."""
    return list(dict.fromkeys(id for record in records for id in cited(record)))


def _by(record: Record) -> str:
    if isinstance(record, Message):
        return record.speaker or (record.agent or record.role if record.role == "assistant" else record.role)
    if isinstance(record, (Memory, Episode, Thread)):
        return record.agent or "application"
    return str(record.owner)


def _at(record: Record) -> datetime:
    for name in ("observed_at", "started_at"):
        if hasattr(record, name):
            return cast(datetime, getattr(record, name))
    return record.recorded_at


def _text(record: Record) -> str:
    if isinstance(record, Message):
        return record.content
    if isinstance(record, Thread):
        return record.title or record.name or "a conversation"
    if isinstance(record, ExperienceLine):
        return record.line
    return record.passage_text() or record.type.value
