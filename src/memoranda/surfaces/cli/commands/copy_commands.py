"""A whole book on another engine: ``copy``."""

from __future__ import annotations

import click

from memoranda.assembly import copy, give_up_copy
from memoranda.book.moving import CopyReport
from memoranda.surfaces.cli.options import opens_book
from memoranda.surfaces.cli.output.printer import Printer
from memoranda.surfaces.cli.session import Session, confirm, path_of


@click.command("copy")
@opens_book
@click.argument("source")
@click.argument("target")
@click.option(
    "--switch", is_flag=True, help="Let the book move: TARGET is the book then, SOURCE is written no more."
)
@click.option(
    "--give-up",
    is_flag=True,
    help="TARGET is lost for good while the book moved there: SOURCE is written again.",
)
@click.option("--yes", is_flag=True, help="Do not ask.")
def copy_command(session: Session, source: str, target: str, switch: bool, give_up: bool, yes: bool) -> None:
    """Copy the book at SOURCE to TARGET, a path or postgresql://user@host/database, while it is in use.

    Run again, it brings what came since; a run that was stopped is gone on with. Without --switch TARGET is an
    unfinished copy, which does not open, and SOURCE stays the book. With --switch the rest is brought while nobody
    may write, both are compared owner by owner, and who writes at SOURCE from then on is told where the book is.
    --book plays no part.
    """
    if give_up:
        if switch:
            raise click.UsageError("either let the book move, or give that up")
        _give_up(session, source, target, yes=yes)
        return
    report = session.run(_copy(session, source, target, switch=switch))
    if report.switched:
        session.mark_done()
    if not session.print_json(report):
        _print_report(session.printer, report)


def _give_up(session: Session, source: str, target: str, *, yes: bool) -> None:
    for address in (source, target):
        path_of(address)
    confirm(
        "Is TARGET lost for good, and nobody copying any more? If it was made the book after all, and is found again, "
        "there are two books, and neither has what was written to the other since.",
        yes=yes,
    )
    session.run(give_up_copy(source, target))
    session.mark_done()
    if not session.print_json({"given_up": True}):
        session.printer.say(f"given up: {source} is written again", "good")
        session.printer.say("if the copy is found again, delete it: do not open it", "warning")


async def _copy(session: Session, source: str, target: str, *, switch: bool) -> CopyReport:
    for address in (source, target):
        path_of(address)  # refuses one in memory
    with session.progress("copying") as progress:
        return await copy(source, target, switch=switch, progress=progress)


def _print_report(printer: Printer, report: CopyReport) -> None:
    if report.already:
        printer.say(f"the book has moved to {report.target} already", "good")
        return
    counts = (
        f"{report.owners} owners, {report.records} records, {report.versions} earlier versions, "
        f"{report.entries} ledger entries"
    )
    if report.switched:
        printer.say(f"moved to {report.target}; {report.source} is written no more", "good")
        printer.say(f"the same on both sides: {counts}")
        if report.pending:
            printer.say(f"what was forgotten while it was copied: {report.pending}", "warning")
    else:
        printer.say(f"copied to {report.target}: {counts}; brought now: {report.brought} pieces", "good")
        printer.say("the book goes on at its old place; run it again with --switch to let it move", "warning")
