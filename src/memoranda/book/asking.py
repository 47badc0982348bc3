"""What callers ask of recall and of reads, as the values that rooms take: modes, conditions, a question's vector."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from numbers import Integral
from typing import Any, TypedDict
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memoranda.book.parsing import as_flag, as_id, as_ids, as_names, as_text
from memoranda.errors import InvalidInput
from memoranda.model.memories import MemoryStatus
from memoranda.model.messages import ThreadStatus
from memoranda.model.query import Filter
from memoranda.model.records import RecordType
from memoranda.model.trust import Trust
from memoranda.ports import MakesVectors
from memoranda.recall.orders import MOST_USED
from memoranda.recall.search import Mode
from memoranda.text.tokens import Count

#: What a recall may go by; some of it needs the question's vector.
MODES = (*(mode.value for mode in Mode), MOST_USED)
BY_MEANING = frozenset({Mode.HYBRID, Mode.MEANING})


def as_mode(mode: Any) -> str:
    """What a recall goes by."""
    if mode not in MODES:
        raise InvalidInput(f"mode: {mode!r} is none of {', '.join(MODES)}", field="mode")
    return str(mode)


def as_explained(value: Any) -> tuple[UUID, ...] | None:
    """The ids whose absence is to be explained; none of them: of those that come next; None: nothing."""
    if isinstance(value, bool):
        return () if value else None
    return as_ids(value, "explain")


def as_counter(given: Any) -> Count | None:
    """A counter of tokens, whose every answer is a whole number."""
    if given is None:
        return None
    if not callable(given):
        raise InvalidInput("count: give a function from text to a number of tokens", field="count")

    def counted(text: str) -> int:
        tokens = given(text)
        if not isinstance(tokens, Integral) or tokens < 0:
            raise InvalidInput(f"count: it gave {tokens!r}, and not a whole number from 0", field="count")
        return int(tokens)

    return counted


def as_vector(given: Any, maker: MakesVectors | None) -> NDArray[np.float32]:
    """A question's vector, made with the book's own embedding."""
    if maker is None:
        raise InvalidInput("vector: this book has no embedding to compare it in", field="vector")
    try:
        vector = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as exc:
        raise InvalidInput("vector: give numbers", field="vector") from exc
    largest = float(np.abs(vector).max(initial=0.0))
    if 0 < largest < np.inf:
        # Squares of what is very large, or very small, are no numbers.
        vector = vector / largest
    length = float(np.linalg.norm(vector)) if vector.ndim == 1 and largest < np.inf else 0.0
    if vector.shape != (maker.embedding.dimension,) or not 0 < length < np.inf:
        raise InvalidInput(
            f"vector: give {maker.embedding.dimension} finite numbers, not all of them 0", field="vector"
        )
    return np.asarray(vector / length, dtype=np.float32)


class Only(TypedDict, total=False):
    """Conditions on what is read; what is not given sets none."""

    kinds: Iterable[str] | str | None
    statuses: Iterable[str] | str | None
    thread: UUID | str | None
    since: datetime | None
    until: datetime | None
    valid_at: datetime | None
    #: Of memories: their key, and whom or what they are about.
    keys: Iterable[str] | str | None
    subject: str | None
    #: The agent that wrote it, or to whom it was said.
    agent: str | None
    #: At least one of these.
    tags: Iterable[str] | str | None
    trust: Iterable[str] | str | None
    #: What was true at a moment, what was superseded since included.
    as_of: datetime | None
    #: What the book knew at a moment.
    known_at: datetime | None
    #: Of memories, those that are pinned.
    pinned: bool


def as_filter(types: frozenset[RecordType] | None, only: Only, *, newest_first: bool = False) -> Filter:
    """A filter of the conditions given."""
    if not isinstance(only, Mapping):
        raise InvalidInput("only: give a mapping of conditions", field="only")
    unknown = sorted(set(only) - set(Only.__annotations__), key=str)
    if unknown:
        known = ", ".join(sorted(Only.__annotations__))
        raise InvalidInput(
            f"only.{unknown[0]}: no such condition; known are {known}", field=f"only.{unknown[0]}"
        )
    thread, keys = only.get("thread"), _names(only.get("keys"), "keys")
    return Filter(
        types=types,
        kinds=_names(only.get("kinds"), "kinds"),
        statuses=_words(only.get("statuses"), "statuses", _STATUSES),
        thread=None if thread is None else as_id(thread, "thread"),
        since=_moment(only.get("since"), "since"),
        until=_moment(only.get("until"), "until"),
        valid_at=_moment(only.get("valid_at"), "valid_at"),
        keys=None if keys is None else frozenset(key.strip() for key in keys),
        subject=_name(only.get("subject"), "subject"),
        agent=_name(only.get("agent"), "agent"),
        tags=_names(only.get("tags"), "tags"),
        trust=_words(only.get("trust"), "trust", _TRUSTS),
        as_of=_moment(only.get("as_of"), "as_of"),
        known_at=_moment(only.get("known_at"), "known_at"),
        pinned=as_flag(only.get("pinned", False), "pinned"),
        newest_first=newest_first,
    )


_STATUSES = frozenset({status.value for status in MemoryStatus} | {status.value for status in ThreadStatus})
_TRUSTS = frozenset(trust.value for trust in Trust)


def _names(values: Iterable[str] | str | None, field: str) -> frozenset[str] | None:
    if values is None:
        return None
    return frozenset(as_names((values,) if isinstance(values, str) else values, field))


def _words(values: Iterable[str] | str | None, field: str, known: frozenset[str]) -> frozenset[str] | None:
    words = _names(values, field)
    strange = sorted((words or frozenset()) - known)
    if strange:
        raise InvalidInput(f"{field}: {strange[0]!r} is none of {', '.join(sorted(known))}", field=field)
    return words


def _name(value: Any, field: str) -> str | None:
    return None if value is None else as_text(value, field)


def _moment(value: Any, field: str) -> datetime | None:
    if value is None:
        return None
    if not isinstance(value, datetime) or value.tzinfo is None:
        raise InvalidInput(f"{field}: give a datetime with its time zone", field=field)
    return value
