"""What agents have learnt: ``experience``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from memoranda.model.experience import ExperienceLine
from memoranda.model.ledger import Receipt
from memoranda.surfaces.cli.options import opens_book
from memoranda.surfaces.cli.output.printer import Column
from memoranda.surfaces.cli.output.record_tables import print_receipt
from memoranda.surfaces.cli.session import Session


@click.group("experience", no_args_is_help=False)
def experience_command() -> None:
    """Look after what agents have learnt across users: whom each line serves, and whether it may."""


@experience_command.command("list")
@opens_book
@click.argument("agent")
@click.option("--for-user", metavar="USER", help="Only what may be read for this user.")
@click.option("--retired", is_flag=True, help="What was retired, too.")
@click.option("--limit", type=int, default=100, metavar="N", help="At most so many [default: 100].")
def list_command(session: Session, agent: str, for_user: str | None, retired: bool, limit: int) -> None:
    """List an agent's lines, with how many users each stems from, and whether it passed the guard for all."""
    found = session.run(_list(session, agent, for_user=for_user, retired=retired, limit=limit))
    if session.print_json({"lines": found}):
        return
    columns = [
        Column("ID"),
        Column("FIELD"),
        Column("USERS", right=True),
        Column("STANDING"),
        Column("LINE", flexible=True),
    ]
    rows = [[str(line.id), line.field, str(line.users), _standing(line), line.line] for line in found]
    if rows:
        session.printer.table(columns, rows)
    else:
        session.printer.say("nothing learnt", "faint")


def _standing(line: ExperienceLine) -> str:
    if line.retired_at is not None:
        return "retired"
    if line.approved_at is not None:
        return "approved"
    return "guarded" if line.guarded else "not passed"


async def _list(session: Session, agent: str, **how: Any) -> Sequence[ExperienceLine]:
    async with session.reading() as book:
        return await book.experience.list(agent, **how)


@experience_command.command("approve")
@opens_book
@click.argument("agent")
@click.argument("id")
@click.option("--revoke", is_flag=True, help="Revoke an approval.")
def approve_command(session: Session, agent: str, id: str, revoke: bool) -> None:
    """Let a line serve every user: read it first, for whoever stands in it is told to all."""
    session.run(_write(session, "approve", agent, id, approved=not revoke))


@experience_command.command("check-privacy")
@opens_book
@click.argument("agent")
@click.argument("id")
def check_privacy_command(session: Session, agent: str, id: str) -> None:
    """Hold a line against the records of everyone it stems from once more."""
    session.run(_write(session, "check_privacy", agent, id))


@experience_command.command("retire")
@opens_book
@click.argument("agent")
@click.argument("id")
@click.option("--reason", metavar="TEXT", default="", help="Why it serves no more.")
def retire_command(session: Session, agent: str, id: str, reason: str) -> None:
    """Take a line out of service; a lesson that repeats it does not bring it back."""
    session.run(_write(session, "retire", agent, id, reason=reason))


async def _write(session: Session, verb: str, agent: str, id: str, **how: Any) -> None:
    async with session.writing() as book:
        receipt: Receipt = await getattr(book.experience, verb)(agent, id, **how)
    if not session.print_json(receipt):
        print_receipt(session.printer, receipt)
