"""The command ``demo``: a short story on a book of its own; every line printed is a real result."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import click

from memoranda.assembly import DEFAULT_FILE, Opening
from memoranda.assembly import open as open_book
from memoranda.book import Book, ThreadHandle
from memoranda.cli.commands.recall_commands import reasons_of
from memoranda.cli.option_forms import option
from memoranda.cli.options import BOOK_VARIABLE
from memoranda.cli.output.printer import Printer
from memoranda.cli.output.record_tables import actor_of, when
from memoranda.cli.output.terminal import width_of
from memoranda.errors import InvalidInput
from memoranda.model.memories import Memory
from memoranda.model.messages import Message
from memoranda.model.query import Hit
from memoranda.model.records import Record
from memoranda.settings import PREFIX

WHO = "ana"
AGENT = "concierge"
OTHER = "billing"
#: It is said in the conversation, erased later, and then searched in the file.
PASSPORT = "XK4471902"
_DAY_ONE = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
_DAY_TWO = datetime(2026, 3, 3, 18, 30, tzinfo=UTC)

_SAID = (
    ("user", "Hi, I'm Ana. I live in Boston. Can you recommend a movie for tonight?"),
    ("assistant", "How about a romantic comedy?"),
    ("user", "I prefer action movies. And I am allergic to walnuts, so no walnut popcorn."),
    ("user", f"Please remember that my passport number is {PASSPORT}."),
)
_SHARED = "Reads English and Portuguese"


class StoryClock:
    """A clock that advances by one second with each call."""

    def __init__(self, now: datetime) -> None:
        self._now = now

    def __call__(self) -> datetime:
        self._now += timedelta(seconds=1)
        return self._now


@click.command("demo")
@option("--keep PATH", "Create the book at this path, and keep it.", of=click.Path(path_type=Path))
def demo_command(keep: Path | None) -> None:
    """Show what Memoranda does: two days of Ana with an agent, without a language model or a
    key.
    """
    printer = Printer.for_stdout(json=False)
    if keep is not None:
        if keep.exists():
            raise InvalidInput(f"keep: {keep} already exists; name a new file", field="keep")
        with _own_settings():
            asyncio.run(_run_story(printer, keep))
    else:
        with _own_settings(), tempfile.TemporaryDirectory(prefix="memoranda-demo-") as folder:
            asyncio.run(_run_story(printer, Path(folder) / "demo.db"))
    _print_what_next(printer, keep)


async def _run_story(printer: Printer, path: Path) -> None:
    _title(
        printer,
        f"Day one, {when(_DAY_ONE)}: a conversation is stored, and memories are formed from it",
    )
    async with _opened(path, _DAY_ONE) as book:
        said = await _day_one(printer, book)
    _title(printer, f"Day two, {when(_DAY_TWO)}: the file is opened again, and an agent asks")
    async with _opened(path, _DAY_TWO) as book:
        await _ask(printer, book)
        await _correct(printer, book)
        await _other_agent(printer, book)
    _title(printer, "Erasure: the passport number disappears from the file")
    # Read the file only while the book is closed: closing another descriptor would drop its locks.
    before = occurrences(path, PASSPORT)
    async with _opened(path, _DAY_TWO + timedelta(minutes=10)) as book:
        await _forget(printer, book, said[3])
    _note(
        printer,
        f"bytes of the file searched for {PASSPORT}: found {before} times before, {occurrences(path, PASSPORT)} times now",
    )


def _opened(path: Path, at: datetime) -> Opening:
    return open_book(path, clock=StoryClock(at), models=None, worker=False)


async def _day_one(printer: Printer, book: Book) -> Sequence[UUID]:
    thread = await book.thread(WHO, agent=AGENT, title="Azores")
    receipt = await thread.append([{"role": role, "content": content} for role, content in _SAID])
    for place, (role, content) in enumerate(_SAID, 1):
        _fact(printer, f"{place} {role:<9}", content)
    said = receipt.ids("message")
    _note(
        printer,
        f"receipt: position {receipt.position}, {len(said)} messages appended and stored on the disk",
    )
    _command(printer, "form memories from what she said, by rules, without a language model")
    for memory in await _formed(book, thread, said):
        place = said.index(memory.sources[0]) + 1
        named = f"{memory.kind}, key {memory.key}" if memory.key else memory.kind
        _fact(printer, f"{named:<16}", f"{memory.content}  ← message {place}")
    profile = await book.profiles.get(WHO, agent=AGENT)
    values = {
        name: " and ".join(value) if isinstance(value, list) else value
        for name, value in profile.items()
    }
    _fact(
        printer, f"{'profile':<16}", ", ".join(f"{name}: {value}" for name, value in values.items())
    )
    await book.remember(WHO, _SHARED, audience="global", agent=AGENT)
    _fact(printer, f"{'remembered':<16}", f"{_SHARED}  (shared with all of Ana's agents)")
    return said


async def _formed(book: Book, thread: ThreadHandle, said: Sequence[UUID]) -> list[Memory]:
    """Form the thread now (turn it into memories); return the memories from these messages, in the
    messages' order.
    """
    made = await thread.form()
    await book.worker.drain()
    return sorted(made.memories, key=lambda memory: said.index(memory.sources[0]))


async def _ask(printer: Printer, book: Book) -> None:
    question = "Which movies does she like, and is she allergic?"
    _command(printer, f"recall “{question}”")
    _hits(printer, await book.recall(WHO, question, limit=4, agent=AGENT))
    question = "Recommend me a movie."
    _command(
        printer,
        f"context “{question}”, in at most 400 tokens: the text that an agent reads before it answers",
    )
    made = await book.context(WHO, question, budget=400, agent=AGENT)
    printer.block(made.text, indent="  ", style="faint")
    what = "stored text is marked as data, and the memories in it now count as used"
    _note(printer, f"{made.tokens} tokens ({made.counted}); {what}")


def _hits(printer: Printer, hits: Sequence[Hit]) -> None:
    for hit in hits:
        printer.labelled(f"  {hit.score:5.2f}  {hit.record.type.value:<7}  ", hit.text)
        printer.labelled(" " * 18, reasons_of(hit), style="faint")


async def _correct(printer: Printer, book: Book) -> None:
    thread = await book.thread(WHO, agent=AGENT, name="evening")
    said = await thread.append("user", "I have moved to Lisbon, by the way. Boston is behind me.")
    (moved,) = await _formed(book, thread, said.ids("message"))
    _command(
        printer,
        "she says “I have moved to Lisbon”: the new memory supersedes the old one, which is kept",
    )
    position = (await book.records.history(WHO, moved.id, agent=AGENT))[0].position
    await _home(printer, book)
    _command(printer, "why does the book say so?")
    for source in (await book.why(WHO, moved.id, agent=AGENT)).sources:
        label = f"{source.type.value} by {source.by}, {when(source.at)}"
        _fact(printer, label, f"“{source.quote}”")
    _command(printer, f"undo operation {position}")
    undone = await book.undo(WHO, position, agent=AGENT)
    await _home(printer, book)
    _command(printer, f"undo the undo, operation {undone.position}")
    await book.undo(WHO, undone.position, agent=AGENT)
    await _home(printer, book)
    _command(printer, "history of “Lives in Boston”")
    for step in await book.records.history(WHO, moved.supersedes[0], agent=AGENT):
        status = step.record.status.value if isinstance(step.record, Memory) else "erased"
        printer.say(
            f"  {step.position:>2}  {step.verb.value:<9}  by {actor_of(step.actor)}, version {step.version}: {status}"
        )


async def _home(printer: Printer, book: Book) -> None:
    """Print every statement ever stored under the key, with its status."""
    statuses = ["active", "superseded", "undone"]
    page = await book.records.list(WHO, types="memory", only={"statuses": statuses}, agent=AGENT)
    for record in page.records:
        if isinstance(record, Memory) and record.key == "home":
            until = f" until {when(record.valid_to)}" if record.valid_to else ""
            style = "good" if record.active else "faint"
            printer.say(f"  {record.content:<16}  {record.status.value}{until}", style)


async def _other_agent(printer: Printer, book: Book) -> None:
    question = f"passport {PASSPORT}, walnuts, Lisbon, Portuguese"
    _command(printer, f"another agent, {OTHER}, recalls “{question}”")
    _hits(printer, await book.recall(WHO, question, agent=OTHER))
    sees = [await book.records.count(WHO, agent=agent) for agent in (AGENT, OTHER)]
    _note(
        printer,
        f"{AGENT} sees {sees[0]} of Ana's records, {OTHER} sees {sees[1]}; hidden records do not change the scores",
    )


async def _forget(printer: Printer, book: Book, message: UUID) -> None:
    record: Record = await book.records.get(WHO, message, as_owner=True)
    assert isinstance(record, Message)
    _command(printer, f"forget message {record.seq}: “{record.content}”")
    receipt = await book.forget(WHO, message, as_owner=True)
    removed = ", ".join(f"{number} {place}" for place, number in receipt.removed.items())
    _fact(printer, "removed    ", removed)
    _fact(printer, "state      ", receipt.state)
    _fact(printer, "not checked", "; ".join(receipt.unchecked))
    found = await book.admin.verify()
    _note(
        printer,
        f"verify: {found.records} records checked against {found.entries} ledger entries, {len(found.faults)} faults",
    )


def occurrences(path: Path, text: str) -> int:
    """Count how often a text occurs in a book's files, in upper or lower case."""
    wanted = text.lower().encode()
    return sum(
        beside.read_bytes().lower().count(wanted)
        for beside in path.parent.glob("*")
        if beside.name.startswith(path.name)
    )


def _print_what_next(printer: Printer, kept: Path | None) -> None:
    _title(printer, "Try it yourself")
    if kept is not None:
        book = f" --book {shlex.quote(str(kept))}"
        lines = [f"list {WHO} --as-owner{book}", f"recall {WHO} walnuts --agent {AGENT}{book}"]
    else:
        # A book that is here already, or that a variable names, is not made again, and not written
        # to.
        mine = Path(DEFAULT_FILE).exists() or BOOK_VARIABLE in os.environ
        book = f" --book {_unused('try.db')}" if mine else ""
        lines = [
            f"init{book}",
            f'append {WHO} user "I never eat walnuts." --agent {AGENT}{book}',
            f"recall {WHO} walnuts --agent {AGENT}{book}",
        ]
    for line in [*lines, "--help"]:
        printer.say(f"  {_program()} {line}", "strong")


def _unused(name: str) -> str:
    names = (name, *(f"{number}-{name}" for number in range(2, 1000)))
    return next(one for one in names if not Path(one).exists())


def _program() -> str:
    """Return how a shell here calls this program."""
    if shutil.which("memoranda") is not None:
        return "memoranda"
    beside = Path(sys.executable).with_name("memoranda")
    if not beside.exists():
        return f"{shlex.quote(sys.executable)} -m memoranda"
    here = Path.cwd()
    return shlex.quote(str(beside.relative_to(here) if beside.is_relative_to(here) else beside))


@contextlib.contextmanager
def _own_settings() -> Iterator[None]:
    """Leave out the settings of the environment, except those of embedding: the story has its
    own.
    """
    ours = [
        name
        for name in os.environ
        if name.upper().startswith(PREFIX) and not name.upper().startswith(f"{PREFIX}EMBEDDING_")
    ]
    kept = {name: os.environ.pop(name) for name in ours}
    try:
        yield
    finally:
        os.environ.update(kept)


def _title(printer: Printer, text: str) -> None:
    printer.say()
    printer.say(text, "title")
    if printer.width is not None:
        printer.say("─" * min(width_of(text), printer.width), "faint")


def _command(printer: Printer, text: str) -> None:
    printer.labelled("› ", text, label_style="strong", style="strong")


def _fact(printer: Printer, label: str, text: str) -> None:
    printer.labelled(f"  {label}  ", text, label_style="faint")


def _note(printer: Printer, text: str) -> None:
    printer.labelled("  ✓ ", text, label_style="good", style="faint")
