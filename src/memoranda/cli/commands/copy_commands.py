"""The command ``copy``: a whole book on another engine."""

from __future__ import annotations

import click

from memoranda.assembly import cancel_copy, copy
from memoranda.book.admin.book_copy import CopyReport
from memoranda.cli.option_forms import option
from memoranda.cli.options import opens_book
from memoranda.cli.output.printer import Printer
from memoranda.cli.output.terminal import counted
from memoranda.cli.session import Session, path_of


@click.command("copy")
@opens_book
@click.argument("source")
@click.argument("target")
@option("--switch", "Move the book: TARGET is the book then, and SOURCE is not written again.")
@option("--cancel", "Copy nothing: let SOURCE be written again after a copy was stopped.")
def copy_command(session: Session, source: str, target: str, switch: bool, cancel: bool) -> None:
    """Copy the book at SOURCE to TARGET, a path, postgresql://… or mongodb://…, and compare both.

    While it is copied, SOURCE can be read and not written. TARGET can be opened when the copy is
    complete: as a second book, or, with --switch, as the book itself. If a run was stopped, run the
    same command again to finish it. The option --book is not used.
    """
    for address in (source, target):
        path_of(address)  # refuses one in memory
    if cancel:
        if switch:
            raise click.UsageError("give either --switch or --cancel")
        session.run(cancel_copy(source, target))
        session.mark_done()
        if not session.print_json({"cancelled": True}):
            session.printer.say(f"cancelled: {source} can be written again", "good")
        return
    report = session.run(_copy(session, source, target, switch=switch))
    if report.switched:
        session.mark_done()
    if not session.print_json(report):
        _print_report(session.printer, report)


async def _copy(session: Session, source: str, target: str, *, switch: bool) -> CopyReport:
    with session.progress("copying") as progress:
        return await copy(source, target, switch=switch, progress=progress)


def _print_report(printer: Printer, report: CopyReport) -> None:
    if report.already:
        done = "the book has moved to" if report.switched else "the copy is complete at"
        printer.say(f"{done} {report.target} already", "good")
        return
    if report.switched:
        printer.say(f"moved to {report.target}; {report.source} is not written again", "good")
    else:
        printer.say(f"copied to {report.target}, which is a second book now", "good")
    printer.say(
        f"the same on both sides: {counted(report.owners, 'owner')}, {counted(report.records, 'record')}, "
        f"{counted(report.versions, 'earlier version')}, {counted(report.entries, 'ledger entry', 'ledger entries')}"
    )
