"""Filters of scans: their conditions in SQL, where a page begins, and how it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, TypeVar, cast

from memoranda.first_use import dataclass
from memoranda.model.data_filters import DataFilter
from memoranda.model.memories import ARCHIVED, HELD, INSTRUCTION, STANDING
from memoranda.model.messages import Message
from memoranda.model.query import Filter, Page, place_of
from memoranda.model.records import COMMITMENT, PASSAGE_TYPES, Record, RecordType
from memoranda.model.values import micros
from memoranda.storage.rows import TAKEN_BACK, cursor_of

R = TypeVar("R")
_CONTENT = '"content":"'
#: Fields of records that have other texts, too.
_MORE = ('"data":', '"native":', '"applies_when":', '"started_at":', '"calls":')

_PAST_ALL = 2**62
#: Active instructions, memories with a key and pinned ones are few among many, and have indexes
#: with these conditions. A test on the text chooses the index without reading JSON, which might be
#: damaged; the filter's own condition decides.
_ACTIVE, _ARCHIVED = (f"r.type = 'memory' AND r.status = '{one}'" for one in ("active", ARCHIVED))
_STANDING = f"r.type = 'memory' AND r.status IN ('active', '{ARCHIVED}')"
_PINNED, _KEYED = '"pinned":true', '"key":"'

#: A filter's field, and the place of its facet in a record's facets.
_SAME = (("agent", 1), ("subject", 3))
_ONE_OF = (("keys", 2), ("trust", 4))


@dataclass(frozen=True, slots=True)
class Dialect:
    """The spelling of conditions in one database's SQL."""

    #: A record that is not withdrawn.
    present: str
    #: ``{0}`` is one of the texts of parameter ``{1}``.
    among: str
    #: ``{0}`` begins with the text of parameter ``{1}``.
    begins: str
    #: A pinned memory, or a record of another type.
    pinned: str
    #: A record's JSON contains the text ``{0}``.
    holds: str
    #: The facet at place ``{0}``, as a text.
    facet: str
    #: One of the tags is one of the texts of parameter ``{0}``.
    tagged: str
    #: The moment at which a memory expires, from its facets.
    expiry: str
    #: Returns the condition that a record's data meets a filter, and its parameters.
    data: Callable[[DataFilter], tuple[str, dict[str, Any]]]
    #: Converts a list of texts to a parameter.
    texts: Callable[[list[str]], Any]
    #: Returns the condition that a record has one of these slots, and its parameters.
    slots: Callable[[tuple[bytes, ...]], tuple[str, dict[str, Any]]]
    #: Returns the condition that a record cites one of these ids, and its parameters.
    citing: Callable[[list[bytes]], tuple[str, dict[str, Any]]]

    def few(self, filter: Filter, types: frozenset[RecordType] | None) -> tuple[str, str] | None:
        """Return the index of few memories that holds all records of these types that a filter
        selects, and its condition.
        """
        if (
            types != frozenset({RecordType.MEMORY})
            or filter.sources is not None
            or filter.thread is not None
        ):
            return None
        active = filter.statuses == HELD
        if filter.pinned:
            return "memories_pinned", f"r.type = 'memory' AND {self.holds.format(_PINNED)}"
        if active and filter.kinds == frozenset({INSTRUCTION}):
            return "memories_instructing", f"{_ACTIVE} AND r.kind = '{INSTRUCTION}'"
        if filter.keys and filter.statuses is not None and filter.statuses <= STANDING:
            return "memories_keyed", f"{_STANDING} AND {self.holds.format(_KEYED)}"
        return (
            ("memories_archived", _ARCHIVED) if filter.statuses == frozenset({ARCHIVED}) else None
        )

    def conditions(self, filter: Filter, at: datetime | None) -> tuple[str, dict[str, Any]]:
        """Return a filter as a condition on the SQL alias ``r``, and its parameters; the caller
        adds types and threads.

        What had expired at the moment ``at`` does not meet it.
        """
        parts: list[str] = [f"NOT ({self.present})" if filter.withdrawn else self.present]
        values: dict[str, Any] = {}
        if at is not None:
            # Of most rows the first two tell; the facets are parsed for memories whose time has
            # ended.
            kept = f"coalesce({self.expiry}, {_PAST_ALL}) > :read_at"
            parts.append(
                f"(r.valid_to IS NULL OR r.valid_to > :read_at OR (r.type = 'memory' AND {kept}))"
            )
            values["read_at"] = micros(at)
        if filter.expired_at is not None:
            late = f"coalesce({self.expiry}, {_PAST_ALL}) <= :expired_at"
            parts.append(f"r.valid_to <= :expired_at AND (r.type <> 'memory' OR {late})")
            values["expired_at"] = micros(filter.expired_at)

        def is_among(column: str, name: str, wanted: Iterable[str]) -> str:
            values[name] = self.texts(sorted(wanted))
            return self.among.format(column, f":{name}")

        if filter.kinds is not None:
            parts.append(is_among("r.kind", "kinds", filter.kinds))
        if filter.kind_prefix is not None:
            parts.append(self.begins.format("r.kind", ":kind_prefix"))
            values["kind_prefix"] = filter.kind_prefix
        if filter.statuses is not None:
            parts.append(is_among("r.status", "statuses", filter.statuses))
        if filter.not_thread is not None:
            parts.append("r.thread <> :not_thread")
            values["not_thread"] = filter.not_thread.bytes
        if filter.slots is not None:
            condition, slots = self.slots(filter.slots)
            parts.append(condition)
            values |= slots
        if filter.sources is not None:
            condition, sources = self.citing(sorted(id.bytes for id in filter.sources))
            parts.append(condition)
            values |= sources
        for name, sign, limit in (("since", ">=", filter.since), ("until", "<", filter.until)):
            if limit is not None:
                parts.append(f"r.at {sign} :{name}")
                values[name] = micros(limit)
        for name, at in (("valid_at", filter.valid_at), ("as_of", filter.as_of)):
            if at is not None:
                parts.append(f"(r.valid_from IS NULL OR r.valid_from <= :{name})")
                parts.append(f"(r.valid_to IS NULL OR r.valid_to > :{name})")
                values[name] = micros(at)
        if filter.as_of is not None:
            parts.append("NOT " + is_among("coalesce(r.status, '')", "taken_back", TAKEN_BACK))
        if filter.current_at is not None:
            parts.append(
                f"(r.valid_to IS NULL OR r.valid_to > :current_at OR r.kind = '{COMMITMENT}' OR r.type <> 'memory')"
            )
            values["current_at"] = micros(filter.current_at)
        if filter.known_at is not None:
            parts.append("r.learnt <= :known_at AND (r.ended IS NULL OR r.ended > :known_at)")
            values["known_at"] = micros(filter.known_at)
        if filter.pinned:
            parts.append(self.pinned)
        facets, given = self._facet_conditions(filter)
        if filter.data is not None:
            condition, data = self.data(filter.data)
            facets, given = [*facets, condition], given | data
        return " AND ".join([*parts, *facets]), values | given

    def _facet_conditions(self, filter: Filter) -> tuple[list[str], dict[str, Any]]:
        """Return the conditions on facets; their parameters begin with ``of``, because the same
        statements have a view's agent.
        """
        parts: list[str] = []
        values: dict[str, Any] = {}
        for name, place in _SAME:
            if (text := getattr(filter, name)) is not None:
                parts.append(f"{self.facet.format(place)} = :of_{name}")
                values[f"of_{name}"] = text
        for name, place in _ONE_OF:
            if (texts := getattr(filter, name)) is not None:
                parts.append(self.among.format(self.facet.format(place), f":of_{name}"))
                values[f"of_{name}"] = self.texts(sorted(texts))
        if filter.tags is not None:
            parts.append(self.tagged.format(":of_tags"))
            values["of_tags"] = self.texts(sorted(filter.tags))
        return parts, values


def passage_types(filter: Filter) -> frozenset[RecordType]:
    """Return the types of passages that a filter selects."""
    return PASSAGE_TYPES if filter.types is None else filter.types & PASSAGE_TYPES


def statement_of(filter: Filter) -> str:
    """Return the name of the statement that has the best index for a filter."""
    if filter.by_places:
        name = "places"
    elif filter.unformed:
        name = "scan_unformed"
    elif filter.thread is not None:
        name = "scan_thread"
    elif filter.sources is not None:
        name = "scan_citing"
    else:
        name = "scan"
    return f"{name}_down" if filter.newest_first else f"{name}_up"


def start_of(filter: Filter, cursor: str | None) -> dict[str, Any]:
    """Return the parameter after which a page begins: a place in a thread, or a record's id."""
    if not filter.by_places:
        return {"cursor": cursor_of(cursor, filter.newest_first)}
    place = place_of(cursor)
    return {"place": place if place is not None else _PAST_ALL if filter.newest_first else 0}


def touched(filter: Filter, rows: Sequence[R], body: Callable[[R], str]) -> Sequence[R]:
    """Return the rows of a page that may pass a filter's test of their content; the last one
    always, since its cursor is the page's.
    """
    test = filter.touches
    if test is None:
        return rows
    return [row for row in rows[:-1] if (text := _content_in(body(row))) is None or test(text)] + [
        *rows[-1:]
    ]


def _content_in(body: str) -> str | None:
    """Return the content in a row's body without reading the rest; None if the record has other
    texts, or it takes more to read.
    """
    start = body.find(_CONTENT) + len(_CONTENT)
    if start < len(_CONTENT) or any(name in body for name in _MORE):
        return None
    content = body[start : body.find('"', start)]
    return None if "\\" in content else content


def page_of(filter: Filter, records: tuple[Record, ...], is_last: bool) -> Page:
    """Return a page with the cursor of the next one."""
    if is_last:
        return Page(records, None)
    last = records[-1]
    return Page(records, str(cast(Message, last).seq) if filter.by_places else last.id.hex)
