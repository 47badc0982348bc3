"""The command group ``experience``: lists and reviews the lines (short lessons) that agents have
learnt.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from memoranda.cli.command_group import CommandGroup
from memoranda.cli.option_forms import option
from memoranda.cli.options import opens_book
from memoranda.cli.output.printer import Column
from memoranda.cli.output.record_tables import print_receipt
from memoranda.cli.session import Session
from memoranda.model.experience_lines import ExperienceLine
from memoranda.model.ledger import Receipt


@click.group("experience", no_args_is_help=False, cls=CommandGroup)
def experience_command() -> None:
    """List and review what agents have learnt across users, one line at a time."""


@experience_command.command("list")
@opens_book
@click.argument("agent")
@option("--for-user USER", "Only lines that may be read when the agent works for this user.")
@option("--retired", "Also list retired lines.")
@option("--limit N", "The most lines to show [default: 100].", of=int, default=100)
def list_command(
    session: Session, agent: str, for_user: str | None, retired: bool, limit: int
) -> None:
    """List an agent's lines, with the number of users each was learnt from and its status."""
    found = session.run(_list(session, agent, for_user=for_user, retired=retired, limit=limit))
    if session.print_json({"lines": found}):
        return
    columns = [
        Column("ID"),
        Column("FIELD"),
        Column("USERS", right=True),
        Column("STATUS"),
        Column("LINE", flexible=True),
    ]
    rows = [[str(line.id), line.field, str(line.users), _status(line), line.line] for line in found]
    if rows:
        session.printer.table(columns, rows)
    else:
        session.printer.say("this agent has learnt nothing", "faint")


def _status(line: ExperienceLine) -> str:
    if line.retired_at is not None:
        return "retired"
    if line.approved_at is not None:
        return "approved"
    if line.waits:
        return "waits for approval"
    return "guarded" if line.guarded else "not passed"


async def _list(session: Session, agent: str, **how: Any) -> Sequence[ExperienceLine]:
    async with session.reading() as book:
        return await book.experience.list(agent, **how)


@experience_command.command("approve")
@opens_book
@click.argument("agent")
@click.argument("id")
@option("--revoke", "Revoke the approval.")
def approve_command(session: Session, agent: str, id: str, revoke: bool) -> None:
    """Approve a line for all users. Read it first: everybody will see the people it names."""
    session.run(_write(session, "approve", agent, id, approved=not revoke))


@experience_command.command("check-privacy")
@opens_book
@click.argument("agent")
@click.argument("id")
def check_privacy_command(session: Session, agent: str, id: str) -> None:
    """Check a line again against the records of all users it was learnt from."""
    session.run(_write(session, "check_privacy", agent, id))


@experience_command.command("retire")
@opens_book
@click.argument("agent")
@click.argument("id")
@option("--reason TEXT", "Why it is retired.", default="")
def retire_command(session: Session, agent: str, id: str, reason: str) -> None:
    """Retire a line. A later lesson that says the same does not bring it back."""
    session.run(_write(session, "retire", agent, id, reason=reason))


async def _write(session: Session, verb: str, agent: str, id: str, **how: Any) -> None:
    async with session.writing() as book:
        receipt: Receipt = await getattr(book.experience, verb)(agent, id, **how)
    if not session.print_json(receipt):
        print_receipt(session.printer, receipt)
