"""Forms of simple values on the wire: texts, numbers, moments and ids; and the error for what is
none of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any, Final
from uuid import UUID

from pydantic import AwareDatetime

from memoranda.errors import InvalidInput

Json = dict[str, Any]
#: Where a document keeps the schemas that others refer to.
COMPONENTS: Final = "#/components/schemas/"


class Malformed(ValueError):
    """A JSON value that is not of the type that should cross, with the path to it."""

    def __init__(self, path: str, fault: str) -> None:
        super().__init__(path, fault)
        self.path = path
        self.fault = fault

    def under(self, part: str) -> Malformed:
        """Return the same fault with its path in a larger value: under a name or ``[number]``."""
        return Malformed(
            part + (self.path if self.path.startswith("[") or not self.path else f".{self.path}"),
            self.fault,
        )

    def refusal(self, what: str) -> InvalidInput:
        """Return the error for callers; ``what`` names the whole value."""
        return InvalidInput(
            f"{what}: {self.path or 'the value'} {self.fault}", field=self.path or None
        )


@dataclass(frozen=True, slots=True)
class Form:
    """The form of one type: how its values are written and read, and their schema."""

    #: None: the value is JSON already.
    write: Callable[[Any], Any] | None
    read: Callable[[Any], Any]
    #: Receives the schemas of classes by name, and adds those that are missing.
    schema: Callable[[dict[str, Json]], Json]


def wrong(wanted: str, given: Any) -> Malformed:
    """Return the error for a value of another type."""
    return Malformed("", f"must be {wanted}, not {type(given).__name__}")


def reader(kind: type | tuple[type, ...], wanted: str) -> Callable[[Any], Any]:
    """Return a reader of values of a class."""

    def read(given: Any) -> Any:
        # True and False are whole numbers in Python.
        if isinstance(given, kind) and (type(given) is not bool or kind is bool):
            return given
        raise wrong(wanted, given)

    return read


def parsed(make: Callable[[str], Any], wanted: str) -> Callable[[Any], Any]:
    """Return a reader of values that cross as texts."""

    def read(given: Any) -> Any:
        if type(given) is not str:
            raise wrong(wanted, given)
        try:
            return make(given)
        except (ValueError, InvalidOperation, OverflowError):
            raise Malformed("", f"must be {wanted}") from None

    return read


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(text)
    return moment if moment.tzinfo is UTC else moment.astimezone(UTC)


def _moment_text(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


def simple_schema(type_: str, **more: Any) -> Callable[[dict[str, Json]], Json]:
    """Return the schema of a JSON type."""
    return lambda _: {"type": type_, **more}


def same(given: Any) -> Any:
    """Return the value."""
    return given


_READ_NUMBER = reader((int, float), "a number")


def _number(given: Any) -> float:
    try:
        return float(_READ_NUMBER(given))
    except OverflowError:
        raise Malformed("", "must be a smaller number") from None


MOMENT: Final = Form(
    _moment_text,
    parsed(_moment, "a moment in ISO form"),
    simple_schema("string", format="date-time"),
)
ID: Final = Form(str, parsed(UUID, "a UUID"), simple_schema("string", format="uuid"))
SCALARS: Final[dict[Any, Form]] = {
    Any: Form(None, same, lambda _: {}),
    type(None): Form(None, reader(type(None), "null"), simple_schema("null")),
    str: Form(None, reader(str, "a text"), simple_schema("string")),
    bool: Form(None, reader(bool, "true or false"), simple_schema("boolean")),
    int: Form(None, reader(int, "a whole number"), simple_schema("integer")),
    float: Form(None, _number, simple_schema("number")),
    Decimal: Form(
        "{:f}".format,
        parsed(Decimal, "a number as text"),
        simple_schema("string", format="decimal"),
    ),
    UUID: ID,
    datetime: MOMENT,
    AwareDatetime: MOMENT,
    date: Form(
        date.isoformat,
        parsed(date.fromisoformat, "a day in ISO form"),
        simple_schema("string", format="date"),
    ),
    bytes: Form(bytes.hex, parsed(bytes.fromhex, "hexadecimal digits"), simple_schema("string")),
}
