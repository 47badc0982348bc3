"""The arguments of each verb on the wire, read from its signature: a model that checks them, and what the book gets."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError, create_model
from pydantic_core import from_json

from memoranda.book import Book
from memoranda.book.all_operations import OPERATIONS
from memoranda.errors import InvalidInput
from memoranda.operations import Operation
from memoranda.wire.argument_forms import FORMS, LOCAL, MADE

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
        """Check what was sent, and return the arguments for the book; an error names each malformed field."""
        place = {name: self._from_text(name, text) for name, text in in_path.items()}
        try:
            checked = self.model.model_validate({**given, **place})
        except ValidationError as exc:
            raise self._refused(exc) from exc
        values = {name: getattr(checked, name) for name in checked.model_fields_set}
        return {_name(word): self._made(_name(word), value) for word, value in values.items()}

    def read_query(self, query: Sequence[tuple[str, str]], in_path: Mapping[str, str]) -> dict[str, Any]:
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
        """Check arguments that a person typed: lists repeat their name, objects and lists of objects are JSON."""
        given: dict[str, Any] = {}
        forms = {wire_name(word): field.annotation for word, field in self.model.model_fields.items()}
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
        found = []
        for one in exc.errors(include_url=False, include_input=False, include_context=False):
            field = ".".join(str(part) for part in one["loc"][:6]) or None
            said = f"{field or 'body'}: {one['msg']}"
            if one["type"] == "extra_forbidden" and len(one["loc"]) == 1:
                near = get_close_matches(str(field), names, 1) or names
                said = f"{field}: there is no such argument; {'did you mean' if len(near) == 1 else 'give'} {', '.join(near)}"
            elif one["type"] == "missing":
                said = f"{field}: it is missing"
            found.append(InvalidInput(said, field=field))
        found[0].errors = tuple(found[:100])
        return found[0]

    def _from_text(self, name: str, text: str) -> Any:
        """Return an argument of a path or a query, where it is a number or a flag, as the body would have it."""
        of = self.annotations.get(name, "")
        if of.startswith(("int", "Receipt | int")) and _NUMBER.fullmatch(text):
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
        if annotations[one.name] in LOCAL or (one.name == "operation" and "operation" not in verb.in_path):
            continue
        form = FORMS[annotations[one.name]]
        required = one.default is one.empty
        fields[_safe(one.name)] = (form, ...) if required else (form, _default(one))
    title = "".join(part.title() for part in verb.name.replace(".", "_").split("_")) + "Arguments"
    model = create_model(title, __config__=_CONFIG, **fields)
    local = {name: LOCAL[of] for name, of in annotations.items() if of in LOCAL}
    return Shape(verb, model, annotations, local, "operation" in annotations, inspect.Signature(parameters))


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
    return any(_holds(one, kind) for one in get_args(form)) if get_origin(form) is not dict else False


def _object(name: str, text: str) -> Any:
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError:
        raise InvalidInput(f"{name}: give an object as JSON", field=name) from None


def uncovered() -> list[str]:
    """Return the annotations of verbs' parameters that have no form on the wire; a test asks that there is none."""
    known = FORMS.keys() | LOCAL.keys()
    return sorted(
        {
            f"{verb.name}.{one.name}: {one.annotation}"
            for verb in OPERATIONS.values()
            for one in list(inspect.signature(verb.function).parameters.values())[1:]
            if str(one.annotation) not in known
        }
    )
