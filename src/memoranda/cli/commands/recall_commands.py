"""Commands that search the book: ``recall`` and ``context``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from memoranda.book.input import MODES, Only, Who
from memoranda.cli.option_forms import option
from memoranda.cli.options import narrowed, opens_book, owned, seen_as
from memoranda.cli.output.printer import Printer
from memoranda.cli.output.record_tables import (
    moment_of,
    nothing_seen,
    print_sources,
    sort_of,
    status_of,
    text_of,
    when,
)
from memoranda.cli.output.terminal import counted
from memoranda.cli.session import Session
from memoranda.model.query import Because, Hit, Hits, MissingHit
from memoranda.model.records import PASSAGE_TYPES, Owner
from memoranda.recall.context.result import Context

_FOLDED = {
    Because.SAME: "says the same",
    Because.SOURCE: "comes from",
    Because.CONCLUSION: "led to",
}
#: The length of a bar for a term of 1.
_BAR = 40


@click.command("recall")
@opens_book
@owned("QUESTION...", least=1)
@seen_as
@narrowed
@option("--limit N", "The most hits to show [default: 10].", of=int, default=10)
@option("--mode", "The way to search [default: hybrid].", of=MODES, default="hybrid")
@option("--pinned-first", "List the hits that are pinned memories first.")
@option("--at-least SHARE", "Leave out hits with less confidence than this, from 0 to 1.", of=float)
@option(
    "--explain",
    "Show the scores of each search method, and the records that just missed the limit.",
)
@option("--full", "Show long texts whole; a terminal shows the part that answers.")
@option("--why-not ID...", "Explain why this record is not among the hits; repeatable.")
def recall_command(
    session: Session,
    party: Owner,
    words: Sequence[str],
    who: Who,
    types: Sequence[str] | None,
    only: Only,
    limit: int,
    mode: str,
    pinned_first: bool,
    at_least: float | None,
    explain: bool,
    full: bool,
    why_not: Sequence[str],
) -> None:
    """Find the records that answer a question by words and meaning, best first, and say why each
    was found.
    """
    how = {
        "limit": limit,
        "types": types,
        "mode": mode,
        "pinned_first": pinned_first,
        "at_least": at_least,
    }
    hits, none = session.run(
        _recall(session, party, " ".join(words), only, who, explain=why_not or explain, **how)
    )
    if session.print_json(
        {"hits": list(hits), "missing": hits.missing, "no_vectors_because": hits.no_vectors_because}
    ):
        return
    for hit in hits:
        print_hit(session.printer, hit, explained=explain, full=full)
    if not hits:
        session.printer.say(f"nothing found: {none}", "faint")
    print_missing(session.printer, hits.missing)
    if explain and hits.no_vectors_because:
        session.printer.say(f"searched by words alone: {hits.no_vectors_because}", "faint")


async def _recall(
    session: Session, party: Owner, question: str, only: Only, who: Who, **how: Any
) -> tuple[Hits, str]:
    """Return the hits, and where there are none why."""
    async with session.reading() as book:
        hits = await book.recall(party, question, only=only, **how, **who)
        types = how["types"] or PASSAGE_TYPES
        return hits, "" if hits else await nothing_seen(book, party, who, types, searched=True)


def print_hit(printer: Printer, hit: Hit, *, explained: bool = False, full: bool = False) -> None:
    """Print one hit, and why it was found; unless ``full``, a terminal shows the beginning of a
    long text.
    """
    record = hit.record
    note = ", ".join(filter(None, [status_of(record), "past" if hit.past else ""]))
    printer.say(
        f"{hit.rank:>2}  {hit.score:.2f}  {record.type.value} {sort_of(record)}, {when(moment_of(record))}"
        + (f" [{note}]" if note else ""),
        "title",
    )
    printer.block(hit.text if full else printer.begun(hit.text, hit.excerpt), indent="    ")
    if reasons := reasons_of(hit):
        printer.say(f"    {reasons}", "faint")
    if hit.disputed:
        printer.say(f"    disputed: {hit.disputed}", "faint")
    if explained:
        _print_terms(printer, hit)
        if hit.conditions:
            printer.say("    met: " + ", ".join(hit.conditions), "faint")
    for other in hit.folded:
        printer.say(f"    {_FOLDED[other.because]}  {other.record.id}", "faint")
        if other.because is not Because.SAME:
            printer.block(
                f"“{text_of(other.record) if full else printer.begun(text_of(other.record))}”",
                indent="      ",
            )
    shown = {other.record.id for other in hit.folded}
    print_sources(
        printer, [source for source in hit.sources if source.id not in shown], indent="    "
    )
    printer.say(f"    {record.id}", "faint")


def reasons_of(hit: Hit) -> str:
    """Say in one line why a hit was found."""
    reasons = []
    if hit.words:
        reasons.append("words: " + ", ".join(f"{word} {share:.2f}" for word, share in hit.words))
    elif dict(hit.terms).get("words"):
        reasons.append("next to words of the question")
    if hit.near_words:
        reasons.append(
            "near words: " + ", ".join(f"{word} {share:.2f}" for word, share in hit.near_words)
        )
    if (hit.cosine or 0.0) > 0:
        reasons.append(f"meaning: {hit.cosine:.2f}")
    if hit.strength is not None:
        reasons.append(
            f"strength: {hit.strength:.2f}"
            + (f", used {counted(hit.uses, 'time')}" if hit.uses else "")
        )
    if hit.confidence is not None:
        reasons.append(f"confidence: {hit.confidence:.2f}")
    return " · ".join(reasons)


def _print_terms(printer: Printer, found: Hit | MissingHit, indent: str = "    ") -> None:
    """Print the terms that add up to a score, each with a bar."""
    width = max((len(term) for term, _ in found.terms), default=0)
    for term, amount in found.terms:
        bar = "█" * round(_BAR * amount)
        printer.say(f"{indent}{term:<{width}}  {amount:.2f}  {bar}".rstrip(), "faint")


def print_missing(printer: Printer, missing: Sequence[MissingHit]) -> None:
    """Print why other records were not found."""
    if missing:
        printer.say("not among the hits", "title")
    for one in missing:
        printer.say(f"    {one.id}  {one.because.value}")
        printer.block(one.reason, indent="      ")
        _print_terms(printer, one, "      ")


@click.command("context")
@opens_book
@owned("[QUESTION...]")
@seen_as
@option(
    "--thread ID",
    "The current conversation; without a QUESTION, its last messages are the question.",
)
@option("--budget N", "The most tokens to use [default: 2000].", of=int, default=2000)
@option(
    "--limit N",
    "The most hits of recall, and the most memories [default: as many as the budget holds].",
    of=int,
)
@option("--type TYPE...", "Only records of this type; repeatable.", "types")
@option("--kind KIND...", "Only memories of this kind; repeatable.", "kinds")
@option("--time-zone ZONE", "Add the time in this zone, such as Europe/Lisbon.")
@option("--no-mark-used", "Do not count the memories that are placed as used.", "look")
def context_command(
    session: Session,
    party: Owner,
    words: Sequence[str],
    who: Who,
    look: bool,
    types: Sequence[str],
    kinds: Sequence[str],
    **given: Any,
) -> None:
    """Build the text that an agent reads before it answers: blocks within a budget of tokens.

    The memories that are placed count as used, unless you say --no-mark-used.
    """
    question = " ".join(words) or None
    chosen = {"types": types or None, "kinds": kinds or None, "mark_used": not look}
    made, none = session.run(_context(session, party, question, who, {**given, **chosen}))
    if not session.print_json(made.as_json()):
        print_context(session.printer, made, none)


async def _context(
    session: Session, party: Owner, question: str | None, who: Who, given: Mapping[str, Any]
) -> tuple[Context, str]:
    """Return the context, and where it is empty why."""
    async with session.reading() as book:
        made = await book.context(party, question, **given, **who)
        types = given["types"] or PASSAGE_TYPES
        return made, "" if made.text else await nothing_seen(
            book, party, who, types, searched=bool(question)
        )


def print_context(printer: Printer, made: Context, none: str) -> None:
    """Print the text unchanged, and below it how many tokens it takes; or why there is ``none``."""
    if not made.text and made.left_out:
        reasons = sorted({one.reason for one in made.left_out})
        cure = "; raise --budget" if "budget" in reasons else ""
        printer.say(
            f"nothing fits: {len(made.left_out)} left out ({', '.join(reasons)}){cure}", "faint"
        )
        return
    if not made.text:
        printer.say(f"empty: {none}", "faint")
        return
    printer.block(made.text, indent="")
    printer.say()
    parts = ", ".join(f"{block.name} {block.tokens}" for block in made.blocks)
    printer.say(
        f"{made.tokens} tokens, {made.counted}: {parts}; left out: {len(made.left_out)}", "faint"
    )
