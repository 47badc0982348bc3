"""The fields of each kind of line in an export, as validated models."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AfterValidator, BeforeValidator, Field

from memoranda.model.ledger import AGED, IGNORED, OPERATION, Actor, Entry, Ignored, Line, Verb
from memoranda.model.records import OwnerKind, RecordType
from memoranda.model.service_records import Appends
from memoranda.model.values import SIZE, Document, Moment, Name, Text, Value, micros
from memoranda.storage.export.owner_data import LARGEST, SECRET_SIZE


def _of_hex(size: int) -> BeforeValidator:
    def read(value: object) -> bytes:
        if not isinstance(value, str) or len(value) != 2 * size:
            raise ValueError(f"is no hexadecimal text of {size} bytes")
        found = bytes.fromhex(value)
        if len(found) != size:
            raise ValueError(f"is no hexadecimal text of {size} bytes")
        return found

    return BeforeValidator(read)


def _known_reason(code: str) -> str:
    if code not in IGNORED:
        raise ValueError(f"no reason is called {code!r}")
    return code


def _filled_up(part: object) -> object:
    """Add the seventh part of a ledger line, which is only stored for an erased one."""
    return [*part, None] if isinstance(part, list) and len(part) == 6 else part


def _with_positions(note: dict[str, Any]) -> dict[str, Any]:
    undoes = note.get("undoes", [])
    if not isinstance(undoes, list) or not all(
        type(each) is int and 0 < each < LARGEST for each in undoes
    ):
        raise ValueError("'undoes' is a list of positions")
    aged = note.get(AGED, [])
    if not isinstance(aged, list) or not all(map(_is_aged, aged)):
        raise ValueError(f"'{AGED}' is a list of threads, each with a count of messages")
    if OPERATION in note and not _are_digests(note[OPERATION]):
        raise ValueError(f"'{OPERATION}' is a pair of digests")
    return note


def _are_digests(part: object) -> bool:
    if not isinstance(part, list) or len(part) != 2:
        return False
    return all(
        isinstance(each, str) and re.fullmatch(f"[0-9a-f]{{{2 * SIZE}}}", each) for each in part
    )


def _is_aged(part: object) -> bool:
    if not isinstance(part, list) or len(part) != 2 or not isinstance(part[0], str):
        return False
    if type(part[1]) is not int or not 0 < part[1] < LARGEST:
        return False
    try:
        UUID(part[0])
    except ValueError:
        return False
    return True


_Count = Annotated[int, Field(strict=True, ge=0, lt=LARGEST)]
_Number = Annotated[int, Field(strict=True, ge=1, lt=LARGEST)]
_Digest = Annotated[bytes, _of_hex(SIZE)]
_Micros = Annotated[
    int,
    Field(
        strict=True,
        ge=micros(datetime(1, 1, 1, tzinfo=UTC)),
        le=micros(datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)),
    ),
]
_Told = Annotated[
    tuple[Verb, RecordType, UUID, _Count, _Count, None, Literal[1] | None],
    BeforeValidator(_filled_up),
]
_Left = tuple[_Count, Annotated[str, AfterValidator(_known_reason)], UUID | None, Text | None]


class RestrictionPart(Value):
    """The restriction of an owner whose processing is restricted."""

    at: Moment
    appends: Appends


class OwnerLine(Value):
    """The first line of an owner's part in an export; a restriction stands here, before all
    records.
    """

    line: Literal["owner"]
    tenant: Name
    kind: OwnerKind
    id: Name
    era: UUID
    restriction: RestrictionPart | None = None


class _EntryBody(Value):
    lines: tuple[_Told, ...] = Field(alias="l")
    ignored: tuple[_Left, ...] = Field(default=(), alias="i")
    note: Annotated[Document, AfterValidator(_with_positions)] = Field(
        default_factory=dict, alias="n"
    )


class EntryLine(Value):
    """A line of an export with one ledger entry."""

    line: Literal["entry"]
    position: _Number
    at: Moment
    actor: tuple[Literal["owner", "agent", "application", "system"], Text | None]
    body: _EntryBody
    keys: tuple[_Digest, _Digest] | None = None

    def entry(self, era: UUID) -> Entry:
        """Return the ledger entry that this line describes."""
        lines = tuple(Line(*part[:6], erased=part[6] is not None) for part in self.body.lines)
        ignored = tuple(Ignored(*part) for part in self.body.ignored)
        operation, request = self.keys or (None, None)
        return Entry(
            None,
            era,
            self.position,
            self.at,
            Actor(*self.actor),
            lines,
            ignored,
            self.body.note,
            operation,
            request,
        )


class VersionLine(Value):
    """A line of an export with one version of a record."""

    line: Literal["version", "record"]
    position: _Number
    record: dict[str, Any]
    tail: _Count | None = None
    #: The sources of each group of unlisted ones.
    unlisted: dict[UUID, tuple[UUID, ...]] = Field(default_factory=dict)


class UseLine(Value):
    """A line of an export on how often and when a memory was used in prompts."""

    line: Literal["use"]
    id: UUID
    strength: Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
    used_at: Moment | None
    count: _Count


class EndLine(Value):
    """The last line of an owner's part in an export, with the counts of its other lines."""

    line: Literal["end"]
    counts: dict[str, _Count]


class BookLine(Value):
    """The line of an export with the data that belong to no owner."""

    line: Literal["book"]
    secret: Annotated[bytes, _of_hex(SECRET_SIZE)]
    erased_eras: tuple[tuple[_Digest, _Digest, _Micros, tuple[tuple[_Digest, _Digest], ...]], ...]
    tombstones: tuple[tuple[_Digest, _Micros], ...]
    restrictions: tuple[tuple[_Digest, _Micros, Appends], ...]
    restricting: tuple[
        tuple[_Micros, UUID, _Digest, Text, Literal["restrict", "unrestrict"], Name], ...
    ]
