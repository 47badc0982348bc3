"""The command ``audit``: lists who read what kind of thing about whom through a service."""

from __future__ import annotations

from datetime import datetime

import click

from memoranda.cli.option_forms import option
from memoranda.cli.options import opens_book, owned
from memoranda.cli.output.printer import Column
from memoranda.cli.session import Session
from memoranda.model.records import Owner
from memoranda.model.service_records import ReadLine

_PAGE = 1000


@click.command("audit")
@opens_book
@owned(optional=True, most=0)
@option("--since TIME", "Only reads at this time or later.")
@option("--limit N", "The most lines to show [default: 1000].", of=click.IntRange(1), default=1000)
def audit_command(
    session: Session,
    party: Owner | None,
    words: tuple[str, ...],
    since: datetime | None,
    limit: int,
) -> None:
    """List who asked through a service or MCP what kind of thing about whom, oldest first; about
    one owner, or about anybody.

    Owners are stored as keyed digests: name the owner to find their lines. What was answered is not
    stored.
    """
    lines = session.run(_read(session, party, since, limit))
    if session.print_json({"reads": lines}):
        return
    if not lines:
        session.printer.say("no read was noted", "faint")
        return
    columns = [
        Column("TIME"),
        Column("WHO"),
        Column("ASKED"),
        Column("BY"),
        Column("ABOUT", flexible=True),
    ]
    rows = [
        [
            f"{line.at:%Y-%m-%d %H:%M:%S}",
            line.principal,
            line.verb,
            line.surface,
            _about(line, party),
        ]
        for line in lines
    ]
    session.printer.table(columns, rows)


async def _read(
    session: Session, party: Owner | None, since: datetime | None, limit: int
) -> list[ReadLine]:
    found: list[ReadLine] = []
    cursor: str | None = None
    async with session.reading() as book:
        while len(found) < limit:
            page = await book.admin.reads(
                party, since=since, cursor=cursor, limit=min(_PAGE, limit - len(found))
            )
            found += page.lines
            cursor = page.cursor
            if cursor is None:
                break
    return found


def _about(line: ReadLine, party: Owner | None) -> str:
    return str(party) if party is not None else line.owner or "the whole tenant"
