"""The commands ``restrict`` and ``unrestrict``: what is done with an owner's data."""

from __future__ import annotations

import click

from memoranda.cli.option_forms import option
from memoranda.cli.options import opens_book
from memoranda.cli.session import Session
from memoranda.model.service_records import Restriction


@click.command("restrict")
@opens_book
@click.argument("owner")
@option("--keep-unread", "Store new content, unread; without it, new content is refused.")
@option("--show", "Change nothing; show the restriction.")
def restrict_command(session: Session, owner: str, keep_unread: bool, show: bool) -> None:
    """Restrict the processing of an owner's data: nothing of it is formed, recalled or placed in a
    context.

    The owner's own view, export and erasure stay possible. The restriction survives an erasure.
    """
    found = session.run(
        _restriction(session, owner) if show else _restrict(session, owner, keep_unread)
    )
    if session.print_json(found):
        return
    if found is None:
        session.printer.say(f"{owner} is not restricted")
    else:
        what = "stored unread" if found.appends == "keep_unread" else "refused"
        session.printer.say(
            f"{owner} has been restricted since {found.at:%Y-%m-%d %H:%M} UTC; new content is {what}",
            "good",
        )


async def _restriction(session: Session, owner: str) -> Restriction | None:
    async with session.reading() as book:
        return await book.admin.restriction(owner)


async def _restrict(session: Session, owner: str, keep_unread: bool) -> Restriction | None:
    async with session.writing() as book:
        return await book.admin.restrict(owner, appends="keep_unread" if keep_unread else "refuse")


@click.command("unrestrict")
@opens_book
@click.argument("owner")
def unrestrict_command(session: Session, owner: str) -> None:
    """Lift the restriction of an owner: what was kept unread is read again."""
    lifted = session.run(_unrestrict(session, owner))
    if not session.print_json({"lifted": lifted}):
        session.printer.say("lifted" if lifted else f"{owner} was not restricted", "good")


async def _unrestrict(session: Session, owner: str) -> bool:
    async with session.writing() as book:
        return await book.admin.unrestrict(owner)
