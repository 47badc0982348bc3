"""Work that waits: ``jobs``."""

from __future__ import annotations

from collections.abc import Sequence

import click

from memoranda.book.parsing import as_id, as_limit
from memoranda.errors import NotFound
from memoranda.model.jobs import Job, JobState
from memoranda.model.values import utc_now
from memoranda.surfaces.cli.options import opens_book
from memoranda.surfaces.cli.paper import Column
from memoranda.surfaces.cli.session import Session, confirm
from memoranda.surfaces.cli.telling import when


@click.group("jobs", no_args_is_help=False)
def jobs_command() -> None:
    """Look after work that waits: erased content to be cleared, terms and vectors to be made."""


@jobs_command.command("list")
@opens_book
@click.option("--state", type=click.Choice([state.value for state in JobState]), help="In this state only.")
@click.option("--limit", type=int, default=100, metavar="N", help="At most so many [default: 100].")
def list_command(session: Session, state: str | None, limit: int) -> None:
    """List jobs, longest due first."""
    found = session.run(_list(session, state, limit))
    if session.tell({"jobs": found}):
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
        session.paper.table(columns, rows)
    else:
        session.paper.say("no jobs", "faint")


async def _list(session: Session, state: str | None, limit: int) -> Sequence[Job]:
    async with session.reading() as book:
        return await book.engine.jobs(JobState(state) if state else None, as_limit(limit))


@jobs_command.command("run")
@opens_book
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="At most so many.")
def run_command(session: Session, limit: int | None) -> None:
    """Do due jobs until none is left."""
    done, waiting = session.run(_run(session, limit))
    if not session.tell({"done": done, "waiting": waiting}):
        session.paper.say(f"done: {done}, still waiting: {waiting}", "good")


async def _run(session: Session, limit: int | None) -> tuple[int, int]:
    async with session.writing() as book:
        done = await book.worker.drain(limit)
        return done, (await book.facts()).jobs.get(JobState.WAITING.value, 0)


@jobs_command.command("retry")
@opens_book
@click.argument("id")
def retry_command(session: Session, id: str) -> None:
    """Make a job due now that is dead, or waits for later; its attempts begin anew."""
    session.run(_replay(session, id))
    if not session.tell({"retried": id}):
        session.paper.say("due now; to do it now: memoranda jobs run", "good")


async def _replay(session: Session, id: str) -> None:
    wanted = as_id(id)
    async with session.writing() as book:
        if not await book.engine.replay(wanted, utc_now()):
            raise NotFound(f"there is no job {id} that is dead or waits for later; see: memoranda jobs list")


@jobs_command.command("drop")
@opens_book
@click.argument("id")
@click.option("--yes", is_flag=True, help="Do not ask.")
def drop_command(session: Session, id: str, yes: bool) -> None:
    """Throw a dead job away."""
    wanted = as_id(id)
    confirm(f"Throw job {wanted} away? What it was to do is not done then.", yes=yes)
    session.run(_drop(session, id))
    if not session.tell({"dropped": id}):
        session.paper.say("thrown away", "good")


async def _drop(session: Session, id: str) -> None:
    async with session.writing() as book:
        if not await book.engine.drop(as_id(id)):
            raise _no_dead_job(id)


def _no_dead_job(id: str) -> NotFound:
    return NotFound(f"there is no dead job {id}; see: memoranda jobs list --state dead")
