"""The checked arguments of ``book.context``."""

from __future__ import annotations

from datetime import tzinfo
from numbers import Integral
from typing import Any, Final
from uuid import UUID
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from memoranda.book.agent_settings import ContextSettings
from memoranda.book.input import as_count, as_flag, as_id, as_limit, as_names, as_text, as_types
from memoranda.errors import InvalidInput
from memoranda.first_use import dataclass
from memoranda.formation.formation_settings import CONTEXT
from memoranda.model.memories import Memory
from memoranda.model.records import PASSAGE_TYPES, RecordType
from memoranda.text.token_count import Count

#: The types of the records that a context may contain besides the conversation.
_PLACED: Final = (PASSAGE_TYPES - {RecordType.ITEM}) | {RecordType.EXPERIENCE, RecordType.PROFILE}


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """The checked arguments of ``book.context`` that say what goes in."""

    #: None: the last message of the thread's user.
    question: str | None
    thread: UUID | None
    #: False leaves the thread's turns out: the caller has them.
    conversation: bool
    budget: int
    #: The most that recall finds, and the most memories; None: as many as the budget holds.
    limit: int | None
    count: Count | None
    types: frozenset[RecordType]
    #: The kinds of memories; None: all.
    kinds: frozenset[str] | None
    #: The reader's zone, if the context is to tell the time.
    zone: tzinfo | None

    @property
    def quoted_thread(self) -> UUID | None:
        """The thread whose turns the context has."""
        return self.thread if self.conversation else None

    def wants(self, memory: Memory) -> bool:
        """True if a memory may be placed."""
        return RecordType.MEMORY in self.types and (self.kinds is None or memory.kind in self.kinds)


def request_of(
    question: Any,
    thread: Any,
    budget: Any,
    limit: Any,
    count: Any,
    types: Any,
    kinds: Any,
    zone: Any,
    conversation: Any = True,
) -> ContextRequest:
    """Check the arguments of ``book.context``."""
    wanted = _PLACED if types is None else as_types(types)
    assert wanted is not None
    if not wanted <= _PLACED:
        known = ", ".join(sorted(_PLACED))
        raise InvalidInput(
            f"types: a context has no records of other types than {known}", field="types"
        )
    return ContextRequest(
        None if question is None else as_text(question, "query"),
        None if thread is None else as_id(thread, "thread"),
        as_flag(conversation, "conversation"),
        as_count(budget, "budget", 1),
        None if limit is None else as_limit(limit),
        as_counter(count),
        wanted,
        None
        if kinds is None
        else frozenset(as_names((kinds,) if isinstance(kinds, str) else kinds, "kinds")),
        None if zone is None else _as_zone(zone),
    )


def check_context_settings(chosen: ContextSettings) -> None:
    """Raise ``InvalidInput`` if an agent's settings of contexts cannot be used."""
    try:
        request_of(
            None,
            None,
            chosen.budget,
            chosen.limit,
            None,
            chosen.types,
            chosen.kinds,
            chosen.time_zone,
        )
    except InvalidInput as exc:
        at = f"settings.{CONTEXT}.{exc.field}"
        raise InvalidInput(f"{at}: {exc}", field=at) from exc


def usable_here(chosen: ContextSettings) -> ContextSettings:
    """Return an agent's stored settings of contexts; the usual ones if this process cannot use
    them.
    """
    try:
        check_context_settings(chosen)
    except InvalidInput:
        return ContextSettings()
    return chosen


def _as_zone(given: Any) -> tzinfo:
    """Return a time zone, given as such or by its name."""
    if isinstance(given, tzinfo):
        return given
    try:
        return ZoneInfo(as_text(given, "time_zone"))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InvalidInput(
            f"time_zone: {given!r} is not known here; give a name such as 'Europe/Lisbon', or a tzinfo",
            field="time_zone",
        ) from None


def as_counter(given: Any) -> Count | None:
    """Check a function that counts tokens; the returned one checks that every result is a whole
    number.
    """
    if given is None:
        return None
    if not callable(given):
        raise InvalidInput("count: pass a function from text to a number of tokens", field="count")

    def counted(text: str) -> int:
        tokens = given(text)
        if not isinstance(tokens, Integral) or tokens < 0:
            raise InvalidInput(
                f"count: the function returned {tokens!r} instead of a whole number from 0",
                field="count",
            )
        return int(tokens)

    return counted
