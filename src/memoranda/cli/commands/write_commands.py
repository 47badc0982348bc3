"""Commands that write messages and memories: ``append``, ``remember``, ``retract`` and ``undo``."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from datetime import datetime
from operator import attrgetter
from pathlib import Path
from typing import Any, BinaryIO, Final
from uuid import UUID

import click

from memoranda.book import Book, ThreadHandle
from memoranda.book.input import Who, each
from memoranda.book.message_input import message_of
from memoranda.cli.option_forms import option
from memoranda.cli.options import (
    once,
    opens_book,
    owned,
    seen_as,
    seen_as_agent,
    versions,
    waits_for_vectors,
)
from memoranda.cli.output.json_text import read_objects
from memoranda.cli.output.record_tables import print_receipt, print_records, text_of
from memoranda.cli.session import Session
from memoranda.errors import InvalidInput, LimitReached
from memoranda.model.ledger import Receipt
from memoranda.model.memories import Cardinality
from memoranda.model.records import AudienceKind, Owner, Trust
from memoranda.model.values import new_id


@click.command("append")
@opens_book
@owned("[ROLE CONTENT]", most=2)
@seen_as
@once
@waits_for_vectors
@option("--thread ID", "The thread, by its id or your own name for it; it must exist.")
@option("--name NAME", "The thread, by your own name for it; it is created if it does not exist.")
@option("--title TEXT", "The title of a new thread.", default="")
@option("--audience", "Who may read a new thread.", of=AudienceKind)
@option("--speaker NAME", "The name of the speaker, if the role is not enough.")
@option("--at TIME", "The time at which it was said [default: now].")
@option(
    "--file FILE",
    "Messages as JSON Lines; - is standard input.",
    "source",
    of=click.Path(path_type=Path, allow_dash=True),
)
@option(
    "--expect PLACE",
    "The place of the last message that you have read; refused if the thread has newer messages.",
    of=click.IntRange(min=0),
)
def append_command(
    session: Session, party: Owner, words: Sequence[str], who: Who, **given: Any
) -> None:
    """Add messages to a thread, all of them or none.

    Give one message as ROLE (user, assistant, system, tool) and CONTENT. Without them, messages are
    read as JSON Lines: {"role": "user", "content": "…"}, with speaker, agent, observed_at, trust,
    native, token_count as options. Without --thread and --name, a new thread is created.
    """
    if given["thread"] is not None and given["name"] is not None:
        raise click.UsageError("give --thread or --name, not both")
    if given["operation"] is not None and given["thread"] is None and given["name"] is None:
        raise click.UsageError(
            "--operation needs --thread or --name, because a repetition would create another thread"
        )
    drafts = _drafts(words, given["source"], given["speaker"], given["at"])
    thread, receipt = session.run(_append(session, party, who, drafts, given))
    if not session.print_json({"thread": thread, "receipt": receipt}):
        print_receipt(session.printer, receipt)
        session.printer.say(f"thread {thread}", "faint")


async def _append(
    session: Session,
    party: Owner,
    who: Who,
    drafts: Sequence[Mapping[str, Any]],
    given: Mapping[str, Any],
) -> tuple[UUID, Receipt]:
    async with session.writing() as book:
        _check(book, party, drafts)
        handle = await _thread(book, party, who, given)
        receipt = await handle.append(
            drafts, operation=given["operation"], expect_last=given["expect"]
        )
        return handle.id, await session.embed_written(book, receipt, wait=given["wait"])


async def _thread(book: Book, party: Owner, who: Who, given: Mapping[str, Any]) -> ThreadHandle:
    return await book.thread(
        party,
        id=given["thread"],
        name=given["name"],
        title=given["title"],
        audience=given["audience"],
        **who,
    )


def _check(book: Book, party: Owner, drafts: Sequence[Mapping[str, Any]]) -> None:
    """Check the messages before a thread is created for them."""
    limits, now = book.door.limits, book.door.clock()
    if len(drafts) > limits.batch:
        raise LimitReached(
            f"messages: {len(drafts)} are too many for one call; send at most {limits.batch} at a time",
            field="messages",
        )
    thread = new_id()
    for place, message in enumerate(
        each(drafts, "messages", lambda draft: message_of(draft, party, thread, now))
    ):
        if len(message.content) > limits.message_length:
            raise LimitReached(
                f"messages[{place}].content: {len(message.content)} characters are too many; the limit is {limits.message_length}",
                field=f"messages[{place}].content",
                item=place,
            )


def _drafts(
    words: Sequence[str], source: Path | None, speaker: str | None, at: datetime | None
) -> Sequence[Mapping[str, Any]]:
    if len(words) == 1:
        raise click.UsageError("give both ROLE and CONTENT, and quote the content")
    if words:
        if source is not None:
            raise click.UsageError("give a message or --file, not both")
        draft = {"role": words[0], "content": words[1], "speaker": speaker, "observed_at": at}
        return [{name: value for name, value in draft.items() if value is not None}]
    if speaker is not None or at is not None:
        raise click.UsageError(
            "--speaker and --at describe one message; in JSON Lines, write speaker and observed_at on each line"
        )
    if source is None and sys.stdin.isatty():
        raise click.UsageError("give ROLE and CONTENT, or messages as JSON Lines on standard input")
    stream: BinaryIO = sys.stdin.buffer
    with (
        nullcontext(stream) if source is None or str(source) == "-" else source.open("rb") as lines
    ):
        found = list(read_objects(lines))
    if not found:
        raise InvalidInput("messages: there are none; give at least one", field="messages")
    return found


#: Options about the write itself; the others are fields of the memory.
_HOW = ("audience", "run", "operation", "expect", "source_file", "wait")


_HAPPENED: Final = "When it happened: 2023-05-07, 2023-05, 2023 or 2026-10-12/2026-10-16"
_named = option(
    "--external-id TEXT", "Your own id for it; every command takes it in place of an ID."
)


@click.command("remember")
@opens_book
@owned("[CONTENT]", most=1)
@seen_as_agent
@once
@waits_for_vectors
@option(
    "--kind KIND",
    "preference, fact, instruction, context, experience, note or commitment [default: fact].",
)
@option(
    "--key KEY",
    "A key such as favorite_color; a newer statement with the same key supersedes the older one.",
)
@option("--subject NAME", "The person or thing it is about [default: the owner].")
@option(
    "--cardinality",
    "How many statements of this sort can be active at once.",
    of=Cardinality,
)
@option("--applies-when TEXT", "The situation in which it applies.")
@option("--data JSON", "Structured data in addition to the text.")
@option("--tag TAG...", "A tag; repeatable.", "tags")
@option("--thread ID", "The thread in which it was said.")
@option("--source ID...", "A record that it comes from; repeatable.", "sources")
@option("--supersedes ID...", "A memory that it replaces; repeatable.")
@option("--trust", "How far to trust it.", of=Trust)
@_named
@option("--pinned", "Never archive it.")
@option("--valid-from TIME", "The time from which it is valid.")
@option("--valid-to TIME", "The time until which it is valid.")
@option("--expires-at TIME", "The time from which nobody reads it.")
@option("--happened DAYS", f"{_HAPPENED}.")
@option("--at TIME", "The time at which it was learnt [default: now].", "observed_at")
@option(
    "--audience",
    "Who may read it [default: self with --agent; else the narrowest audience of its sources and thread].",
    of=AudienceKind,
)
@option("--run ID", "The run that writes it; a run may write only a limited number of records.")
@option(
    "--file FILE",
    "Statements as JSON Lines; - is standard input.",
    "source_file",
    of=click.Path(path_type=Path, allow_dash=True),
)
@option(
    "--expect ID=VERSION...",
    "The version of a record that you have read; refused if it has changed; repeatable.",
)
def remember_command(
    session: Session, party: Owner, words: Sequence[str], who: Who, **given: Any
) -> None:
    """Store a statement as a memory. With --file, store several: all of them or none."""
    statements = _statements(words, given)
    how = {
        "audience": given["audience"],
        "run": given["run"],
        "operation": given["operation"],
        "expect": versions(given["expect"]) or None,
    }
    session.run(
        _write(
            session, "memories.remember_all", party, statements, wait=given["wait"], **how, **who
        )
    )


def _statements(words: Sequence[str], given: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    fields = {
        name: value
        for name, value in given.items()
        if name not in _HOW and value not in (None, (), False)
    }
    source: Path | None = given["source_file"]
    if source is None:
        if not words:
            raise click.UsageError("give CONTENT, or --file")
        return [{"content": words[0], **fields, **_data(fields)}]
    if words or fields:
        raise click.UsageError(
            "--file cannot be combined with CONTENT or its options: each line has its own content and fields"
        )
    with nullcontext(sys.stdin.buffer) if str(source) == "-" else source.open("rb") as lines:
        return list(read_objects(lines))


def _data(fields: Mapping[str, Any]) -> dict[str, Any]:
    if "data" not in fields:
        return {}
    try:
        return {"data": json.loads(fields["data"])}
    except ValueError as exc:
        raise InvalidInput(f"data: not JSON: {exc}", field="data") from exc


@click.command("update")
@opens_book
@owned("ID CONTENT", least=2, most=2)
@seen_as
@once
@waits_for_vectors
@option("--kind KIND", "Another kind.")
@option("--key KEY", "Another key.")
@option("--subject NAME", "Another person or thing that it is about.")
@option("--applies-when TEXT", "Another situation in which it applies.")
@option("--tag TAG...", "Other tags; repeatable.", "tags")
@option("--happened DAYS", f"{_HAPPENED}.")
@_named
@option("--audience", "Other readers.", of=AudienceKind)
def update_command(
    session: Session, party: Owner, words: Sequence[str], who: Who, wait: bool, **given: Any
) -> None:
    """Correct a memory: store a newer one, which supersedes it and keeps its key, kind and
    readers.
    """
    chosen = {name: value for name, value in given.items() if value not in (None, ())}
    session.run(_write(session, "update", party, *words, wait=wait, **chosen, **who))


@click.command("retract")
@opens_book
@owned("ID", least=1, most=1)
@seen_as
@once
@option("--reason TEXT", "Why it is no longer believed.", default="")
@option(
    "--source",
    "ID is a faulty message or episode: retract every memory whose only source it is, or that is linked to it.",
)
@option("--dry-run", "With --source: only show what would be retracted, and what stays.")
def retract_command(
    session: Session,
    party: Owner,
    words: Sequence[str],
    who: Who,
    reason: str,
    source: bool,
    dry_run: bool,
    operation: str | None,
) -> None:
    """Mark a memory as no longer believed. It stays in the history, and `undo` brings it back."""
    if dry_run:
        if not source:
            raise click.UsageError(
                "--dry-run needs --source: what retracting one memory does is plain"
            )
        session.run(_preview(session, party, words[0], reason, who))
        return
    verb = "memories.retract_source" if source else "memories.retract"
    session.run(_write(session, verb, party, words[0], reason=reason, operation=operation, **who))


async def _preview(session: Session, party: Owner, id: str, reason: str, who: Who) -> None:
    """Print what retracting a source would retract, and what would stay."""
    async with session.reading() as book:
        receipt = await book.memories.retract_source(party, id, reason=reason, dry_run=True, **who)
        found = [await book.records.get(party, one, **who) for one in receipt.ids()]
        left = [
            await book.records.get(party, part.id, **who)
            for part in receipt.ignored
            if part.id is not None
        ]
    if session.print_json(receipt):
        return
    session.printer.say(f"would be retracted: {len(found)}", "title")
    print_records(session.printer, found)
    for part, record in zip(receipt.ignored, left, strict=True):
        session.printer.say(f"stays: {record.id} {text_of(record)}: {part.reason}", "faint")


@click.command("undo")
@opens_book
@owned("POSITION", least=1, most=1)
@seen_as
@once
@option("--with-dependents", "Also reverse the later changes that build on it.")
def undo_command(
    session: Session,
    party: Owner,
    words: Sequence[str],
    who: Who,
    with_dependents: bool,
    operation: str | None,
) -> None:
    """Undo a whole operation, named by its position in the owner's ledger. Undoing an undo restores
    it.

    Receipts and `history` show positions. Appended messages cannot be undone; use `forget` for
    them.
    """
    if not words[0].isascii() or not words[0].isdigit():
        raise InvalidInput(
            f"position: {words[0]!r} is not a position in the ledger; receipts and `memoranda history` show them",
            field="position",
        )
    session.run(
        _write(
            session,
            "undo",
            party,
            int(words[0]),
            with_dependents=with_dependents,
            operation=operation,
            **who,
        )
    )


async def _write(
    session: Session, verb: str, *given: Any, wait: bool | None = None, **how: Any
) -> None:
    """Call a verb of the book and print its receipt; ``wait`` is None for verbs that store no
    passages.
    """
    async with session.writing() as book:
        receipt: Receipt = await attrgetter(verb)(book)(*given, **how)
        if wait is not None:
            receipt = await session.embed_written(book, receipt, wait=wait)
    if not session.print_json(receipt):
        print_receipt(session.printer, receipt)
