"""Forgetting for good: ``forget``."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

import click

from memoranda.book import Book
from memoranda.book.parsing import Who, as_ids, as_view
from memoranda.errors import NotFound, StorageError
from memoranda.model.erasure import ErasureReceipt, Scrubbed
from memoranda.model.owner import Owner
from memoranda.ports import CopiesItself
from memoranda.surfaces.cli import exits
from memoranda.surfaces.cli.options import opens_book, owned, seen_as
from memoranda.surfaces.cli.output.json_text import json_value
from memoranda.surfaces.cli.output.printer import Column, Printer
from memoranda.surfaces.cli.output.record_tables import print_records
from memoranda.surfaces.cli.session import Session, confirm

#: So many records are shown before the question.
_SHOWN = 10
_HELD_BY = "may still be held by these backups; forget the same ids with --backups, or delete the backups:"


@click.command("forget")
@opens_book
@owned("[ID...]", optional=True)
@seen_as
@click.option("--everything", is_flag=True, help="All that the book holds of the owner; with --as-owner.")
@click.option("--backups", is_flag=True, help="Rewrite the book's own backups without it, too.")
@click.option(
    "--scrub", is_flag=True, help="Clear the book's own files, too; alone: of all that was forgotten before."
)
@click.option("--yes", is_flag=True, help="Do not ask.")
def forget_command(
    session: Session, party: Owner | None, words: Sequence[str], who: Who, yes: bool, scrub: bool, **how: bool
) -> None:
    """Remove for good: memories, messages, episodes or threads by id, with all that rests on them alone.

    It cannot be undone. The receipt counts what went, place by place, and says what may still hold it. On a server what
    was removed lies dead in its files until --scrub writes every table anew, each of which stands still meanwhile.
    """
    if party is None and scrub and not how["everything"]:
        if how["backups"]:
            raise click.UsageError(
                "whose? --scrub alone clears the book's own files; --backups wants an OWNER"
            )
        _scrub_alone(session)
        return
    if party is None:
        raise click.UsageError("whose? give OWNER and [ID...]; --scrub alone clears the book's files")
    if how["everything"] == bool(words):
        raise click.UsageError("name what to forget by its ID, or ask for --everything")
    done = session.run(_forget(session, party, words, who, yes, scrub, how))
    if not session.print_json({**json_value(done.receipt), "rewritten": done.rewritten}):
        print_erasure(session.printer, done)
    if scrub and done.receipt.pending_because:
        exits.leave(exits.FOUND_FAULTS)


def _scrub_alone(session: Session) -> None:
    async def scrub() -> Scrubbed:
        async with session.writing() as book:
            return await book.scrub()

    done = session.run(scrub())
    if not session.print_json({"state": _state(done), "pending_because": done.pending_because}):
        _print_state(session.printer, done.pending_because)
    if done.pending_because:
        exits.leave(exits.FOUND_FAULTS)


def _state(done: Scrubbed) -> str:
    return "complete" if done.complete else "pending"


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What a forgetting did to the book, and to its backups."""

    receipt: ErasureReceipt
    #: Backups that were rewritten without it.
    rewritten: tuple[str, ...]


async def _forget(
    session: Session,
    party: Owner,
    words: Sequence[str],
    who: Who,
    yes: bool,
    scrub: bool,
    how: Mapping[str, bool],
) -> Forgotten:
    async with session.writing() as book:
        copies = await _copies(book) if how["backups"] else ()
        if how["everything"]:
            what = f"everything of {party}"
        else:
            found = await _found(session, book, party, as_ids(words), who, quiet=yes)
            what = _named(party, as_ids(words), found, copies)
        confirm(f"Forget {what}, with all that rests on it alone? This cannot be undone.", yes=yes)
        receipt = await book.forget(party, words, **how, **who)
        if scrub:
            cleared = await _scrubbed(book)
            receipt = replace(receipt, state=_state(cleared), pending_because=cleared.pending_because)
    return Forgotten(receipt, tuple(copy for copy in copies if copy not in receipt.still_in))


async def _scrubbed(book: Book) -> Scrubbed:
    """What clearing the files came to; the receipt of what is forgotten by then is told however it ends."""
    try:
        return await book.scrub()
    except StorageError as exc:
        return Scrubbed(str(exc))


async def _copies(book: Book) -> tuple[str, ...]:
    engine = book.engine
    return await engine.known_backups() if isinstance(engine, CopiesItself) else ()


async def _found(
    session: Session, book: Book, party: Owner, ids: tuple[UUID, ...], who: Who, *, quiet: bool
) -> Collection[UUID]:
    """What of this the book still holds, shown before the question."""
    found = await book.engine.get(party, as_view(who), ids)
    if found and not quiet and not session.json:
        print_records(session.printer, list(found.values())[:_SHOWN])
    return found.keys()


def _named(party: Owner, ids: Sequence[UUID], found: Collection[UUID], copies: Sequence[str]) -> str:
    """What is to be forgotten, in words; what has left the book may be in its backups."""
    missing = ", ".join(str(id) for id in ids if id not in found)
    if not found and not copies:
        raise NotFound(f"there is nothing under {missing} that this view may see")
    named = [f"{len(found)} {'record' if len(found) == 1 else 'records'} of {party}"] if found else []
    if missing and copies:
        named.append(f"what only the backups may still hold of {missing}")
    return " and ".join(named)


def print_erasure(printer: Printer, done: Forgotten) -> None:
    """What went, what stays, and what may still hold it."""
    receipt = done.receipt
    if receipt.removed:
        printer.say(f"forgotten for good, of {receipt.owner}", "good")
        rows = [[place, str(number)] for place, number in receipt.removed.items()]
        printer.table([Column("PLACE"), Column("REMOVED", right=True)], rows)
    else:
        printer.say(
            f"the book holds nothing of this, of {receipt.owner}; nothing was removed from it", "warning"
        )
    _print_lines(printer, "not in the book, or no longer, for this view:", receipt.not_found, "warning")
    _print_lines(printer, "backups rewritten without all that was forgotten:", done.rewritten, "good")
    _print_lines(printer, "stays, resting on its other sources alone:", receipt.kept)
    _print_lines(printer, "older statements that it had superseded; they stay:", receipt.superseded)
    if receipt.era is not None:
        printer.say(f"the owner's era {receipt.era} has ended; the same name may begin anew, empty", "faint")
    _print_lines(printer, _HELD_BY, receipt.still_in, "warning")
    _print_state(printer, receipt.pending_because)
    if receipt.unchecked:
        printer.say("cannot be seen from here:", "faint")
        for place in receipt.unchecked:
            printer.block(place, indent="  ", style="faint")


def _print_state(printer: Printer, pending: str) -> None:
    printer.say(
        f"the book's own files: {f'pending: {pending}' if pending else 'complete'}",
        "warning" if pending else "",
    )
    if pending and "forget --scrub" not in pending and "CHECKPOINT" not in pending:
        printer.say("  to finish it: memoranda forget --scrub", "warning")


def _print_lines(printer: Printer, label: str, lines: Sequence[object], style: str = "") -> None:
    if lines:
        printer.say(label, style)
        for line in lines:
            printer.say(f"  {line}")
