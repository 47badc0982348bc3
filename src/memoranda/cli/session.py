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
from typing import Any, Literal, TypeVar

import click

from memoranda.assembly import MEMORY, Opening, read_address
from memoranda.assembly import open as open_book
from memoranda.book import Book
from memoranda.book.embeddings import kept
from memoranda.cli import exits
from memoranda.cli.output.printer import Printer, Progress
from memoranda.errors import EmbeddingFailed, InvalidInput, NotABook, StorageError
from memoranda.model.ledger import Receipt

T = TypeVar("T")

_LATER = "any open book makes them, or run: memoranda jobs run"

#: They log at each opening why recall uses words alone, and who forms; at a shell, ``doctor`` says
#: it.
_CHATTY = tuple(map(logging.getLogger, ("memoranda.embedding", "memoranda.who_forms")))


@dataclass(frozen=True, slots=True)
class Session:
    """One run of a command: the book it opens, and the printer of its answer."""

    address: str
    tenant: str
    config: str | None
    printer: Printer
    #: True if no tenant is named: facts and findings are of the whole book.
    whole: bool = True

    @property
    def json(self) -> bool:
        """True if the answer is printed as JSON."""
        return self.printer.json

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run the command's coroutine in an event loop."""
        levels = [logger.level for logger in _CHATTY]
        for logger in _CHATTY:
            logger.setLevel(logging.ERROR)
        try:
            return asyncio.run(work)
        finally:
            for logger, level in zip(_CHATTY, levels, strict=True):
                logger.setLevel(level)

    def reading(self, models: Literal["auto"] | None = None) -> Opening:
        """Open the book for a command that changes nothing; read-only if this user may not write
        the file.

        ``models="auto"`` finds the language models that the settings name; other commands work
        whatever these say.
        """
        path = self._existing_path()
        return self._open(read_only=path is not None and not _writable(path), models=models)

    @contextlib.asynccontextmanager
    async def writing(self, models: Literal["auto"] | None = None) -> AsyncIterator[Book]:
        """Open the book for a command that changes it; ``models`` as in ``reading``."""
        self._existing_path()
        async with self._open(models=models) as book:
            yield book
        self.mark_done()

    def rehearsing(self) -> Opening:
        """Open a book in memory with this tenant and these settings, to see what would be
        written.
        """
        return open_book(
            "memory://",
            tenant=self.tenant,
            config=self.config,
            worker=False,
            embed=None,
            models=None,
        )

    @contextlib.asynccontextmanager
    async def making(self) -> AsyncIterator[Book]:
        """Open the book, and create it if there is none."""
        async with self._open(create=True) as book:
            yield book
        self.mark_done()

    def mark_done(self) -> None:
        """Note that the change is stored, so that an error in the answer says so."""
        exits.mark_done(click.get_current_context())

    def progress(self, label: str) -> Progress:
        """Return a progress bar for long work."""
        return Progress(label, quiet=self.json)

    def print_json(self, value: Any) -> bool:
        """Print the answer if ``--json`` asks for JSON; return True if it did."""
        if self.json:
            self.printer.document(value)
        return self.json

    async def embed_written(self, book: Book, receipt: Receipt, *, wait: bool) -> Receipt:
        """Compute the vectors of the records in a receipt, or report that this is left for
        later.
        """
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
            exits.note(f"stored, but found by words alone for now: {reached.no_vectors_because}")
            return reached
        with contextlib.suppress(StorageError):
            # Otherwise the job stays, and whoever leases it finds nothing to do.
            await book.embeddings.end_job()
        return reached

    async def embed_missing(self, book: Book, *, wait: bool) -> None:
        """Compute all missing vectors, or report how many are left for later."""
        if book.no_vectors_because or not (lack := await book.embeddings.lack()):
            return
        if not wait:
            exits.note(f"{_waiting(lack)}; {_LATER}")
            return
        try:
            with self.progress("embedding") as progress:
                await book.admin.embed(lambda made: progress(made, lack))
        except EmbeddingFailed as exc:
            exits.note(f"stored, but found by words alone for now: {exc}; {_LATER}")

    def _open(
        self,
        *,
        create: bool = False,
        read_only: bool = False,
        models: Literal["auto"] | None = None,
    ) -> Opening:
        # Without a worker: a command that only reads must not begin to make the vectors of other
        # writes.
        return open_book(
            self.address,
            tenant=self.tenant,
            config=self.config,
            worker=False,
            create=create,
            read_only=read_only,
            models=models,
        )

    def _existing_path(self) -> Path | None:
        """Return the path of the book; raise NotABook if it is missing, so that a mistyped path
        makes no empty book.
        """
        path = path_of(self.address)
        if path is not None and not path.exists():
            make = f"memoranda init --book {shlex.quote(self.address)}"
            raise NotABook(
                f"there is no book at {path}: check --book, or make one there with: {make}"
            )
        return path


def _waiting(passages: int) -> str:
    return (
        "1 passage waits for its vector"
        if passages == 1
        else f"{passages} passages wait for their vectors"
    )


def path_of(address: str) -> Path | None:
    """Return the file that an address names, or None if it names another engine."""
    where = read_address(address)
    if where == MEMORY:
        raise InvalidInput(
            "book: a book in memory would end with the command; give a path", field="book"
        )
    return where if isinstance(where, Path) else None


def _writable(path: Path) -> bool:
    return os.access(path, os.W_OK) and os.access(path.absolute().parent, os.W_OK)


def confirm(question: str, *, yes: bool) -> None:
    """Ask before a change that cannot be undone; without a terminal, ``--yes`` is required."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.UsageError(
            "this cannot be undone, and there is no terminal to ask on: give --yes"
        )
    if not click.confirm(question, err=True):
        click.echo("nothing was changed", err=True)
        exits.leave(exits.FOUND_FAULTS)
