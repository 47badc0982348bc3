"""The commands for a whole book as text: ``export`` and ``import``."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import nullcontext
from pathlib import Path

import click

from memoranda.book import Book
from memoranda.book.admin.transfer import ImportReport
from memoranda.cli import exits
from memoranda.cli.option_forms import option
from memoranda.cli.options import opens_book, owned, waits_for_vectors
from memoranda.cli.output.json_text import harmless, read_lines
from memoranda.cli.output.printer import Column, Printer
from memoranda.cli.output.terminal import counted, write
from memoranda.cli.session import Session
from memoranda.errors import InvalidInput, NotFound, StorageFull
from memoranda.model.ledger import IGNORED
from memoranda.model.records import PASSAGE_TYPES, Owner


@click.command("export")
@opens_book
@owned(optional=True, most=0)
@option(
    "--output FILE",
    "Write to a new file instead of standard output.",
    of=click.Path(path_type=Path),
)
@option(
    "--masked",
    "Write masks in place of passwords, keys, card numbers and the like: for reading, not for import.",
)
@option(
    "--everything",
    "Add what stands elsewhere about the owner: keys, experience, reads, usage, a restriction, erasures.",
)
def export_command(
    session: Session,
    party: Owner | None,
    words: Sequence[str],
    output: Path | None,
    masked: bool,
    everything: bool,
) -> None:
    """Write the book, or one owner's part of it, as JSON Lines.

    The export of a whole book holds the secret under which the book keeps digests: guard it as you
    guard the book.
    """
    session.run(_export(session, party, output, masked=masked, everything=everything))


async def _export(
    session: Session, party: Owner | None, output: Path | None, *, masked: bool, everything: bool
) -> None:
    async with session.reading() as book:
        if not everything:
            # Of an owner who was erased there is still when, and perhaps a restriction.
            await _check_owner(book, party)
        lines = book.admin.export(party, masked=masked, everything=everything)
        if output is None:
            guarded = sys.stdout.isatty()
            async for line in lines:
                write((harmless(line) if guarded else line).encode() + b"\n", nl=False)
        else:
            await _write_file(lines, output)


async def _check_owner(book: Book, party: Owner | None) -> None:
    if party is not None and party not in await book.admin.owners():
        raise NotFound(
            f"owner {party}: the book holds nothing of theirs; see: memoranda list --owners"
        )


async def _write_file(lines: AsyncIterator[str], output: Path) -> None:
    """Write lines to a new file; it gets its name when it is complete on the disk, and only its
    owner may read it.
    """
    if output.exists():
        raise InvalidInput(f"output: {output} is there already; name a new file", field="output")
    if not output.absolute().parent.is_dir():
        raise InvalidInput(
            f"output: there is no folder {output.absolute().parent}; make it first", field="output"
        )
    partial = output.with_name(output.name + ".partial")
    try:
        with open(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:  # noqa: ASYNC230 - a command has its loop to itself
            async for line in lines:
                file.write(line.encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        partial.rename(output)
    except OSError as exc:
        if exc.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StorageFull(
                f"{output}: its disk has no room left, and nothing of it was kept; free some"
            ) from exc
        raise
    finally:
        partial.unlink(missing_ok=True)


@click.command("import")
@opens_book
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True), default="-")
@waits_for_vectors
def import_command(session: Session, file: Path, wait: bool) -> None:
    """Import an export from FILE, or from standard input.

    An owner that is new here is imported completely, with its ledger; an existing owner gets the
    missing records.
    """
    report = session.run(_import(session, file, wait=wait))
    if not session.print_json(report):
        _print_report(session.printer, report)
    if report.errors:
        exits.leave(exits.FOUND_FAULTS)


async def _import(session: Session, file: Path, *, wait: bool) -> ImportReport:
    async with session.writing() as book:
        with (
            nullcontext(sys.stdin.buffer) if str(file) == "-" else file.open("rb") as stream,
            session.progress("lines") as progress,
        ):
            report = await book.admin.import_(read_lines(stream), progress)
        if any(report.records[type_.value] for type_ in PASSAGE_TYPES):
            await session.embed_missing(book, wait=wait)
        return report


def _print_report(printer: Printer, report: ImportReport) -> None:
    there = report.owners - report.adopted
    parts = (
        [f"{report.adopted} new here, taken in with their whole history"] if report.adopted else []
    )
    parts += [f"{there} here before, given the records that were missing"] if there else []
    owners = counted(report.owners, "owner")
    nothing = "imported nothing" if report.errors else "imported nothing: the file names no owner"
    printer.say(
        f"imported {owners}: {'; '.join(parts)}" if parts else nothing, "good" if parts else "faint"
    )
    if report.records:
        rows = [[name, str(number)] for name, number in report.records.items()]
        printer.table([Column("IMPORTED"), Column("NUMBER", right=True)], rows)
    for reason, number in report.ignored.items():
        printer.say(f"left out: {number} ({IGNORED.get(reason, reason)})", "warning")
    if report.unchecked:
        printer.say(
            f"not checked for changes: {counted(report.unchecked, 'owner')}, for this book does not have the key of the file",
            "warning",
        )
    for line, reason in report.errors:
        printer.say(f"line {line}: {reason}" if line else reason, "bad")
