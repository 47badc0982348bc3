"""A short story on a book of its own, told from real results: ``demo``."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import click

from commonplace.assembly import Opening
from commonplace.assembly import open as open_book
from commonplace.book import Book
from commonplace.errors import InvalidInput
from commonplace.model.ledger import Receipt
from commonplace.model.memories import Memory
from commonplace.model.messages import Message
from commonplace.model.query import Hit
from commonplace.model.records import Record
from commonplace.surfaces.cli.glyphs import cells
from commonplace.surfaces.cli.paper import Paper
from commonplace.surfaces.cli.passages import reasons_of
from commonplace.surfaces.cli.telling import actor_of, when

WHO = "ana"
AGENT = "concierge"
OTHER = "billing"
#: What is told, and at the end must be nowhere.
PASSPORT = "XK4471902"
_DAY_ONE = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
_DAY_TWO = datetime(2026, 3, 3, 18, 30, tzinfo=UTC)

_SAID = (
    ("user", "Hi, I'm Ana. I live in Boston, and in June I go hiking in the Azores."),
    ("assistant", "Lovely! Is there anything that I should always bear in mind?"),
    ("user", "No walnuts, I am allergic. And only flights after nine in the morning, please."),
    ("user", f"For the booking: my passport number is {PASSPORT}."),
)
#: Kind, key, content, and the place of the message that it rests on.
_LEARNT = (
    ("fact", "home", "Lives in Boston", 1),
    ("fact", None, "Is allergic to walnuts", 3),
    ("preference", None, "Wants flights after nine in the morning", 3),
    ("context", None, f"Passport number {PASSPORT}", 4),
)
_SHARED = "Reads English and Portuguese"


class StoryClock:
    """Goes on by a second whenever it is asked."""

    def __init__(self, now: datetime) -> None:
        self._now = now

    def __call__(self) -> datetime:
        self._now += timedelta(seconds=1)
        return self._now


@click.command("demo")
@click.option(
    "--keep", type=click.Path(path_type=Path), metavar="PATH", help="Make the book here, and leave it."
)
def demo_command(keep: Path | None) -> None:
    """Show what the book does, on a book of its own: two days with an agent, no language model, no key."""
    paper = Paper.here(json=False)
    if keep is not None:
        if keep.exists():
            raise InvalidInput(f"keep: {keep} is there already; name a new file", field="keep")
        asyncio.run(_tell(paper, keep))
    else:
        with tempfile.TemporaryDirectory(prefix="commonplace-demo-") as folder:
            asyncio.run(_tell(paper, Path(folder) / "demo.db"))
    _tell_what_next(paper, keep)


async def _tell(paper: Paper, path: Path) -> None:
    _title(paper, f"Day one, {when(_DAY_ONE)}: a conversation is appended, and statements are remembered")
    async with _opened(path, _DAY_ONE) as book:
        said = await _day_one(paper, book)
    _title(paper, f"Day two, {when(_DAY_TWO)}: the file is opened again, and asked")
    async with _opened(path, _DAY_TWO) as book:
        await _ask(paper, book)
        await _read(paper, book)
        await _correct(paper, book)
        await _other_agent(paper, book)
    _title(paper, "Forgotten is forgotten")
    # Scanned while it is closed: another descriptor on an open book would drop its locks.
    before = occurrences(path, PASSPORT)
    async with _opened(path, _DAY_TWO + timedelta(minutes=10)) as book:
        await _forget(paper, book, said[3])
    _note(
        paper,
        f"byte scan of the file for {PASSPORT}: {before} occurrences before, {occurrences(path, PASSPORT)} now",
    )


def _opened(path: Path, at: datetime) -> Opening:
    return open_book(path, clock=StoryClock(at))


async def _day_one(paper: Paper, book: Book) -> Sequence[UUID]:
    thread = await book.thread(WHO, agent=AGENT, title="Azores")
    receipt = await thread.append([{"role": role, "content": content} for role, content in _SAID])
    for place, (role, content) in enumerate(_SAID, 1):
        paper.hung(f"  {place} {role:<9}  ", content, lead_style="faint")
    _receipt(paper, receipt)
    said = receipt.ids("message")
    for kind, key, content, place in _LEARNT:
        await book.remember(WHO, content, kind=kind, key=key, sources=[said[place - 1]], agent=AGENT)
        named = f"{kind}, key {key}" if key else kind
        paper.hung(f"  {named:<14}  ", f"{content}  ← message {place}", lead_style="faint")
    await book.remember(WHO, _SHARED, audience="global", agent=AGENT)
    paper.hung(f"  {'fact':<14}  ", f"{_SHARED}  (shared with all of Ana's agents)", lead_style="faint")
    return said


async def _ask(paper: Paper, book: Book) -> None:
    question = "Where does she live? Is she allergic, and which flights are right?"
    _command(paper, f"recall “{question}”")
    for hit in await book.recall(WHO, question, limit=4, agent=AGENT):
        _hit(paper, hit)


async def _read(paper: Paper, book: Book) -> None:
    question = "Which flight shall I book for Ana?"
    _command(paper, f"context “{question}”, in at most 400 tokens: what an agent reads before it answers")
    made = await book.context(WHO, question, budget=400, agent=AGENT)
    paper.block(made.text, indent="  ", style="faint")
    _note(
        paper,
        f"{made.tokens} tokens ({made.counted}); stored text is fenced, and what was placed now counts as used",
    )


def _hit(paper: Paper, hit: Hit) -> None:
    paper.hung(f"  {hit.score:5.2f}  {hit.record.type.value:<7}  ", hit.text)
    paper.hung(" " * 18, reasons_of(hit), style="faint")


async def _correct(paper: Paper, book: Book) -> None:
    thread = await book.thread(WHO, agent=AGENT, name="evening")
    said = await thread.append("user", "I have moved to Lisbon, by the way. Boston is behind me.")
    _command(
        paper,
        "remember key home: “Lives in Lisbon”, after a new message; it supersedes, and overwrites nothing",
    )
    moved = await book.remember(WHO, "Lives in Lisbon", key="home", sources=[said.id], agent=AGENT)
    _receipt(paper, moved)
    await _home(paper, book)
    _command(paper, "why")
    for source in (await book.why(WHO, moved.id, agent=AGENT)).sources:
        paper.hung(
            f"  {source.type.value} by {source.by}, {when(source.at)}  ",
            f"“{source.quote}”",
            lead_style="faint",
        )
    _command(paper, f"undo operation {moved.position}")
    undone = await book.undo(WHO, moved.position, agent=AGENT)
    await _home(paper, book)
    _command(paper, f"undo the undo, operation {undone.position}")
    await book.undo(WHO, undone.position, agent=AGENT)
    await _home(paper, book)
    _command(paper, "history of “Lives in Boston”")
    for step in await book.history(WHO, moved.items[1].id, agent=AGENT):
        status = step.record.status.value if isinstance(step.record, Memory) else "erased"
        paper.say(
            f"  {step.position:>2}  {step.verb.value:<9}  by {actor_of(step.actor)}, version {step.version}: {status}"
        )


async def _home(paper: Paper, book: Book) -> None:
    """Every statement that was ever held under the key, as it stands."""
    statuses = ["active", "superseded", "undone"]
    page = await book.list(WHO, types="memory", only={"statuses": statuses}, agent=AGENT)
    for record in page.records:
        if isinstance(record, Memory) and record.key == "home":
            until = f" until {when(record.valid_to)}" if record.valid_to else ""
            style = "good" if record.active else "faint"
            paper.say(f"  {record.content:<16}  {record.status.value}{until}", style)


async def _other_agent(paper: Paper, book: Book) -> None:
    question = f"passport {PASSPORT}, walnuts, Lisbon, Portuguese"
    _command(paper, f"another agent, {OTHER}, recalls “{question}”")
    for hit in await book.recall(WHO, question, agent=OTHER):
        _hit(paper, hit)
    sees = [await book.count(WHO, agent=agent) for agent in (AGENT, OTHER)]
    _note(
        paper,
        f"{AGENT} sees {sees[0]} records of Ana's, {OTHER} {sees[1]}; scores count nothing that a view may not see",
    )


async def _forget(paper: Paper, book: Book, message: UUID) -> None:
    record: Record = await book.get(WHO, message, view="owner")
    assert isinstance(record, Message)
    _command(paper, f"forget message {record.seq}: “{record.content}”")
    receipt = await book.forget(WHO, message, view="owner")
    removed = ", ".join(f"{number} {place}" for place, number in receipt.removed.items())
    paper.hung("  removed  ", removed, lead_style="faint")
    paper.hung("  state    ", receipt.state, lead_style="faint")
    paper.hung("  unseen   ", "; ".join(receipt.unseen), lead_style="faint")
    found = await book.verify()
    _note(
        paper,
        f"verify: {found.records} records against {found.entries} ledger entries, {len(found.faults)} faults",
    )


def occurrences(path: Path, text: str) -> int:
    """How often a text stands in a book's files, in whichever case."""
    wanted = text.lower().encode()
    return sum(
        beside.read_bytes().lower().count(wanted)
        for beside in path.parent.glob("*")
        if beside.name.startswith(path.name)
    )


def _tell_what_next(paper: Paper, kept: Path | None) -> None:
    _title(paper, "Now you")
    if kept is not None:
        lines = [
            f"commonplace list {WHO} --as-owner --book {kept}",
            f"commonplace recall {WHO} walnuts --agent {AGENT} --book {kept}",
        ]
    else:
        lines = [
            "commonplace init",
            f'commonplace append {WHO} user "I never eat walnuts." --agent {AGENT}',
            f"commonplace recall {WHO} walnuts --agent {AGENT}",
        ]
    for line in [*lines, "commonplace --help"]:
        paper.say(f"  {line}", "strong")


def _title(paper: Paper, text: str) -> None:
    paper.say()
    paper.say(text, "title")
    if paper.width is not None:
        paper.say("─" * min(cells(text), paper.width), "faint")


def _command(paper: Paper, text: str) -> None:
    paper.hung("› ", text, lead_style="strong", style="strong")


def _receipt(paper: Paper, receipt: Receipt) -> None:
    done = ", ".join(f"{item.verb.value} {item.type.value}" for item in receipt.items[:2])
    more = f" and {len(receipt.items) - 2} more" if len(receipt.items) > 2 else ""
    _note(paper, f"receipt: position {receipt.position}, {done}{more}; it is on the disk")


def _note(paper: Paper, text: str) -> None:
    paper.hung("  ✓ ", text, lead_style="good", style="faint")
