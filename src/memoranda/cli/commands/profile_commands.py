"""The commands about a person: ``profile`` and ``about``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import click

from memoranda.book.about import About
from memoranda.book.input import Who
from memoranda.cli.option_forms import option
from memoranda.cli.options import opens_book, owned, seen_as
from memoranda.cli.output.printer import Printer
from memoranda.cli.output.record_tables import (
    nothing_seen,
    print_receipt,
    print_sources,
    readers_of,
    restricted_since,
    what_waits,
)
from memoranda.cli.output.terminal import counted
from memoranda.cli.session import Session
from memoranda.errors import NotFound
from memoranda.model.ledger import Receipt
from memoranda.model.profiles import ProfileDocument
from memoranda.model.records import EVERYONE, Owner


@click.command("profile")
@opens_book
@owned(most=0)
@seen_as
@option("--schema NAME", "The kind of document [default: Profile].", default="Profile")
@option("--set FIELD=VALUE...", "Set a field as the person; repeatable.", "fields")
@option("--unset FIELD...", "Remove a field as the person; repeatable.")
def profile_command(
    session: Session,
    party: Owner,
    words: Sequence[str],
    who: Who,
    schema: str,
    fields: Sequence[str],
    unset: Sequence[str],
) -> None:
    """Show a person's profile, or set and remove its fields as the person.

    A VALUE that is JSON is taken as JSON, and anything else as text. A field that several documents
    have is changed in each of them; a new field goes where all agents read it. Agents cannot change
    what the person has set.
    """
    given = dict(_pair(pair) for pair in fields)
    if given or unset:
        receipts = session.run(_change(session, party, schema, given, unset))
        if not session.print_json({"receipts": receipts}):
            for receipt in receipts:
                print_receipt(session.printer, receipt)
        return
    documents, none = session.run(_documents(session, party, schema, who))
    if not session.print_json({"documents": documents}):
        _print_profile(session.printer, documents)
        if not documents:
            session.printer.say(none, "faint")


def _pair(pair: str) -> tuple[str, Any]:
    name, sign, value = pair.partition("=")
    if not sign or not name.strip():
        raise click.UsageError(f"--set {pair!r}: give FIELD=VALUE")
    try:
        return name.strip(), json.loads(value)
    except (ValueError, RecursionError):
        return name.strip(), value


async def _documents(
    session: Session, party: Owner, schema: str, who: Who
) -> tuple[list[ProfileDocument], str]:
    async with session.reading() as book:
        found = await book.profiles.documents(party, schema, **who)
        return found, "" if found else await nothing_seen(book, party, who)


async def _change(
    session: Session, party: Owner, schema: str, given: dict[str, Any], unset: Sequence[str]
) -> list[Receipt]:
    """Change each document that has one of the fields; fields that none has are set for all
    agents.
    """
    async with session.writing() as book:
        documents = await book.profiles.documents(party, schema, as_owner=True)
        new = {name for name in given if not any(name in document.body for document in documents)}
        missing = [
            name for name in unset if not any(name in document.body for document in documents)
        ]
        if missing:
            raise NotFound(f"unset: no document of this profile has a field {missing[0]!r}")
        held = {document.audience: set(document.body) for document in documents}
        receipts = []
        for audience in held if not new or EVERYONE in held else (*held, EVERYONE):
            has = held.get(audience, set()) | (new if audience == EVERYONE else set())
            own = {name: value for name, value in given.items() if name in has}
            gone = [name for name in unset if name in has]
            if own or gone:
                receipts.append(
                    await book.profiles.patch(
                        party, own, unset=gone, schema=schema, audience=audience, as_owner=True
                    )
                )
    return receipts


@click.command("about")
@opens_book
@owned(most=0)
@seen_as
@option("--limit N", "The most memories to show [default: 100].", of=int, default=100)
def about_command(
    session: Session, party: Owner, words: Sequence[str], who: Who, limit: int
) -> None:
    """Show what is known about a person: profile, memories with their sources and readers, and
    counts.

    Without --agent and --as-owner it shows what all agents of the person may read.
    """
    found, none = session.run(_about(session, party, who, limit))
    if session.print_json(found):
        return
    printer = session.printer
    _print_profile(printer, found.profile)
    for known in found.memories:
        memory = known.memory
        named = f"{memory.kind}, key {memory.key}" if memory.key else memory.kind
        printer.say(f"{named}: {printer.begun(memory.content)}", "strong")
        printer.say(
            f"  read by {readers_of(memory.audience)}; {memory.trust.value}; {memory.id}", "faint"
        )
        print_sources(printer, known.sources)
    if none:
        printer.say(none, "faint")
    _print_counts(printer, found)


async def _about(session: Session, party: Owner, who: Who, limit: int) -> tuple[About, str]:
    async with session.reading() as book:
        found = await book.about(party, limit=limit, **who)
        if found.profile or found.memories:
            return found, await restricted_since(book, party) or what_waits(found.waiting, party)
        types = ("memory", "profile")
        return found, await nothing_seen(book, party, who, types, sought="memories and no profile")


def _print_profile(printer: Printer, documents: Sequence[ProfileDocument]) -> None:
    for document in documents:
        printer.say(f"{document.schema_name}, read by {readers_of(document.audience)}", "title")
        printer.pairs(
            [
                (
                    f"{name} (set by the person)" if name in document.pinned else name,
                    value if isinstance(value, str) else json.dumps(value, ensure_ascii=False),
                )
                for name, value in document.body.items()
            ]
        )


def _print_counts(printer: Printer, found: About) -> None:
    printer.say()
    several = f"; several agents may read {len(found.shared)} of those" if found.shared else ""
    printer.say(f"memories shown: {len(found.memories)} of {found.total}{several}")
    counts = ", ".join(f"{name} {count}" for name, count in found.records.items()) or "none"
    printer.say(f"records that this view sees: {counts}", "faint")
    for one in found.pending:
        when = (
            "until somebody decides"
            if one.due is None
            else f"and erased from {one.due:%Y-%m-%d %H:%M} UTC on"
        )
        printer.say(
            f"hidden {when}: {counted(one.records, 'record')} and {counted(one.parts, 'part')} of others, by "
            f"{one.actor.id or one.actor.kind} at {one.at:%Y-%m-%d %H:%M} UTC, position {one.position}",
            "warning",
        )
    if found.unseen is not None:
        printer.say(
            f"not shown, because it belongs to agents: experience learnt from this person, lines: {found.unseen['experience']}",
            "faint",
        )
