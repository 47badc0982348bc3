"""What an agent reads: ``context``."""

from __future__ import annotations

from collections.abc import Sequence

import click

from memoranda.book.parsing import Who
from memoranda.model.owner import Owner
from memoranda.recall.context.compose import Context
from memoranda.surfaces.cli.options import opens_book, owned, seen_as
from memoranda.surfaces.cli.paper import Paper
from memoranda.surfaces.cli.session import Session
from memoranda.surfaces.cli.telling import NOTHING_SEEN


@click.command("context")
@opens_book
@owned("[QUESTION...]")
@seen_as
@click.option("--thread", metavar="ID", help="The conversation that goes on; without a question, it asks.")
@click.option("--budget", type=int, default=2000, metavar="N", help="Tokens, at most [default: 2000].")
@click.option(
    "--limit",
    type=int,
    default=10,
    metavar="N",
    help="As much as recall finds, and as many memories [default: 10].",
)
@click.option(
    "--no-mark-used", "look", is_flag=True, help="Do not count the memories that are placed as used."
)
def context_command(
    session: Session,
    party: Owner,
    words: Sequence[str],
    who: Who,
    thread: str | None,
    budget: int,
    limit: int,
    look: bool,
) -> None:
    """Make the text that an agent reads before it answers: blocks within a budget of tokens.

    The memories that are placed count as used, unless you say --no-mark-used.
    """
    question = " ".join(words) or None
    made = session.run(_context(session, party, question, who, thread, budget, limit, not look))
    if not session.tell(made):
        tell_context(session.paper, made)


async def _context(
    session: Session,
    party: Owner,
    question: str | None,
    who: Who,
    thread: str | None,
    budget: int,
    limit: int,
    use: bool,
) -> Context:
    async with session.reading() as book:
        return await book.context(
            party, question, thread=thread, budget=budget, limit=limit, mark_used=use, **who
        )


def tell_context(paper: Paper, made: Context) -> None:
    """The text as it is, and below it what it takes."""
    if not made.text and made.left_out:
        paper.say(
            f"nothing fits: {len(made.left_out)} entries were left out; give more with --budget", "faint"
        )
        return
    if not made.text:
        paper.say(f"made of {NOTHING_SEEN}", "faint")
        return
    paper.block(made.text, indent="")
    paper.say()
    parts = ", ".join(f"{block.name} {block.tokens}" for block in made.blocks)
    paper.say(f"{made.tokens} tokens, {made.counted}: {parts}; left out: {len(made.left_out)}", "faint")
