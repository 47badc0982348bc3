"""A JSON Patch applied to a document: on a copy, all or nothing, and what a person set stays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError

from memoranda.formation.documents import Copier, Unfit, index_in, shown
from memoranda.formation.operations import FAULTS, Operation, PatchFault, is_index, ordered, read_operations
from memoranda.formation.shapes import ANY_SHAPE, Shape
from memoranda.formation.validation import Fault
from memoranda.model.values import Document, comparable

#: Checks, as the record that holds a document does, and copies.
_DOCUMENT = TypeAdapter(Document)
#: Faults of a document that are compared, so that old ones are told from new ones.
_COMPARED = 1_000


@dataclass(frozen=True, slots=True)
class Patched:
    """What became of a patch."""

    #: The document afterwards; as it was before, where there are faults. Nobody else holds any part of it.
    document: dict[str, Any]
    #: Whether there is anything to write.
    changed: bool
    #: Why nothing was applied.
    faults: tuple[PatchFault, ...] = ()
    #: What was left out because a person set that field; the rest was applied.
    left_out: tuple[PatchFault, ...] = ()


def patch(
    document: Mapping[str, Any] | None,
    operations: object,
    shape: Shape = ANY_SHAPE,
    *,
    pinned: Collection[str] = (),
) -> Patched:
    """The document after these operations; ``None`` for one that is not there yet and must be whole at once.

    Never raises for what is wrong with the operations, which may come from a model: every failure is a value.
    """
    before = _DOCUMENT.validate_python(document or {})
    copier = Copier()
    read, faults = read_operations(operations, copier)
    if faults:
        return Patched(before, changed=False, faults=tuple(faults))
    held = {one.index for one in read if any(path[0] in pinned for path in one.touches())}
    left_out = tuple(
        one.fault("a person set this field, and only people change it") for one in read if one.index in held
    )
    work = _Work(_DOCUMENT.validate_python(before), shape, copier)
    in_order, faults = ordered([one for one in read if one.index not in held])
    failed = None if faults else work.apply(in_order)
    if failed is not None:
        faults = [failed]
    if faults:
        return Patched(before, changed=False, faults=tuple(faults[:FAULTS]), left_out=left_out)
    try:
        after = _DOCUMENT.validate_python(work.document)
    except ValidationError as exc:
        unkept = PatchFault(None, "", f"the document {exc.errors()[0]['msg'].removeprefix('Value error, ')}")
        return Patched(before, changed=False, faults=(unkept,), left_out=left_out)
    changed = comparable(before) != comparable(after)
    known = before if document is not None or not changed else None
    fresh = _brought(known, after, shape)
    if fresh:
        return Patched(before, changed=False, faults=fresh, left_out=left_out)
    return Patched(after, changed, left_out=left_out)


def fields_between(
    before: Mapping[str, Any], after: Mapping[str, Any]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The fields to set and those to unset, so that one document becomes the other."""
    missing = object()
    changed = {
        name: value
        for name, value in after.items()
        if comparable(before.get(name, missing)) != comparable(value)
    }
    return changed, tuple(name for name in before if name not in after)


def edit_faults(
    before: Mapping[str, Any], fields: Mapping[str, Any], gone: Collection[str], shape: Shape
) -> tuple[PatchFault, ...]:
    """What would be wrong with a document once these fields are set and those gone, and is not already."""
    after = {
        name: value for name, value in {**before, **fields}.items() if name not in gone or name in fields
    }
    return _brought(dict(before), after, shape)


def _brought(before: dict[str, Any] | None, after: dict[str, Any], shape: Shape) -> tuple[PatchFault, ...]:
    """Faults that a patch brought; those that were there before it are none of them."""
    found = shape.faults(after, _COMPARED)
    if not found:
        return ()
    known = Counter() if before is None else Counter(map(_kind, shape.faults(before, _COMPARED)))
    fresh: list[PatchFault] = []
    for fault in found:
        if known[_kind(fault)] > 0:
            known[_kind(fault)] -= 1
        else:
            fresh.append(PatchFault(None, shown(fault.at), fault.reason))
    return tuple(fresh[:FAULTS])


def _kind(fault: Fault) -> tuple[str, str]:
    """A fault wherever in its list it stands: a removal before it moves it."""
    return "/".join("0" if is_index(token) else token for token in fault.at.split("/")), fault.reason


class _Work:
    """A document while a patch is applied to it."""

    def __init__(self, document: dict[str, Any], shape: Shape, copier: Copier) -> None:
        self.document = document
        self._shape = shape
        self._copier = copier

    def apply(self, operations: list[Operation]) -> PatchFault | None:
        """Apply in order; the first operation that fails ends it."""
        for operation in operations:
            try:
                self._step(operation)
            except Unfit as exc:
                return operation.fault(str(exc))
        return None

    def _step(self, operation: Operation) -> None:
        path, source = operation.path, operation.source
        match operation.name:
            case "add":
                self._add(path, operation.value)
            case "replace":
                self._replace(path, operation.value)
            case "remove":
                self._remove(path)
            case "test":
                if comparable(self._value(path)) != comparable(operation.value):
                    raise Unfit("has another value than the one it was tested for")
            case "copy" if source is not None:
                self._add(path, self._copier.copy(self._value(source)))
            case "move" if source is not None:
                self._move(source, path)

    def _move(self, source: tuple[str, ...], path: tuple[str, ...]) -> None:
        if len(path) > len(source) and path[: len(source)] == source:
            raise Unfit("moves a part of the document into itself")
        value = self._value(source)
        if source != path:
            self._remove(source)
            self._add(path, value)

    def _add(self, path: tuple[str, ...], value: Any) -> None:
        parent, last = self._parent(path, make=True), path[-1]
        if isinstance(parent, dict):
            parent[last] = value
        else:
            parent.insert(len(parent) if last == "-" else index_in(last, len(parent) + 1), value)

    def _replace(self, path: tuple[str, ...], value: Any) -> None:
        named = self._shape.names(path)
        parent, last = self._parent(path, make=named), path[-1]
        if isinstance(parent, list):
            parent[index_in(last, len(parent))] = value
        elif last in parent or named:
            parent[last] = value
        else:
            raise Unfit("has nothing to replace; use add")

    def _remove(self, path: tuple[str, ...]) -> None:
        parent, last = self._parent(path, make=False), path[-1]
        if isinstance(parent, list):
            del parent[index_in(last, len(parent))]
        elif last in parent:
            del parent[last]
        else:
            raise Unfit("has nothing to remove")

    def _value(self, path: tuple[str, ...]) -> Any:
        value: Any = self.document
        for token in path:
            value = _inside(value, token)
        return value

    def _parent(self, path: tuple[str, ...], *, make: bool) -> Any:
        """The object or list that a path ends in; where asked, made as the schema says where it is missing."""
        place: Any = self.document
        for depth, token in enumerate(path[:-1], 1):
            if make and isinstance(place, dict) and place.get(token) is None:
                made = self._made(path[:depth], path[depth])
                if made is not None:
                    place[token] = made
            place = _inside(place, token)
        if not isinstance(place, (dict, list)):
            word = "a text" if isinstance(place, str) else "neither an object nor a list"
            raise Unfit(f"leads into {word}; replace it as a whole")
        return place

    def _made(self, path: tuple[str, ...], next_: str) -> dict[str, Any] | list[Any] | None:
        """An empty object or list where the schema says that there is one."""
        types = self._shape.types_at(path) & {"object", "array"}
        if not types:
            return None
        listed = types == {"array"} or ("array" in types and next_ == "-")
        return [] if listed else {}


def _inside(value: Any, token: str) -> Any:
    if isinstance(value, list):
        return value[index_in(token, len(value))]
    if not isinstance(value, dict):
        raise Unfit(f"leads through {shown(token)!r}, and there is no object or list that holds it")
    if token not in value:
        raise Unfit(f"leads through {shown(token)!r}, which is not there")
    return value[token]
