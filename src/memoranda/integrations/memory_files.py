"""The files of Anthropic's memory tool as items of a book: its commands, with its texts and errors,
in one scope.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from memoranda.book import Book
from memoranda.book.nouns.items import ItemPut
from memoranda.errors import (
    Conflict,
    Erased,
    InvalidInput,
    LimitReached,
    MemorandaError,
    NotAllowed,
    NotFound,
    Stale,
)
from memoranda.integrations.tools import Scope
from memoranda.model.items import Item
from memoranda.secrets.masks import masked

__all__ = ["MemoryFiles", "Scope"]

_log = logging.getLogger("memoranda.integrations")

#: The folder that every path begins with, and what a model is told about one that does not.
ROOT: Final = "/memories"
UNREACHED: Final = "The memory cannot be reached now."
#: Lines of a file that can be shown, and the width of their numbers.
_LINES, _WIDTH = 999_999, 6
#: Levels of folders that a listing shows, and lines beside a change that an answer shows.
_LEVELS, _BESIDE = 2, 2
_PAGE: Final = 1000
#: How often an edit is tried again when another one came first.
_TRIES: Final = 10

_Place: TypeAlias = tuple[str, ...]
_Run: TypeAlias = Callable[[Any, Mapping[str, Any], "str | None"], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class MemoryFiles:
    """The folder ``/memories`` of one owner and agent; a path's folders are labels of the items'
    namespace.
    """

    book: Book
    scope: Scope
    #: The labels before those of the path.
    namespace: Sequence[str] = ("memories",)

    async def run(self, command: Mapping[str, Any], *, operation: str | None = None) -> str:
        """Carry out one command of the tool and return its text; a repeated ``operation`` changes
        nothing again.

        Raise ``InvalidInput`` with the tool's text for a command that fails.
        """
        name = command.get("command")
        if not isinstance(name, str) or name not in _COMMANDS:
            raise InvalidInput(f"Unknown command: {name}; the commands are {', '.join(_COMMANDS)}")
        run, needed = _COMMANDS[name]
        given = {field: value for field, value in command.items() if value is not None}
        for field, kind in {
            **needed,
            **{field: _OPTIONAL[field] for field in _OPTIONAL if field in given},
        }.items():
            if not isinstance(given.get(field), kind):
                raise InvalidInput(
                    f"The command {name} needs {field}, as {kind.__name__}", field=field
                )
        try:
            return await run(self, given, operation)
        except LimitReached as error:
            raise InvalidInput(f"The memory is full, or the file too large: {error}") from error
        except (Conflict, NotAllowed, NotFound, Erased) as error:
            raise InvalidInput(f"Nothing was changed: {error}") from error

    async def answer(
        self, command: Mapping[str, Any], *, operation: str | None = None
    ) -> tuple[str, bool]:
        """Carry out a command and return its text, or the text of its error and True."""
        try:
            return await self.run(command, operation=operation), False
        except InvalidInput as error:
            return str(error), True
        except MemorandaError as error:
            _log.warning("A file of the agent %s cannot be reached: %s", self.scope.agent, error)
            return UNREACHED, True

    async def clear_all_memory(self) -> str:
        """Take every file out of every read; ``undo`` brings them back, ``book.forget`` erases
        them.
        """
        await self._move(await self._below(()))
        return "All memory cleared"

    # ── the commands ──────────────────────────────────────────────────────────────────────────────

    async def _view(self, command: Mapping[str, Any], _: str | None) -> str:
        path, place = command["path"], _place(command["path"])
        item = await self._file(place)
        if item is not None:
            return self._lines(path, item, command.get("view_range"))
        below = await self._below(place)
        if not below and place:
            raise _missing(path)
        rows = "\n".join(
            f"{size}\t{path.rstrip('/')}{name}"
            for size, name in _listing(below, len(self.namespace) + len(place))
        )
        return f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:\n{rows}"

    async def _create(self, command: Mapping[str, Any], operation: str | None) -> str:
        path, place = command["path"], _place(command["path"])
        done = f"File created successfully at: {path}"
        if await self._is_done(operation):
            return done
        await self._check_free(place, f"File {path} already exists")
        try:
            await self._put(place, command["file_text"], expect=0, operation=operation)
        except Conflict as error:
            raise InvalidInput(f"File {path} already exists") from error
        return done

    async def _str_replace(self, command: Mapping[str, Any], operation: str | None) -> str:
        path, old, new = command["path"], command["old_str"], command.get("new_str", "")

        def replaced(text: str) -> str:
            places = list(_found(text, old)) if old else []
            if not places:
                raise InvalidInput(
                    f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
                )
            if text.count(old) > 1:
                lines = ", ".join(str(text.count("\n", 0, place) + 1) for place in places)
                raise InvalidInput(
                    f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}. "
                    "Please ensure it is unique"
                )
            return text.replace(old, new)

        before, after = await self._edit(path, replaced, operation)
        changed = before.find(old) if old in before else max(after.find(new), 0)
        at = after.count("\n", 0, changed) + 1
        lines = self._shown(after).split("\n")
        shown = _numbered(lines[max(0, at - 1 - _BESIDE) : at + _BESIDE], max(1, at - _BESIDE))
        return f"The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{shown}"

    async def _insert(self, command: Mapping[str, Any], operation: str | None) -> str:
        path, at = command["path"], command["insert_line"]

        def inserted(text: str) -> str:
            # Lines end with a line feed alone, so a carriage return stays where it is.
            lines = text.removesuffix("\n").split("\n") if text else []
            if not 0 <= at <= len(lines):
                raise InvalidInput(
                    f"Invalid `insert_line` parameter: {at}. It should be within the range [0, {len(lines)}]."
                )
            edited = "\n".join([*lines[:at], command["insert_text"].rstrip("\n"), *lines[at:]])
            return edited if edited.endswith("\n") else edited + "\n"

        await self._edit(path, inserted, operation)
        return f"The file {path} has been edited."

    async def _delete(self, command: Mapping[str, Any], operation: str | None) -> str:
        path, place = command["path"], _place(command["path"])
        if not place:
            raise InvalidInput(f"Cannot delete the {ROOT} directory itself")
        if not await self._is_done(operation):
            item = await self._file(place)
            leaving = await self._below(place) if item is None else [item]
            if not leaving:
                raise InvalidInput(f"The path {path} does not exist")
            await self._move(leaving, operation=operation)
        return f"Successfully deleted {path}"

    async def _rename(self, command: Mapping[str, Any], operation: str | None) -> str:
        old, new = command["old_path"], command["new_path"]
        source, target = _place(old), _place(new)
        if not source:
            raise InvalidInput(f"Cannot rename the {ROOT} directory itself")
        if not await self._is_done(operation):
            await self._check_free(target, f"The destination {new} already exists")
            item = await self._file(source)
            moving = await self._below(source) if item is None else [item]
            if not moving:
                raise InvalidInput(f"The path {old} does not exist")
            if target[: len(source)] == source:
                raise InvalidInput(f"The destination {new} is inside {old}")
            await self._move(moving, (len(source), target), operation)
        return f"Successfully renamed {old} to {new}"

    # ── items ─────────────────────────────────────────────────────────────────────────────────────

    async def _file(self, place: _Place) -> Item | None:
        if not place:
            return None
        return await self.book.items.get(self.scope.owner, *self._address(place), **self.scope.who)

    async def _below(self, place: _Place) -> list[Item]:
        """Return all files in a folder and below it; of a path the one that this agent reads
        first.
        """
        namespace, found = (*self.namespace, *place), dict[_Place, Item]()
        start = 0
        while True:
            page = await self.book.items.list(
                self.scope.owner, namespace, limit=_PAGE, offset=start, **self.scope.who
            )
            for item in page:
                found.setdefault((*item.namespace[len(self.namespace) :], item.name), item)
            start += _PAGE
            if len(page) < _PAGE:
                return [found[where] for where in sorted(found)]

    async def _put(self, place: _Place, text: str, **more: Any) -> None:
        audience = self.scope.audience
        await self.book.items.put(
            self.scope.owner,
            *self._address(place),
            text,
            **{"audience": audience, **more},
            **self.scope.who,
        )

    async def _edit(
        self, path: str, change: Callable[[str], str], operation: str | None
    ) -> tuple[str, str]:
        """Change a file's text, again if another change came first; return the text before and
        after.
        """
        place = _place(path)
        for left in reversed(range(_TRIES)):
            item = await self._file(place)
            if item is None:
                below = await self._below(place) if place else [None]
                raise InvalidInput(f"The path {path} is not a file.") if below else _missing(path)
            if not isinstance(item.value, str):
                raise InvalidInput(f"The path {path} is not a file of text.")
            if await self._is_done(operation):
                return item.value, item.value
            text = change(item.value)
            index = False if item.index == () else item.index
            kept = {"audience": item.audience, "index": index, "ttl": item.ttl}
            try:
                await self._put(place, text, expect=item.version, operation=operation, **kept)
            except Stale:
                if not left:
                    raise
            else:
                return item.value, text
        raise AssertionError

    async def _move(
        self,
        items: Sequence[Item],
        to: tuple[int, _Place] | None = None,
        operation: str | None = None,
    ) -> None:
        """Delete items, and put each under its new place if one is given: those of one audience in
        one operation.
        """
        readers = list(dict.fromkeys(item.audience for item in items))
        for audience in readers:
            moving = [item for item in items if item.audience == audience]
            # The last one has the operation's own name, so that it says that all of them are done.
            named = (
                operation
                if operation is None or audience is readers[-1]
                else f"{operation}:{audience}"
            )
            await self.book.items.write(
                self.scope.owner,
                () if to is None else [self._moved(item, *to) for item in moving],
                [(item.namespace, item.name) for item in moving],
                audience=audience,
                operation=named,
                **self.scope.who,
            )

    def _moved(self, item: Item, skipped: int, target: _Place) -> ItemPut:
        below = (*item.namespace, item.name)[len(self.namespace) + skipped :]
        namespace, name = self._address((*target, *below))
        return ItemPut(
            namespace, name, item.value, False if item.index == () else item.index, item.ttl
        )

    async def _check_free(self, place: _Place, told: str) -> None:
        """Raise ``InvalidInput`` if a file or folder is at a place, or a file where it needs a
        folder.
        """
        parents = [place[:end] for end in range(1, len(place))]
        owner, who = self.scope.owner, self.scope.who
        held = await self.book.items.get_many(owner, map(self._address, parents), **who)
        for parent, item in zip(parents, held, strict=True):
            if item is not None:
                raise InvalidInput(f"The path {ROOT}/{'/'.join(parent)} is a file, not a directory")
        if not place or await self._file(place) is not None or await self._below(place):
            raise InvalidInput(told)

    async def _is_done(self, operation: str | None) -> bool:
        owner, who = self.scope.owner, self.scope.who
        return (
            operation is not None
            and await self.book.records.operation(owner, operation, **who) is not None
        )

    def _address(self, place: _Place) -> tuple[tuple[str, ...], str]:
        return (*self.namespace, *place[:-1]), place[-1]

    def _lines(self, path: str, item: Item, chosen: Any) -> str:
        lines = self._shown(_text(item)).split("\n")
        if len(lines) > _LINES:
            raise InvalidInput(f"File {path} exceeds maximum line limit of {_LINES:,} lines.")
        first, last = 1, len(lines)
        if chosen:
            if len(chosen) != 2 or not all(type(one) is int for one in chosen):
                raise InvalidInput(
                    "view_range: give the numbers of the first and the last line, -1 for the end"
                )
            first = max(1, chosen[0])
            last = last if chosen[1] == -1 else chosen[1]
        shown = _numbered(lines[first - 1 : last], first)
        return f"Here's the content of {path} with line numbers:\n{shown}"

    def _shown(self, text: str) -> str:
        return text if self.book.secrets == "keep" else masked(text)


_COMMANDS: Final[Mapping[str, tuple[_Run, Mapping[str, type]]]] = {
    "view": (MemoryFiles._view, {"path": str}),
    "create": (MemoryFiles._create, {"path": str, "file_text": str}),
    "str_replace": (MemoryFiles._str_replace, {"path": str, "old_str": str}),
    "insert": (MemoryFiles._insert, {"path": str, "insert_line": int, "insert_text": str}),
    "delete": (MemoryFiles._delete, {"path": str}),
    "rename": (MemoryFiles._rename, {"old_path": str, "new_path": str}),
}


#: What a command may also have.
_OPTIONAL: Final[Mapping[str, type]] = {"new_str": str, "view_range": list}


def _place(path: str) -> _Place:
    """Return the folders and the name of a path; ``..`` never leads out of the root."""
    if path != ROOT and not path.startswith(f"{ROOT}/"):
        raise InvalidInput(f"Path must start with {ROOT}, got: {path}", field="path")
    labels: list[str] = []
    for label in path.removeprefix(ROOT).split("/"):
        if label == "..":
            if not labels:
                raise InvalidInput(f"Path {path} would escape {ROOT} directory", field="path")
            labels.pop()
        elif label not in ("", "."):
            labels.append(label)
    return tuple(labels)


def _listing(items: Sequence[Item], skipped: int) -> Iterator[tuple[str, str]]:
    """Yield sizes and paths: the folder itself first, then everything two levels below it."""
    sizes: dict[_Place, int] = {(): 0}
    folders: set[_Place] = {()}
    for item in items:
        path = (*item.namespace, item.name)[skipped:]
        size = len(_text(item).encode("utf-8", "replace"))
        for end in range(len(path) + 1):
            sizes[path[:end]] = sizes.get(path[:end], 0) + size
        folders.update(path[:end] for end in range(len(path)))
    for path in sorted(sizes):
        if len(path) <= _LEVELS and not any(label.startswith(".") for label in path):
            name = "".join(f"/{label}" for label in path)
            yield _size(sizes[path]), f"{name}/" if path and path in folders else name


def _text(item: Item) -> str:
    return item.value if isinstance(item.value, str) else json.dumps(item.value, ensure_ascii=False)


def _size(count: int) -> str:
    size, unit = float(count), "B"
    for larger in "KMG":
        if size >= 1024:
            size, unit = size / 1024, larger
    return f"{size:.0f}{unit}" if size == int(size) else f"{size:.1f}{unit}"


def _numbered(lines: Sequence[str], first: int) -> str:
    return "\n".join(f"{number:>{_WIDTH}}\t{line}" for number, line in enumerate(lines, first))


def _found(text: str, part: str) -> Iterator[int]:
    """Yield each place of a part in a text, overlapping ones too."""
    place = text.find(part)
    while place >= 0:
        yield place
        place = text.find(part, place + 1)


def _missing(path: str) -> InvalidInput:
    return InvalidInput(f"The path {path} does not exist. Please provide a valid path.")
