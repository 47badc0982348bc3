"""The command ``views``: what people at a shell of MongoDB find beside the book's own
collections.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import click

from memoranda.cli.command_group import CommandGroup
from memoranda.cli.option_forms import option
from memoranda.cli.options import opens_book
from memoranda.cli.session import Session
from memoranda.errors import InvalidInput
from memoranda.model.server_facts import ViewsMade


@runtime_checkable
class WithViews(Protocol):
    """An engine whose database shows views of the records."""

    async def make_views(self, set: str = "", prefix: str = "") -> ViewsMade:
        """Make the views of a set that are missing."""


@click.group("views", cls=CommandGroup)
def views_command() -> None:
    """Make views of a book on MongoDB for people at a shell."""


@views_command.command("create")
@option(
    "--seed",
    "Make instead: users, agents, tasks (000); short_term_memory, episodic_memory, semantic_memory (002); usermemories (003).",
    of=["000", "002", "003"],
)
@option("--prefix P", "Begin their names with this.", default="")
@opens_book
def create_command(session: Session, seed: str | None, prefix: str) -> None:
    """Make the views that are missing: threads, messages, episodes, memories, profiles, experience.

    A name that something else has is left alone. To change a view, drop it and make it again.
    """
    made = session.run(_create(session, seed, prefix))
    if not session.print_json(made):
        for names, what in (
            (made.made, "made"),
            (made.there, "there already"),
            (made.taken, "left alone, the name is taken"),
        ):
            if names:
                session.printer.say(
                    f"{what}: {', '.join(names)}", "warning" if names is made.taken else "good"
                )


async def _create(session: Session, seed: str | None, prefix: str) -> ViewsMade:
    async with session.writing() as book:
        if not isinstance(book.engine, WithViews):
            raise InvalidInput("--book: views are made in a book on MongoDB", field="book")
        return await book.engine.make_views(seed or "", prefix)
