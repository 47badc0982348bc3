"""Forgetting for good: ``forget``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import click

from commonplace.book import Book
from commonplace.book.parsing import Who, as_ids, as_view
from commonplace.errors import NotFound
from commonplace.model.owner import Owner
from commonplace.ports import ErasureReceipt
from commonplace.surfaces.cli.options import opens_book, owned, seen_as
from commonplace.surfaces.cli.paper import Column, Paper
from commonplace.surfaces.cli.session import Session, confirm
from commonplace.surfaces.cli.telling import tell_records

#: So many records are shown before the question.
_SHOWN = 10


@click.command("forget")
@opens_book
@owned("[ID...]")
@seen_as
@click.option("--everything", is_flag=True, help="All that the book holds of the owner; with --as-owner.")
@click.option("--backups", is_flag=True, help="Rewrite the book's own backups without it, too.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def forget_command(
    session: Session, party: Owner, words: Sequence[str], who: Who, yes: bool, **how: bool
) -> None:
    """Remove for good: memories, messages, episodes or threads by id, with all that rests on them alone.

    It cannot be undone. The receipt counts what went, place by place, and says what may still hold it.
    """
    if how["everything"] == bool(words):
        raise click.UsageError("name what to forget by its ID, or ask for --everything")
    receipt = session.run(_forget(session, party, words, who, yes, how))
    if not session.tell(receipt):
        tell_erasure(session.paper, receipt)


async def _forget(
    session: Session, party: Owner, words: Sequence[str], who: Who, yes: bool, how: Mapping[str, bool]
) -> ErasureReceipt:
    async with session.writing() as book:
        if how["everything"]:
            what = f"everything of {party}"
        else:
            what = await _named(session, book, party, as_ids(words), who, quiet=yes)
        confirm(f"Forget {what}, with all that rests on it alone? This cannot be undone.", yes=yes)
        return await book.forget(party, words, **how, **who)


async def _named(
    session: Session, book: Book, party: Owner, ids: tuple[UUID, ...], who: Who, *, quiet: bool
) -> str:
    """What is to be forgotten, in words, and shown before the question."""
    found = await book.engine.get(party, as_view(who), ids)
    if not found:
        raise NotFound(f"there is nothing under {', '.join(map(str, ids))} that this view may see")
    if not quiet and not session.json:
        tell_records(session.paper, list(found.values())[:_SHOWN])
    return f"{len(found)} {'record' if len(found) == 1 else 'records'} of {party}"


def tell_erasure(paper: Paper, receipt: ErasureReceipt) -> None:
    """What went, what stays, and what may still hold it."""
    paper.say(f"forgotten for good, of {receipt.owner}", "good")
    if receipt.removed:
        rows = [[place, str(number)] for place, number in receipt.removed.items()]
        paper.table([Column("PLACE"), Column("REMOVED", right=True)], rows)
    _tell_ids(paper, "not there for this view:", receipt.unknown, "warning")
    _tell_ids(paper, "stays, resting on its other sources alone:", receipt.kept)
    _tell_ids(paper, "older statements that it had superseded; they stay:", receipt.superseded)
    if receipt.era is not None:
        paper.say(f"the owner's era {receipt.era} has ended; the same name may begin anew, empty", "faint")
    if receipt.held_by:
        paper.say("still held by these backups; forget with --backups, or delete them:", "warning")
        for place in receipt.held_by:
            paper.say(f"  {place}")
    state = f"{receipt.state}: {receipt.pending}" if receipt.pending else receipt.state
    paper.say(f"the book's own files: {state}", "warning" if receipt.pending else "")
    if receipt.pending:
        paper.say("  to finish it: commonplace jobs run", "warning")
    if receipt.unseen:
        paper.say("cannot be seen from here:", "faint")
        for place in receipt.unseen:
            paper.block(place, indent="  ", style="faint")


def _tell_ids(paper: Paper, label: str, ids: Sequence[Any], style: str = "") -> None:
    if ids:
        paper.say(label, style)
        for id in ids:
            paper.say(f"  {id}")
