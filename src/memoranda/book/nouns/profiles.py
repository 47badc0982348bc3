"""The verbs of a book over profiles: the documents of users."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from pydantic import BaseModel, ValidationError

from memoranda.book.advice import log_narrow_view
from memoranda.book.input import Who, as_flag, as_names, as_view, owner_named
from memoranda.book.nouns.named_records import Named
from memoranda.book.services import RecordVerbs
from memoranda.book.verb_fields import spelled_out
from memoranda.errors import InvalidInput
from memoranda.formation.bound_profiles import bound_by, keyed
from memoranda.formation.schemas.bound_fields import unstored
from memoranda.model.changes import Change
from memoranda.model.ledger import Receipt
from memoranda.model.memories import Memory
from memoranda.model.profiles import ProfileDocument, Schema, by_field
from memoranda.model.query import Filter, Scan
from memoranda.model.records import (
    Audience,
    Owner,
    RecordType,
    View,
    those_of,
)
from memoranda.model.values import fields_of_object, new_id, refused
from memoranda.operations import Part, Role, W, no_offer, offer

# The rules of schemas are imported by the calls that need them: most programs open a book without
# one.
if TYPE_CHECKING:
    from memoranda.book.field_edits import FieldEdit
    from memoranda.formation.schemas.definitions import DocumentReport

_log = logging.getLogger("memoranda.schemas")


@spelled_out
class Profiles(RecordVerbs, Part[W]):
    """The profiles of users: one document for each user, schema and audience."""

    @offer(Role.VIEWER, "GET /profiles/{schema}", command="profile")
    async def get(
        self, owner: str | Owner, schema: str = "Profile", **who: Unpack[Who]
    ) -> dict[str, Any]:
        """Return the fields a view reads, with the schema's ``default`` of a field that no document
        has.

        What the person set comes first, then the agent's own document, its groups', and the global
        one.
        """
        from memoranda.formation.schemas.definitions import default_fields, schema_from_record  # noqa: PLC0415

        known = await Named(self._services, Schema)._get(schema)
        documents = await self._documents(owner, schema, known, who)
        merged: dict[str, Any] = {} if known is None else default_fields(schema_from_record(known))
        found = by_field(documents)
        return merged | {field: one.body[field] for (_, field), one in found.items()}

    @offer(Role.VIEWER, "GET /profiles/{schema}/documents", command="profile")
    async def documents(
        self, owner: str | Owner, schema: str = "Profile", **who: Unpack[Who]
    ) -> list[ProfileDocument]:
        """Return the profile documents of a schema that a view may read.

        A field that is bound to a key stands in the document of those who read the memory that has
        the key; where no such document is stored, one with the version 0 is made for it.
        """
        known = await Named(self._services, Schema)._get(schema)
        return await self._documents(owner, schema, known, who)

    async def _documents(
        self, owner: str | Owner, schema: str, known: Schema | None, who: Who
    ) -> list[ProfileDocument]:
        party, view, now = (
            owner_named(owner, self._services.tenant),
            as_view(who),
            self._services.door.clock(),
        )
        found = await self._services.bound.of_owner(
            party, view, now, schemas=bound_by(schema, known)
        )
        if not found:
            of_profiles = Filter(types=frozenset({RecordType.PROFILE, RecordType.MEMORY}))
            await log_narrow_view(self._services.engine, party, view, of_profiles, "profile")
        return [document for document in found if document.schema_name == schema]

    @offer(Role.VIEWER, "GET /profiles/{schema}/report")
    async def report(
        self, owner: str | Owner, schema: str = "Profile", **who: Unpack[Who]
    ) -> list[tuple[ProfileDocument, DocumentReport]]:
        """Return the profile documents a view reads, each with its faults against its schema;
        faulty ones are included.

        A memory that has the key of a bound field and no value that fits it is a fault, too.
        """
        from memoranda.formation.schemas.definitions import (  # noqa: PLC0415
            DEFAULTS,
            DocumentReport,
            schema_from_record,
        )

        known = await Named(self._services, Schema)._get(schema)
        held_to = DEFAULTS.get(schema) if known is None else schema_from_record(known)
        documents = await self._documents(owner, schema, known, who)
        nothing = DocumentReport(outdated=False, faults=())
        if held_to is None:
            return [(one, nothing) for one in documents]
        party, view, now = (
            owner_named(owner, self._services.tenant),
            as_view(who),
            self._services.door.clock(),
        )
        found = {one.audience: (one, held_to.report(one)) for one in documents}
        for field, memory in await self._services.bound.silent(
            party, view, now, schemas=bound_by(schema, known)
        ):
            document, report = found.get(memory.audience) or (
                unstored(party, schema, memory.audience),
                nothing,
            )
            faults = (*report.faults, held_to.fault_of(field, memory))
            found[memory.audience] = document, replace(report, faults=faults)
        return [*found.values()]

    @offer(Role.EDITOR, "PATCH /profiles/{schema}", command="profile")
    async def patch(
        self,
        owner: str | Owner,
        set: Mapping[str, Any] | BaseModel | None = None,
        *,
        unset: Sequence[str] = (),
        schema: str = "Profile",
        audience: str | Audience | None = None,
        operation: str | None = None,
        **who: Unpack[Who],
    ) -> Receipt:
        """Set and unset fields; what the owner sets in their own view is pinned, and only they
        change it.
        """
        fields = {} if set is None else fields_of(set, "set")
        party, view = owner_named(owner, self._services.tenant), as_view(who)
        edit = await self._edit(party, view, fields, schema, audience)
        leaving = as_names(unset, "unset")
        request = ["profile", schema, fields, list(leaving), str(audience)]
        return await self._apply(await self._held(edit, view), leaving, view, request, operation)

    @no_offer("records.save calls it")
    async def changes(
        self,
        owner: Owner,
        view: View,
        fields: dict[str, Any],
        schema: str,
        audience: str | Audience | None,
    ) -> tuple[ProfileDocument, list[Change]]:
        """Return the changes that set fields as ``patch`` does, and a document of these fields."""
        edit = await self._edit(owner, view, fields, schema, audience)
        return edit, self._checked(await self._held(edit, view), ())

    @offer(Role.EDITOR, "PUT /profiles/{schema}")
    async def put(
        self,
        owner: str | Owner,
        body: Mapping[str, Any] | BaseModel,
        *,
        schema: str = "Profile",
        audience: str | Audience | None = None,
        replace_all: bool = False,
        operation: str | None = None,
        **who: Unpack[Who],
    ) -> Receipt:
        """Replace a whole document; what the owner puts in their own view is pinned, and only they
        change it.

        Of a Pydantic object only the fields that were set are written. A body without any value is
        refused where the document has values, unless ``replace_all`` is True: a model that answered
        nothing empties no profile.
        """
        fields, empties = fields_of(body, "body"), as_flag(replace_all, "replace_all")
        party, view = owner_named(owner, self._services.tenant), as_view(who)
        edit = await self._edit(party, view, fields, schema, audience)
        held = await self._held(edit, view)
        if not empties and _is_empty(fields) and not _is_empty(held.body):
            raise InvalidInput(
                "body: it has no value, and the document has some; set single fields with patch, or pass replace_all=True to empty it",
                field="body",
            )
        leaving = tuple(name for name in held.body if name not in edit.body)
        request = ["put profile", schema, fields, str(audience)]
        return await self._apply(held, leaving, view, request, operation)

    async def _edit(
        self,
        owner: Owner,
        view: View,
        body: dict[str, Any],
        schema: str,
        audience: str | Audience | None,
    ) -> ProfileDocument:
        """Return a new document that holds only the fields to set."""
        readers = await self._services.audience_of(audience, view)
        try:
            return ProfileDocument(
                id=new_id(), owner=owner, schema_name=schema, body=body, audience=readers
            )
        except ValidationError as exc:
            raise refused(exc) from exc

    async def _held(self, edit: ProfileDocument, view: View) -> FieldEdit:
        """Read what an edit changes: the stored document of its audience, and the memories that
        hold bound fields.
        """
        from memoranda.book.field_edits import FieldEdit  # noqa: PLC0415

        known = await Named(self._services, Schema)._get(edit.schema_name)
        bound = bound_by(edit.schema_name, known)
        stored = Filter(types=frozenset({RecordType.PROFILE}), slots=(edit.slot() or b"",))
        asked = [Scan(edit.owner, view, stored, None, 1)]
        asked += [Scan(edit.owner, view, keyed(bound), None, 1000)] if bound else []
        document, *held = await self._services.engine.scans(asked)
        return FieldEdit(
            edit,
            next(iter(those_of(ProfileDocument, document)), None),
            [memory for page in held for memory in those_of(Memory, page)],
            known,
            bound.get(edit.schema_name),
            view,
            self._services.door.clock(),
        )

    async def _apply(
        self,
        held: FieldEdit,
        leaving: Sequence[str],
        view: View,
        request: Sequence[Any],
        operation: str | None,
    ) -> Receipt:
        changes = self._checked(held, leaving)
        return await self._services.write(held.edit.owner, view, changes, request, operation)

    def _checked(self, held: FieldEdit, leaving: Sequence[str]) -> list[Change]:
        """Return the changes of a profile's edit unless it adds schema violations; earlier ones may
        stay.
        """
        from memoranda.formation.schemas.definitions import DEFAULTS, shape_for_edits  # noqa: PLC0415
        from memoranda.formation.schemas.json_patch import edit_faults  # noqa: PLC0415

        edit, known = held.edit, held.known
        if held.stored is None and known is None and edit.schema_name not in DEFAULTS:
            _log.warning(
                "the profile document %r is stored unchecked, because no schema has this name: if it was not misspelt, define it "
                "with book.schemas.put",
                edit.schema_name,
            )
        shape = shape_for_edits(edit.schema_name, known)
        found = [
            (f"set{fault.path}", fault.reason)
            for fault in edit_faults(held.body, edit.body, leaving, shape)
        ]
        if found:
            errors = tuple(InvalidInput(f"{at}: {reason}", field=at) for at, reason in found)
            errors[0].errors = errors
            raise errors[0]
        return held.changes(leaving, self._services.door.limits)


def fields_of(given: Mapping[str, Any] | BaseModel, name: str) -> dict[str, Any]:
    """Return the fields of a document; of a Pydantic object those that were set."""
    if isinstance(given, BaseModel):
        return fields_of_object(given)
    if not isinstance(given, Mapping):
        raise InvalidInput(
            f"{name}: give a mapping of fields to values, or a Pydantic object", field=name
        )
    return dict(given)


def _is_empty(value: Any) -> bool:
    """True if a value tells nothing: None, an empty text or list, or a mapping of such values."""
    return (
        all(map(_is_empty, value.values()))
        if isinstance(value, Mapping)
        else value in (None, "", [])
    )
