"""Small validated values used in records: ids, digests, texts, names, times and JSON data."""

from __future__ import annotations

import json
import os
import threading
import time
import unicodedata
from collections.abc import Hashable
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

from pydantic import (
    VERSION,
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    Strict,
    ValidationError,
    model_validator,
)
from pydantic.errors import PydanticUserError
from pydantic.json_schema import GenerateJsonSchema

from memoranda.errors import InvalidInput

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

#: Random bytes are drawn many at a time: each draw releases the interpreter lock, and taking it
#: back makes a caller wait for the thread that holds it.
_DRAWN = 8192


class _Maker:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0
        self._random = b""
        self._used = 0

    def make(self) -> UUID:
        # 48 bits of milliseconds and 12 bits of their fraction are one growing number.
        now = time.time_ns()
        stamp = (now // 1_000_000 << 12) | (now % 1_000_000 * 4096 // 1_000_000)
        with self._lock:
            self._last = stamp = max(stamp, self._last + 1)
            if self._used == len(self._random):
                self._random, self._used = os.urandom(_DRAWN), 0
            tail = self._random[self._used : self._used + 8]
            self._used += 8
        value = (stamp >> 12) << 80 | 0x7 << 76 | (stamp & 0xFFF) << 64
        return UUID(int=value | 0b10 << 62 | int.from_bytes(tail, "big") >> 2)


_maker = _Maker()


def _begin_anew() -> None:
    """Reset ``new_id`` in a forked process, which must not repeat its parent's ids or wait for its
    lock.
    """
    global _maker
    _maker = _Maker()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


def new_id() -> UUID:
    """Return a new id, greater than every id that this process made before."""
    return _maker.make()


def derived_id(at: datetime, identity: bytes) -> UUID:
    """Return an identifier that is the same whenever it is derived from the same time and
    identity.
    """
    tail = int.from_bytes(blake2b(identity, digest_size=10, person=b"derived id").digest(), "big")
    value = (
        (int(at.timestamp() * 1000) & (1 << 48) - 1) << 80 | 0x7 << 76 | (tail >> 62 & 0xFFF) << 64
    )
    return UUID(int=value | 0b10 << 62 | tail & (1 << 62) - 1)


SIZE = 16


def slot_digest(identity: bytes) -> bytes:
    """Return the digest under which an owner's record with a unique key or name is found."""
    return blake2b(identity, digest_size=SIZE, person=b"slot").digest()


def request_digest(request: bytes) -> bytes:
    """Return the digest by which a repeated request is recognised."""
    return blake2b(request, digest_size=SIZE, person=b"request").digest()


def operation_key(operation: bytes) -> bytes:
    """Return the key of an operation's portable digests; it can be made from the operation id
    only.
    """
    return blake2b(operation, digest_size=32, person=b"operation").digest()


def schema_digest(parameters: bytes) -> str:
    """Return the digest of a schema's parameters."""
    return blake2b(parameters, digest_size=SIZE, person=b"schema").hexdigest()


def keyed(secret: bytes, purpose: str, *parts: bytes) -> bytes:
    """Return a digest of several parts under the book's secret; other divisions into parts give
    other digests.
    """
    state = blake2b(digest_size=SIZE, key=secret, person=purpose.encode()[:16])
    for part in parts:
        state.update(len(part).to_bytes(8, "little"))
        state.update(part)
    return state.digest()


def owner_digest(secret: bytes, parts: tuple[str, ...]) -> bytes:
    """Return the keyed digest of an owner's parts; nobody finds the name from it."""
    return keyed(secret, "owner", canonical(parts))


#: The longest name of an owner, agent, group, key or tag, in characters.
NAME_LENGTH = 255
#: How deep and how large structured data may be.
DATA_DEPTH = 32
DATA_BYTES = 1_048_576

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
#: No moment is later.
_LAST_MOMENT = datetime.max.replace(tzinfo=UTC)


#: Most programs use few models, so each is built when it is first used. Pydantic before 2.14 can
#: build one in two threads at once, and then checks by another model meanwhile; there all are built
#: at once.
_BUILDS_ONE_AT_A_TIME = tuple(map(int, VERSION.split(".")[:2])) >= (2, 14)


class Value(BaseModel):
    """A frozen value that refuses fields it does not know."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", revalidate_instances="never", defer_build=_BUILDS_ONE_AT_A_TIME
    )


def _text(value: str) -> str:
    if "\x00" in value:
        raise ValueError("holds a NUL character; remove it")
    if not value.isascii():
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise ValueError("holds half of a surrogate pair; repair the text's encoding") from None
    return value


def _filled(value: str) -> str:
    if not value or value.isspace():
        raise ValueError("is empty; give it some text")
    return _text(value)


def _name(value: str) -> str:
    _filled(value)
    if len(value) > NAME_LENGTH:
        raise ValueError(f"has {len(value)} characters; the longest name has {NAME_LENGTH}")
    if not value.isprintable() and any(
        unicodedata.category(character) == "Cc" for character in value
    ):
        raise ValueError("holds a control character; names are one line of visible text")
    return value


def is_id(text: str) -> bool:
    """True if a text has the form of an id that the book makes, a UUID."""
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def _external_id(value: str) -> str:
    if is_id(value):
        raise ValueError(
            "has the form of a UUID, as the book's own ids have; put letters before it, as in 'ep_'"
        )
    return _name(value)


def _data(value: Any) -> Any:
    if value is None:
        return None
    _walk(value, 0)
    try:
        dumped = json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as exc:
        raise ValueError(f"cannot be written as JSON: {exc}") from None
    if len(dumped) > DATA_BYTES:
        raise ValueError(f"takes {len(dumped)} bytes as JSON; at most {DATA_BYTES} are kept")
    # A copy: what was checked is what is kept, whatever the caller does with its own.
    return json.loads(dumped)


def json_text(value: Any, depth: int = DATA_DEPTH) -> str:
    """Return a value as JSON in few characters; raise ValueError with the reason if it is not
    JSON.
    """
    _walk(value, 0, depth)
    try:
        return json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as exc:
        raise ValueError(f"cannot be written as JSON: {exc}") from None


def _text_or_data(value: Any) -> Any:
    return _text(value) if isinstance(value, str) else _data(value)


def _walk(value: Any, depth: int, most: int = DATA_DEPTH) -> None:
    if depth > most:
        raise ValueError(f"is nested deeper than {most} levels; flatten it")
    if isinstance(value, str):
        _text(value)
    elif isinstance(value, dict):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise ValueError("has a key that is no text; JSON objects have text keys")
            _text(key)
            _walk(inner, depth + 1, most)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            _walk(inner, depth + 1, most)


def _utc(value: datetime) -> datetime:
    if value.tzinfo is UTC:
        return value
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise ValueError("lies outside the years 1 to 9999 in UTC") from None


#: Text that may be empty; bytes are no text.
Text = Annotated[str, Strict(), AfterValidator(_text)]
#: Text that says something.
FilledText = Annotated[str, Strict(), AfterValidator(_filled)]
#: A short line that identifies: just characters, compared exactly, never split or matched by
#: pattern.
Name = Annotated[str, Strict(), AfterValidator(_name)]
#: The caller's own id for a record.
ExternalId = Annotated[str, Strict(), AfterValidator(_external_id)]
#: Any JSON value.
Data = Annotated[Any, AfterValidator(_data)]
#: A text, or any other JSON value. Only the text may be larger than a JSON value may be.
TextOrData = Annotated[Any, AfterValidator(_text_or_data)]
#: A JSON object.
Document = Annotated[dict[str, Any], AfterValidator(_data)]
#: A moment in aware UTC; naive ones are refused.
Moment = Annotated[AwareDatetime, AfterValidator(_utc)]


def text_fault(value: str) -> str | None:
    """Return what is wrong with a text, or None."""
    try:
        _text(value)
    except ValueError as exc:
        return str(exc)
    return None


#: Characters of a text that a record, a receipt or a hit shows where it is printed.
_SHOWN = 80


def shown(text: str, length: int = _SHOWN) -> str:
    """Return the beginning of a text on one line and in quotes, to be printed; what is cut is
    replaced by …
    """
    line = " ".join(text[: 4 * length].split())
    is_whole = len(line) <= length and len(text) <= 4 * length
    return repr(line if is_whole else line[:length].rstrip() + "…")


#: Before every moment of a book.
EARLIEST = datetime.min.replace(tzinfo=UTC)


def micros(moment: datetime) -> int:
    """Return the exact number of microseconds from the epoch to a moment."""
    return (moment - _EPOCH) // _MICROSECOND


def moment(microseconds: int) -> datetime:
    """Return the UTC time for a number of microseconds since the epoch."""
    return _EPOCH + timedelta(microseconds=microseconds)


def due_at(at: datetime, seconds: float) -> datetime:
    """Return the time some seconds after another, at most the last one that Python can express."""
    try:
        return at + timedelta(seconds=seconds)
    except OverflowError:
        return _LAST_MOMENT


def utc_now() -> datetime:
    """Return the present time in UTC."""
    return datetime.now(UTC)


_spell = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str
).encode


def canonical(value: Any) -> bytes:
    """Return a value's canonical JSON, for digests and identities."""
    return _spell(value).encode()


def comparable(value: Any) -> Hashable:
    """Return a hashable value that is equal exactly if the JSON values are equal: 1 equals 1.0 and
    not true.
    """
    if isinstance(value, bool):
        return ("boolean", value)
    if isinstance(value, dict):
        return ("object", frozenset((key, comparable(inner)) for key, inner in value.items()))
    if isinstance(value, (list, tuple)):
        return ("array", tuple(comparable(inner) for inner in value))
    found: Hashable = value
    return found


def refused(exc: ValidationError, *, at: str = "", item: int | None = None) -> InvalidInput:
    """Return the ``InvalidInput`` for a pydantic error; it names the field and says what is wrong
    with it.
    """
    first = exc.errors(include_url=False, include_context=False)[0]
    path = at
    for part in first["loc"]:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else str(part)
    return InvalidInput(f"{path or 'value'}: {reason_of(first)}", field=path or None, item=item)


def reason_of(error: ErrorDetails) -> str:
    """Return what is wrong, of one of pydantic's errors, with what to give."""
    given = "None" if error["input"] is None else type(error["input"]).__name__
    match error["type"]:
        case "string_type":
            return f"give a text, not {given}"
        case "tuple_type" | "list_type":
            return f"give a list, not {given}"
        case "timezone_aware":
            return "add a time zone, such as 2024-01-01T00:00:00Z"
        case "missing":
            return "it is missing"
    return error["msg"].removeprefix("Value error, ")


#: The types whose records are gone when they expire. A key expires, too, and stays in the lists.
EXPIRING = frozenset({"memory", "episode", "item"})
#: The kind of the job that erases them; its key is an hour, at whose end it is due.
EXPIRE = "expire"
#: Those that are out of sight, but not erased: threads, and with them their messages.
_PUT_AWAY = frozenset({"thread", "message"})


class _WithoutDecimalPatterns(GenerateJsonSchema):
    """Leaves out the patterns that some versions of Pydantic write for decimals; they look
    ahead.
    """

    def decimal_schema(self, schema: Any) -> dict[str, Any]:
        found = super().decimal_schema(schema)
        for part in (found, *found.get("anyOf", ())):
            part.pop("pattern", None)
        return found


def json_schema_of(kind: type[BaseModel], field: str) -> dict[str, Any]:
    """Return the JSON Schema of a Pydantic class; raise ``InvalidInput`` if it has none."""
    try:
        return kind.model_json_schema(schema_generator=_WithoutDecimalPatterns)
    except PydanticUserError as exc:
        reason = f"{exc.message}; give a class that can be written as JSON"
        raise InvalidInput(f"{field}: {reason}", field=field) from exc


def fields_of_object(given: BaseModel) -> dict[str, Any]:
    """Return the fields of a Pydantic object that were set, as its class's JSON Schema has them."""
    return given.model_dump(mode="json", by_alias=True, exclude_unset=True, round_trip=True)


def expired(record: Any, at: datetime | None) -> bool:
    """True if a record's time to be kept, or to be read, was over at a moment."""
    if record is None or at is None or not (record.type in EXPIRING or record.type in _PUT_AWAY):
        return False
    end = getattr(record, "expires_at", None)
    return end is not None and bool(end <= at)


def gone(record: Any, at: datetime | None) -> bool:
    """True if a record has expired and is not a thread's, which explanations, forgetting and
    formation still see.
    """
    return expired(record, at) and record.type in EXPIRING


class Span(Value):
    """A part of a message's text, or of one string in JSON: from one character up to another."""

    start: int = Field(ge=0)
    end: int = Field(ge=1)
    #: The JSON pointer of the string in a message's native form or a memory's ``data``; None: the
    #: text of the message.
    path: Text | None = None
    #: True if nothing was left of the string, so that it left its list and the later entries moved
    #: up.
    unlisted: bool = False

    @model_validator(mode="after")
    def _ordered(self) -> Span:
        if self.end <= self.start:
            raise ValueError(
                "end lies before start or on it; give the place after the last character"
            )
        return self
