"""The operations of a JSON Patch (RFC 6902) as they were given: read, bounded, and their removals put in order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from memoranda.formation.documents import SHOWN_LENGTH, Copier, Unfit, read_json, shown, tokens_of

#: Operations in one patch.
OPERATIONS = 200
#: Faults that are handed back for one patch.
FAULTS = 20
NAMES = ("add", "remove", "replace", "move", "copy", "test")

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PatchFault:
    """Why an operation was not applied, in words that a model can be shown."""

    #: The operation's place in the patch; None where it is the patch or the document as a whole.
    index: int | None
    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation that is well formed."""

    index: int
    name: str
    path: Path
    #: As it was given.
    pointer: str
    #: Where `move` and `copy` take their value from.
    source: Path | None = None
    value: Any = None

    def touches(self) -> Iterable[Path]:
        """The places that it changes."""
        if self.name == "test":
            return ()
        if self.name == "move" and self.source is not None:
            return (self.path, self.source)
        return (self.path,)

    def fault(self, reason: str) -> PatchFault:
        """This operation as one that cannot be applied."""
        return PatchFault(self.index, shown(self.pointer), reason[: 2 * SHOWN_LENGTH])


def read_operations(given: object, copier: Copier) -> tuple[list[Operation], list[PatchFault]]:
    """The operations of a patch, given as a list or as its JSON text, and what is wrong with it."""
    try:
        listed = read_json(given) if isinstance(given, str) else given
    except Unfit as exc:
        return [], [PatchFault(None, "", f"the patch {exc}")]
    if not isinstance(listed, (list, tuple)):
        return [], [PatchFault(None, "", "the patch is no list of operations")]
    if len(listed) > OPERATIONS:
        reason = f"the patch has {len(listed)} operations; at most {OPERATIONS}, so give fewer"
        return [], [PatchFault(None, "", reason)]
    read: list[Operation] = []
    faults: list[PatchFault] = []
    for index, one in enumerate(listed):
        try:
            read.append(_operation(index, one, copier))
        except Unfit as exc:
            pointer = one.get("path", "") if isinstance(one, dict) else ""
            faults.append(PatchFault(index, shown(pointer), str(exc)))
    return read, faults[:FAULTS]


def _operation(index: int, given: object, copier: Copier) -> Operation:
    if not isinstance(given, dict):
        raise Unfit("is no operation; give an object with op, path and value")
    name = given.get("op")
    if name not in NAMES:
        raise Unfit(f"op is {shown(name)!r}; it may be {', '.join(NAMES)}")
    path = _part(given, "path")
    if not path and name != "test":
        raise Unfit("leads to the whole document; give the path of the field that changes")
    pointer = str(given["path"])
    if name in ("move", "copy"):
        source = _part(given, "from")
        if not source and name == "move":
            raise Unfit("moves the whole document; name the field that moves")
        return Operation(index, name, path, pointer, source=source)
    if name == "remove":
        return Operation(index, name, path, pointer)
    if "value" not in given:
        raise Unfit("lacks its value")
    try:
        value = copier.copy(given["value"])
    except Unfit as exc:
        raise Unfit(f"value {exc}") from None
    return Operation(index, name, path, pointer, value=value)


def _part(given: dict[str, Any], name: str) -> Path:
    if name not in given:
        raise Unfit(f"lacks its {name}")
    try:
        return tokens_of(given[name])
    except Unfit as exc:
        raise Unfit(f"{name} {exc}") from None


def ordered(operations: Sequence[Operation]) -> tuple[list[Operation], list[PatchFault]]:
    """The operations with removals from the end of the document backwards, so that indices mean what was shown.

    Removals change places among themselves as long as no other operation between them touches the same list; an
    entry that is removed twice among them is a fault.
    """
    found = list(operations)
    faults: list[PatchFault] = []
    block: list[int] = []
    for place, operation in enumerate(operations):
        if operation.name == "remove":
            block.append(place)
            continue
        paths = [operation.path, *([] if operation.source is None else [operation.source])]
        if any(_meet(path, _shifted(operations[one].path)) for path in paths for one in block):
            faults += _backwards(found, block)
            block = []
    return found, faults + _backwards(found, block)


def _backwards(found: list[Operation], block: list[int]) -> list[PatchFault]:
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
    """Whether a part of a path may be an index."""
    return token.isascii() and token.isdigit()


def _shifted(path: Path) -> Path:
    """What a removal moves: its neighbours, where it may be one of a list."""
    return path[:-1] if is_index(path[-1]) else path


def _meet(one: Path, other: Path) -> bool:
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]
