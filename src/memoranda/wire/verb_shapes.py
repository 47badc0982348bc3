"""The arguments of each verb on the wire, read from its signature: a model that checks them, and
what the book gets.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from typing import Annotated, Any, Literal, NotRequired, get_args, get_origin
from uuid import UUID

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    ValidationError,
    create_model,
)
from pydantic_core import from_json
from typing_extensions import TypedDict

from memoranda.book import Book
from memoranda.book.all_operations import OPERATIONS
from memoranda.book.nouns.items import ItemPut
from memoranda.errors import InvalidInput, no_such
from memoranda.model.records import Audience, Owner
from memoranda.model.values import reason_of, refused
from memoranda.operations import Operation

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
    "Receipt | Hidden | int": _Int,
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
    return {
        name: _moment(name, value) if name in _MOMENTS else value for name, value in only.items()
    }


def _moment(name: str, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        raise InvalidInput(
            f"only.{name}: {value!r} is no moment in ISO form", field=f"only.{name}"
        ) from None


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


_NUMBER = re.compile(r"-?[0-9]{1,20}")
_FLAGS = {"true": True, "false": False}
#: Arguments that have another name on the wire.
_RENAMED = {"role_or_messages": "messages"}
#: The reader's arguments, which a verb of a thread has from the thread's handle.
_READER = ("agent", "groups", "as_owner")


@dataclass(frozen=True)
class Shape:
    """The arguments of one verb: those in its path, and a model of the others."""

    verb: Operation
    model: type[BaseModel]
    #: The annotation of each argument, as the verb has it.
    annotations: Mapping[str, str]
    #: Arguments that never cross, each with the reason.
    local: Mapping[str, str]
    #: True if the verb takes an operation id.
    takes_operation: bool
    signature: inspect.Signature

    def read(self, given: Mapping[str, Any], in_path: Mapping[str, str]) -> dict[str, Any]:
        """Check what was sent, and return the arguments for the book; an error names each malformed
        field.
        """
        place = {name: self._from_text(name, text) for name, text in in_path.items()}
        try:
            checked = self.model.model_validate({**given, **place})
        except ValidationError as exc:
            raise self._refused(exc) from exc
        values = {name: getattr(checked, name) for name in checked.model_fields_set}
        return {_name(word): self._made(_name(word), value) for word, value in values.items()}

    def read_query(
        self, query: Sequence[tuple[str, str]], in_path: Mapping[str, str]
    ) -> dict[str, Any]:
        """Check the parameters of a query string; lists repeat their name, and objects are JSON."""
        given: dict[str, Any] = {}
        for name, text in query:
            field = self.model.model_fields.get(_safe(name))
            form = None if field is None else field.annotation
            if _holds(form, list):
                given.setdefault(name, []).append(text)
            elif _holds(form, dict):
                given[name] = _object(name, text)
            else:
                given[name] = self._from_text(name, text)
        return self.read(given, in_path)

    def read_pairs(self, pairs: Sequence[tuple[str, str]]) -> dict[str, Any]:
        """Check arguments that a person typed: lists repeat their name, objects and lists of
        objects are JSON.
        """
        given: dict[str, Any] = {}
        forms = {
            wire_name(word): field.annotation for word, field in self.model.model_fields.items()
        }
        for name, text in pairs:
            form, value = forms.get(name), self._from_text(name, text)
            # A text of digits is a text, unless any value is taken.
            if form is Any or (text[:1] in "[{" and (_holds(form, list) or _holds(form, dict))):
                with suppress(ValueError):
                    value = from_json(text, allow_inf_nan=False)
            if _holds(form, list) and not isinstance(value, list):
                given.setdefault(name, []).append(value)
            else:
                given[name] = value
        in_path = {name: str(given.pop(name)) for name in self.verb.in_path if name in given}
        return self.read(given, in_path)

    def _refused(self, exc: ValidationError) -> InvalidInput:
        """Return one error that lists each malformed field."""
        names = [wire_name(one) for one in self.model.model_fields]
        found: list[InvalidInput] = []
        for one in exc.errors(include_url=False, include_context=False):
            field = ".".join(str(part) for part in one["loc"][:6]) or None
            unknown = one["type"] == "extra_forbidden" and len(one["loc"]) == 1
            said = f"{field or 'body'}: {reason_of(one)}"
            if unknown:
                said = no_such("argument", str(field), names)
            # A field that is missing may be the one whose name is misspelt.
            found.insert(0 if unknown else len(found), InvalidInput(said, field=field))
        found[0].errors = tuple(found[:100])
        return found[0]

    def _from_text(self, name: str, text: str) -> Any:
        """Return an argument of a path or a query, where it is a number or a flag, as the body
        would have it.
        """
        of = self.annotations.get(name, "")
        if of.startswith(("int", "Receipt | Hidden | int")) and _NUMBER.fullmatch(text):
            return int(text)
        return _FLAGS.get(text, text) if of.startswith("bool") else text

    def _made(self, name: str, value: Any) -> Any:
        if value is None:
            return None
        make = MADE.get(self.annotations.get(name, ""))
        return value if make is None else make(value)


@cache
def shape_of(name: str) -> Shape:
    """Return the shape of the verb with this name."""
    verb = OPERATIONS[name]
    parameters = list(inspect.signature(verb.function).parameters.values())[1:]
    if verb.of_thread:
        parameters = _with_thread(parameters)
    annotations = {one.name: str(one.annotation) for one in parameters}
    fields: dict[str, Any] = {}
    for one in parameters:
        if annotations[one.name] in LOCAL or (
            one.name == "operation" and "operation" not in verb.in_path
        ):
            continue
        form = FORMS[annotations[one.name]]
        required = one.default is one.empty
        fields[_safe(one.name)] = (form, ...) if required else (form, _default(one))
    title = "".join(part.title() for part in verb.name.replace(".", "_").split("_")) + "Arguments"
    model = create_model(title, __config__=_CONFIG, **fields)
    local = {name: LOCAL[of] for name, of in annotations.items() if of in LOCAL}
    return Shape(
        verb, model, annotations, local, "operation" in annotations, inspect.Signature(parameters)
    )


def _safe(name: str) -> str:
    """Return the name of a model's field for an argument that shadows something of the model."""
    return f"{name}_" if hasattr(BaseModel, name) else name


def _name(word: str) -> str:
    return word.removesuffix("_")


def wire_name(word: str) -> str:
    """Return the name on the wire of a verb's argument."""
    return _RENAMED.get(_name(word), _name(word))


_CONFIG = ConfigDict(extra="forbid", alias_generator=wire_name)


def _default(parameter: inspect.Parameter) -> Any:
    # The book applies its own defaults: only what was sent is passed on.
    return parameter.default if isinstance(parameter.default, bool | int | str | None) else None


def _with_thread(parameters: list[inspect.Parameter]) -> list[inspect.Parameter]:
    """Return the parameters of a thread's verb with the owner, the thread and the reader."""
    taken = {one.name for one in parameters}
    opening = inspect.signature(Book.thread).parameters
    owner = opening["owner"]
    thread = owner.replace(name="thread", annotation="UUID | str")
    reader = [opening[name] for name in _READER if name not in taken]
    own = [one for one in parameters if one.name != "thread"]
    return [owner, thread, *(one.replace(kind=one.KEYWORD_ONLY) for one in own), *reader]


def _holds(form: Any, kind: type) -> bool:
    """Return True if a form is, or may be, a list or an object."""
    if form is kind or get_origin(form) is kind:
        return True
    return (
        any(_holds(one, kind) for one in get_args(form)) if get_origin(form) is not dict else False
    )


def _object(name: str, text: str) -> Any:
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError:
        raise InvalidInput(f"{name}: give an object as JSON", field=name) from None
