"""Why the book holds what it holds: ``why`` and ``history``."""

from __future__ import annotations

from collections.abc import Sequence

import click

from memoranda.book.parsing import Who
from memoranda.model.ledger import Entry
from memoranda.model.owner import Owner
from memoranda.model.query import HistoryStep
from memoranda.surfaces.cli.options import opens_book, owned, seen_as
from memoranda.surfaces.cli.paper import Column, Paper
from memoranda.surfaces.cli.session import Session
from memoranda.surfaces.cli.telling import actor_of, sort_of, standing, tell_sources, text_of, when


@click.command("why")
@opens_book
@owned("ID", least=1, most=1)
@seen_as
def why_command(session: Session, party: Owner, words: Sequence[str], who: Who) -> None:
    """Show what a record rests on, quoted, and how it came to be as it is."""
    session.run(_why(session, party, words[0], who))


async def _why(session: Session, party: Owner, id: str, who: Who) -> None:
    async with session.reading() as book:
        why = await book.why(party, id, **who)
    if session.tell(why):
        return
    paper, record = session.paper, why.record
    paper.say(f"{record.type.value} {sort_of(record)}".rstrip(), "title")
    paper.block(text_of(record), indent="  ", style="strong")
    if why.sources:
        paper.say("rests on", "title")
        tell_sources(paper, why.sources)
    else:
        paper.say("rests on nothing else that this view sees", "faint")
    tell_steps(paper, why.history)


@click.command("history")
@opens_book
@owned("[ID]", most=1)
@seen_as
@click.option(
    "--after",
    type=click.IntRange(min=0),
    default=0,
    metavar="POSITION",
    help="The ledger after this position.",
)
@click.option(
    "--limit",
    type=int,
    default=100,
    metavar="N",
    help="At most so many entries of the ledger [default: 100].",
)
def history_command(
    session: Session, party: Owner, words: Sequence[str], who: Who, after: int, limit: int
) -> None:
    """Show every change of a record, oldest first; with --as-owner and no ID, the owner's whole ledger."""
    if words:
        session.run(_history(session, party, words[0], who))
    else:
        session.run(_ledger(session, party, who, after, limit))


async def _history(session: Session, party: Owner, id: str, who: Who) -> None:
    async with session.reading() as book:
        steps = await book.history(party, id, **who)
    if not session.tell({"steps": steps}):
        tell_steps(session.paper, steps)


async def _ledger(session: Session, party: Owner, who: Who, after: int, limit: int) -> None:
    async with session.reading() as book:
        entries = await book.ledger(party, after=after, limit=limit, **who)
    if not session.tell({"entries": entries}):
        _tell_entries(session.paper, entries)


def tell_steps(paper: Paper, steps: Sequence[HistoryStep]) -> None:
    """The changes of one record."""
    columns = [
        Column("POSITION", right=True),
        Column("WHEN", "faint"),
        Column("BY"),
        Column("DONE"),
        Column("VERSION", right=True),
        Column("AS IT THEN STOOD", flexible=True),
    ]
    rows = []
    for step in steps:
        if step.record is None:
            text = "(erased)"
        else:
            note = "withdrawn" if step.record.withdrawn else standing(step.record)
            text = f"[{note}] {text_of(step.record)}" if note else text_of(step.record)
        rows.append(
            [
                str(step.position),
                when(step.at),
                actor_of(step.actor),
                step.verb.value,
                str(step.version),
                text,
            ]
        )
    paper.table(columns, rows)


def _tell_entries(paper: Paper, entries: Sequence[Entry]) -> None:
    columns = [
        Column("POSITION", right=True),
        Column("WHEN", "faint"),
        Column("BY"),
        Column("DONE", flexible=True),
    ]
    rows = []
    for entry in entries:
        done = ", ".join(f"{line.verb.value} {line.type.value} {line.id}" for line in entry.lines)
        rows.append([str(entry.position), when(entry.at), actor_of(entry.actor), done])
    paper.table(columns, rows)
