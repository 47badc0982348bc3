"""Checks of the arguments of recall and reads: modes, conditions, a question's vector."""

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

#: The modes of recall; ``BY_MEANING`` need the question's vector.
MODES = (*(mode.value for mode in Mode), MOST_USED)
BY_MEANING = frozenset({Mode.HYBRID, Mode.MEANING})


def as_mode(mode: Any) -> str:
    """Check a mode of recall."""
    if mode not in MODES:
        raise InvalidInput(f"mode: {mode!r} is none of {', '.join(MODES)}", field="mode")
    return str(mode)


def as_explained(value: Any) -> tuple[UUID, ...] | None:
    """Return the ids to explain; empty for the passages right after the hits, None for no explanation."""
    if isinstance(value, bool):
        return () if value else None
    return as_ids(value, "explain")


def as_counter(given: Any) -> Count | None:
    """Check a counter of tokens; the returned one checks that every result is a whole number."""
    if given is None:
        return None
    if not callable(given):
        raise InvalidInput("count: pass a function from text to a number of tokens", field="count")

    def counted(text: str) -> int:
        tokens = given(text)
        if not isinstance(tokens, Integral) or tokens < 0:
            raise InvalidInput(
                f"count: the function returned {tokens!r} instead of a whole number from 0", field="count"
            )
        return int(tokens)

    return counted


def as_vector(given: Any, maker: MakesVectors | None) -> NDArray[np.float32]:
    """Check a question's vector and return it with length 1."""
    if maker is None:
        raise InvalidInput("vector: this book has no embedder, so vectors cannot be compared", field="vector")
    try:
        vector = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as exc:
        raise InvalidInput("vector: pass numbers", field="vector") from exc
    largest = float(np.abs(vector).max(initial=0.0))
    if 0 < largest < np.inf:
        # The squares of very large or very small numbers are not finite, or 0.
        vector = vector / largest
    length = float(np.linalg.norm(vector)) if vector.ndim == 1 and largest < np.inf else 0.0
    if vector.shape != (maker.embedding.dimension,) or not 0 < length < np.inf:
        raise InvalidInput(
            f"vector: pass {maker.embedding.dimension} finite numbers that are not all 0", field="vector"
        )
    return np.asarray(vector / length, dtype=np.float32)


class Only(TypedDict, total=False):
    """Conditions on the records that are read; a missing key sets no condition."""

    kinds: Iterable[str] | str | None
    statuses: Iterable[str] | str | None
    thread: UUID | str | None
    since: datetime | None
    until: datetime | None
    valid_at: datetime | None
    #: Of memories: their key, and the person or thing they are about.
    keys: Iterable[str] | str | None
    subject: str | None
    #: The agent that wrote it, or that it was addressed to.
    agent: str | None
    #: At least one of these.
    tags: Iterable[str] | str | None
    trust: Iterable[str] | str | None
    #: Memories that were true at this moment, also if they were superseded later.
    as_of: datetime | None
    #: Records that the book had at this moment.
    known_at: datetime | None
    #: Only pinned ones of the memories.
    pinned: bool


def as_filter(types: frozenset[RecordType] | None, only: Only, *, newest_first: bool = False) -> Filter:
    """Check conditions and return them as a filter."""
    if not isinstance(only, Mapping):
        raise InvalidInput("only: pass a mapping of conditions", field="only")
    unknown = sorted(set(only) - set(Only.__annotations__), key=str)
    if unknown:
        known = ", ".join(sorted(Only.__annotations__))
        raise InvalidInput(
            f"only.{unknown[0]}: unknown condition; the conditions are {known}", field=f"only.{unknown[0]}"
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
        raise InvalidInput(f"{field}: pass a datetime with a time zone", field=field)
    return value
