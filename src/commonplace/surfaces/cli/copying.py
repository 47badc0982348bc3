"""A whole book on another engine: ``copy``."""

from __future__ import annotations

import click

from commonplace.assembly import copy
from commonplace.book.moving import CopyReport
from commonplace.surfaces.cli.options import opens_book
from commonplace.surfaces.cli.paper import Paper
from commonplace.surfaces.cli.session import Session, path_of


@click.command("copy")
@opens_book
@click.argument("source")
@click.argument("target")
@click.option(
    "--switch", is_flag=True, help="Let the book move: TARGET is the book then, SOURCE is written no more."
)
def copy_command(session: Session, source: str, target: str, switch: bool) -> None:
    """Copy the book at SOURCE to TARGET, a path or postgresql://user@host/database, while it is in use.

    Run again, it brings what came since; a run that was stopped is gone on with. Without --switch TARGET is an
    unfinished copy, which does not open, and SOURCE stays the book. With --switch the rest is brought while nobody
    writes, both are compared owner by owner, and who writes at SOURCE from then on is told where the book is.
    --book plays no part.
    """
    report = session.run(_copy(session, source, target, switch=switch))
    if report.switched:
        session.mark_done()
    if not session.tell(report):
        _tell(session.paper, report)


async def _copy(session: Session, source: str, target: str, *, switch: bool) -> CopyReport:
    for address in (source, target):
        path_of(address)  # refuses one in memory
    with session.progress("copying") as progress:
        return await copy(source, target, switch=switch, progress=progress)


def _tell(paper: Paper, report: CopyReport) -> None:
    if report.already:
        paper.say(f"the book has moved to {report.target} already", "good")
        return
    counts = (
        f"{report.owners} owners, {report.records} records, {report.versions} earlier versions, "
        f"{report.entries} ledger entries"
    )
    if report.switched:
        paper.say(f"moved to {report.target}; {report.source} is written no more", "good")
        paper.say(f"the same on both sides: {counts}")
    else:
        paper.say(f"copied to {report.target}: {counts}; brought now: {report.brought} pieces", "good")
        paper.say("the book goes on at its old place; run it again with --switch to let it move", "warning")
