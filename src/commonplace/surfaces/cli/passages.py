"""What is found by its words: ``recall``."""

from __future__ import annotations

from collections.abc import Sequence

import click

from commonplace.book.parsing import Only, Who
from commonplace.model.owner import Owner
from commonplace.model.query import Hit
from commonplace.surfaces.cli.options import narrowed, opens_book, owned, seen_as
from commonplace.surfaces.cli.paper import Paper
from commonplace.surfaces.cli.session import Session
from commonplace.surfaces.cli.telling import NOTHING_SEEN, moment_of, sort_of, standing, when


@click.command("recall")
@opens_book
@owned("QUESTION...", least=1)
@seen_as
@narrowed
@click.option("--limit", type=int, default=10, metavar="N", help="At most so many [default: 10].")
def recall_command(
    session: Session,
    party: Owner,
    words: Sequence[str],
    who: Who,
    types: Sequence[str] | None,
    only: Only,
    limit: int,
) -> None:
    """Find what answers a question by its words, best first, and say which word gave how much."""
    hits = session.run(_recall(session, party, " ".join(words), who, types, only, limit))
    if session.tell({"hits": hits}):
        return
    for hit in hits:
        tell_hit(session.paper, hit)
    if not hits:
        session.paper.say(f"found {NOTHING_SEEN}", "faint")


async def _recall(
    session: Session,
    party: Owner,
    question: str,
    who: Who,
    types: Sequence[str] | None,
    only: Only,
    limit: int,
) -> Sequence[Hit]:
    async with session.reading() as book:
        return await book.recall(party, question, limit=limit, types=types, only=only, **who)


def tell_hit(paper: Paper, hit: Hit) -> None:
    """One passage, and why it was found."""
    record = hit.record
    words = ", ".join(f"{word} {share:.2f}" for word, share in hit.words)
    note = standing(record)
    paper.say(
        f"{hit.rank:>2}  {hit.score:.2f}  {record.type.value} {sort_of(record)}, {when(moment_of(record))}"
        + (f" [{note}]" if note else ""),
        "title",
    )
    paper.block(hit.text, indent="    ")
    paper.say(f"    words: {words}", "faint")
    paper.say(f"    {record.id}", "faint")
