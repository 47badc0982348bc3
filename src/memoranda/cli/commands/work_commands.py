"""Commands about background work: ``form``, ``worker`` and ``jobs``."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, TypeAlias, get_args
from uuid import UUID

import click

from memoranda.book import Book
from memoranda.book.admin.pending_threads import is_formed, pending_threads
from memoranda.book.forming_jobs import FORMING
from memoranda.book.input import as_id, as_owner
from memoranda.cli import exits
from memoranda.cli.command_group import CommandGroup
from memoranda.cli.left_out_parts import NEWEST, left_out_since
from memoranda.cli.options import opens_book
from memoranda.cli.output.printer import Column, Printer
from memoranda.cli.output.record_tables import sort_of, when
from memoranda.cli.session import Session, confirm
from memoranda.errors import MemorandaError, NotFound
from memoranda.formation.who_forms import described
from memoranda.model.changes import MOST_JOBS, Job, JobState
from memoranda.model.memories import Memory
from memoranda.model.records import Owner

_SHOWN = 20
#: A worker that is asked to stop waits so long for its running jobs; other workers repeat what it gives up.
_LAST_JOBS_SECONDS = 30.0


@click.command("form")
@opens_book
@click.argument("owner", required=False)
@click.option("--thread", metavar="ID", help="Only this thread.")
@click.option(
    "--again", is_flag=True, help="Form the thread again from its beginning, which costs model calls again."
)
@click.option(
    "--with",
    "who",
    metavar="WHO",
    help="Change who forms: rules, or provider:model as memoranda usage names it.",
)
@click.option("--agent", metavar="NAME", help="With --with: only for this agent; --with default ends that.")
def form_command(
    session: Session, owner: str | None, thread: str | None, again: bool, who: str | None, agent: str | None
) -> None:
    """Make memories, a profile and episodes from what OWNER said, now instead of after a pause in the conversation.

    It uses the language model that the settings name in [models], or rules if they name none. A thread that waits
    for a provider or a budget is tried now; one that was given up is tried again only if --thread names it. Other
    jobs that are due in the book are done too, also those of other owners. Exit code 1 if a thread of OWNER was given up.

    The book records who formed it first, and other processes leave its threads alone; --with changes that, and needs
    no OWNER.
    """
    if owner is None and (who is None or thread is not None):
        raise click.UsageError("name the OWNER whose threads to form; only --with needs none")
    if agent is not None and who is None:
        raise click.UsageError("--agent belongs to --with: it names the agent whose record changes")
    if again and thread is None:
        raise click.UsageError(
            "--again needs --thread: it turns one thread into memories again; name the thread"
        )
    if who is not None:
        now = session.run(_change(session, who, agent))
        if owner is None and session.print_json({"who_forms": now}):
            return
        session.printer.say(
            f"formed from now on with {described(now)}" if now else "nobody is recorded", "good"
        )
    if owner is None:
        return
    found, made, left_out = session.run(_form(session, owner, thread, again))
    counts = {state: sum(outcome.state == state for outcome in found) for state in STATES}
    if not session.print_json({**counts, "threads": found, "memories": made, "left_out": left_out}):
        for memory in made[:_SHOWN]:
            session.printer.labelled(f"  {sort_of(memory):<12}  ", memory.content, label_style="faint")
        if len(made) > _SHOWN:
            session.printer.say(f"  and {len(made) - _SHOWN} more", "faint")
        _print_outcomes(session.printer, found)
        for part in left_out[:_SHOWN]:
            session.printer.labelled(f"  left out {part['part']} ({part['code']}): ", part["reason"])
        told = f"threads formed: {counts['formed']}, new memories: {len(made)}"
        told += f"; waiting: {counts['waiting']}" if counts["waiting"] else ""
        told += f"; given up: {counts['given_up']}" if counts["given_up"] else ""
        session.printer.say(told, "bad" if counts["given_up"] else "good")
    if counts["given_up"]:
        exits.leave(exits.FOUND_FAULTS)


async def _change(session: Session, who: str, agent: str | None) -> str:
    async with session.writing(models="auto") as book:
        now = await book.form_with(who, agent=agent)
        await _note_who_forms(book)
        return now


async def _note_who_forms(book: Book) -> None:
    """Say on standard error if this process leaves the threads to another one."""
    await book.who_forms()
    if book.cannot_form_because:
        exits.note(book.cannot_form_because)


async def _form(
    session: Session, owner: str, thread: str | None, again: bool
) -> tuple[list[Outcome], list[Memory], list[dict[str, str]]]:
    async with session.writing(models="auto") as book:
        await _note_who_forms(book)
        party = as_owner(owner, session.tenant)
        named = [] if thread is None else [(await book.thread(party, id=thread, view="owner")).id]
        wanted = named or await to_be_formed(book, party)
        before = {memory.id for memory in await _memories(book, party)}
        off = set()
        handles = [await book.thread(party, id=id, view="owner") for id in wanted]
        formed = {part.position for handle in handles for part in await handle.formed(limit=NEWEST)}
        for id, handle in zip(wanted, handles, strict=True):
            if again:
                await handle.form_again()
            elif not await handle.form_now():
                off.add(id)
        await book.worker.drain()
        made = [memory for memory in await _memories(book, party) if memory.id not in before]
        left_out = [part for handle in handles for part in await left_out_since(handle, formed)]
        return await outcomes(book, party, wanted, off, alone=thread is not None), made, left_out


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
@click.option("--once", is_flag=True, help="Stop when no job is due.")
@click.option(
    "--max-concurrent",
    "at_once",
    type=click.IntRange(1, 64),
    default=4,
    metavar="N",
    help="The most jobs to do at the same time [default: 4].",
)
def worker_command(session: Session, once: bool, at_once: int) -> None:
    """Do the book's background jobs: form memories, compute vectors, clear erased content.

    Any number of workers may run on one book, in separate processes. After SIGTERM or Ctrl-C a worker takes no new
    jobs and waits up to 30 seconds for the running ones; the next worker does the rest.
    """
    done = session.run(_work(session, once, at_once))
    if not session.print_json({"done": done}):
        session.printer.say(f"done: {done}" if once else "stopped; the next worker does the rest", "good")


async def _work(session: Session, once: bool, at_once: int) -> int | None:
    async with session.writing(models="auto") as book:
        await _note_who_forms(book)
        if once:
            return await book.worker.drain()
        stop = asyncio.Event()
        with _set_by_signals(stop):
            if not session.json:
                how = "a language model" if book.forms_by_model else "rules, without a language model"
                session.printer.say(f"working; memories are formed by {how}; stop with Ctrl-C", "faint")
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
def _set_by_signals(stop: asyncio.Event) -> Iterator[None]:
    """Let the first SIGTERM or Ctrl-C set the event; the second one interrupts as usual."""
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


State: TypeAlias = Literal["formed", "waiting", "given_up", "off"]
STATES: Final[tuple[State, ...]] = get_args(State)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The state of one thread's formation."""

    thread: UUID
    #: ``off``: the settings, or those of its agent, say not to form it.
    state: State
    #: The job that is left, and the error that stopped it.
    job: UUID | None = None
    error: str = ""
    #: The time at which a waiting thread is tried again.
    due: datetime | None = None


async def to_be_formed(book: Book, owner: Owner) -> list[UUID]:
    """Return the owner's threads that have unformed messages or a waiting job, without those that were given up."""
    jobs = await _jobs(book, owner)
    dead = {thread for thread, job in jobs.items() if job.state is JobState.DEAD}
    found = dict.fromkeys(jobs)
    async for threads in pending_threads(book.engine, owner):
        found |= dict.fromkeys(thread.id for thread in threads)
    return [thread for thread in found if thread not in dead]


async def outcomes(
    book: Book, owner: Owner, threads: Sequence[UUID], off: Collection[UUID], *, alone: bool
) -> list[Outcome]:
    """Return the state of these threads' formation; ``alone`` leaves out other threads that were given up."""
    jobs = await _jobs(book, owner)
    given_up = () if alone else (thread for thread, job in jobs.items() if job.state is JobState.DEAD)
    found = [
        await _outcome(book, owner, thread, jobs.get(thread), off)
        for thread in dict.fromkeys((*threads, *given_up))
    ]
    return [outcome for outcome in found if outcome is not None]


def _print_outcomes(printer: Printer, found: Sequence[Outcome]) -> None:
    """Print the threads that were not formed, and why."""
    waiting = [outcome for outcome in found if outcome.state == "waiting"]
    for outcome in waiting[:_SHOWN]:
        until = "" if outcome.due is None else f" until {when(outcome.due)}"
        printer.labelled(
            f"  thread {outcome.thread} waits{until}: ", outcome.error or "another process forms it"
        )
    given_up = [outcome for outcome in found if outcome.state == "given_up"]
    for outcome in given_up[:_SHOWN]:
        printer.labelled(f"  thread {outcome.thread} was given up: ", outcome.error or "its error was erased")
        printer.say(f"    to try again: memoranda jobs retry {outcome.job}; memoranda jobs run", "faint")
    if max(len(waiting), len(given_up)) > _SHOWN:
        printer.say("  there are more; see: memoranda jobs list", "faint")
    off = sum(outcome.state == "off" for outcome in found)
    if off:
        printer.say(
            f"threads not formed because forming.enabled or the agent's settings turn it off: {off}",
            "warning",
        )


async def _jobs(book: Book, owner: Owner) -> Mapping[UUID, Job]:
    """Return the owner's formation jobs by thread; a dead job takes precedence over a waiting one."""
    found: dict[UUID, Job] = {}
    for job in await book.engine.jobs(None, MOST_JOBS):
        if job.kind in FORMING and job.owner == owner:
            thread = UUID(job.key)
            if thread not in found or job.state is JobState.DEAD:
                found[thread] = job
    return found


async def _outcome(
    book: Book, owner: Owner, thread: UUID, job: Job | None, off: Collection[UUID]
) -> Outcome | None:
    """Return the state of one thread, or None if it was erased in the meantime."""
    if job is not None and job.state is JobState.DEAD:
        return Outcome(thread, "given_up", job.id, job.error)
    if job is not None and thread not in off:
        due = job.run_at if job.state is JobState.WAITING else None
        return Outcome(thread, "waiting", job.id, job.error, due)
    try:
        now = await (await book.thread(owner, id=thread, view="owner")).get()
    except NotFound:
        return None
    return Outcome(thread, "formed" if await is_formed(book.engine, now) else "off")


@click.group("jobs", no_args_is_help=False, cls=CommandGroup)
def jobs_command() -> None:
    """List, run, retry or drop background jobs: forming memories, computing vectors, clearing erased content."""


@jobs_command.command("list")
@opens_book
@click.option(
    "--state", type=click.Choice([state.value for state in JobState]), help="Only jobs in this state."
)
@click.option("--limit", type=int, default=100, metavar="N", help="The most jobs to show [default: 100].")
def list_command(session: Session, state: str | None, limit: int) -> None:
    """List jobs, those that are due the longest first."""
    found = session.run(_list(session, state, limit))
    if session.print_json({"jobs": found}):
        return
    columns = [
        Column("ID"),
        Column("KIND"),
        Column("STATE"),
        Column("DUE", "faint"),
        Column("TRIES", right=True),
        Column("LAST ERROR", flexible=True),
    ]
    rows = [
        [str(job.id), job.kind, job.state.value, when(job.run_at), str(job.tries), job.error] for job in found
    ]
    if rows:
        session.printer.table(columns, rows)
    else:
        session.printer.say("no jobs", "faint")


async def _list(session: Session, state: str | None, limit: int) -> Sequence[Job]:
    async with session.reading() as book:
        return await book.jobs.list(state=state, limit=limit)


@jobs_command.command("run")
@opens_book
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="The most jobs to do.")
def run_command(session: Session, limit: int | None) -> None:
    """Do the jobs that are due until none is left."""
    done, waiting = session.run(_run(session, limit))
    if not session.print_json({"done": done, "waiting": waiting}):
        session.printer.say(f"done: {done}, still waiting: {waiting}", "good")


async def _run(session: Session, limit: int | None) -> tuple[int, int]:
    async with session.writing(models="auto") as book:
        await _note_who_forms(book)
        done = await book.worker.drain(limit)
        return done, (await book.facts(whole=True)).jobs.get(JobState.WAITING.value, 0)


@jobs_command.command("retry")
@opens_book
@click.argument("id")
def retry_command(session: Session, id: str) -> None:
    """Make a dead or waiting job due now, and count its attempts from zero."""
    session.run(_replay(session, id))
    if not session.print_json({"retried": id}):
        session.printer.say("the job is due now; to do it: memoranda jobs run", "good")


async def _replay(session: Session, id: str) -> None:
    as_id(id)
    async with session.writing(models="auto") as book:
        await book.jobs.retry(id)


@jobs_command.command("drop")
@opens_book
@click.argument("id")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def drop_command(session: Session, id: str, yes: bool) -> None:
    """Delete a dead job."""
    wanted = as_id(id)
    confirm(f"Delete job {wanted}? Its work will not be done.", yes=yes)
    session.run(_drop(session, id))
    if not session.print_json({"dropped": id}):
        session.printer.say("deleted", "good")


async def _drop(session: Session, id: str) -> None:
    async with session.writing(models="auto") as book:
        await book.jobs.drop(id)
