"""The command ``dream``: a night for one owner now, or the scheduled nights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

import click

from memoranda.book.dream.night import DreamReport
from memoranda.cli.option_forms import option
from memoranda.cli.options import opens_book, owned
from memoranda.cli.output.printer import Column, Printer
from memoranda.cli.output.record_tables import text_of, when
from memoranda.cli.session import Session
from memoranda.model.ledger import IGNORED
from memoranda.model.memories import Memory
from memoranda.model.records import WHOLE, Owner, Record


@click.command("dream")
@opens_book
@owned(optional=True, most=0)
@option("--agent NAME", "Look at what this agent wrote, under its settings.")
@option("--dry-run", "Change nothing, and show what would be done.")
def dream_command(
    session: Session, party: Owner | None, words: Sequence[str], agent: str | None, dry_run: bool
) -> None:
    """Archive OWNER's memories that nobody used for long, and tell which contradict each other.

    Nothing is merged or erased: recall still finds what is archived, and `memoranda undo` brings it
    back. Without OWNER the scheduled nights are listed.
    """
    session.run(_schedules(session) if party is None else _dream(session, party, agent, dry_run))


async def _schedules(session: Session) -> None:
    async with session.reading() as book:
        found = await book.dreams.schedules()
    if session.print_json({"schedules": found}):
        return
    if not found:
        session.printer.say("no nights are scheduled; enable them with dream.enabled", "faint")
    columns = [
        Column("AGENT"),
        Column("STATE"),
        Column("NEXT", "faint"),
        Column("ERROR", flexible=True),
    ]
    rows = [[one.agent or "(all others)", one.state, when(one.next_at), one.error] for one in found]
    if rows:
        session.printer.table(columns, rows)


async def _dream(session: Session, party: Owner, agent: str | None, dry_run: bool) -> None:
    async with session.writing() as book:
        report = await book.dreams.run(party, agent=agent, dry_run=dry_run)
        told = {*report.archived, *report.restored, *report.superseded, *report.kept}
        told |= {id for one in report.contradictions for id in one.ids}
        found = await book.engine.get(party, WHOLE, sorted(told))
    if not session.print_json(report):
        _print(session.printer, report, found)


def _print(printer: Printer, report: DreamReport, found: Mapping[UUID, Record]) -> None:
    would = "would be " if report.dry_run else ""
    lines = [(id, f"{would}archived: {_reason(found.get(id))}") for id in report.archived]
    lines += [(id, f"{would}brought back: it was used since") for id in report.restored]
    lines += [(id, f"{would}superseded by a newer value of its key") for id in report.superseded]
    lines += [(id, f"stays: {IGNORED[code]}") for id, code in report.kept.items()]
    columns = [Column("ID"), Column("DONE"), Column("CONTENT", flexible=True)]
    rows = [
        [str(id), done, text_of(found[id]) if id in found else "(erased)"] for id, done in lines
    ]
    if rows:
        printer.table(columns, rows)
    for one in report.contradictions:
        printer.say(
            f"{one.key or one.shared!r}{f' of {one.subject}' if one.subject else ''} has several values, the newest first:"
        )
        for id in one.ids:
            printer.labelled(
                f"  {id}  ", text_of(found[id]) if id in found else "(erased)", label_style="faint"
            )
    done = f"archived: {len(report.archived)}, brought back: {len(report.restored)}"
    if report.receipt is None:
        printer.say("there was nothing to do, and nothing was written", "good")
    elif report.dry_run:
        printer.say(f"would be {done}; nothing was written", "good")
    else:
        undo = f"memoranda undo {report.owner.id} {report.receipt.position} --as-owner"
        printer.say(f"{done}; recall still finds all of it. To undo: {undo}", "good")


def _reason(record: Record | None) -> str:
    return (record.reason if isinstance(record, Memory) else "") or "nobody used it"
