"""Records, receipts and sources as tables and text for people."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from memoranda.book import Book
from memoranda.book.input import Who
from memoranda.cli.output.json_text import json_value
from memoranda.cli.output.printer import Column, Printer
from memoranda.cli.output.terminal import counted
from memoranda.model.experience_lines import ExperienceLine
from memoranda.model.forming_results import conversations_wait
from memoranda.model.items import Item
from memoranda.model.ledger import Actor, Receipt
from memoranda.model.memories import Memory
from memoranda.model.messages import Episode, Message, Thread
from memoranda.model.profiles import Agent, Key, ProfileDocument, Schema
from memoranda.model.query import Source
from memoranda.model.records import Audience, Owner, Record
from memoranda.text.origins import origin
from memoranda.text.written_days import happened_words


def what_waits(waiting: int, party: Owner) -> str:
    """Return how many conversations wait to be formed, and the command that does it; empty if none
    does.
    """
    return (
        f"{conversations_wait(waiting)}; `memoranda form {party.id}` does it now" if waiting else ""
    )


async def restricted_since(book: Book, party: Owner) -> str:
    """Return since when the data of an owner is restricted, and the command that lifts it; empty if
    it is not.
    """
    held = await book.admin.restriction(party)
    if held is None:
        return ""
    return (
        f"restricted since {when(held.at)}: agents read nothing of {party.id}, and nothing is formed; "
        f"`memoranda unrestrict {party.id}` lifts it"
    )


async def nothing_seen(
    book: Book,
    party: Owner,
    who: Who,
    types: Iterable[str] | None = None,
    *,
    searched: bool = False,
    sought: str = "such records",
) -> str:
    """Return why there is nothing to show, and what to try: another view only if one sees more.

    ``searched`` says that the read was a search, which may lack an embedding model.
    """
    if limited := await restricted_since(book, party):
        return limited
    waits = what_waits(
        (await book.records.list(party, types="memory", limit=1, **who)).waiting, party
    )
    seen = await book.records.count(party, types=types, **who)
    there = await book.records.count(party, types=types, as_owner=True)
    if waits and not (seen and searched):
        told = waits
    elif not seen:
        told = f"this view sees no {sought}" if there else f"there are no {sought}"
        told += "" if there else await _unknown(book, party)
    else:
        told = f"no match among {counted(seen, 'record')} of this view"
        if searched and book.no_vectors_because:
            told += f"; recall searches by words only ({book.no_vectors_because})"
        told += f"; {waits}" if waits else ""
    if there <= seen:
        return told
    advice = "name an agent with --agent, or "
    if who.get("agent"):
        advice = "" if who.get("groups") else "name the agent's groups with --group, or "
    return f"{told}; {advice}read as the owner with --as-owner"


async def _unknown(book: Book, party: Owner) -> str:
    """Return that there is no such owner, and the one whose name differs by case alone."""
    owners = await book.engine.owners(party.tenant)
    if party in owners:
        return ""
    like = [one for one in owners if str(one).casefold() == str(party).casefold()]
    return f"; there is no owner {party}" + (f"; did you mean {like[0]}?" if like else "")


def when(moment: datetime | None) -> str:
    """Format a time to the minute, in UTC."""
    return "" if moment is None else moment.strftime("%Y-%m-%d %H:%MZ")


def sort_of(record: Record) -> str:
    """Return the subtype of a record (a memory's kind, a thread's status, an item's namespace and
    name), and who said it.
    """
    return ", ".join(filter(None, (_sort(record), *origin(record))))


def _sort(record: Record) -> str:
    match record:
        case Memory():
            return record.kind
        case Episode():
            return record.outcome.value
        case Thread():
            return record.status.value
        case ExperienceLine():
            return record.field
        case ProfileDocument():
            return record.schema_name
        case Item():
            return "/".join((*record.namespace, record.name))
    return ""


def text_of(record: Record) -> str:
    """Return the text of a record."""
    match record:
        case Message():
            return record.content
        case Thread():
            return record.title or record.name or ""
        case ExperienceLine():
            return record.line
        case ProfileDocument():
            return json.dumps(record.body, ensure_ascii=False)
        case Agent() | Schema() | Key():
            return record.name
    return record.passage_text() or ""


def moment_of(record: Record) -> datetime:
    """Return when a message was said, a memory observed, an episode begun, or an item updated; of
    other records, when they were stored.
    """
    for name in ("observed_at", "started_at", "updated_at"):
        found = getattr(record, name, None)
        if isinstance(found, datetime):
            return found
    return record.recorded_at


def status_of(record: Record) -> str:
    """Return the status and validity of a memory that is not simply active."""
    if not isinstance(record, Memory):
        return ""
    parts = [] if record.counts else ["archived" if record.active else record.status.value]
    if record.happened is not None:
        parts.append(happened_words(record.happened))
    if record.valid_from is not None:
        parts.append(f"from {when(record.valid_from)}")
    if record.valid_to is not None:
        parts.append(f"until {when(record.valid_to)}")
    return ", ".join(parts)


def readers_of(audience: Audience) -> str:
    """Name the agents that may read a record."""
    if audience.agent is not None:
        return f"agent {audience.agent}"
    return f"groups {', '.join(audience.groups)}" if audience.groups else "all agents"


def actor_of(actor: Actor) -> str:
    """Name the actor of a change."""
    return actor.kind if actor.id is None else f"{actor.kind} {actor.id}"


def print_records(printer: Printer, records: Sequence[Record], *, with_owner: bool = False) -> None:
    """Print a table of records."""
    columns = [
        *([Column("OWNER")] if with_owner else []),
        Column("ID", "faint"),
        Column("TYPE"),
        Column("KIND"),
        Column("WHEN", "faint"),
        Column("TEXT", flexible=True),
    ]
    rows = []
    for record in records:
        note = status_of(record)
        text = f"[{note}] {text_of(record)}" if note else text_of(record)
        cells = [str(record.id), record.type.value, sort_of(record), when(moment_of(record)), text]
        rows.append([str(record.owner), *cells] if with_owner else cells)
    printer.table(columns, rows)


#: Fields that the heading shows, or that are of no use to people.
_SHOWN_APART = frozenset(
    {"type", "id", "owner", "audience", "withdrawn", "content", "line", "body", "observed_assumed"}
)


def print_record(printer: Printer, record: Record) -> None:
    """Print all fields of one record."""
    printer.say(f"{record.type.value} {record.id}", "title")
    if text := text_of(record):
        printer.block(text, indent="  ", style="strong")
    own = json_value(record)
    if isinstance(record, Memory) and record.happened is not None:
        own["happened"] = happened_words(record.happened)
    pairs = [("owner", str(record.owner)), ("readers", readers_of(record.audience))]
    pairs += [
        (name.replace("_", " "), _value(value))
        for name, value in own.items()
        if name not in _SHOWN_APART
    ]
    printer.pairs(pairs)


def _value(value: Any) -> str:
    if value in (None, "", [], {}, 0, False):
        return ""
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return ", ".join(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def print_receipt(printer: Printer, receipt: Receipt) -> None:
    """Print the receipt of a write: what it stored, and what it ignored."""
    if receipt.repeated:
        printer.say("this operation was applied before; this is its original receipt", "warning")
    changed = "stored" if receipt.items else "nothing changed"
    at = f" at position {receipt.position}" if receipt.position else ""
    printer.say(f"{changed} for {receipt.owner}{at}", "good" if receipt.items else "warning")
    if receipt.items:
        columns = [Column("DONE"), Column("TYPE"), Column("ID"), Column("VERSION", right=True)]
        rows = [
            [
                item.verb.value,
                item.type.value,
                str(item.id),
                "erased" if item.erased else str(item.version),
            ]
            for item in receipt.items
        ]
        printer.table(columns, rows)
    if receipt.left_to_do:
        printer.say(f"left to do: {receipt.left_to_do}", "warning")
    for part in receipt.ignored:
        told = part.name or part.field or part.id
        what = f"{told}: " if told else ""
        printer.say(f"ignored: {what}{part.reason}", "warning")


def print_sources(printer: Printer, sources: Sequence[Source], indent: str = "  ") -> None:
    """Print the sources of a record with quotes, and their own sources below them."""
    for source in sources:
        if source.gone:
            printer.say(
                f"{indent}{source.type.value} no longer here, {when(source.at)}  {source.id}",
                "faint",
            )
        else:
            printer.say(
                f"{indent}{source.type.value} by {source.by}, {when(source.at)}  {source.id}",
                "faint",
            )
        if source.quote:
            printer.block(f"“{source.quote}”", indent=indent + "  ")
        print_sources(printer, source.sources, indent + "    ")
