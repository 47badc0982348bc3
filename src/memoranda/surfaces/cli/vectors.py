"""Vectors at the command line: those of what a command wrote, and ``reembed``."""

from __future__ import annotations

import contextlib
import functools
from typing import Any

import click

from memoranda.book import Book
from memoranda.book.meaning import kept
from memoranda.errors import EmbeddingFailed, StorageError
from memoranda.model.ledger import Receipt
from memoranda.surfaces.cli import ending
from memoranda.surfaces.cli.options import Command, opens_book
from memoranda.surfaces.cli.session import Session

_LATER = "any open book makes them, or run: memoranda jobs run"


def waits(command: Command) -> Command:
    """Give a command ``wait``: whether what it writes has its vectors when it ends."""

    @click.option("--no-wait", is_flag=True, help="Leave the vectors of what is written for later.")
    @functools.wraps(command)
    def with_wait(no_wait: bool, **given: Any) -> None:
        command(wait=not no_wait, **given)

    return with_wait


async def finish(session: Session, book: Book, receipt: Receipt, *, wait: bool) -> Receipt:
    """Make the vectors of exactly what was written, or say that they are left."""
    passages = len(kept(receipt))
    if not passages or book.no_vectors_because:
        return receipt
    if not wait:
        ending.note(f"{_waiting(passages)}; {_LATER}")
        return receipt
    with session.progress("embedding") as progress:
        reached = await book.meaning.reached(receipt, "embedded", lambda made: progress(made, passages))
    if reached.no_vectors_because:
        ending.note(f"stored, and found by its words alone for now: {reached.no_vectors_because}")
        return reached
    with contextlib.suppress(StorageError):
        # Else the job stays, and whoever takes it finds nothing to do.
        await book.meaning.end_job()
    return reached


async def catch_up(session: Session, book: Book, *, wait: bool) -> None:
    """Make all vectors that lack, or say how many are left."""
    if book.no_vectors_because or not (lack := await book.meaning.lack()):
        return
    if not wait:
        ending.note(f"{_waiting(lack)}; {_LATER}")
        return
    try:
        with session.progress("embedding") as progress:
            await book.embed(lambda made: progress(made, lack))
    except EmbeddingFailed as exc:
        ending.note(f"stored, and found by its words alone for now: {exc}; {_LATER}")


def _waiting(passages: int) -> str:
    return (
        "1 passage waits for its vector" if passages == 1 else f"{passages} passages wait for their vectors"
    )


@click.command("reembed")
@opens_book
def reembed_command(session: Session) -> None:
    """Make the vectors of all passages with the embedder that the settings name, and let recall read them.

    They are made beside those that recall reads meanwhile, and what is there already is kept: a run that was
    interrupted goes on where it stopped when it is run again.
    """
    made, vectors = session.run(_reembed(session))
    if not session.tell({"made": made, "vectors": vectors}):
        session.paper.say(
            f"made now: {made}; recall reads {vectors['reads']}: "
            f"{vectors['have']} of {vectors['passages']} passages have their vectors",
            "good",
        )


async def _reembed(session: Session) -> tuple[int, dict[str, Any]]:
    async with session.writing() as book:
        lack = await book.meaning.lack()
        try:
            with session.progress("embedding") as progress:
                made = await book.reembed(lambda made: progress(made, lack))
        except EmbeddingFailed as exc:
            if book.meaning.maker is None:
                raise
            raise type(exc)(f"{exc}; what was made is kept, run it again to go on") from exc
        return made, (await book.facts()).details["vectors"]
