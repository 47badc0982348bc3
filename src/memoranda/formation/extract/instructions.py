"""The instructions for a model that reads a conversation, and the JSON Schema of its answer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from memoranda.formation.extract.answer import schema_of_parts
from memoranda.formation.prompts import prompt_file
from memoranda.formation.schemas.definitions import DEFAULTS, EPISODE, EXPERIENCE, FIXED, NOTE
from memoranda.model.drafts import WantedSchema
from memoranda.model.memories import QUOTE_LENGTH

_PROMPT: Final = prompt_file("forming")
#: The version of the instructions, and of the form of the data after them.
PROMPT_VERSION: Final = _PROMPT.version
#: Describes the usual kinds of notes; a kind of a tenant's own has only its name.
_KINDS: Final[Mapping[str, str]] = {
    "fact": "holds",
    "preference": "a wish or taste",
    "instruction": "what the agent is to do or leave",
    "context": "holds for now, plans",
    "experience": "what happened",
    "note": "else",
    "commitment": "what the assistant promised on the user's request; cite both; valid_until: when due",
}
#: Words of a JSON Schema that a field's line in the instructions says in other words.
_TOLD: Final = frozenset({"type", "description", "title"})
_COMPOUND: Final = frozenset({"properties", "$ref", "anyOf", "oneOf", "allOf", "items"})


def instructions(schemas: Sequence[WantedSchema], kinds: Sequence[str] = tuple(_KINDS)) -> str:
    """Return the instructions; they are the same for every conversation of an agent with these
    schemas and kinds.
    """
    parts = [
        _PROMPT.sections["task"]
        .replace("@QUOTE", str(QUOTE_LENGTH))
        .replace("@KINDS", _kinds(kinds))
    ]
    patched = [schema for schema in schemas if schema.update_mode == "patch"]
    if patched:
        parts += [_PROMPT.sections["patches"], *map(_schema_text, patched)]
    inserted = _note_schemas(schemas)
    if inserted:
        parts += [_PROMPT.sections["inserted"], *map(_schema_text, inserted)]
    for schema in schemas:
        if schema.name in FIXED:
            parts += [_PROMPT.sections.get(schema.name, ""), _own_words(schema)]
    if NOTE.name in {schema.name for schema in schemas}:
        parts.append(_PROMPT.sections["examples"])
    return "\n".join(filter(None, parts))


def answer_schema(schemas: Sequence[WantedSchema]) -> dict[str, Any]:
    """Return the JSON Schema of the model's answer; every part is optional."""
    names = {schema.name for schema in schemas}
    inserted = inserted_names(schemas)
    patched = [schema.name for schema in schemas if schema.update_mode == "patch"]
    asked = {
        "notes": NOTE.name in names,
        "repeats": NOTE.name in names,
        "retracts": NOTE.name in names,
        "title": NOTE.name in names,
        "patches": bool(patched or inserted),
        "experience": EXPERIENCE.name in names,
        "episode": EPISODE.name in names,
    }
    parts = [part for part, wanted in asked.items() if wanted]
    return schema_of_parts([*parts, "summary"] if parts else [], inserted, patched)


def summary_instructions(last: str) -> str:
    """Return what a model is told of the summary that it writes; ``last`` is the handle of the last
    message in it.
    """
    return _PROMPT.sections["summary"].replace("@LAST", last)


def fillable(asked: Sequence[str], schemas: Sequence[WantedSchema]) -> list[str]:
    """Return the names of the answer's fields that are to be filled for these schemas."""
    inserted = {schema.name for schema in _note_schemas(schemas)}
    fixed = {NOTE.name: "notes, repeats, retracts, title", EXPERIENCE.name: "experience"}
    fixed[EPISODE.name] = "episode"
    named = [fixed[name] for name in fixed if name in asked]
    follows = [name for name in asked if name in inserted]
    if follows:
        notes = "notes" if NOTE.name in asked else "repeats, retracts, and only notes"
        named.append(f"{notes} of a schema ({', '.join(follows)})")
    patched = [name for name in asked if name not in fixed and name not in inserted]
    return [*named, f"patches ({', '.join(patched)})"] if patched else named


def _kinds(kinds: Sequence[str]) -> str:
    told = [f"{kind} ({_KINDS[kind]})" if kind in _KINDS else kind for kind in kinds]
    return "; ".join(told) + "."


def inserted_names(schemas: Sequence[WantedSchema]) -> list[str]:
    """Return the names of the schemas that a note may follow."""
    return [schema.name for schema in _note_schemas(schemas)]


def _note_schemas(schemas: Sequence[WantedSchema]) -> list[WantedSchema]:
    return [
        schema for schema in schemas if schema.update_mode == "insert" and schema.name not in FIXED
    ]


def _schema_text(schema: WantedSchema) -> str:
    """Return a schema as text: a line a field where its fields are simple, else its JSON Schema."""
    heading = f"{schema.name}: " + " ".join(filter(None, (schema.description, schema.instructions)))
    lines = _field_lines(schema.parameters)
    if lines is None:
        lines = [
            json.dumps(schema.parameters, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        ]
    return "\n".join([heading, *lines])


def _field_lines(parameters: Mapping[str, Any]) -> list[str] | None:
    """Return a line for each field of a flat schema; None if it says more than such lines tell."""
    fields = parameters.get("properties")
    known = {"type", "properties", "required", "additionalProperties", "title", "description"}
    if not isinstance(fields, Mapping) or not parameters.keys() <= known:
        return None
    if not isinstance(parameters.get("additionalProperties", False), bool):
        return None
    required = parameters.get("required", ())
    lines = []
    for name, field in fields.items():
        told = _type(field) if isinstance(field, Mapping) else None
        if told is None:
            return None
        needed = ", required" if name in required else ""
        about = field.get("description") or ""
        lines.append(f"- {name} ({told}{needed})" + (f": {about}" if about else ""))
    return lines


def _type(field: Mapping[str, Any]) -> str | None:
    """Return the type of a field and its bounds in words; None if it has parts of its own."""
    items = field.get("items")
    if field.get("type") == "array" and isinstance(items, Mapping) and not _COMPOUND & items.keys():
        inner = _type(items)
        return None if inner is None or len(field.keys() - _TOLD) > 1 else f"list of {inner}"
    if _COMPOUND & field.keys() or "type" not in field:
        return None
    types = field["type"] if isinstance(field["type"], list) else [field["type"]]
    if "object" in types or "array" in types:
        return None
    more = {
        word: given
        for word, given in field.items()
        if word not in _TOLD and (word, given) != ("minLength", 1)
    }
    told = " or ".join("text" if one == "string" else str(one) for one in types)
    return f"{told} {json.dumps(more, ensure_ascii=False, separators=(',', ':'))}" if more else told


def _own_words(schema: WantedSchema) -> str:
    """Return what a tenant says of a built-in schema, if that is not what the instructions say
    already.
    """
    usual = DEFAULTS[schema.name]
    own = [
        given
        for given, known in (
            (schema.description, usual.description),
            (schema.instructions, usual.instructions),
        )
        if given and given != known
    ]
    return f"{schema.name}: {' '.join(own)}" if own else ""
