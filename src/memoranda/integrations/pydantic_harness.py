"""A store for the memory of PydanticAI's harness: its files are items of a book."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final
from uuid import uuid4

from memoranda.book import Book
from memoranda.book.nouns.items import ItemPut
from memoranda.errors import Conflict, InvalidInput, OperationReused
from memoranda.integrations.tools import Scope, digest
from memoranda.model.items import LABELS, Item
from memoranda.model.query import Hit

try:
    from pydantic_ai_harness.memory import (
        MemoryConflictError,
        MemoryFile,
        MemoryMutation,
        MemoryOperation,
        MemoryOperationConflictError,
        MemorySearchMatch,
        MemorySearchResult,
    )
except ImportError as exc:
    raise InvalidInput(
        "the harness's memory needs its package: pip install pydantic-ai-harness"
    ) from exc

__all__ = ["BookMemoryStore"]

#: The first labels of the namespaces of files, and of the operations that wrote them.
_FILES, _OPERATIONS = "memory-files", "memory-operations"
#: Folders of a path that are labels of a namespace; deeper ones are part of the item's name.
_FOLDERS: Final = LABELS - 4
#: How long a repeated operation gets the result of the first one.
_REMEMBERED: Final = timedelta(days=30)
_METADATA: Final = 4096
_TRIES: Final = 100
_PAGE: Final = 1000
_SEGMENT: Final = re.compile(r"[A-Za-z0-9_.-]{1,200}")


class BookMemoryStore:
    """A versioned store of one scope's files, with metadata, replayed operations and search."""

    def __init__(self, book: Book, scope: Scope) -> None:
        self.book = book
        self.scope = scope
        shared = scope.audience not in (None, "self")
        groups = [] if scope.audience == "global" else sorted(scope.groups)
        readers = [str(scope.audience), *groups] if shared else ["self", scope.agent]
        # One label, whatever the names of groups are.
        self._readers = digest(*readers)

    # ── reading ───────────────────────────────────────────────────────────────────────────────────

    async def read(self, path: str, *, max_chars: int) -> MemoryFile | None:
        """Read a file's first characters; return None if there is no such file."""
        _positive(max_chars, "max_chars")
        value = _value(await self._item(path))
        if value is None:
            return None
        return MemoryFile(
            content=value["content"][:max_chars],
            version=value["version"],
            operation_id=value.get("operation"),
            truncated=len(value["content"]) > max_chars,
            metadata=value.get("metadata"),
        )

    async def get_operation(self, operation: MemoryOperation) -> MemoryMutation | None:
        """Return the result of an operation that was applied, if it had the same arguments."""
        held = await self.book.items.get(
            self.scope.owner, *self._receipt(operation), **self.scope.who
        )
        if held is None:
            return None
        if held.value["fingerprint"] != operation.fingerprint:
            raise MemoryOperationConflictError(
                f"operation id {operation.id!r} belongs to a call with other arguments; use a new id"
            )
        return MemoryMutation(
            version=held.value["version"], replayed=True, existed=held.value["existed"]
        )

    async def list_paths(self, prefix: str = "", *, limit: int) -> list[str]:
        """Return the first paths that begin with a prefix, in order."""
        _positive(limit, "limit")
        return sorted(await self._files(prefix))[:limit]

    async def search(
        self,
        prefix: str,
        query: str,
        *,
        limit: int,
        max_files: int,
        max_chars: int,
        max_file_chars: int,
    ) -> MemorySearchResult:
        """Find files directly below a prefix: first those that have the words, then those that the
        book's recall finds.

        At most ``max_files`` are looked at, in the order of their paths, and of each its first
        ``max_file_chars``.
        """
        found = await self._files(prefix)
        terms = query.lower().split()
        if not terms or min(limit, max_files, max_chars, max_file_chars) <= 0:
            return MemorySearchResult(matches=[], scanned=0, truncated=False)
        paths = sorted(path for path in found if "/" not in path[len(prefix) :])
        chosen = {path: found[path][:max_file_chars] for path in paths[:max_files]}
        scores = {path: _score(path[len(prefix) :], text, terms) for path, text in chosen.items()}
        ranked = sorted(
            (path for path in chosen if scores[path]), key=lambda path: (-scores[path], path)
        )
        if len(ranked) < limit:
            # A file that is only looked at in part is not recalled by the rest of it.
            whole = {path for path, text in chosen.items() if text == found[path]}
            recalled = await self._recalled(prefix, query)
            ranked += [path for path in recalled if path in whole and path not in ranked]
        matches: list[MemorySearchMatch] = []
        room = max_chars
        for path in ranked[:limit]:
            room -= len(path) - len(prefix)
            if room <= 0:
                break
            snippet = _snippet(chosen[path], terms, room)
            matches.append(MemorySearchMatch(path=path, snippet=snippet, score=scores[path]))
            room -= len(snippet)
        cut = any(len(found[path]) > max_file_chars for path in chosen)
        truncated = cut or len(paths) > max_files or len(ranked) > len(matches)
        return MemorySearchResult(matches=matches, scanned=len(chosen), truncated=truncated)

    # ── writing ───────────────────────────────────────────────────────────────────────────────────

    async def write(
        self,
        path: str,
        content: str,
        *,
        expected_version: str | None,
        operation: MemoryOperation | None = None,
    ) -> MemoryMutation:
        """Create a file, or replace the version that was read; without metadata."""
        return await self.write_with_metadata(
            path, content, expected_version=expected_version, metadata=None, operation=operation
        )

    async def write_with_metadata(
        self,
        path: str,
        content: str,
        *,
        expected_version: str | None,
        metadata: Mapping[str, str] | None,
        operation: MemoryOperation | None = None,
    ) -> MemoryMutation:
        """Create a file, or replace the version that was read, with metadata about this write."""
        value: dict[str, Any] = {"content": content, "version": uuid4().hex}
        if metadata:
            value["metadata"] = _metadata(metadata)
        if operation is not None:
            value["operation"] = operation.id
        return await self._change(path, value, expected_version, operation)

    async def delete(
        self, path: str, *, expected_version: str | None, operation: MemoryOperation | None = None
    ) -> MemoryMutation:
        """Delete the version of a file that was read; None: there must be none."""
        return await self._change(path, None, expected_version, operation)

    async def _change(
        self,
        path: str,
        value: dict[str, Any] | None,
        expected: str | None,
        operation: MemoryOperation | None,
    ) -> MemoryMutation:
        """Write or delete a file, and note the operation with it; raise if the file has another
        version.
        """
        address = self._address(path)
        for _ in range(_TRIES):
            done = None if operation is None else await self.get_operation(operation)
            if done is not None:
                return done
            item = await self._item(path)
            held = _value(item)
            if (None if held is None else held["version"]) != expected:
                # The same operation may have been done elsewhere between the two reads.
                done = None if operation is None else await self.get_operation(operation)
                if done is not None:
                    return done
                raise MemoryConflictError(
                    f"memory path {path!r} has another version; read it again"
                )
            version = None if value is None else value["version"]
            puts = (
                []
                if value is None
                else [ItemPut(*address, value, index=["content"], new=item is None)]
            )
            if operation is not None:
                note = {
                    "fingerprint": operation.fingerprint,
                    "version": version,
                    "existed": held is not None,
                }
                puts.append(
                    ItemPut(*self._receipt(operation), note, index=False, ttl=_REMEMBERED, new=True)
                )
            deletes = [address] if value is None and item is not None else []
            try:
                if puts or deletes:
                    await self.book.items.write(
                        self.scope.owner,
                        puts,
                        deletes,
                        audience=self.scope.audience,
                        expect={} if item is None else {item.id: item.version},
                        **self.scope.who,
                    )
            except OperationReused:
                raise
            except Conflict:
                # Somebody changed it meanwhile: the next look says who was first.
                continue
            return MemoryMutation(version=version, replayed=False, existed=held is not None)
        raise MemoryConflictError(
            f"memory path {path!r} was changed by others {_TRIES} times meanwhile"
        )

    # ── items ─────────────────────────────────────────────────────────────────────────────────────

    async def _item(self, path: str) -> Item | None:
        return await self.book.items.get(self.scope.owner, *self._address(path), **self.scope.who)

    async def _files(self, prefix: str) -> dict[str, str]:
        """Return the contents of all files whose paths begin with a prefix."""
        if prefix:
            _check(prefix.removesuffix("/"))
        found: dict[str, str] = {}
        offset = 0
        while True:
            page = await self.book.items.list(
                self.scope.owner, self._folder(prefix), limit=_PAGE, offset=offset, **self.scope.who
            )
            stored = {
                _path(item): value["content"]
                for item in page
                if (value := _value(item)) is not None
            }
            found |= {path: text for path, text in stored.items() if path.startswith(prefix)}
            offset += len(page)
            if len(page) < _PAGE:
                return found

    async def _recalled(self, prefix: str, query: str) -> list[str]:
        hits = await self.book.items.search(
            self.scope.owner, query, self._folder(prefix), limit=100, **self.scope.who
        )
        return [
            _path(hit.record) for hit in hits if isinstance(hit.record, Item) and _is_found(hit)
        ]

    def _folder(self, prefix: str) -> list[str]:
        """Return the namespace of all files whose paths begin with a prefix."""
        folders = prefix.split("/")[:-1]
        return [_FILES, self._readers, *folders[:_FOLDERS]]

    def _address(self, path: str) -> tuple[Sequence[str], str]:
        _check(path)
        parts = path.split("/")
        folders = parts[:-1][:_FOLDERS]
        return [_FILES, self._readers, *folders], "/".join(parts[len(folders) :])

    def _receipt(self, operation: MemoryOperation) -> tuple[Sequence[str], str]:
        return [_OPERATIONS, self._readers], digest("memory operation", operation.id)


def _is_found(hit: Hit) -> bool:
    """True if a hit has words of the question or its meaning, and not near words alone."""
    return bool(hit.words) or (hit.cosine or 0.0) > 0


def _path(item: Item) -> str:
    return "/".join([*item.namespace[2:], item.name])


def _value(item: Item | None) -> dict[str, Any] | None:
    """Return what this module stored; None for an item that others put there."""
    value = None if item is None else item.value
    stored = (
        isinstance(value, dict) and isinstance(value.get("content"), str) and "version" in value
    )
    return value if stored else None


def _check(path: str) -> None:
    """Raise if a path could name something else than it says."""
    for segment in path.split("/"):
        if not _SEGMENT.fullmatch(segment) or ".." in segment or segment == ".":
            raise InvalidInput(
                f"path: {path!r} is no path; give names of letters, digits, '_', '-' and '.', with '/' between them",
                field="path",
            )


def _positive(number: int, name: str) -> None:
    if number <= 0:
        raise InvalidInput(f"{name}: give a number above 0, not {number}", field=name)


def _metadata(given: Mapping[str, str]) -> dict[str, str]:
    if not all(isinstance(key, str) and isinstance(value, str) for key, value in given.items()):
        raise TypeError("metadata: give texts only, as keys and as values")
    if any("\x00" in text for pair in given.items() for text in pair):
        raise InvalidInput("metadata: holds a NUL character; remove it", field="metadata")
    size = len(json.dumps(dict(given), ensure_ascii=False, separators=(",", ":")))
    if size > _METADATA:
        raise InvalidInput(
            f"metadata: {size} characters as JSON; at most {_METADATA} are kept", field="metadata"
        )
    return dict(given)


def _score(path: str, text: str, terms: Sequence[str]) -> float:
    """Return how often the words are in a text; those in the path count twice."""
    path, text = path.lower(), text.lower()
    return float(sum(text.count(term) + 2 * path.count(term) for term in terms))


def _snippet(text: str, terms: Sequence[str], room: int) -> str:
    """Return the part of a text around the first of the words, with dots where it is cut."""
    lower = text.lower()
    at = min((place for place in map(lower.find, terms) if place >= 0), default=0)
    start = max(0, min(at - room // 3, len(text) - room))
    part = text[start : start + room]
    dots = "..."[:room]
    if start:
        part = dots + part[len(dots) :]
    if start + room < len(text):
        part = part[: -len(dots)] + dots
    return part
