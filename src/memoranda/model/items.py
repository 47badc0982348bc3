"""Items: named values of any JSON type in a namespace, which never make room; the changes to them,
and the text that recall finds.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any, ClassVar, Final
from uuid import UUID

from pydantic import AfterValidator, Field, Strict

from memoranda.first_use import dataclass, expression
from memoranda.model.records import Owner, Record, RecordType, Trust
from memoranda.model.records import external_link as _link
from memoranda.model.values import Moment, Name, Span, canonical, json_text, text_fault

#: The most labels of a namespace, and the most characters of a label and of a name.
LABELS: Final = 20
LABEL_LENGTH: Final = 255
ITEM_NAME_LENGTH: Final = 1024
#: The most paths that an item's text is taken from.
PATHS: Final = 50
#: An item's time is renewed by a read only when this share of it has passed.
RENEWED_AFTER: Final = 0.1

_END, _ESCAPE = "\x1f", "\x1b"


def length_fault(text: str, most: int) -> str | None:
    """Return what is wrong with a text that must have 1 to ``most`` characters, or None."""
    if not text:
        return "is empty; give it some text"
    if (fault := text_fault(text)) is not None:
        return fault
    return f"has {len(text)} characters; at most {most} are allowed" if len(text) > most else None


def _bounded(most: int) -> AfterValidator:
    def check(value: str) -> str:
        if (fault := length_fault(value, most)) is not None:
            raise ValueError(fault)
        return value

    return AfterValidator(check)


Label = Annotated[str, Strict(), _bounded(LABEL_LENGTH)]
ItemName = Annotated[str, Strict(), _bounded(ITEM_NAME_LENGTH)]


def _value(value: Any) -> Any:
    # A copy: what was checked is what is kept, whatever the caller does with its own.
    return json.loads(json_text(value))


def namespace_text(labels: Iterable[str]) -> str:
    """Return a namespace as one text; a prefix of its labels is a prefix of the text, and no other
    namespace has the same.
    """
    return "".join(f"{_escaped(label)}{_END}" for label in labels)


def _escaped(label: str) -> str:
    return label.replace(_ESCAPE, f"{_ESCAPE}1").replace(_END, f"{_ESCAPE}2")


def namespace_of(text: str) -> tuple[str, ...]:
    """Return the labels of a namespace that ``namespace_text`` wrote."""
    parts = text.split(_END)[:-1]
    return tuple(
        part.replace(f"{_ESCAPE}2", _END).replace(f"{_ESCAPE}1", _ESCAPE) for part in parts
    )


def item_link(owner: Owner, namespace: Sequence[str], name: str) -> UUID:
    """Return the id that links to all items that an owner has under one name."""
    return _link(owner, RecordType.ITEM, canonical([list(namespace), name]).decode())


class Item(Record):
    """A value of any JSON type under a name in a namespace."""

    type: ClassVar[RecordType] = RecordType.ITEM

    namespace: Annotated[tuple[Label, ...], Field(min_length=1, max_length=LABELS)]
    name: ItemName
    value: Annotated[Any, AfterValidator(_value)]
    #: The parts that were taken out of its strings, as places in the value as it was stored.
    removed: tuple[Span, ...] = ()
    #: Paths of the value whose text recall finds; None: all of its text. Empty: recall finds it by
    #: no words.
    index: Annotated[tuple[ItemName, ...], Field(max_length=PATHS)] | None = None
    #: The agent that stored it last.
    agent: Name | None = None
    trust: Trust = Trust.USER
    #: When it was first stored; a new value leaves it as it is.
    created_at: Moment
    #: When its value was last stored.
    updated_at: Moment
    #: Seconds that it is kept after it was stored, or read with ``renew``; None: it stays.
    ttl: float | None = Field(default=None, gt=0, le=1e12)
    expires_at: Moment | None = None

    def identity(self) -> tuple[Any, ...]:
        """Return namespace and name with the audience: each audience has one item of a name."""
        audience = self.audience
        return (
            list(self.namespace),
            self.name,
            audience.kind.value,
            audience.agent,
            list(audience.groups),
        )

    def links(self) -> tuple[UUID, ...]:
        return (item_link(self.owner, self.namespace, self.name),)

    def passage_text(self) -> str:
        """Return the text of the indexed paths; empty if none is indexed."""
        return item_text(self.value, self.index)

    def renewed(self, at: datetime) -> Item | None:
        """Return this item with its time begun anew; None if it has none, or hardly any of it has
        passed.
        """
        if self.ttl is None or self.expires_at is None:
            return None
        full = expiry_of(self.ttl, at)
        if full is None or (full - self.expires_at).total_seconds() < self.ttl * RENEWED_AFTER:
            return None
        renewed: Item = self.changed(expires_at=full)
        return renewed


def expiry_of(ttl: float | None, at: datetime) -> datetime | None:
    """Return when an item expires that is stored at this moment; None if it stays."""
    if ttl is None:
        return None
    try:
        return at + timedelta(seconds=ttl)
    except OverflowError:
        return None


# ── text ──────────────────────────────────────────────────────────────────────────────────────────

_STEP = expression(r"\[(\*|-?\d+)\]|\.?([^.\[\]]+)")


def item_text(value: Any, index: Sequence[str] | None) -> str:
    """Return the text of a value by which recall finds it: of the given paths, or of all of it."""
    if index is None:
        return "\n".join(_lines(value))
    return "\n".join(
        line for path in index for part in at_path(value, path) for line in _lines(part)
    )


def _lines(value: Any) -> Iterator[str]:
    """Yield a line for each text and number of a value: the name of its field, a colon and the
    text.
    """
    return (f"{name}: {part}" if name else str(part) for name, part in named_parts(value))


def named_parts(value: Any, name: str = "") -> Iterator[tuple[str, str | int | float]]:
    """Yield each text and number of a value after the name of its field."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from named_parts(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from named_parts(inner, name)
    elif isinstance(value, (str, int, float)) and not isinstance(value, bool):
        yield name, value


def at_path(value: Any, path: str) -> list[Any]:
    """Return the parts of a value at a path such as ``$``, ``a.b``, ``a[0]`` or ``a[*].b``; none
    where it leads nowhere.
    """
    found = [value]
    if path == "$":
        return found
    for step in _STEP.finditer(path.removeprefix("$.")):
        place, key = step.groups()
        if key is not None:
            found = [part[key] for part in found if isinstance(part, dict) and key in part]
        elif place == "*":
            found = [
                inner
                for part in found
                if isinstance(part, (list, dict))
                for inner in (part.values() if isinstance(part, dict) else part)
            ]
        else:
            at = int(place)
            found = [
                part[at]
                for part in found
                if isinstance(part, list) and -len(part) <= at < len(part)
            ]
    return found


def path_fault(path: str) -> str | None:
    """Return what is wrong with a path, or None."""
    if path == "$":
        return None
    rest, end = path.removeprefix("$."), 0
    for step in _STEP.finditer(rest):
        if step.start() != end:
            break
        end = step.end()
    if rest and end == len(rest):
        return None
    return f"{path!r} is no path; write it as $, a.b, a[0] or a[*].b"


# ── changes ───────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class PutItem:
    """Store an item, or a new value of the item that has its name and audience."""

    item: Item
    terms: bytes = b""
    #: The version that the caller read; 0: there must be none; None: whatever there is.
    expect: int | None = None


@dataclass(frozen=True, slots=True)
class DeleteItem:
    """Take an item out of every read; its history stays, and an undo brings it back."""

    item: UUID
    #: The version that the caller read; None: whichever it is.
    expect: int | None = None


@dataclass(frozen=True, slots=True)
class RenewItem:
    """Begin the time of an item anew, because it was read."""

    item: UUID


ItemChange = PutItem | DeleteItem | RenewItem
