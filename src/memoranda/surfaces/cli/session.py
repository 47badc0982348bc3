"""The session of one command: which book it opens, and the printer of its answer."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import shlex
import sys
from collections.abc import AsyncIterator, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from memoranda.assembly import MEMORY, Opening, read_address, refuse_former_file
from memoranda.assembly import open as open_book
from memoranda.book import Book
from memoranda.book.meaning import kept
from memoranda.errors import EmbeddingFailed, InvalidInput, NotABook, StorageError
from memoranda.model.ledger import Receipt
from memoranda.surfaces.cli import exits
from memoranda.surfaces.cli.output.printer import Printer, Progress

T = TypeVar("T")

_LATER = "any open book makes them, or run: memoranda jobs run"

#: Tells at each opening why recall goes by words alone; at a shell ``doctor`` tells it when it is asked.
_TELLS_OFTEN = logging.getLogger("memoranda.embedding")


@dataclass(frozen=True, slots=True)
class Session:
    """One command's run."""

    address: str
    tenant: str
    config: str | None
    printer: Printer

    @property
    def json(self) -> bool:
        """Whether the answer goes to a program."""
        return self.printer.json

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do the command's work."""
        level = _TELLS_OFTEN.level
        _TELLS_OFTEN.setLevel(logging.ERROR)
        try:
            return asyncio.run(work)
        finally:
            _TELLS_OFTEN.setLevel(level)

    def reading(self) -> Opening:
        """The book, for commands that change nothing; one that cannot be written is opened to be read only."""
        path = self._standing()
        return self._open(read_only=path is not None and not _writable(path))

    @contextlib.asynccontextmanager
    async def writing(self) -> AsyncIterator[Book]:
        """The book, for commands that change it."""
        self._standing()
        async with self._open() as book:
            yield book
        self.mark_done()

    @contextlib.asynccontextmanager
    async def making(self) -> AsyncIterator[Book]:
        """The book, made where there is none."""
        async with self._open(create=True) as book:
            yield book
        self.mark_done()

    def mark_done(self) -> None:
        """What the command was to change is kept; an answer that fails now says so."""
        exits.mark_done(click.get_current_context())

    def progress(self, label: str) -> Progress:
        """A bar for long work."""
        return Progress(label, quiet=self.json)

    def print_json(self, value: Any) -> bool:
        """Print the answer as JSON if ``--json`` asks for it; return whether it did."""
        if self.json:
            self.printer.document(value)
        return self.json

    async def embed_written(self, book: Book, receipt: Receipt, *, wait: bool) -> Receipt:
        """Make the vectors of what a receipt names, or say that they are left for later."""
        passages = len(kept(receipt))
        if not passages or book.no_vectors_because:
            return receipt
        if not wait:
            exits.note(f"{_waiting(passages)}; {_LATER}")
            return receipt
        with self.progress("embedding") as progress:
            reached = await book.embeddings.reached(
                receipt, "embedded", lambda made: progress(made, passages)
            )
        if reached.no_vectors_because:
            exits.note(f"stored, and found by its words alone for now: {reached.no_vectors_because}")
            return reached
        with contextlib.suppress(StorageError):
            # Otherwise the job stays, and whoever leases it finds nothing to do.
            await book.embeddings.end_job()
        return reached

    async def embed_missing(self, book: Book, *, wait: bool) -> None:
        """Make all vectors that are missing, or say how many are left for later."""
        if book.no_vectors_because or not (lack := await book.embeddings.lack()):
            return
        if not wait:
            exits.note(f"{_waiting(lack)}; {_LATER}")
            return
        try:
            with self.progress("embedding") as progress:
                await book.embed(lambda made: progress(made, lack))
        except EmbeddingFailed as exc:
            exits.note(f"stored, and found by its words alone for now: {exc}; {_LATER}")

    def _open(self, *, create: bool = False, read_only: bool = False) -> Opening:
        # Without a worker: a command that only reads shall not begin to make the vectors of others' writes.
        return open_book(
            self.address,
            tenant=self.tenant,
            config=self.config,
            worker=False,
            create=create,
            read_only=read_only,
        )

    def _standing(self) -> Path | None:
        """Where the book is; a mistyped path must not look like an empty book."""
        refuse_former_file(self.address)
        path = path_of(self.address)
        if path is not None and not path.exists():
            make = f"memoranda init --book {shlex.quote(self.address)}"
            raise NotABook(f"there is no book at {path}: check --book, or make one there with: {make}")
        return path


def _waiting(passages: int) -> str:
    return (
        "1 passage waits for its vector" if passages == 1 else f"{passages} passages wait for their vectors"
    )


def path_of(address: str) -> Path | None:
    """The file behind an address; None where it names another engine."""
    where = read_address(address)
    if where == MEMORY:
        raise InvalidInput("book: one in memory would end with the command; give a path", field="book")
    return where if isinstance(where, Path) else None


def _writable(path: Path) -> bool:
    return os.access(path, os.W_OK) and os.access(path.absolute().parent, os.W_OK)


def confirm(question: str, *, yes: bool) -> None:
    """Ask before what cannot be undone; where nobody can be asked, only ``--yes`` will do."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.UsageError("this cannot be undone; without a terminal to ask on, say --yes")
    if not click.confirm(question, err=True):
        click.echo("nothing was done", err=True)
        exits.leave(exits.FOUND_FAULTS)
