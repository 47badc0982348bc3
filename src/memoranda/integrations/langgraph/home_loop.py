"""The event loop on which a store's book lives: the application's, or a thread of the store's own."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

from memoranda.book import Book
from memoranda.errors import InvalidInput, StorageError
from memoranda.integrations.langgraph.langchain_embedder import LangChainEmbedder
from memoranda.sync import SyncBook, open_sync

T = TypeVar("T")


class HomeLoop:
    """A book with the event loop that its calls run on."""

    def __init__(self, book: Book | SyncBook | str | Path, embed: LangChainEmbedder | None) -> None:
        self._own: SyncBook | None = None
        if isinstance(book, (str, Path)):
            book = self._own = open_sync(book, embed="auto" if embed is None else embed)
        if isinstance(book, SyncBook):
            self.book: Book = book.book
            self.loop: asyncio.AbstractEventLoop = book.run(_running())
        elif isinstance(book, Book):
            self.book, self.loop = book, _here()
        else:
            raise InvalidInput(
                f"book: give an open book or the address of one, not {type(book).__name__}", field="book"
            )
        if self._own is None and embed is not None:
            self._compare(embed)

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the book's loop, from whatever loop this is called on."""
        if asyncio.get_running_loop() is self.loop:
            return await work
        try:
            self.check()
        except BaseException:
            work.close()
            raise
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self.loop))

    def check(self) -> None:
        """Raise ``StorageError`` if the loop has ended, with its book."""
        if self.loop.is_closed():
            raise StorageError("the book of this store is closed: open it again, and make a new store")

    def _compare(self, embed: LangChainEmbedder) -> None:
        maker = self.book.embeddings.maker
        if maker is None or maker.embedding != embed.embedding:
            raise InvalidInput(
                "index.embed: this book makes its vectors with another embedder; open it with "
                "memoranda.open(…, embed=LangChainEmbedder(embed, dims)), or give the store its address",
                field="index.embed",
            )

    def close(self) -> None:
        """Close the book if the store opened it."""
        if self._own is not None:
            self._own.close()


def _here() -> asyncio.AbstractEventLoop:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        raise InvalidInput(
            "book: this book belongs to an event loop, and none runs here: make the store inside it, or give it a book "
            "of memoranda.open_sync(…), or an address",
            field="book",
        ) from None


async def _running() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()
