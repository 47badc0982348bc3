"""What is there: ``get`` and ``list``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from memoranda.book.parsing import Who
from memoranda.model.owner import Owner
from memoranda.model.query import Page
from memoranda.surfaces.cli.document import document
from memoranda.surfaces.cli.options import narrowed, opens_book, owned, seen_as
from memoranda.surfaces.cli.paper import Column
from memoranda.surfaces.cli.session import Session
from memoranda.surfaces.cli.telling import NOTHING_SEEN, tell_record, tell_records


@click.command("get")
@opens_book
@owned("ID", least=1, most=1)
@seen_as
def get_command(session: Session, party: Owner, words: Sequence[str], who: Who) -> None:
    """Show everything of one record."""
    session.run(_get(session, party, words[0], who))


async def _get(session: Session, party: Owner, id: str, who: Who) -> None:
    async with session.reading() as book:
        record = await book.get(party, id, **who)
    if not session.tell(record):
        tell_record(session.paper, record)


@click.command("list")
@opens_book
@owned(optional=True, most=0)
@seen_as
@narrowed
@click.option("--owners", is_flag=True, help="List the tenant's owners instead.")
@click.option("--count", is_flag=True, help="Only say how many there are.")
@click.option("--newest-first", is_flag=True, help="Newest first instead of oldest first.")
@click.option("--limit", type=int, default=50, metavar="N", help="At most so many [default: 50].")
@click.option("--cursor", metavar="TEXT", help="Where an earlier page ended.")
@click.option(
    "--all", "everything", is_flag=True, help="Page after page; with --json one record on each line."
)
def list_command(
    session: Session,
    party: Owner | None,
    words: Sequence[str],
    owners: bool,
    count: bool,
    everything: bool,
    **given: Any,
) -> None:
    """List what a view sees, a page at a time."""
    if owners:
        session.run(_owners(session))
        return
    if party is None:
        raise click.UsageError("whose? give OWNER, or list the owners with --owners")
    if count:
        session.run(_count(session, party, given))
    elif everything:
        session.run(_all(session, party, given))
    else:
        session.run(_list(session, party, given))


async def _owners(session: Session) -> None:
    async with session.reading() as book:
        found = await book.owners()
    if not session.tell({"owners": found}):
        session.paper.table(
            [Column("KIND"), Column("OWNER")], [[owner.kind.value, owner.id] for owner in found]
        )


async def _count(session: Session, party: Owner, given: dict[str, Any]) -> None:
    async with session.reading() as book:
        found = await book.count(party, types=given["types"], only=given["only"], **given["who"])
    if not session.tell({"count": found}):
        session.paper.say(str(found))


async def _list(session: Session, party: Owner, given: dict[str, Any]) -> None:
    who = given.pop("who")
    async with session.reading() as book:
        page: Page = await book.list(party, **given, **who)
    if session.tell(page):
        return
    if page.records:
        tell_records(session.paper, page.records)
    else:
        session.paper.say(NOTHING_SEEN, "faint")
    if page.cursor is not None:
        session.paper.say(f"there is more: --cursor {page.cursor}", "faint")


async def _all(session: Session, party: Owner, given: dict[str, Any]) -> None:
    who = given.pop("who")
    async with session.reading() as book:
        while True:
            page: Page = await book.list(party, **given, **who)
            if session.json:
                for record in page.records:
                    session.paper.document(document(record))
            elif page.records:
                tell_records(session.paper, page.records)
            if page.cursor is None:
                return
            given["cursor"] = page.cursor
