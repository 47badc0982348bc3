"""Commands about background work: ``form``, ``worker`` and ``jobs``."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import get_args

import click

from memoranda.book import Book
from memoranda.book.input import Who, as_id, owner_named
from memoranda.cli import exits
from memoranda.cli.command_group import CommandGroup
from memoranda.cli.option_forms import option
from memoranda.cli.options import opens_book
from memoranda.cli.output.printer import Column, Printer
from memoranda.cli.output.record_tables import sort_of, when
from memoranda.cli.session import Session, confirm
from memoranda.errors import MemorandaError
from memoranda.formation.who_forms import described
from memoranda.model.changes import Job, JobState
from memoranda.model.forming_results import FormedThread, FormingReport, FormingState

_SHOWN = 20
#: A worker that is asked to stop waits so long for its running jobs; other workers repeat what it
#: gives up.
_LAST_JOBS_SECONDS = 30.0


@click.command("form")
@opens_book
@click.argument("owner", required=False)
@option("--thread ID", "Only this thread.")
@option("--again", "Form the thread again from its beginning, which costs model calls again.")
@option(
    "--with WHO", "Change who forms: rules, or provider:model as memoranda usage names it.", "who"
)
@option(
    "--agent NAME",
    "Read and write as this agent. With --with: only for this agent; --with default ends that.",
)
def form_command(
    session: Session,
    owner: str | None,
    thread: str | None,
    again: bool,
    who: str | None,
    agent: str | None,
) -> None:
    """Make memories, a profile and episodes from what OWNER said, now instead of after a pause in
    the conversation.

    It uses the language model that the settings name in [models], or rules if they name none. A
    thread that waits for a provider or a budget is tried now; one that was given up is tried again
    only if --thread names it. Other jobs that are due in the book are done too, also those of other
    owners. Exit code 1 if a thread of OWNER was given up. Without --agent it forms the threads of
    all agents.

    The book records who formed it first, and other processes leave its threads alone; --with
    changes that, and needs no OWNER.
    """
    if owner is None and (who is None or thread is not None):
        raise click.UsageError("name the OWNER whose threads to form; only --with needs none")
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
    made = session.run(
        _form(session, owner, thread, again, {"agent": agent} if agent else {"as_owner": True})
    )
    counts = {
        state: sum(one.state == state for one in made.threads) for state in get_args(FormingState)
    }
    if not session.print_json(
        {**counts, "threads": made.threads, "memories": made.memories, "left_out": _left_out(made)}
    ):
        for memory in made.memories[:_SHOWN]:
            session.printer.labelled(
                f"  {sort_of(memory):<12}  ", memory.content, label_style="faint"
            )
        if len(made.memories) > _SHOWN:
            session.printer.say(f"  and {len(made.memories) - _SHOWN} more", "faint")
        _print_outcomes(session.printer, made.threads)
        for part in made.left_out[:_SHOWN]:
            session.printer.labelled(f"  left out {part.part} ({part.code}): ", part.reason)
        told = f"threads formed: {counts['formed']}, new memories: {len(made.memories)}"
        told += f"; waiting: {counts['waiting']}" if counts["waiting"] else ""
        told += f"; given up: {counts['given_up']}" if counts["given_up"] else ""
        session.printer.say(told, "bad" if counts["given_up"] else "good")
    if counts["given_up"]:
        exits.leave(exits.FOUND_FAULTS)


async def _change(session: Session, who: str, agent: str | None) -> str:
    async with session.writing(models="auto") as book:
        now = await book.jobs.form_with(who, agent=agent)
        await _note_who_forms(book)
        return now


async def _note_who_forms(book: Book) -> None:
    """Say on standard error if this process leaves the threads to another one."""
    await book.jobs.who_forms()
    if book.cannot_form_because:
        exits.note(book.cannot_form_because)


async def _form(
    session: Session, owner: str, thread: str | None, again: bool, who: Who
) -> FormingReport:
    async with session.writing(models="auto") as book:
        await _note_who_forms(book)
        party = owner_named(owner, session.tenant)
        if thread is None:
            made = await book.form(party, **who)
        else:
            handle = await book.thread(party, id=thread, **who)
            if again:
                await handle.form_again()
            made = await handle.form()
        await book.worker.drain()
        return made


def _left_out(made: FormingReport) -> list[dict[str, str]]:
    """Return the parts of models' answers that were not kept, each with its thread."""
    return [
        {"thread": str(thread.thread), "part": one.part, "code": one.code, "reason": one.reason}
        for thread in made.threads
        for part in thread
        for one in part.left_out
    ]


@click.command("worker")
@opens_book
@option("--once", "Stop when no job is due.")
@option(
    "--max-concurrent N",
    "The most jobs to do at the same time [default: 4].",
    "at_once",
    of=click.IntRange(1, 64),
    default=4,
)
def worker_command(session: Session, once: bool, at_once: int) -> None:
    """Do the book's background jobs: form memories, compute vectors, clear erased content.

    Any number of workers may run on one book, in separate processes. After SIGTERM or Ctrl-C a
    worker takes no new jobs and waits up to 30 seconds for the running ones; the next worker does
    the rest.
    """
    done = session.run(_work(session, once, at_once))
    if not session.print_json({"done": done}):
        session.printer.say(
            f"done: {done}" if once else "stopped; the next worker does the rest", "good"
        )


async def _work(session: Session, once: bool, at_once: int) -> int | None:
    async with session.writing(models="auto") as book:
        await _note_who_forms(book)
        if once:
            return await book.worker.drain()
        stop = asyncio.Event()
        with _set_by_signals(stop):
            if not session.json:
                how = (
                    "a language model" if book.forms_by_model else "rules, without a language model"
                )
                session.printer.say(
                    f"working; memories are formed by {how}; stop with Ctrl-C", "faint"
                )
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


def _print_outcomes(printer: Printer, found: Sequence[FormedThread]) -> None:
    """Print the threads that were not formed, and why."""
    waiting = [outcome for outcome in found if outcome.state == "waiting"]
    for outcome in waiting[:_SHOWN]:
        until = "" if outcome.due is None else f" until {when(outcome.due)}"
        printer.labelled(
            f"  thread {outcome.thread} waits{until}: ",
            outcome.because or "another process forms it",
        )
    given_up = [outcome for outcome in found if outcome.state == "given_up"]
    for outcome in given_up[:_SHOWN]:
        printer.labelled(
            f"  thread {outcome.thread} was given up: ", outcome.because or "its error was erased"
        )
        printer.say(
            f"    to try again: memoranda jobs retry {outcome.job}; memoranda jobs run", "faint"
        )
    if max(len(waiting), len(given_up)) > _SHOWN:
        printer.say("  there are more; see: memoranda jobs list", "faint")
    off = sum(outcome.state == "off" for outcome in found)
    if off:
        printer.say(
            f"threads not formed because forming.enabled or the agent's settings turn it off: {off}",
            "warning",
        )


@click.group("jobs", no_args_is_help=False, cls=CommandGroup)
def jobs_command() -> None:
    """List, run, retry or drop background jobs: forming memories, computing vectors, clearing
    erased content.
    """


@jobs_command.command("list")
@opens_book
@option("--state", "Only jobs in this state.", of=JobState)
@option("--limit N", "The most jobs to show [default: 100].", of=int, default=100)
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
        [str(job.id), job.kind, job.state.value, when(job.run_at), str(job.tries), job.error]
        for job in found
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
@option("--limit N", "The most jobs to do.", of=click.IntRange(min=1))
def run_command(session: Session, limit: int | None) -> None:
    """Do the jobs that are due until none is left."""
    done, waiting = session.run(_run(session, limit))
    if not session.print_json({"done": done, "waiting": waiting}):
        session.printer.say(f"done: {done}, still waiting: {waiting}", "good")


async def _run(session: Session, limit: int | None) -> tuple[int, int]:
    async with session.writing(models="auto") as book:
        await _note_who_forms(book)
        done = await book.worker.drain(limit)
        return done, (await book.admin.facts(whole=True)).jobs.get(JobState.WAITING.value, 0)


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
@option("--yes", "Do not ask for confirmation.")
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
