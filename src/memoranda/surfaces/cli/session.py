"""What every command works with: the book that is meant, and the paper that the answer goes on."""

from __future__ import annotations

import asyncio
import logging
import os
import shlex
import sys
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from memoranda.assembly import MEMORY, Opening, read_address
from memoranda.assembly import open as open_book
from memoranda.book import Book
from memoranda.errors import InvalidInput, NotABook
from memoranda.surfaces.cli import ending, exits
from memoranda.surfaces.cli.paper import Paper
from memoranda.surfaces.cli.progress import Progress

T = TypeVar("T")

#: Tells at each opening why recall goes by words alone; at a shell ``doctor`` tells it when it is asked.
_TELLS_OFTEN = logging.getLogger("memoranda.embedding")


@dataclass(frozen=True, slots=True)
class Session:
    """One command's run."""

    address: str
    tenant: str
    config: str | None
    paper: Paper

    @property
    def json(self) -> bool:
        """Whether the answer goes to a program."""
        return self.paper.json

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

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[Book]:
        """The book, for commands that change it."""
        self._standing()
        async with self._open() as book:
            yield book
        self.mark_done()

    @asynccontextmanager
    async def making(self) -> AsyncIterator[Book]:
        """The book, made where there is none."""
        async with self._open(create=True) as book:
            yield book
        self.mark_done()

    def mark_done(self) -> None:
        """What the command was to change is kept; an answer that fails now says so."""
        ending.mark_done(click.get_current_context())

    def progress(self, label: str) -> Progress:
        """A bar for long work."""
        return Progress(label, quiet=self.json)

    def tell(self, value: Any) -> bool:
        """Give the answer as JSON if it was asked for so; False where people are to be told."""
        if self.json:
            self.paper.document(value)
        return self.json

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
        path = path_of(self.address)
        if path is not None and not path.exists():
            make = f"memoranda init --book {shlex.quote(self.address)}"
            raise NotABook(f"there is no book at {path}: check --book, or make one there with: {make}")
        return path


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
