"""What is known: ``remember``, ``retract`` and ``undo``."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from memoranda.book.parsing import Who
from memoranda.errors import InvalidInput
from memoranda.model.ledger import Receipt
from memoranda.model.memories import Cardinality
from memoranda.model.owner import Owner
from memoranda.model.trust import Trust
from memoranda.surfaces.cli.json_lines import objects
from memoranda.surfaces.cli.options import MOMENT, once, opens_book, owned, seen_as, seen_as_agent, versions
from memoranda.surfaces.cli.session import Session
from memoranda.surfaces.cli.telling import tell_receipt
from memoranda.surfaces.cli.vectors import finish, waits

#: Options that say how it is written, not what.
_HOW = ("audience", "run", "operation", "expect", "source_file", "wait")


@click.command("remember")
@opens_book
@owned("[CONTENT]", most=1)
@seen_as_agent
@once
@waits
@click.option(
    "--kind",
    metavar="KIND",
    help="preference, fact, instruction, context, experience or note [default: fact].",
)
@click.option(
    "--key", metavar="KEY", help="What it is of which one holds at a time; it supersedes what the key held."
)
@click.option("--subject", metavar="NAME", help="Whom or what it is about [default: the owner].")
@click.option(
    "--cardinality",
    type=click.Choice([each.value for each in Cardinality]),
    help="How many of its sort hold at a time.",
)
@click.option("--applies-when", metavar="TEXT", help="When it applies.")
@click.option("--data", metavar="JSON", help="Structured data beside the text.")
@click.option("--tag", "tags", metavar="TAG", multiple=True, help="A tag; repeatable.")
@click.option("--thread", metavar="ID", help="The thread in which it was told.")
@click.option(
    "--source", "sources", metavar="ID", multiple=True, help="A record that it rests on; repeatable."
)
@click.option("--supersedes", metavar="ID", multiple=True, help="A memory whose place it takes; repeatable.")
@click.option(
    "--trust", type=click.Choice([each.value for each in Trust]), help="How far it is to be believed."
)
@click.option("--pinned", is_flag=True, help="Never let go of to make room.")
@click.option("--valid-from", type=MOMENT, metavar="TIME", help="Since when it holds.")
@click.option("--valid-to", type=MOMENT, metavar="TIME", help="Until when it holds.")
@click.option("--at", "observed_at", type=MOMENT, metavar="TIME", help="When it was learnt [default: now].")
@click.option(
    "--audience",
    type=click.Choice(["self", "group", "global"]),
    help="Who may read it [default: as narrow as its sources, its thread or its agent].",
)
@click.option("--run", metavar="ID", help="The run that it is written in, for the limit on writes per run.")
@click.option(
    "--file",
    "source_file",
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="FILE",
    help="Statements as JSON Lines; - is standard input.",
)
@click.option(
    "--expect",
    metavar="ID=VERSION",
    multiple=True,
    help="A version that you have read, and build upon; repeatable.",
)
def remember_command(session: Session, party: Owner, words: Sequence[str], who: Who, **given: Any) -> None:
    """Keep a statement. With --file, several: all of them or none."""
    statements = _statements(words, given)
    how = {
        "audience": given["audience"],
        "run": given["run"],
        "operation": given["operation"],
        "expect": versions(given["expect"]) or None,
    }
    session.run(_told(session, "remember_all", party, statements, wait=given["wait"], **how, **who))


def _statements(words: Sequence[str], given: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    fields = {
        name: value for name, value in given.items() if name not in _HOW and value not in (None, (), False)
    }
    source: Path | None = given["source_file"]
    if source is None:
        if not words:
            raise click.UsageError("give CONTENT, or --file")
        return [{"content": words[0], **fields, **_data(fields)}]
    if words or fields:
        raise click.UsageError("with --file, each line has its own content and fields")
    with nullcontext(sys.stdin.buffer) if str(source) == "-" else source.open("rb") as lines:
        return list(objects(lines))


def _data(fields: Mapping[str, Any]) -> dict[str, Any]:
    if "data" not in fields:
        return {}
    try:
        return {"data": json.loads(fields["data"])}
    except ValueError as exc:
        raise InvalidInput(f"data: no JSON: {exc}", field="data") from exc


@click.command("retract")
@opens_book
@owned("ID", least=1, most=1)
@seen_as
@once
@click.option("--reason", metavar="TEXT", default="", help="Why it is no longer held.")
@click.option(
    "--source", is_flag=True, help="ID is a faulty message or episode: retract what rests on it alone."
)
def retract_command(
    session: Session,
    party: Owner,
    words: Sequence[str],
    who: Who,
    reason: str,
    source: bool,
    operation: str | None,
) -> None:
    """Say that a memory is no longer held; it stays in its history, and `undo` brings it back."""
    verb = "retract_source" if source else "retract"
    session.run(_told(session, verb, party, words[0], reason=reason, operation=operation, **who))


@click.command("undo")
@opens_book
@owned("POSITION", least=1, most=1)
@seen_as
@once
@click.option("--with-dependents", is_flag=True, help="Also reverse the later changes that build on it.")
def undo_command(
    session: Session,
    party: Owner,
    words: Sequence[str],
    who: Who,
    with_dependents: bool,
    operation: str | None,
) -> None:
    """Reverse a whole operation, by its position in the owner's ledger; undoing an undo restores.

    Receipts and `history` tell positions. Messages are not undone but forgotten.
    """
    if not words[0].isascii() or not words[0].isdigit():
        raise InvalidInput(
            f"position: {words[0]!r} is no position; receipts and history tell them", field="position"
        )
    session.run(
        _told(
            session, "undo", party, int(words[0]), with_dependents=with_dependents, operation=operation, **who
        )
    )


async def _told(session: Session, verb: str, *given: Any, wait: bool | None = None, **how: Any) -> None:
    """Write, and tell the receipt; ``wait`` is asked of what stores passages."""
    async with session.writing() as book:
        receipt: Receipt = await getattr(book, verb)(*given, **how)
        if wait is not None:
            receipt = await finish(session, book, receipt, wait=wait)
    if not session.tell(receipt):
        tell_receipt(session.paper, receipt)
