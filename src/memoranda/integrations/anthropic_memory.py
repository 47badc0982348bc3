"""Anthropic's memory tool over a book, for the tool runner of Anthropic's client."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, Protocol

from memoranda.book import Book
from memoranda.errors import InvalidInput, MemorandaError, installing
from memoranda.integrations.memory_files import UNREACHED, MemoryFiles
from memoranda.integrations.tools import Scope

try:
    from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
except ImportError as error:
    raise ImportError(
        f"Anthropic's memory tool needs its client: {installing('anthropic')}"
    ) from error

__all__ = ["MemorandaMemoryTool", "MemoryFiles", "Scope", "SyncMemorandaMemoryTool"]


class MemorandaMemoryTool(BetaAsyncAbstractMemoryTool):
    """The memory tool for ``AsyncAnthropic``; its files are items of a book."""

    def __init__(self, files: MemoryFiles, *, cache_control: Any = None) -> None:
        super().__init__(cache_control=cache_control)
        self._files = files

    async def execute(self, command: Any) -> Any:
        """Carry out a command; an error becomes the text of a failed call."""
        try:
            return await self._files.run(command.to_dict())
        except InvalidInput as error:
            raise ToolError(str(error)) from error
        except MemorandaError as error:
            raise ToolError(UNREACHED) from error

    async def clear_all_memory(self) -> Any:
        """Take every file out of every read; ``undo`` brings them back."""
        return await self._files.clear_all_memory()

    view = create = str_replace = insert = delete = rename = execute


class _RunsCoroutines(Protocol):
    """The parts of a synchronous book that the tool uses."""

    book: Book

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine on the book's event loop."""


class SyncMemorandaMemoryTool(BetaAbstractMemoryTool):
    """The memory tool for ``Anthropic``; its files are items of a synchronous book."""

    def __init__(
        self,
        book: _RunsCoroutines,
        scope: Scope,
        *,
        namespace: tuple[str, ...] = ("memories",),
        cache_control: Any = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._book = book
        self._tool = MemorandaMemoryTool(MemoryFiles(book.book, scope, namespace))

    def execute(self, command: Any) -> Any:
        """Carry out a command; an error becomes the text of a failed call."""
        return self._book.run(self._tool.execute(command))

    def clear_all_memory(self) -> Any:
        """Take every file out of every read; ``undo`` brings them back."""
        return self._book.run(self._tool.clear_all_memory())

    view = create = str_replace = insert = delete = rename = execute
