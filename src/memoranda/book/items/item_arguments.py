"""The values that callers of ``book.items`` give, checked."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Literal, TypeAlias

from memoranda.book.item_names import as_bounded
from memoranda.errors import InvalidInput
from memoranda.first_use import dataclass
from memoranda.model.data.items import ITEM_NAME_LENGTH
from memoranda.model.records import Trust, View

#: The paths that an item is found by: None for all of its text, False for none.
Index: TypeAlias = Sequence[str] | Literal[False] | None


@dataclass(frozen=True, slots=True)
class ItemPut:
    """A value to store under a name, as ``book.items.write`` takes it."""

    namespace: Sequence[str]
    name: str
    value: Any
    index: Index = None
    #: Seconds, or a timedelta; None: it stays.
    ttl: float | timedelta | None = None
    #: True asks that there is no item of this name.
    new: bool = False


def spelled(draft: ItemPut) -> list[Any]:
    """Return a put as its request has it; the digest of a repeated operation is made of it."""
    ttl = draft.ttl.total_seconds() if isinstance(draft.ttl, timedelta) else draft.ttl
    index = list(draft.index) if draft.index else draft.index
    # A field that is not given is no part of the request, so requests of before have the same digest.
    return [list(draft.namespace), draft.name, draft.value, index, ttl, *(["new"] if draft.new else [])]


def item_name(name: str) -> str:
    """Return an item's name after its check."""
    return as_bounded(name, ITEM_NAME_LENGTH, "name")


def seconds_of(ttl: float | timedelta | None, at: str) -> float | None:
    """Return a time to live in seconds."""
    seconds = ttl.total_seconds() if isinstance(ttl, timedelta) else ttl
    if seconds is None:
        return None
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 < seconds <= 1e12:
        raise InvalidInput(f"{at}ttl: give seconds above 0, or a timedelta, not {ttl!r}", field=f"{at}ttl")
    return float(seconds)


def paths_of(index: Index, at: str) -> tuple[str, ...] | None:
    """Return the paths to index as an item has them."""
    if index is None:
        return None
    if index is False:
        return ()
    if isinstance(index, (str, bool)) or not isinstance(index, Sequence):
        raise InvalidInput(f"{at}index: give a list of paths, or False", field=f"{at}index")
    return tuple(index)


def trust_of(given: str | Trust | None, view: View) -> Trust:
    """Return the trust that a call names, or that of its writer."""
    if given is None:
        return Trust.USER if view.agent is None else Trust.ASSISTANT
    try:
        return Trust(given)
    except ValueError:
        known = ", ".join(trust.value for trust in Trust)
        raise InvalidInput(f"trust: {given!r} is none of {known}", field="trust") from None
