"""From what was said to what is known: ``form``, and the ``worker`` that does it by itself."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import click

from memoranda.book import Book
from memoranda.book.parsing import as_id, as_owner
from memoranda.errors import MemorandaError
from memoranda.model.memories import Memory
from memoranda.model.owner import Owner
from memoranda.surfaces.cli import exits
from memoranda.surfaces.cli.formed import STATES, Outcome, outcomes, tell, to_be_formed
from memoranda.surfaces.cli.options import opens_book
from memoranda.surfaces.cli.session import Session

_SHOWN = 20
#: How long a worker that is told to stop waits for the jobs in hand; others take them up later.
_LAST_JOBS_SECONDS = 30.0


@click.command("form")
@opens_book
@click.argument("owner")
@click.option("--thread", metavar="ID", help="This thread only.")
@click.option("--again", is_flag=True, help="From the beginning of the thread, at its price.")
def form_command(session: Session, owner: str, thread: str | None, again: bool) -> None:
    """Make memories, a profile and an episode of what OWNER said, now, without waiting for a silence.

    With a language model where the settings name one (section [models]), else by rules. What waits, for a provider
    or a budget, is tried at once; what was given up is tried again where --thread names it. Other work that is due
    in the book is done as well, other owners' too. Exit code 1 where a thread of OWNER is given up.
    """
    if again and thread is None:
        raise click.UsageError("--again reads one thread anew: name it with --thread")
    found, made = session.run(_form(session, owner, thread, again))
    counts = {state: sum(outcome.state == state for outcome in found) for state in STATES}
    if not session.tell({**counts, "threads": found, "memories": made}):
        for memory in made[:_SHOWN]:
            session.paper.hung(f"  {memory.kind:<12}  ", memory.content, lead_style="faint")
        if len(made) > _SHOWN:
            session.paper.say(f"  and {len(made) - _SHOWN} more", "faint")
        tell(session.paper, found)
        told = f"threads formed: {counts['formed']}, new memories: {len(made)}"
        told += f"; waiting: {counts['waiting']}" if counts["waiting"] else ""
        told += f"; given up: {counts['given_up']}" if counts["given_up"] else ""
        session.paper.say(told, "bad" if counts["given_up"] else "good")
    if counts["given_up"]:
        exits.leave(exits.FOUND_FAULTS)


async def _form(
    session: Session, owner: str, thread: str | None, again: bool
) -> tuple[list[Outcome], list[Memory]]:
    async with session.writing() as book:
        party = as_owner(owner, session.tenant)
        wanted = await to_be_formed(book, party) if thread is None else [as_id(thread, "thread")]
        before = {memory.id for memory in await _memories(book, party)}
        off = set()
        for id in wanted:
            handle = await book.thread(party, id=id, view="owner")
            if again:
                await handle.form_again()
            elif not await handle.form_now():
                off.add(id)
        await book.worker.drain()
        made = [memory for memory in await _memories(book, party) if memory.id not in before]
        return await outcomes(book, party, wanted, off, alone=thread is not None), made


async def _memories(book: Book, owner: Owner) -> list[Memory]:
    found: list[Memory] = []
    cursor: str | None = None
    while True:
        page = await book.list(owner, types="memory", cursor=cursor, limit=1000, view="owner")
        found += [record for record in page.records if isinstance(record, Memory)]
        cursor = page.cursor
        if cursor is None:
            return found


@click.command("worker")
@opens_book
@click.option("--once", is_flag=True, help="End when nothing more is due.")
@click.option(
    "--max-concurrent",
    "at_once",
    type=click.IntRange(1, 64),
    default=4,
    metavar="N",
    help="Jobs at a time [default: 4].",
)
def worker_command(session: Session, once: bool, at_once: int) -> None:
    """Do the book's work: form what was said, make vectors, clear what was erased.

    Any number of workers may run, on one book and in as many processes. SIGTERM and Ctrl-C let the jobs in hand be
    the last, and wait up to 30 seconds for them; what is left is done by the next worker.
    """
    done = session.run(_work(session, once, at_once))
    if not session.tell({"done": done}):
        session.paper.say(
            f"done: {done}" if once else "stopped; what is left waits for the next worker", "good"
        )


async def _work(session: Session, once: bool, at_once: int) -> int | None:
    async with session.writing() as book:
        if once:
            return await book.worker.drain()
        stop = asyncio.Event()
        with _told_to(stop):
            if not session.json:
                how = "a language model" if book.forms_by_model else "rules, without a language model"
                session.paper.say(f"working; conversations are formed by {how}; end with Ctrl-C", "faint")
            working = asyncio.create_task(book.worker.run(stop, at_once=at_once))
            told = asyncio.create_task(stop.wait())
            await asyncio.wait({working, told}, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait({working}, timeout=_LAST_JOBS_SECONDS)
            for task in (working, told):
                task.cancel()
            results = await asyncio.gather(working, told, return_exceptions=True)
            if isinstance(results[0], MemorandaError):
                raise results[0]
        return None


@contextmanager
def _told_to(stop: asyncio.Event) -> Iterator[None]:
    """While it lasts, a request to end sets the event; a second one ends at once."""
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}

    def ask(number: signal.Signals) -> None:
        stop.set()
        loop.remove_signal_handler(number)
        signal.signal(number, before[number])

    try:
        for number in before:
            loop.add_signal_handler(number, ask, number)
    except NotImplementedError:
        # Windows: Ctrl-C interrupts, as everywhere else in this program.
        yield
        return
    try:
        yield
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)
