"""What was said: ``append``."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO
from uuid import UUID

import click

from memoranda.book import Book, ThreadHandle
from memoranda.book.parsing import Who, each, message_of
from memoranda.errors import InvalidInput, LimitReached
from memoranda.model.ids import new_id
from memoranda.model.ledger import Receipt
from memoranda.model.owner import Owner
from memoranda.surfaces.cli.json_lines import objects
from memoranda.surfaces.cli.options import MOMENT, once, opens_book, owned, seen_as
from memoranda.surfaces.cli.session import Session
from memoranda.surfaces.cli.telling import tell_receipt
from memoranda.surfaces.cli.vectors import finish, waits


@click.command("append")
@opens_book
@owned("[ROLE CONTENT]", most=2)
@seen_as
@once
@waits
@click.option("--thread", metavar="ID", help="The thread, by its id.")
@click.option(
    "--name", metavar="NAME", help="The thread, by your own name for it; made where it is not there."
)
@click.option("--title", metavar="TEXT", default="", help="The title of a thread that is made.")
@click.option(
    "--audience", type=click.Choice(["self", "group", "global"]), help="Who may read a thread that is made."
)
@click.option("--speaker", metavar="NAME", help="Who speaks, where the role does not tell.")
@click.option("--at", type=MOMENT, metavar="TIME", help="When it was said [default: now].")
@click.option(
    "--file",
    "source",
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="FILE",
    help="Messages as JSON Lines; - is standard input.",
)
@click.option(
    "--expect",
    type=click.IntRange(min=0),
    metavar="PLACE",
    help="The place of the last message that you have read.",
)
def append_command(session: Session, party: Owner, words: Sequence[str], who: Who, **given: Any) -> None:
    """Add what was said to a thread, all of it or nothing.

    One message is given as ROLE (user, assistant, system, tool) and CONTENT. Without them, messages are read
    as JSON Lines: {"role": "user", "content": "…"}, and optionally speaker, agent, observed_at, trust, native.
    Without --thread and --name, a new thread is made.
    """
    if given["thread"] is not None and given["name"] is not None:
        raise click.UsageError("give --thread or --name, not both")
    if given["operation"] is not None and given["thread"] is None and given["name"] is None:
        raise click.UsageError(
            "--operation needs --thread or --name, or a repetition would begin another thread"
        )
    drafts = _drafts(words, given["source"], given["speaker"], given["at"])
    thread, receipt = session.run(_append(session, party, who, drafts, given))
    if not session.tell({"thread": thread, "receipt": receipt}):
        tell_receipt(session.paper, receipt)
        session.paper.say(f"thread {thread}", "faint")


async def _append(
    session: Session, party: Owner, who: Who, drafts: Sequence[Mapping[str, Any]], given: Mapping[str, Any]
) -> tuple[UUID, Receipt]:
    async with session.writing() as book:
        _check(book, party, drafts)
        handle = await _thread(book, party, who, given)
        receipt = await handle.append(drafts, operation=given["operation"], expect_last=given["expect"])
        return handle.id, await finish(session, book, receipt, wait=given["wait"])


async def _thread(book: Book, party: Owner, who: Who, given: Mapping[str, Any]) -> ThreadHandle:
    return await book.thread(
        party, id=given["thread"], name=given["name"], title=given["title"], audience=given["audience"], **who
    )


def _check(book: Book, party: Owner, drafts: Sequence[Mapping[str, Any]]) -> None:
    """Refuse what would be refused anyway before a thread is made for it."""
    limits, now = book.door.limits, book.door.clock()
    if len(drafts) > limits.batch:
        raise LimitReached(
            f"messages: {len(drafts)} at once; at most {limits.batch}, send them in parts", field="messages"
        )
    thread = new_id()
    for place, message in enumerate(
        each(drafts, "messages", lambda draft: message_of(draft, party, thread, now))
    ):
        if len(message.content) > limits.message_length:
            raise LimitReached(
                f"messages[{place}].content: {len(message.content)} characters; at most {limits.message_length}",
                field=f"messages[{place}].content",
                item=place,
            )


def _drafts(
    words: Sequence[str], source: Path | None, speaker: str | None, at: datetime | None
) -> Sequence[Mapping[str, Any]]:
    if len(words) == 1:
        raise click.UsageError("give ROLE and CONTENT, the content quoted")
    if words:
        if source is not None:
            raise click.UsageError("give a message or --file, not both")
        draft = {"role": words[0], "content": words[1], "speaker": speaker, "observed_at": at}
        return [{name: value for name, value in draft.items() if value is not None}]
    if speaker is not None or at is not None:
        raise click.UsageError(
            "--speaker and --at belong to one message; in JSON Lines each line has its own"
        )
    if source is None and sys.stdin.isatty():
        raise click.UsageError("give ROLE and CONTENT, or messages as JSON Lines on standard input")
    stream: BinaryIO = sys.stdin.buffer
    with nullcontext(stream) if source is None or str(source) == "-" else source.open("rb") as lines:
        found = list(objects(lines))
    if not found:
        raise InvalidInput("messages: none given", field="messages")
    return found
