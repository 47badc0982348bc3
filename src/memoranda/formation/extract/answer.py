"""A model's answer: its parts as pydantic models, which are the JSON Schema, the check, and the
reasons why an entry goes back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Annotated, Any, Final, Literal, Protocol, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from typing_extensions import TypeAliasType

from memoranda.formation.schemas.json_values import printable
from memoranda.model.experience_lines import ExperienceField
from memoranda.model.messages import Outcome


def _listed(given: Any) -> Any:
    """A single entry stands for a list of one."""
    return given if isinstance(given, list) else [given]


#: A handle such as ``m3``, also where it is written as in the prompt: ``[M3]``.
Handle = Annotated[
    str, BeforeValidator(lambda one: one.strip("[] ").casefold() if isinstance(one, str) else one)
]
Handles = Annotated[list[Handle], BeforeValidator(_listed)]
Texts = Annotated[list[str], BeforeValidator(_listed)]


class Part(BaseModel):
    """An object in an answer; a field that is null is left out, and one that it does not have is
    not read.
    """

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True, protected_namespaces=())

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        return {
            name: inner for name, inner in given.items() if inner is not None or name == "value"
        }


class Source(Part):
    message: Handle
    quote: str = ""


Sources = TypeAliasType(
    "Sources",
    Annotated[
        list[
            Annotated[
                Source,
                BeforeValidator(lambda one: {"message": one} if isinstance(one, str) else one),
            ]
        ],
        BeforeValidator(_listed),
    ],
)


class Note(Part):
    content: str
    kind: str = ""
    subject: str = ""
    key: str = ""
    applies_when: str = ""
    happened: str = ""
    valid_from: str = ""
    valid_until: str = ""
    cardinality: Literal["one", "many", "recurring"] = "many"
    sources: Sources
    supersedes: Handles = []
    tags: Texts = []
    #: Not asked for, and kept where a model gives it.
    language: str = ""
    schema_name: str = Field(default="", alias="schema")
    data: dict[str, Any] = {}


class Known(Part):
    memory: Handle
    sources: Sources


class Operation(Part):
    op: Literal["add", "replace", "remove"]
    path: str
    value: Any = None
    sources: Sources = []


class Patch(Part):
    schema_name: str = Field(default="", alias="schema")
    memory: Handle = ""
    operations: Annotated[list[Operation], BeforeValidator(_listed)]
    sources: Sources = []


class Line(Part):
    #: Left out where a shown line is repeated.
    field: ExperienceField = cast(Any, None)
    line: str = ""
    sources: Sources
    repeats: Handle = ""


class GivenEpisode(Part):
    goal: str
    outcome: Outcome
    summary: str = ""
    tags: Texts = []


class Answer(Part):
    notes: list[Note] = []
    repeats: list[Known] = []
    retracts: list[Known] = []
    title: str = ""
    patches: list[Patch] = []
    experience: list[Line] = []
    episode: GivenEpisode | None = None
    summary: str = ""


#: The models of the entries of the parts that are lists, and the parts that are one value.
LISTS: Final[Mapping[str, type[Part]]] = {
    "notes": Note,
    "repeats": Known,
    "retracts": Known,
    "patches": Patch,
    "experience": Line,
}
_SINGLE: Final = ("title", "episode", "summary")
#: Fields that are not worth a second question.
_TRIFLES: Final = frozenset({"tags", "cardinality", "kind", "language"})
#: The most faults that are reported of one entry.
_MOST_REPORTED: Final = 20
#: The codes of faults in some fields; those of others have the code "shape".
_CODES: Final = {
    "content": "content",
    "sources": "unsourced",
    "operations": "patch",
    "data": "data",
    "happened": "time",
    "valid_from": "time",
    "valid_until": "time",
    "field": "line",
}


class Report(Protocol):
    """Reports a problem: a stable code, and a reason that a model can be shown."""

    def __call__(
        self, code: str, reason: str, *, mendable: bool = False, once: bool = False
    ) -> None: ...


def parts_of(given: Mapping[Any, Any]) -> tuple[dict[str, Any], list[str], list[str]]:
    """Return an answer's parts, the names of unknown ones with content, and those of a model's
    remarks.

    A single entry stands for a list of one.
    """
    found: dict[str, Any] = {}
    unread: list[str] = []
    remarks: list[str] = []
    for name, inner in given.items():
        if name in LISTS and inner not in (None, {}, []):
            found[name] = _listed(inner)
        elif name in _SINGLE:
            found[name] = inner
        elif name not in LISTS:
            says = inner and (
                isinstance(inner, (dict, list)) or str(inner).lstrip().startswith(("{", "["))
            )
            (unread if says else remarks).append(str(name))
    return found, unread, remarks


def entry_of(model: type[Part], given: Mapping[str, Any], report: Report) -> dict[str, Any] | None:
    """Return an entry with its own fields; a field that is not valid is left out and reported, None
    if it is needed.
    """
    names = {field.alias or name for name, field in model.model_fields.items()}
    for name in sorted(map(str, given.keys() - names))[:_MOST_REPORTED]:
        report(
            "field", f"{printable(name)} is not a field of it; a model gives no ids and no times"
        )
    try:
        left = deepcopy({name: inner for name, inner in given.items() if name in names})
        for _ in range(_MOST_REPORTED):
            try:
                return model.model_validate(left).model_dump(by_alias=True, exclude_unset=True)
            except ValidationError as exc:
                error = exc.errors(include_url=False, include_context=False, include_input=False)[0]
            first = str(error["loc"][0]) if error["loc"] else ""
            reason = f"{printable('.'.join(map(str, error['loc'])))}: {error['msg']}"
            report(_CODES.get(first, "shape"), reason, mendable=first not in _TRIFLES)
            if not _dropped(left, error["loc"], model):
                return None
    except RecursionError:
        report("shape", "it is nested too deeply", mendable=True)
    return None


def _dropped(given: dict[str, Any], place: Sequence[str | int], model: type[Part]) -> bool:
    """Take a fault out of an entry: the quote, the item of a list, or the field; False if the entry
    needs it.
    """
    if not place:
        return False
    first = str(place[0])
    inner = given.get(first)
    number = next((step for step in place if isinstance(step, int)), None)
    if isinstance(number, int) and isinstance(inner, list) and len(inner) > 1:
        if place[-1] == "quote" and isinstance(inner[number], dict):
            inner[number].pop("quote", None)
        else:
            del inner[number]
        return True
    if place[-1] == "quote":
        source = _listed(inner)[0]
        if isinstance(source, dict):
            given[first] = [{name: one for name, one in source.items() if name != "quote"}]
            return True
    needed = {
        field.alias or name for name, field in model.model_fields.items() if field.is_required()
    }
    if first in needed or first not in given:
        return False
    del given[first]
    return True


def schema_of_parts(
    parts: Sequence[str], inserted: Sequence[str], patched: Sequence[str]
) -> dict[str, Any]:
    """Return the JSON Schema of an answer with these parts; notes may follow the ``inserted``
    schemas.
    """
    whole = Answer.model_json_schema(by_alias=True)
    defined = {name: _plain(inner) for name, inner in whole["$defs"].items()}
    for name, allowed in (("Note", inserted), ("Patch", [*patched, *inserted])):
        fields = defined[name]["properties"]
        if allowed:
            fields["schema"] = {"type": "string", "enum": list(allowed)}
        for unused in () if inserted else ("schema", "data") if name == "Note" else ("memory",):
            fields.pop(unused, None)
    defined["Note"]["properties"].pop("language")
    defined["Patch"]["required"] = ["schema", "operations"]
    defined["Operation"]["required"] = ["op", "path", "sources"]
    fields = {name: _plain(whole["properties"][name]) for name in parts}
    if "episode" in fields:
        fields["episode"] = {"$ref": "#/$defs/GivenEpisode"}
    sources = {"type": "array", "items": defined["Source"]}
    inlined: dict[str, Any] = _inlined({"type": "object", "properties": fields}, defined)
    return {**inlined, "$defs": {"sources": sources}}


def _plain(given: Any) -> Any:
    """Return a schema without titles, defaults and descriptions: the instructions have them, and
    tokens are paid.
    """
    if isinstance(given, list):
        return [_plain(one) for one in given]
    if not isinstance(given, dict):
        return given
    kept = {
        name: inner
        for name, inner in given.items()
        if name not in ("title", "default", "description")
    }
    if isinstance(given.get("properties"), dict):
        kept["properties"] = {name: _plain(inner) for name, inner in given["properties"].items()}
    return {name: inner if name == "properties" else _plain(inner) for name, inner in kept.items()}


def _inlined(given: Any, defined: Mapping[str, Any]) -> Any:
    """Return a schema with its definitions in their places, except the sources, which all parts
    share.
    """
    if isinstance(given, list):
        return [_inlined(one, defined) for one in given]
    if not isinstance(given, dict):
        return given
    name = str(given.get("$ref", "")).rsplit("/", 1)[-1]
    if name == "Sources":
        return {"$ref": "#/$defs/sources"}
    return (
        _inlined(defined[name], defined)
        if name
        else {key: _inlined(one, defined) for key, one in given.items()}
    )
