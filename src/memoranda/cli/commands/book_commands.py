"""Commands for the book as a whole: ``init``, ``verify``, ``rebuild`` and ``reembed``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from memoranda.cli import exits
from memoranda.cli.commands.views_commands import WithViews
from memoranda.cli.options import opens_book
from memoranda.cli.output.terminal import counted
from memoranda.cli.session import Session, path_of
from memoranda.errors import EmbeddingFailed
from memoranda.model.query import BookFacts, Findings


@click.command("init")
@opens_book
def init_command(session: Session) -> None:
    """Create a book at --book; an existing book stays unchanged.

    Only init, restore, copy, backup and `demo --keep` create books, so that a mistyped path never
    becomes an empty book.
    """
    path = path_of(session.address)
    there = path is not None and path.exists() and path.stat().st_size > 0
    facts = session.run(_init(session))
    if not session.print_json(
        {"address": facts.address, "format": facts.format, "made": not there}
    ):
        session.printer.say(
            f"{'this book already exists:' if there else 'created the book'} {facts.address}",
            "good",
        )


async def _init(session: Session) -> BookFacts:
    async with session.making() as book:
        facts = await book.admin.facts()
        if isinstance(book.engine, WithViews) and not facts.owners:
            await book.engine.make_views()
        return facts


@click.command("verify")
@opens_book
def verify_command(session: Session) -> None:
    """Check every record against the ledger, the list of all changes; exit code 1 if a record
    differs from it.

    With --tenant only that tenant's records are checked, and all tables.
    """
    found = session.run(_verify(session))
    if not session.print_json({"whole": not found.faults, "findings": found}):
        _print_findings(session, found)
    if found.faults:
        exits.leave(exits.FOUND_FAULTS)


async def _verify(session: Session) -> Findings:
    async with session.reading() as book:
        with session.progress("verifying") as progress:
            return await book.admin.verify(progress, whole=session.whole)


def _print_findings(session: Session, found: Findings) -> None:
    printer = session.printer
    for fault in found.faults:
        printer.say(f"fault: {fault}", "bad")
    printer.say(
        f"checked against the ledger: {counted(found.records, 'record')}, {counted(found.versions, 'earlier version')}, "
        f"{counted(found.entries, 'entry', 'entries')}"
    )
    if found.faults:
        printer.say(
            f"{counted(len(found.faults), 'fault')}: restore a backup, or export what can still be read",
            "bad",
        )
    else:
        printer.say("everything matches the ledger", "good")


@click.command("rebuild")
@opens_book
def rebuild_command(session: Session) -> None:
    """Recompute what code derives from the records: columns, links, counts and search terms.

    It calls no language model, and changes no memory, profile, episode or experience, nor how often
    memories were used.
    """
    done = session.run(_rebuild(session))
    if not session.print_json({"rebuilt": done}):
        parts = ", ".join(f"{number} {name}" for name, number in done.items())
        session.printer.say(f"recomputed: {parts or 'nothing, the book is empty'}", "good")


async def _rebuild(session: Session) -> Mapping[str, int]:
    async with session.writing() as book:
        with session.progress("rebuilding") as progress:
            return await book.admin.rebuild(progress)


@click.command("reembed")
@opens_book
def reembed_command(session: Session) -> None:
    """Compute the vectors of all passages with the configured embedder, then let recall use them.

    Recall uses the old vectors until all new ones are there. Vectors that are already computed are
    kept: run an interrupted command again, and it continues.
    """
    made, vectors = session.run(_reembed(session))
    if not session.print_json({"made": made, "vectors": vectors}):
        session.printer.say(
            f"computed now: {made}; recall uses {vectors['reads']}: "
            f"{vectors['have']} of {vectors['passages']} passages have their vectors",
            "good",
        )


async def _reembed(session: Session) -> tuple[int, dict[str, Any]]:
    async with session.writing() as book:
        lack = await book.embeddings.lack()
        try:
            with session.progress("embedding") as progress:
                made = await book.admin.reembed(lambda made: progress(made, lack))
        except EmbeddingFailed as exc:
            if book.embeddings.maker is None:
                raise
            raise type(exc)(
                f"{exc}; the vectors computed so far are kept: run it again to continue"
            ) from exc
        return made, (await book.admin.facts(whole=True)).details["vectors"]
