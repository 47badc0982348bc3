"""The command that erases: ``forget``."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

import click

from memoranda.book import Book
from memoranda.book.input import Who, as_view
from memoranda.book.record_ids import record_ids
from memoranda.capabilities import CopiesItself
from memoranda.cli import exits
from memoranda.cli.options import opens_book, owned, seen_as
from memoranda.cli.output.json_text import json_value
from memoranda.cli.output.printer import Column, Printer
from memoranda.cli.output.record_tables import print_records
from memoranda.cli.session import Session, confirm
from memoranda.errors import StorageError
from memoranda.model.ledger import ErasureReceipt, Scrubbed
from memoranda.model.records import Owner

#: The most records that are shown before the question.
_SHOWN = 10
_STILL_IN = "these backups may still contain it; forget the same ids with --backups, or delete the backups:"


@click.command("forget")
@opens_book
@owned("[ID...]", optional=True)
@seen_as
@click.option(
    "--everything", is_flag=True, help="Erase all that the book holds of the owner; needs --as-owner."
)
@click.option("--backups", is_flag=True, help="Also rewrite the book's own backups without it.")
@click.option(
    "--scrub",
    is_flag=True,
    help="Also clear the book's files of erased content; without OWNER, of everything erased before.",
)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def forget_command(
    session: Session, party: Owner | None, words: Sequence[str], who: Who, yes: bool, scrub: bool, **how: bool
) -> None:
    """Erase memories, messages, episodes or threads by id, with everything that comes from them alone.

    This cannot be undone. If an id is not there for this view, nothing is erased; ids that were erased before are
    listed as such. The receipt counts what was removed from each place, and names the places that may still contain
    it. On a server, removed rows stay in its files as dead rows until --scrub rewrites every table; a table is
    locked while it is rewritten.
    """
    if party is None and scrub and not how["everything"]:
        if how["backups"]:
            raise click.UsageError(
                "--backups needs an OWNER; --scrub without OWNER only clears the book's own files"
            )
        _scrub_alone(session)
        return
    if party is None:
        raise click.UsageError(
            "the owner is missing: give OWNER and IDs, or only --scrub to clear the book's files"
        )
    if how["everything"] == bool(words):
        raise click.UsageError("give either IDs or --everything")
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
    """The result of an erasure in the book and in its backups."""

    receipt: ErasureReceipt
    #: Backups that were rewritten.
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
            question = f"Erase everything that the book holds of {party}?"
        else:
            ids = await record_ids(book.engine, party, as_view(who), words)
            found = await _found(session, book, party, ids, who, quiet=yes)
            named = _named(party, ids, found, copies)
            question = f"Erase {named}, with everything that comes from it alone?" if named else ""
        if question:
            confirm(f"{question} This cannot be undone.", yes=yes)
        receipt = await book.forget(party, words, **how, **who)
        if scrub:
            cleared = await _scrubbed(book)
            receipt = replace(receipt, state=_state(cleared), pending_because=cleared.pending_because)
    return Forgotten(receipt, tuple(copy for copy in copies if copy not in receipt.still_in))


async def _scrubbed(book: Book) -> Scrubbed:
    """Clear the book's files; an error becomes part of the receipt, which must still be printed."""
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
    """Return those ids that the book still has, and print their records before asking for confirmation."""
    found = await book.engine.get(party, as_view(who), ids)
    if found and not quiet and not session.json:
        print_records(session.printer, list(found.values())[:_SHOWN])
    return found.keys()


def _named(party: Owner, ids: Sequence[UUID], found: Collection[UUID], copies: Sequence[str]) -> str:
    """Describe what is to be erased, which may be nothing; what was erased before may still be in the book's backups."""
    missing = ", ".join(str(id) for id in ids if id not in found)
    named = [f"{len(found)} {'record' if len(found) == 1 else 'records'} of {party}"] if found else []
    if missing and copies:
        named.append(f"{missing} in the backups, if they contain it")
    return " and ".join(named)


def print_erasure(printer: Printer, done: Forgotten) -> None:
    """Print what was erased, what stays, and what may still contain it."""
    receipt = done.receipt
    if receipt.removed:
        printer.say(f"erased for {receipt.owner}", "good")
        rows = [[place, str(number)] for place, number in receipt.removed.items()]
        printer.table([Column("PLACE"), Column("REMOVED", right=True)], rows)
    else:
        printer.say(f"the book holds none of this for {receipt.owner}; nothing more was erased", "warning")
    _print_lines(printer, "forgotten before:", receipt.repeated)
    _print_lines(
        printer, "backups rewritten without everything that was ever erased:", done.rewritten, "good"
    )
    _print_lines(printer, "kept, because they have other sources:", receipt.kept)
    _print_lines(printer, "kept, older statements that the erased ones had superseded:", receipt.superseded)
    if receipt.era is not None:
        printer.say(f"the owner's era {receipt.era} has ended; the same name can start again, empty", "faint")
    _print_lines(printer, _STILL_IN, receipt.still_in, "warning")
    _print_state(printer, receipt.pending_because)
    if receipt.left_to_do:
        printer.say(f"left to do: {receipt.left_to_do}", "warning")
    if receipt.unchecked:
        printer.say("not checked, because the book cannot see it:", "faint")
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
