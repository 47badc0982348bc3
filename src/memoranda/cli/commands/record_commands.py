"""Commands that show records and their past: ``get``, ``list``, ``why`` and ``history``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from memoranda.book import Book
from memoranda.book.input import Who
from memoranda.cli.option_forms import option
from memoranda.cli.options import narrowed, opens_book, owned, seen_as
from memoranda.cli.output.printer import Column, Printer
from memoranda.cli.output.record_tables import (
    actor_of,
    nothing_seen,
    print_record,
    print_records,
    print_sources,
    sort_of,
    status_of,
    text_of,
    what_waits,
    when,
)
from memoranda.cli.session import Session
from memoranda.model.ledger import Entry
from memoranda.model.query import HistoryStep, Page
from memoranda.model.records import Owner


@click.command("get")
@opens_book
@owned("ID", least=1, most=1)
@seen_as
def get_command(session: Session, party: Owner, words: Sequence[str], who: Who) -> None:
    """Show all fields of one record."""
    session.run(_get(session, party, words[0], who))


async def _get(session: Session, party: Owner, id: str, who: Who) -> None:
    async with session.reading() as book:
        record = await book.records.get(party, id, **who)
    if not session.print_json(record):
        print_record(session.printer, record)


@click.command("list")
@opens_book
@owned(optional=True, most=0)
@seen_as
@narrowed
@option("--owners", "List the tenant's owners instead.")
@option("--all-owners", "List the records of every owner, for operators.")
@option("--count", "Only print the number of records.")
@option("--newest-first", "List the newest first instead of the oldest.")
@option("--limit N", "The most records on a page [default: 50].", of=int, default=50)
@option("--cursor TEXT", "Continue after an earlier page; it printed this value.")
@option("--all", "Print all pages; with --json one record on each line.", "everything")
def list_command(
    session: Session,
    party: Owner | None,
    words: Sequence[str],
    owners: bool,
    all_owners: bool,
    count: bool,
    everything: bool,
    **given: Any,
) -> None:
    """List the records that a view sees, one page at a time.

    With --all-owners, an operator lists the threads and episodes of every owner of the tenant (other types with
    --type), such as all failed threads of one agent: --all-owners --of-agent NAME --status failed.
    """
    if owners:
        session.run(_owners(session))
        return
    if all_owners and (party is not None or count or any(given["who"].values())):
        raise click.UsageError(
            "--all-owners takes no OWNER, no --count and no view; it reads every audience"
        )
    if all_owners:
        given.pop("who")
    elif party is None:
        raise click.UsageError(
            "the owner is missing: give OWNER, or list all owners with --owners, or their records with --all-owners"
        )
    if count and party is not None:
        session.run(_count(session, party, given))
    elif everything:
        session.run(_all(session, party, given))
    else:
        session.run(_list(session, party, given))


async def _owners(session: Session) -> None:
    async with session.reading() as book:
        found = await book.admin.owners()
    if not session.print_json({"owners": found}):
        # A blank at an end would not be seen.
        rows = [
            [one.kind.value, one.id if one.id == one.id.strip() else repr(one.id)] for one in found
        ]
        session.printer.table([Column("KIND"), Column("OWNER")], rows)


async def _count(session: Session, party: Owner, given: dict[str, Any]) -> None:
    async with session.reading() as book:
        found = await book.records.count(
            party, types=given["types"], only=given["only"], **given["who"]
        )
    if not session.print_json({"count": found}):
        session.printer.say(str(found))


async def _page(book: Book, party: Owner | None, given: dict[str, Any]) -> Page:
    if party is None:
        return await book.admin.list(**given)
    fields = dict(given)
    return await book.records.list(party, **fields.pop("who"), **fields)


async def _list(session: Session, party: Owner | None, given: dict[str, Any]) -> None:
    async with session.reading() as book:
        page = await _page(book, party, given)
        none = "no such records"
        if party is not None and not page.records and page.cursor is None:
            none = await nothing_seen(book, party, given["who"])
    if session.print_json(page):
        return
    if page.records:
        print_records(session.printer, page.records, with_owner=party is None)
        if party is not None and page.waiting:
            session.printer.say(what_waits(page.waiting, party), "faint")
    elif page.cursor is None:
        session.printer.say(none, "faint")
    if page.cursor is not None:
        session.printer.say(f"more records follow: --cursor {page.cursor}", "faint")


async def _all(session: Session, party: Owner | None, given: dict[str, Any]) -> None:
    async with session.reading() as book:
        while True:
            page = await _page(book, party, given)
            if session.json:
                for record in page.records:
                    session.printer.document(record)
            elif page.records:
                print_records(session.printer, page.records, with_owner=party is None)
            if page.cursor is None:
                return
            given["cursor"] = page.cursor


@click.command("why")
@opens_book
@owned("ID", least=1, most=1)
@seen_as
@option("--limit N", "The most sources on a page [default: 100].", of=int, default=100)
@option("--cursor TEXT", "Continue after an earlier page; it printed this value.")
def why_command(
    session: Session, party: Owner, words: Sequence[str], who: Who, limit: int, cursor: str | None
) -> None:
    """Show the sources of a record with quotes, and the changes that made it what it is."""
    session.run(_why(session, party, words[0], who, limit, cursor))


async def _why(
    session: Session, party: Owner, id: str, who: Who, limit: int, cursor: str | None
) -> None:
    async with session.reading() as book:
        why = await book.why(party, id, cursor=cursor, limit=limit, **who)
    if session.print_json(why):
        return
    printer, record = session.printer, why.record
    printer.say(f"{record.type.value} {sort_of(record)}".rstrip(), "title")
    printer.block(text_of(record), indent="  ", style="strong")
    if why.sources:
        count = f", {why.source_count} in all" if why.source_count > len(why.sources) else ""
        printer.say(f"sources{count}", "title")
        print_sources(printer, why.sources)
        if why.cursor is not None:
            printer.say(f"more sources follow: --cursor {why.cursor}", "faint")
    else:
        printer.say("no sources that this view sees", "faint")
    if (episode := getattr(record, "source_episode", None)) is not None:
        printer.say(f"told of by episode {episode}", "faint")
    print_steps(printer, why.history)


@click.command("history")
@opens_book
@owned("[ID]", most=1)
@seen_as
@option(
    "--after POSITION",
    "Show only entries after this position.",
    of=click.IntRange(min=0),
    default=0,
)
@option("--limit N", "The most ledger entries to show [default: 100].", of=int, default=100)
def history_command(
    session: Session, party: Owner, words: Sequence[str], who: Who, after: int, limit: int
) -> None:
    """Show a record's changes, oldest first. With --as-owner and no ID, show the owner's ledger."""
    if words:
        session.run(_history(session, party, words[0], who))
    else:
        session.run(_ledger(session, party, who, after, limit))


async def _history(session: Session, party: Owner, id: str, who: Who) -> None:
    async with session.reading() as book:
        steps = await book.records.history(party, id, **who)
    if not session.print_json({"steps": steps}):
        print_steps(session.printer, steps)


async def _ledger(session: Session, party: Owner, who: Who, after: int, limit: int) -> None:
    async with session.reading() as book:
        entries = await book.records.ledger(party, after=after, limit=limit, **who)
    if not session.print_json({"entries": entries}):
        _print_entries(session.printer, entries)


def print_steps(printer: Printer, steps: Sequence[HistoryStep]) -> None:
    """Print the changes of one record."""
    columns = [
        Column("POSITION", right=True),
        Column("WHEN", "faint"),
        Column("BY"),
        Column("DONE"),
        Column("VERSION", right=True),
        Column("CONTENT AT THAT VERSION", flexible=True),
    ]
    rows = []
    for step in steps:
        if step.record is None:
            text = "(erased)"
        else:
            note = "withdrawn" if step.record.withdrawn else status_of(step.record)
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
    printer.table(columns, rows)


def _print_entries(printer: Printer, entries: Sequence[Entry]) -> None:
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
    printer.table(columns, rows)
