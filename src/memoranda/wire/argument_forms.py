"""The form of each argument on the wire, by the annotation of the verb's parameter, and what the book gets for it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from typing import Annotated, Any, Literal, NotRequired
from uuid import UUID

from pydantic import BaseModel, Field, StrictBool, StrictInt, ValidationError
from typing_extensions import TypedDict

from memoranda.book.items.item_arguments import ItemPut
from memoranda.errors import InvalidInput
from memoranda.model.records import Audience, Owner
from memoranda.model.values import refused

#: A JSON object.
Json = dict[str, Any]
_Names = list[str]
#: A whole number that every program and every engine can hold.
_Int = Annotated[StrictInt, Field(ge=-(2**53), le=2**53)]


class OwnerForm(TypedDict, total=False):
    """An owner that is not a plain user: its kind and id."""

    kind: Literal["user", "agent", "group", "tenant"]
    id: str


class AudienceForm(TypedDict, total=False):
    """The readers of a record: ``kind`` self, group or global, with the agent or the groups."""

    kind: Literal["self", "group", "global"]
    agent: str | None
    groups: list[str]


class ItemForm(TypedDict):
    """One item to store; ``ttl`` in seconds, ``new`` asks that there is none of this name."""

    namespace: list[str]
    name: str
    value: Any
    index: NotRequired[bool | list[str] | None]
    ttl: NotRequired[float | None]
    new: NotRequired[bool]


class AddressForm(TypedDict):
    """The namespace and the name of an item."""

    namespace: list[str]
    name: str


_Audience = AudienceForm | str

#: Parameters that never cross: values of a program.
LOCAL = {
    "Callable[[int, int], None] | None": "progress is told to the program that has the book",
    "Callable[[int], None] | None": "progress is told to the program that has the book",
    "Count | None": "a function cannot cross a network; the service estimates tokens",
    "asyncio.Event": "it belongs to a running program",
}

#: The type on the wire of each annotation.
FORMS: dict[str, Any] = {
    "Any": Any,
    "Conditions | None": Json | None,
    "EpisodeFields | Mapping[str, Any] | None": Json | None,
    "Hidden | None": Json | None,
    "Index": StrictBool | _Names | None,
    "Iterable[Address]": list[AddressForm],
    "Iterable[ItemPut]": list[ItemForm],
    "Iterable[UUID | str]": _Names,
    "Iterable[UUID | str] | UUID | str": _Names | str,
    "Iterable[str]": _Names,
    "Iterable[str] | AsyncIterable[str]": Any,
    "Iterable[str] | str": _Names | str,
    "Iterable[str] | str | None": _Names | str | None,
    "Literal['viewer', 'editor', 'admin']": Literal["viewer", "editor", "admin"],
    "Literal['created', 'running']": Literal["created", "running"],
    "Literal['owner'] | None": Literal["owner"] | None,
    "Mapping[UUID, int] | None": dict[UUID, _Int] | None,
    "Mapping[str, Any]": Json,
    "Mapping[str, Any] | BaseModel": Json,
    "Mapping[str, Any] | BaseModel | None": Json | None,
    "Mapping[str, Any] | None": Json | None,
    "Mapping[str, Sequence[UUID | str]]": dict[str, _Names],
    "Mapping[str, Sequence[UUID | str]] | None": dict[str, _Names] | None,
    "Mapping[str, int] | None": dict[str, _Int] | None,
    "Owner | None": OwnerForm | None,
    "Receipt | int": _Int,
    "Requested | None": list[Any] | Json | None,
    "Sequence[Mapping[str, Any]]": list[Json],
    "Sequence[Mapping[str, Any]] | None": list[Json] | None,
    "Sequence[ToolCallFields | ToolCall | Mapping[str, Any]] | None": list[Json] | None,
    "Sequence[UUID | str] | None": _Names | None,
    "Sequence[float] | None": list[float] | None,
    "Sequence[str]": _Names,
    "Sequence[str] | None": _Names | None,
    "Traces | ErasureReceipt | None": Json | None,
    "UUID | str": str,
    "UUID | str | None": str | None,
    "UUID | str | ThreadHandle[Any] | None": str | None,
    "WaitFor": Literal["stored", "embedded"],
    "What": str,
    "bool": StrictBool,
    "bool | Iterable[UUID | str] | UUID | str": StrictBool | _Names | str,
    "bool | None": StrictBool | None,
    "date | None": date | None,
    "datetime | None": datetime | None,
    "float": float,
    "float | None": float | None,
    "float | timedelta | None": Annotated[float, Field(description="seconds")] | None,
    "int": _Int,
    "int | Mapping[UUID, int] | None": _Int | dict[UUID, _Int] | None,
    "int | None": _Int | None,
    "str": str,
    "str | Audience": _Audience,
    "str | Audience | None": _Audience | None,
    "str | Mapping[str, Any] | Iterable[Mapping[str, Any]]": str | Json | list[Json],
    "str | None": str | None,
    "str | Owner": str,
    "str | Owner | None": str | None,
    "str | Trust | None": str | None,
    "str | date | DaySpan | Mapping[str, Any] | None": str | Json | None,
    "str | tzinfo | None": str | None,
    "timedelta | None": Annotated[float, Field(description="seconds")] | None,
}

#: Conditions whose value is a moment.
_MOMENTS = ("since", "until", "valid_at", "as_of", "known_at")


def _conditions(only: Json) -> Json:
    return {name: _moment(name, value) if name in _MOMENTS else value for name, value in only.items()}


def _moment(name: str, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        raise InvalidInput(f"only.{name}: {value!r} is no moment in ISO form", field=f"only.{name}") from None


def _value_of(kind: type[BaseModel], field: str) -> Callable[[Any], Any]:
    def made(given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        try:
            return kind(**given)
        except ValidationError as exc:
            raise refused(exc, at=field) from exc

    return made


def _addresses(given: list[AddressForm]) -> list[tuple[list[str], str]]:
    return [(one["namespace"], one["name"]) for one in given]


def _puts(given: list[Any]) -> list[ItemPut]:
    return [ItemPut(**one) for one in given]


#: Makes what the book takes of what crossed, where that is another value.
MADE: dict[str, Callable[[Any], Any]] = {
    "Conditions | None": _conditions,
    "Iterable[Address]": _addresses,
    "Iterable[ItemPut]": _puts,
    "Owner | None": _value_of(Owner, "opens"),
    "str | Audience": _value_of(Audience, "audience"),
    "str | Audience | None": _value_of(Audience, "audience"),
}
