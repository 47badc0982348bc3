"""The schemas that one request to form a thread names or defines; they travel with its job and are
stored nowhere else.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from pydantic import ValidationError

from memoranda.errors import InvalidInput
from memoranda.formation.schemas.bound_fields import keys_of
from memoranda.formation.schemas.definitions import (
    DEFAULTS,
    NOTE,
    FormationSchema,
    checked_fields,
    schema_from_record,
    schemas_for_agent,
)
from memoranda.model.drafts import SCHEMAS, WantedSchema
from memoranda.model.profiles import Schema, Trigger
from memoranda.model.records import Owner, OwnerKind
from memoranda.model.values import new_id, refused

#: The most schemas of one request, and the most characters of them as JSON.
_MOST, _LENGTH = 32, 262_144
#: The fields of a definition beside its name. When it is formed, and for which agents, the request
#: itself says.
_FIELDS: Final = ("description", "parameters", "update_mode", "instructions")
_EXAMPLE: Final = "'Profile' or {'name': 'Trip', 'parameters': …, 'update_mode': 'insert'}"
#: A definition is checked as a record, which needs an owner.
_NOBODY: Final = Owner(tenant="default", kind=OwnerKind.TENANT, id="default")


def request_payload(
    given: Iterable[str | Mapping[str, Any]], known: Iterable[str]
) -> dict[str, Any]:
    """Return a request's schemas as a job's payload; raise ``InvalidInput`` if one cannot be used.

    ``known`` has the names of the tenant's schemas, which a request may name beside the built-in
    ones.
    """
    if isinstance(given, (str, Mapping)) or not isinstance(given, Iterable):
        raise _refusal("", f"give a list, such as [{_EXAMPLE}]")
    names, listed = {*DEFAULTS, *known}, list(given)
    found: list[Any] = []
    if not 0 < len(listed) <= _MOST:
        raise _refusal("", f"{len(listed)} given; give 1 to {_MOST}, or leave them out")
    for place, one in enumerate(listed):
        at = f"/{place}"
        if isinstance(one, str):
            if one not in names:
                raise _refusal(
                    at, f"no schema {one!r}; name one of {', '.join(sorted(names))}, or define it"
                )
            found.append(one)
        elif isinstance(one, Mapping):
            found.append(_definition(dict(one), at))
        else:
            raise _refusal(at, f"give a name or a definition, such as {_EXAMPLE}")
    named = [one if isinstance(one, str) else one["name"] for one in found]
    twice = next((name for name in named if named.count(name) > 1), None)
    if twice is not None:
        raise _refusal("", f"{twice!r} is given twice")
    if len(json.dumps(found)) > _LENGTH:
        raise _refusal("", f"they have more than {_LENGTH} characters as JSON")
    return {SCHEMAS: found}


def wanted_schemas(
    agent: str | None,
    triggers: Iterable[Trigger],
    known: Sequence[Schema],
    payload: Mapping[str, Any],
) -> tuple[WantedSchema, ...]:
    """Return the schemas that a run describes to the extractor; those that it is to fill are marked
    due.

    They are the schemas of the job's request, or else those of the agent with one of these
    triggers. What a request named and the tenant has deleted since is left out.
    """
    listed = payload.get(SCHEMAS)
    if not isinstance(listed, list):
        due = frozenset(triggers)
        return tuple(wanted(one, one.trigger in due) for one in schemas_for_agent(agent, known))
    held = {**DEFAULTS, **{record.name: schema_from_record(record) for record in known}}
    found = [
        held.get(one) if isinstance(one, str) else schema_from_record(_record(one))
        for one in listed
    ]
    asked = [wanted(one, True) for one in found if one is not None]
    if any(one.update_mode == "insert" for one in asked) and all(
        one.name != NOTE.name for one in asked
    ):
        # A note that follows a schema is a note first. Plain ones are not asked for.
        asked.append(wanted(held[NOTE.name], False))
    return tuple(asked)


def request_note(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return the note for the ledger (the log of all changes): the names of the schemas that a job
    was asked for.
    """
    listed = payload.get(SCHEMAS)
    if not isinstance(listed, list):
        return {}
    return {SCHEMAS: [one if isinstance(one, str) else one["name"] for one in listed]}


def wanted(schema: FormationSchema, due: bool = True) -> WantedSchema:
    """Return a schema as a prompt asks for it."""
    return WantedSchema(
        name=schema.name,
        description=schema.description,
        parameters=dict(schema.parameters),
        update_mode=schema.update_mode,
        instructions=schema.instructions,
        due=due and not schema.unusable,
    )


def _definition(given: dict[str, Any], at: str) -> dict[str, Any]:
    name = given.pop("name", None)
    if not isinstance(name, str):
        raise _refusal(at, f"a definition has a name, such as {_EXAMPLE}")
    unknown = sorted(map(str, given.keys() - set(_FIELDS)))
    if unknown:
        raise _refusal(
            f"{at}/{unknown[0]}",
            f"a definition has no such field; it has name, {', '.join(_FIELDS)}",
        )
    try:
        kept = checked_fields(given, name)
        kept.pop("trigger", None)
        if keys_of(kept.get("parameters", {})) and name not in DEFAULTS:
            reason = "fields that are bound to keys are read everywhere; store this schema with schemas.put"
            raise InvalidInput(f"parameters: {reason}", field="parameters")
        record = _record({**kept, "name": name})
    except (InvalidInput, ValidationError) as exc:
        fault = refused(exc) if isinstance(exc, ValidationError) else exc
        raise _refusal(f"{at}/{fault.field}", str(fault).removeprefix(f"{fault.field}: ")) from exc
    return {
        "name": name,
        **{field: value for field in _FIELDS if (value := getattr(record, field))},
    }


def _record(given: Mapping[str, Any]) -> Schema:
    return Schema(id=new_id(), owner=_NOBODY, **given)


def _refusal(at: str, reason: str) -> InvalidInput:
    field = f"{SCHEMAS}{at}"
    return InvalidInput(f"{field}: {reason}", field=field)
