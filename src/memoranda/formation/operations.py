"""The operations of a JSON Patch (RFC 6902): parse them, check their limits, and order removals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from memoranda.formation.documents import SHOWN_LENGTH, Copier, InvalidJson, printable, read_json, tokens_of

#: Operations in one patch.
OPERATIONS = 200
#: The most faults that are reported for one patch.
FAULTS = 20
OPERATION_NAMES = ("add", "remove", "replace", "move", "copy", "test")

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
    #: The path from which `move` and `copy` take their value.
    source: Path | None = None
    value: Any = None

    def changed_paths(self) -> Iterable[Path]:
        """Return the paths that the operation changes."""
        if self.name == "test":
            return ()
        if self.name == "move" and self.source is not None:
            return (self.path, self.source)
        return (self.path,)

    def fault(self, reason: str) -> PatchFault:
        """Return a fault of this operation."""
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
    path = _pointer_in(given, "path")
    if not path and name != "test":
        raise InvalidJson("refers to the whole document; give the path of the field that changes")
    pointer = str(given["path"])
    if name in ("move", "copy"):
        source = _pointer_in(given, "from")
        if not source and name == "move":
            raise InvalidJson("moves the whole document; name the field that moves")
        return Operation(index, name, path, pointer, source=source)
    if name == "remove":
        return Operation(index, name, path, pointer)
    if "value" not in given:
        raise InvalidJson("has no value")
    try:
        value = copier.copy(given["value"])
    except InvalidJson as exc:
        raise InvalidJson(f"value {exc}") from None
    return Operation(index, name, path, pointer, value=value)


def _pointer_in(given: dict[str, Any], name: str) -> Path:
    if name not in given:
        raise InvalidJson(f"has no {name}")
    try:
        return tokens_of(given[name])
    except InvalidJson as exc:
        raise InvalidJson(f"{name} {exc}") from None


def in_safe_order(operations: Sequence[Operation]) -> tuple[list[Operation], list[PatchFault]]:
    """Order removals from the end of the document backwards, so that indices mean what the model was shown.

    Removals are reordered among themselves unless another operation between them changes the same list.
    Removing the same entry twice is a fault.
    """
    found = list(operations)
    faults: list[PatchFault] = []
    block: list[int] = []
    for place, operation in enumerate(operations):
        if operation.name == "remove":
            block.append(place)
            continue
        paths = [operation.path, *([] if operation.source is None else [operation.source])]
        if any(_overlap(path, _moved_by_removal(operations[one].path)) for path in paths for one in block):
            faults += _reverse_removals(found, block)
            block = []
    return found, faults + _reverse_removals(found, block)


def _reverse_removals(found: list[Operation], block: list[int]) -> list[PatchFault]:
    removals = sorted((found[place] for place in block), key=lambda one: _position(one.path), reverse=True)
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
