"""The schemas of formation: four built-in ones, and those that a tenant defines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_args

from pydantic import BaseModel

from memoranda.errors import InvalidInput
from memoranda.formation.schemas.bound_fields import (
    KEYWORD,
    faults_of,
    keys_of,
    with_keys,
    without_keys,
)
from memoranda.formation.schemas.schema_check import schema_faults
from memoranda.formation.schemas.validation import ANY_SHAPE, Fault, Shape
from memoranda.model.drafts import WantedSchema
from memoranda.model.experience_lines import ExperienceField
from memoranda.model.memories import Cardinality, Memory
from memoranda.model.messages import Outcome
from memoranda.model.profiles import ProfileDocument, Schema, Trigger, UpdateMode
from memoranda.model.values import canonical, json_schema_of, schema_digest


@dataclass(frozen=True)
class FormationSchema:
    """A named kind of result: its parameters, how it changes, and when it is formed."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    update_mode: UpdateMode
    instructions: str = ""
    trigger: Trigger = "silence"
    #: The agents that use it; all if none is named.
    agents: tuple[str, ...] = ()

    @cached_property
    def digest(self) -> str:
        """The version of the parameters; independent of the layout of the JSON."""
        return parameters_digest(self.parameters)

    @cached_property
    def unusable(self) -> tuple[Fault, ...]:
        """Faults of the schema itself; an imported schema was not checked when it was stored."""
        return schema_faults(self.parameters)

    @cached_property
    def shape(self) -> Shape:
        """The shape of documents; any shape if the schema is unusable."""
        return ANY_SHAPE if self.unusable else Shape(self.parameters)

    @cached_property
    def keys(self) -> Mapping[str, str]:
        """The keys to which fields of the documents are bound, by field; none in a schema of
        notes.
        """
        return {} if self.unusable or self.update_mode != "patch" else keys_of(self.parameters)

    def report(self, document: ProfileDocument) -> DocumentReport:
        """Compare a stored document with this schema; the document can be read in any case."""
        outdated = document.schema_hash not in ("", self.digest)
        return DocumentReport(outdated, self.shape.faults(document.body), self.unusable)

    def fault_of(self, field: str, memory: Memory) -> Fault:
        """Return why a memory that has a bound field's key shows nothing in the field."""
        why = "no value, and the field cannot show its text"
        if memory.has_value:
            (first, *_) = faults_of(self, field, memory.data["value"])
            why = f"a value that {first.reason}"
        cure = "update it with data={'value': …}, as the field takes it"
        return Fault(
            f"/{field}", f"memory {memory.id} has the key {memory.key!r} and {why}; {cure}"
        )


def schema_of(schema: WantedSchema) -> FormationSchema:
    """Return the definition of a schema that was read for a prompt."""
    return FormationSchema(schema.name, schema.description, schema.parameters, schema.update_mode)


def bound_schemas(records: Iterable[Schema]) -> dict[str, FormationSchema]:
    """Return the schemas with bound fields, by name: the built-in ones, replaced or extended by the
    tenant's.
    """
    found = {**DEFAULTS, **{record.name: schema_from_record(record) for record in records}}
    return {name: schema for name, schema in found.items() if schema.keys}


@dataclass(frozen=True, slots=True)
class DocumentReport:
    """The result of checking a document against its schema."""

    #: True if the document was last checked against another version of the schema.
    outdated: bool
    faults: tuple[Fault, ...]
    #: Faults of the schema itself; if there are any, the document was not checked.
    unusable: tuple[Fault, ...] = ()


def parameters_digest(parameters: Mapping[str, Any]) -> str:
    """Return the version of a schema's parameters; the keys of its fields change no document."""
    return schema_digest(canonical(without_keys(parameters)))


def _object(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    found: dict[str, Any] = {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }
    return {**found, "required": list(required)} if required else found


def _text(description: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", "description": description, **more}


def _texts(description: str) -> dict[str, Any]:
    return {
        "type": "array",
        "items": {"type": "string", "minLength": 1},
        "description": description,
    }


PROFILE = FormationSchema(
    name="Profile",
    description="What is known of the person and stays so.",
    parameters=_object(
        {
            "name": _text("What the person is called.", **{KEYWORD: "name"}),
            "age": {
                KEYWORD: "age",
                "type": ["integer", "null"],
                "minimum": 0,
                "maximum": 150,
                "description": "Age in years.",
            },
            "interests": _texts("What the person cares about or likes to do."),
            "home": _text("Where the person lives.", **{KEYWORD: "home"}),
            "occupation": _text("What the person does for a living.", **{KEYWORD: "occupation"}),
            "conversation_preferences": _texts("How the person wants to be talked to."),
        }
    ),
    update_mode="patch",
    instructions="Add rather than overwrite; overwrite what the person corrected or what has changed.",
)

NOTE = FormationSchema(
    name="Note",
    description="One statement that is worth keeping.",
    parameters=_object(
        {
            "content": _text("The statement, understandable by itself.", minLength=1),
            "applies_when": _text("When it applies, and what to beware of; empty where always."),
            "kind": _text("What sort of statement it is: preference, fact, instruction and so on."),
            "subject": _text("Whom or what it is about; left out for the person."),
            "key": _text("A name for what can only have one value at a time; else left out."),
            "cardinality": {"type": "string", "enum": [one.value for one in Cardinality]},
            "tags": _texts("Words to find it by."),
        },
        "content",
        "applies_when",
    ),
    update_mode="insert",
    instructions="Keep what will matter in another conversation. Nothing to keep is a good answer.",
)

EXPERIENCE = FormationSchema(
    name="AgentExperience",
    description="What the agent has learnt that helps with every person; nothing that tells who a person is.",
    parameters=_object(
        {
            name: _texts(f"Lines to add to {name.replace('_', ' ')}.")
            for name in get_args(ExperienceField)
        }
    ),
    update_mode="insert",
    instructions="Add lines that are new. Name no person, place, contact or number of anyone. A message marked "
    '"feedback 2 of 5" judges the agent\'s work: learn from it.',
)

EPISODE = FormationSchema(
    name="Episode",
    description="The record of a finished conversation or run.",
    parameters=_object(
        {
            "goal": _text("What was to be done.", minLength=1),
            "summary": _text("What was done, and what came of it."),
            "outcome": {"type": "string", "enum": [one.value for one in Outcome]},
            "tags": _texts("Words to find it by."),
        },
        "goal",
        "outcome",
    ),
    update_mode="insert",
    trigger="close",
)

DEFAULTS: Mapping[str, FormationSchema] = {
    one.name: one for one in (PROFILE, NOTE, EXPERIENCE, EPISODE)
}

#: Schemas with fixed parameters, because records have these fields; their other settings can be
#: changed.
FIXED = frozenset({NOTE.name, EXPERIENCE.name, EPISODE.name})


def schema_from_record(record: Schema) -> FormationSchema:
    """Return a tenant's schema, with the built-in values for what it leaves out."""
    known = DEFAULTS.get(record.name)
    own = record.parameters
    if record.name == PROFILE.name:
        own = with_keys(own, PROFILE.keys)
    return FormationSchema(
        name=record.name,
        description=record.description or (known.description if known else ""),
        parameters=known.parameters if known and record.name in FIXED else own,
        update_mode=known.update_mode if known else record.update_mode,
        instructions=record.instructions or (known.instructions if known else ""),
        trigger=record.trigger,
        agents=record.agents,
    )


def schemas_for_agent(agent: str | None, records: Iterable[Schema]) -> list[FormationSchema]:
    """Return the schemas for an agent: the built-in ones, replaced or extended by the tenant's."""
    found = {**DEFAULTS, **{record.name: schema_from_record(record) for record in records}}
    return [one for one in found.values() if not one.agents or agent in one.agents]


def default_fields(schema: FormationSchema) -> dict[str, Any]:
    """Return the default of each field of a document that has one; null is none."""
    properties = schema.parameters.get("properties")
    if not isinstance(properties, Mapping):
        return {}
    return {
        name: deepcopy(field["default"])
        for name, field in properties.items()
        if isinstance(field, Mapping) and field.get("default") is not None
    }


def shape_for_edits(name: str, record: Schema | None) -> Shape:
    """Return the shape for edits by people and programs; they may add fields to a built-in
    schema.
    """
    if record is not None:
        return schema_from_record(record).shape
    known = DEFAULTS.get(name)
    return ANY_SHAPE if known is None else Shape({**known.parameters, "additionalProperties": True})


def checked_fields(fields: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the fields of a schema for storing; raise InvalidInput if it could not be used."""
    known = DEFAULTS.get(name)
    kept = dict(fields)
    if known is None:
        _check_name(name)
    else:
        kept.setdefault("trigger", known.trigger)
        if kept.setdefault("update_mode", known.update_mode) != known.update_mode:
            raise _refusal("update_mode", f"{name} is always {known.update_mode}")
    given = kept.pop("parameters", None)
    if known is not None and name in FIXED:
        if given:
            raise _refusal(
                "parameters", f"the parameters of {name} cannot be changed; leave them out"
            )
        return kept
    if not given and known is not None:
        given = known.parameters
    kept["parameters"] = parameters = parameters_of(given)
    if kept.get("update_mode") == "insert":
        for field in keys_of(parameters):
            raise _refusal(
                f"parameters/properties/{field}/{KEYWORD}",
                "a document that is inserted is a memory itself, and no other holds its fields; leave the key out, "
                "or use update_mode='patch'",
            )
    if not kept.get("description"):
        kept["description"] = str(parameters.get("description", ""))
    return kept


def parameters_of(given: object) -> dict[str, Any]:
    """Return the given JSON Schema, or that of a Pydantic class; raise InvalidInput if it is
    unusable.
    """
    if isinstance(given, type) and issubclass(given, BaseModel):
        given = json_schema_of(given, "parameters")
    if not isinstance(given, Mapping) or not given:
        raise _refusal("parameters", "give a JSON Schema as a mapping, or a Pydantic class")
    parameters = _with_fields_at_the_root(given)
    faults = schema_faults(parameters)
    if faults:
        errors = tuple(_refusal(f"parameters{fault.at}", fault.reason) for fault in faults)
        errors[0].errors = errors
        raise errors[0]
    return parameters


def _with_fields_at_the_root(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return a JSON Schema whose root is no reference, as that of a class which contains itself."""
    more = dict(parameters)
    name, definitions = str(more.pop("$ref", "")).removeprefix("#/$defs/"), more.pop("$defs", None)
    found = definitions.get(name) if isinstance(definitions, Mapping) else None
    if not isinstance(found, Mapping) or more.keys() - {"title", "description"}:
        return dict(parameters)
    return {**found, **more, "$defs": {**(definitions or {}), name: without_keys(found)}}


def _check_name(name: str) -> None:
    plain = name.isascii() and name.replace("_", "a").replace("-", "a").isalnum()
    if not plain or not name[0].isalpha() or len(name) > 64:
        raise _refusal("name", "a schema's name is a letter, then up to 63 letters, digits, _ or -")


def _refusal(field: str, reason: str) -> InvalidInput:
    return InvalidInput(f"{field}: {reason}", field=field)
