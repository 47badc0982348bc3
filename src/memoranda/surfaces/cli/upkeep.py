"""The book as a whole: ``init``, ``verify`` and ``rebuild``."""

from __future__ import annotations

from collections.abc import Mapping

import click

from memoranda.model.facts import BookFacts, Findings
from memoranda.surfaces.cli import exits
from memoranda.surfaces.cli.options import opens_book
from memoranda.surfaces.cli.session import Session, path_of


@click.command("init")
@opens_book
def init_command(session: Session) -> None:
    """Make a book at --book; one that is there already stays as it is.

    Only init, restore and `demo --keep` make books: a mistyped path never becomes an empty one.
    """
    path = path_of(session.address)
    there = path is not None and path.exists() and path.stat().st_size > 0
    facts = session.run(_init(session))
    if not session.tell({"address": facts.address, "format": facts.format, "made": not there}):
        session.paper.say(
            f"{'there is a book already at' if there else 'made a book at'} {facts.address}", "good"
        )


async def _init(session: Session) -> BookFacts:
    async with session.making() as book:
        return await book.facts()


@click.command("verify")
@opens_book
def verify_command(session: Session) -> None:
    """Hold every record against the ledger; exit code 1 where something is not as the ledger says."""
    found = session.run(_verify(session))
    if not session.tell({"whole": not found.faults, "findings": found}):
        _tell(session, found)
    if found.faults:
        exits.leave(exits.FOUND_FAULTS)


async def _verify(session: Session) -> Findings:
    async with session.reading() as book:
        with session.progress("verifying") as progress:
            return await book.verify(progress)


def _tell(session: Session, found: Findings) -> None:
    paper = session.paper
    for fault in found.faults:
        paper.say(f"fault: {fault}", "bad")
    paper.say(
        f"held against the ledger: {found.records} records, {found.versions} earlier versions, {found.entries} entries"
    )
    if found.faults:
        paper.say(f"{len(found.faults)} faults; restore a backup, or export what can still be read", "bad")
    else:
        paper.say("all is as the ledger says", "good")


@click.command("rebuild")
@opens_book
def rebuild_command(session: Session) -> None:
    """Make anew what code derives from the records: columns, links, counts and terms.

    It calls no language model, and never touches memories, profiles, episodes, experience or use.
    """
    done = session.run(_rebuild(session))
    if not session.tell({"rebuilt": done}):
        parts = ", ".join(f"{number} {name}" for name, number in done.items())
        session.paper.say(f"made anew: {parts or 'nothing, the book is empty'}", "good")


async def _rebuild(session: Session) -> Mapping[str, int]:
    async with session.writing() as book:
        with session.progress("rebuilding") as progress:
            return await book.rebuild(progress)
