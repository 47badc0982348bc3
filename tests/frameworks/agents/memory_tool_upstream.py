"""A pytest plugin that gives the tests of Anthropic's memory tool ours under the names of
theirs.
"""

from __future__ import annotations

import tempfile
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from anthropic.lib.tools import _beta_builtin_memory_tool as theirs

from memoranda.integrations.anthropic_memory import (
    MemorandaMemoryTool,
    MemoryFiles,
    SyncMemorandaMemoryTool,
)
from memoranda.integrations.tools import Scope
from memoranda.sync import SyncBook, open_sync

TESTER = Scope("tester", "agent")
_books: dict[str, SyncBook] = {}


def _book_of(base_path: str) -> SyncBook:
    if base_path not in _books:
        _books[base_path] = open_sync(Path(tempfile.mkdtemp()) / "book.db", worker=False)
    return _books[base_path]


def snapshot(base_path: str) -> dict[str, str]:
    """Return the files of a book by their paths, as theirs does with those of a folder."""
    items = _book_of(base_path).items.list(TESTER.owner, **TESTER.who)
    return {"/".join((*item.namespace, item.name)): item.value for item in items}


class InBook:
    """A path whose file is an item."""

    def __init__(self, book: SyncBook, path: PurePosixPath | None = None) -> None:
        self.book, self.path = book, path or PurePosixPath("memories")

    def __truediv__(self, name: str) -> InBook:
        return InBook(self.book, self.path / name)

    def write_bytes(self, data: bytes) -> None:
        *namespace, name = self.path.parts
        self.book.items.put(TESTER.owner, namespace, name, data.decode(), **TESTER.who)

    def read_bytes(self) -> bytes:
        *namespace, name = self.path.parts
        item = self.book.items.get(TESTER.owner, namespace, name, **TESTER.who)
        assert item is not None
        data: bytes = item.value.encode()
        return data

    def is_dir(self) -> bool:
        return True


class AsyncInBook(InBook):
    """The same path for their asynchronous tests."""

    def __truediv__(self, name: str) -> AsyncInBook:
        return AsyncInBook(self.book, self.path / name)

    async def write_bytes(self, data: bytes) -> None:  # type: ignore[override] # as theirs
        super().write_bytes(data)

    async def read_bytes(self) -> bytes:  # type: ignore[override] # as theirs
        return super().read_bytes()

    async def is_dir(self) -> bool:  # type: ignore[override] # as theirs
        return True

    async def mkdir(self, **_: object) -> None:
        """A root is always there."""


class OurTool(SyncMemorandaMemoryTool):
    """Our tool, made from a folder's path as theirs is."""

    def __init__(self, base_path: str = "./memory") -> None:
        super().__init__(_book_of(base_path), TESTER)
        self.base_path, self.memory_root = base_path, InBook(_book_of(base_path))


class OurAsyncTool(MemorandaMemoryTool):
    """The same, asynchronous; the book's own loop does the work."""

    def __init__(self, base_path: str = "./memory") -> None:
        book = _book_of(base_path)
        super().__init__(MemoryFiles(book.book, TESTER))
        self._book, self.base_path, self.memory_root = book, base_path, AsyncInBook(book)

    async def execute(self, command: Any) -> Any:
        return self._book.run(super().execute(command))

    async def clear_all_memory(self) -> Any:
        return self._book.run(super().clear_all_memory())

    view = create = str_replace = insert = delete = rename = execute


theirs.BetaLocalFilesystemMemoryTool = OurTool
theirs.BetaAsyncLocalFilesystemMemoryTool = OurAsyncTool


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the tests look into the book instead of a folder."""
    for item in items:
        module: Any = getattr(item, "module", None)
        if hasattr(module, "get_directory_snapshot"):
            module.get_directory_snapshot = snapshot
