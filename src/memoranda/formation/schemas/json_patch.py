"""JSON Patch (RFC 6902) of add, replace and remove: parses operations and applies all of them, or
none, to a copy of the document.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from pydantic import TypeAdapter, ValidationError

from memoranda.formation.schemas.json_values import (
    SHOWN_LENGTH,
    Copier,
    InvalidJson,
    index_in,
    printable,
    read_json,
    tokens_of,
)
from memoranda.formation.schemas.validation import ANY_SHAPE, Fault, Shape
from memoranda.model.values import Document, comparable

#: Operations in one patch.
OPERATIONS = 200
#: The most faults that are reported for one patch.
FAULTS = 20
OPERATION_NAMES = ("add", "remove", "replace")

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PatchFault:
    """The reason why an operation was not applied; it may be shown to a model."""

    #: The operation's index in the patch; None for the patch or the document as a whole.
    index: int | None
    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Operation:
    """One well-formed operation."""

    index: int
    name: str
    path: Path
    #: As it was given.
    pointer: str
    value: Any = None

    def fault(self, reason: str) -> PatchFault:
        """Return a fault that names this operation and its path."""
        return PatchFault(self.index, printable(self.pointer), reason[: 2 * SHOWN_LENGTH])


def read_operations(given: object, copier: Copier) -> tuple[list[Operation], list[PatchFault]]:
    """Parse a patch, given as a list or as JSON text; return its operations and its faults."""
    try:
        listed = read_json(given) if isinstance(given, str) else given
    except InvalidJson as exc:
        return [], [PatchFault(None, "", f"the patch {exc}")]
    if not isinstance(listed, (list, tuple)):
        return [], [PatchFault(None, "", "the patch is not a list of operations")]
    if len(listed) > OPERATIONS:
        reason = f"the patch has {len(listed)} operations; at most {OPERATIONS}, so give fewer"
        return [], [PatchFault(None, "", reason)]
    read: list[Operation] = []
    faults: list[PatchFault] = []
    for index, one in enumerate(listed):
        try:
            read.append(_operation(index, one, copier))
        except InvalidJson as exc:
            pointer = one.get("path", "") if isinstance(one, dict) else ""
            faults.append(PatchFault(index, printable(pointer), str(exc)))
    return read, faults[:FAULTS]


def _operation(index: int, given: object, copier: Copier) -> Operation:
    if not isinstance(given, dict):
        raise InvalidJson("is not an operation; give an object with op, path and value")
    name = given.get("op")
    if name not in OPERATION_NAMES:
        raise InvalidJson(f"op is {printable(name)!r}; it may be {', '.join(OPERATION_NAMES)}")
    path = _path_of(given)
    if not path:
        raise InvalidJson("refers to the whole document; give the path of the field that changes")
    pointer = str(given["path"])
    if name == "remove":
        return Operation(index, name, path, pointer)
    if "value" not in given:
        raise InvalidJson("has no value")
    try:
        value = copier.copy(given["value"])
    except InvalidJson as exc:
        raise InvalidJson(f"value {exc}") from None
    return Operation(index, name, path, pointer, value=value)


def _path_of(given: dict[str, Any]) -> Path:
    if "path" not in given:
        raise InvalidJson("has no path")
    try:
        return tokens_of(given["path"])
    except InvalidJson as exc:
        raise InvalidJson(f"path {exc}") from None


def in_safe_order(operations: Sequence[Operation]) -> tuple[list[Operation], list[PatchFault]]:
    """Order removals from the end of the document backwards, so that indices mean what the model
    was shown.

    Removals are reordered among themselves unless another operation between them changes the same
    list. Removing the same entry twice is a fault.
    """
    found = list(operations)
    faults: list[PatchFault] = []
    block: list[int] = []
    for place, operation in enumerate(operations):
        if operation.name == "remove":
            block.append(place)
            continue
        if any(_overlap(operation.path, _moved_by_removal(operations[one].path)) for one in block):
            faults += _reverse_removals(found, block)
            block = []
    return found, faults + _reverse_removals(found, block)


def _reverse_removals(found: list[Operation], block: list[int]) -> list[PatchFault]:
    removals = sorted(
        (found[place] for place in block), key=lambda one: _position(one.path), reverse=True
    )
    for place, removal in zip(block, removals, strict=True):
        found[place] = removal
    return [
        other.fault("is removed twice; indices are those of the document as it was shown")
        for one, other in pairwise(removals)
        if one.path == other.path and is_index(one.path[-1])
    ]


def _position(path: Path) -> list[tuple[bool, int, str]]:
    return [(is_index(token), int(token) if is_index(token) else 0, token) for token in path]


def is_index(token: str) -> bool:
    """True if a part of a path may be an index."""
    return token.isascii() and token.isdigit()


def _moved_by_removal(path: Path) -> Path:
    """Return the path whose content a removal shifts: the list, if it removes an entry of one."""
    return path[:-1] if is_index(path[-1]) else path


def _overlap(one: Path, other: Path) -> bool:
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]


#: Checks a document in the same way as its record does, and copies it.
_DOCUMENT = TypeAdapter(Document)
#: The most faults of a document that are compared, to separate new faults from old ones.
_COMPARED = 1_000


@dataclass(frozen=True, slots=True)
class Patched:
    """The result of applying a patch to a document."""

    #: The document after the patch, or before it if there are faults; a copy of its own.
    document: dict[str, Any]
    #: True if there is something to write.
    changed: bool
    #: The reasons why nothing was applied.
    faults: tuple[PatchFault, ...] = ()
    #: Operations that were left out because a person set their field; the others were applied.
    left_out: tuple[PatchFault, ...] = ()


def apply_patch(
    document: Mapping[str, Any] | None,
    operations: object,
    shape: Shape = ANY_SHAPE,
    *,
    pinned: Collection[str] = (),
) -> Patched:
    """Apply operations to a document; ``None`` means a new document, which must be complete at
    once.

    Never raises for wrong operations, which may come from a model: faults are returned.
    """
    before = _DOCUMENT.validate_python(document or {})
    read, faults = read_operations(operations, Copier())
    if faults:
        return Patched(before, changed=False, faults=tuple(faults))
    pinned_indexes = {one.index for one in read if one.path[0] in pinned}
    left_out = tuple(
        one.fault("a person set this field, and only people change it")
        for one in read
        if one.index in pinned_indexes
    )
    work = _Patcher(_DOCUMENT.validate_python(before), shape)
    in_order, faults = in_safe_order([one for one in read if one.index not in pinned_indexes])
    failed = None if faults else work.apply(in_order)
    if failed is not None:
        faults = [failed]
    if faults:
        return Patched(before, changed=False, faults=tuple(faults[:FAULTS]), left_out=left_out)
    try:
        after = _DOCUMENT.validate_python(work.document)
    except ValidationError as exc:
        unkept = PatchFault(
            None, "", f"the document {exc.errors()[0]['msg'].removeprefix('Value error, ')}"
        )
        return Patched(before, changed=False, faults=(unkept,), left_out=left_out)
    changed = comparable(before) != comparable(after)
    known = before if document is not None or not changed else None
    fresh = _new_faults(known, after, shape)
    if fresh:
        return Patched(before, changed=False, faults=fresh, left_out=left_out)
    return Patched(after, changed, left_out=left_out)


def changed_fields(
    before: Mapping[str, Any], after: Mapping[str, Any]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the fields to set and to unset in order to turn one document into the other."""
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
    """Return the faults that setting and removing these fields would add to a document."""
    after = {
        name: value
        for name, value in {**before, **fields}.items()
        if name not in gone or name in fields
    }
    return _new_faults(dict(before), after, shape)


def _new_faults(
    before: dict[str, Any] | None, after: dict[str, Any], shape: Shape
) -> tuple[PatchFault, ...]:
    """Return the faults of the new document that the old one does not have."""
    found = shape.faults(after, _COMPARED)
    if not found:
        return ()
    known = (
        Counter() if before is None else Counter(map(_fault_kind, shape.faults(before, _COMPARED)))
    )
    fresh: list[PatchFault] = []
    for fault in found:
        if known[_fault_kind(fault)] > 0:
            known[_fault_kind(fault)] -= 1
        else:
            fresh.append(PatchFault(None, printable(fault.at), fault.reason))
    return tuple(fresh[:FAULTS])


def _fault_kind(fault: Fault) -> tuple[str, str]:
    """Return a fault's key without list indices, because a removal shifts the entries after it."""
    return "/".join(
        "0" if is_index(token) else token for token in fault.at.split("/")
    ), fault.reason


class _Patcher:
    """A document while a patch is applied to it."""

    def __init__(self, document: dict[str, Any], shape: Shape) -> None:
        self.document = document
        self._shape = shape

    def apply(self, operations: list[Operation]) -> PatchFault | None:
        """Apply the operations in order; stop at the first that fails and return its fault."""
        for operation in operations:
            try:
                self._step(operation)
            except InvalidJson as exc:
                return operation.fault(str(exc))
        return None

    def _step(self, operation: Operation) -> None:
        match operation.name:
            case "add":
                self._add(operation.path, operation.value)
            case "replace":
                self._replace(operation.path, operation.value)
            case _:
                self._remove(operation.path)

    def _add(self, path: tuple[str, ...], value: Any) -> None:
        parent, last = self._parent(path, make=True), path[-1]
        if isinstance(parent, dict):
            parent[last] = value
        else:
            parent.insert(len(parent) if last == "-" else index_in(last, len(parent) + 1), value)

    def _replace(self, path: tuple[str, ...], value: Any) -> None:
        named = self._shape.defines(path)
        parent, last = self._parent(path, make=named), path[-1]
        if isinstance(parent, list):
            parent[index_in(last, len(parent))] = value
        elif last in parent or named:
            parent[last] = value
        else:
            raise InvalidJson("has nothing to replace; use add")

    def _remove(self, path: tuple[str, ...]) -> None:
        parent, last = self._parent(path, make=False), path[-1]
        if isinstance(parent, list):
            del parent[index_in(last, len(parent))]
        elif last in parent:
            del parent[last]
        else:
            raise InvalidJson("has nothing to remove")

    def _parent(self, path: tuple[str, ...], *, make: bool) -> Any:
        """Return the object or list that contains the end of a path; with ``make``, create those
        the schema defines.
        """
        place: Any = self.document
        for depth, token in enumerate(path[:-1], 1):
            if make and isinstance(place, dict) and place.get(token) is None:
                made = self._made(path[:depth], path[depth])
                if made is not None:
                    place[token] = made
            place = _child(place, token)
        if not isinstance(place, (dict, list)):
            word = "a text" if isinstance(place, str) else "neither an object nor a list"
            raise InvalidJson(f"points into {word}; replace it as a whole")
        return place

    def _made(self, path: tuple[str, ...], next_: str) -> dict[str, Any] | list[Any] | None:
        """Return an empty object or list if the schema defines one here."""
        types = self._shape.types_at(path) & {"object", "array"}
        if not types:
            return None
        listed = types == {"array"} or ("array" in types and next_ == "-")
        return [] if listed else {}


def _child(value: Any, token: str) -> Any:
    if isinstance(value, list):
        return value[index_in(token, len(value))]
    if not isinstance(value, dict):
        raise InvalidJson(f"passes {printable(token)!r}, but its parent is not an object or a list")
    if token not in value:
        raise InvalidJson(f"passes {printable(token)!r}, which does not exist")
    return value[token]
