"""The command that checks the health of a book: ``doctor``."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from memoranda.book import Book
from memoranda.book.forgetting.decisions import is_decided
from memoranda.book.forming_jobs import FORMING
from memoranda.cli import exits, health_checks
from memoranda.cli.forming_check import Forming, formation, set_aside
from memoranda.cli.health_checks import Check
from memoranda.cli.options import opens_book, owned
from memoranda.cli.output.printer import Column, Printer
from memoranda.cli.output.record_tables import readers_of, restricted_since
from memoranda.cli.output.terminal import counted
from memoranda.cli.replica_checks import replica_checks
from memoranda.cli.session import Session
from memoranda.formation.bound_profiles import BoundProfiles
from memoranda.model.changes import FINISH_FORGETTING, FORM_LATE, MOST_JOBS, NO_ROOM, Job, JobState
from memoranda.model.query import BookFacts
from memoranda.model.records import WHOLE, Owner, OwnerKind
from memoranda.model.server_facts import ReplicaFacts
from memoranda.model.values import utc_now
from memoranda.model.vectors import EMBED

_MOUNTS = Path("/proc/mounts")
#: So many owners are looked at for fields of their profiles.
_SURVEYED = 1_000
#: So many threads that wait for room are named.
_NAMED = 10
_STYLES = {"ok": "good", "note": "", "warning": "warning"}


@click.command("doctor")
@opens_book
@owned(optional=True, most=0)
def doctor_command(session: Session, party: Owner | None, words: Sequence[str]) -> None:
    """Check the health of the book, its file and its disk; exit code 1 if there is a warning.

    With OWNER it shows instead who sees how many of the owner's records, and who will see new ones;
    it shows no content.
    """
    if party is not None:
        session.run(_sharing(session, party))
        return
    facts, checks = session.run(_examine(session))
    healthy = all(check.state != "warning" for check in checks)
    if not session.print_json({"healthy": healthy, "book": facts, "checks": checks}):
        _print_facts(session.printer, facts)
        _print_checks(session.printer, checks)
        session.printer.say("healthy" if healthy else "not healthy", "good" if healthy else "bad")
    if not healthy:
        exits.leave(exits.FOUND_FAULTS)


async def _sharing(session: Session, party: Owner) -> None:
    async with session.reading() as book:
        found, limited = (
            await book.records.readers(party, as_owner=True),
            await restricted_since(book, party),
        )
        settings = book.forming.of_agents.sharing
        own = {agent.name: settings.for_agent(agent).default for agent in await book.agents.list()}
    apart = {name: default for name, default in own.items() if default != settings.default}
    sharing = {"default": settings.default, "agents": apart}
    if session.print_json({"owner": party, "readers": found, "sharing": sharing}):
        return
    printer = session.printer
    if found:
        rows = [
            [
                readers_of(one.audience),
                ", ".join(f"{count} {name}" for name, count in one.records.items()),
            ]
            for one in found
        ]
        printer.table([Column("READ BY"), Column("RECORDS", flexible=True)], rows)
    else:
        printer.say(f"no records of {party}", "faint")
    if limited:
        printer.say(limited, "warning")
    agents = "".join(f"; of {name}: {default}" for name, default in apart.items())
    printer.say(
        f"audience of what an agent writes without naming one: {settings.default}{agents}", "faint"
    )


async def _examine(session: Session) -> tuple[BookFacts, list[Check]]:
    async with session.reading(models="auto") as book:
        await book.embeddings.examine()
        facts = await book.admin.facts(whole=session.whole)
        jobs = await book.engine.jobs(None, MOST_JOBS)
        # Vectors and threads may wait for a process with a model; they have checks of their own.
        overdue = [
            job
            for job in jobs
            if job.state is JobState.WAITING and job.kind not in (EMBED, FORM_LATE, *FORMING)
        ]
        checks = [health_checks.program(), *await _of_place(book)]
        checks += health_checks.upkeep(facts, overdue[0] if overdue else None, utc_now())
        forming = [
            job for job in jobs if job.kind in FORMING and (session.whole or _is_of(book, job))
        ]
        who = (await book.jobs.who_forms(), book.cannot_form_because, book.forming.settings.enabled)
        checks.append(formation(Forming(forming, *who), utc_now()))
        checks.append(await _of_fields(book))
        checks += await _of_lines(book)
        checks += set_aside([job for job in jobs if session.whole or _is_of(book, job)])[:_NAMED]
        checks += _without_room([job for job in forming if job.state is JobState.WAITING])
        checks += _hidden([job for job in jobs if session.whole or _is_of(book, job)])
        checks += health_checks.meaning(facts.details["vectors"])
        if isinstance(book.engine, health_checks.OnServer):
            found = await book.engine.examine()
            if isinstance(found, ReplicaFacts):
                return facts, checks + replica_checks(found)
            return facts, checks + health_checks.server_checks(found)
        checks.append(health_checks.backups(list(facts.details.get("backups", ())), time.time()))
        return facts, checks + await _of_file(book)


async def _of_fields(book: Book) -> Check:
    """Count the memories that hold a bound field of a profile and show nothing in it."""
    bound, now = BoundProfiles(book.engine, book.tenant), utc_now()
    owners = (await book.engine.owners(book.tenant))[:_SURVEYED]
    silent = sum([len(await bound.silent(owner, WHOLE, now)) for owner in owners])
    told = f"{counted(silent, 'memory has', 'memories have')} the key of a field and no value that fits it"
    return Check(
        "bound fields",
        "note" if silent else "ok",
        told if silent else "each shows its memory's value",
    )


async def _of_lines(book: Book) -> list[Check]:
    """Name the lines of agents' experience that nothing proves and nobody approved."""
    agents = [
        owner.id for owner in await book.engine.owners(book.tenant) if owner.kind is OwnerKind.AGENT
    ]
    lines = [
        (agent, line)
        for agent in agents
        for line in await book.experience.list(agent)
        if line.waits
    ]
    if not lines:
        return []
    named = "; ".join(f"{line.id} of {agent}" for agent, line in lines[:_NAMED])
    more = f"; and {len(lines) - _NAMED} more" if len(lines) > _NAMED else ""
    told = f"{counted(len(lines), 'line serves', 'lines serve')} nobody, without evidence and approval: {named}{more}"
    advice = "read each with: memoranda experience list AGENT; then approve or retire it"
    return [Check("experience", "note", told, advice)]


def _is_of(book: Book, job: Job) -> bool:
    """True if a job is about an owner of the book's tenant."""
    return job.owner is not None and job.owner.tenant == book.tenant


async def _of_place(book: Book) -> list[Check]:
    departure = (await book.engine.whereabouts()).departure
    if departure is None:
        return []
    if departure.whole:
        return [
            Check("place", "warning", f"the book has moved to {departure.address}", "open it there")
        ]
    command = f"memoranda copy THIS_BOOK {departure.address}"
    advice = f"wait until the copy is complete; if it was stopped, run: {command}, or the same with --cancel"
    return [Check("place", "warning", f"the book is being copied to {departure.address}", advice)]


def _without_room(waiting: Sequence[Job]) -> list[Check]:
    """Name the threads whose formed memories have no room; none are lost."""
    full = [job for job in waiting if job.error.startswith(NO_ROOM)]
    if not full:
        return []
    named = "; ".join(
        f"thread {job.key} of {job.owner}: {job.error.removeprefix(f'{NO_ROOM}: ')}"
        for job in full[:_NAMED]
    )
    more = f"; and {len(full) - _NAMED} more" if len(full) > _NAMED else ""
    threads = "1 thread waits" if len(full) == 1 else f"{len(full)} threads wait"
    advice = "then it is tried again within 15 minutes, or at once with: memoranda form OWNER"
    return [Check("memory limit", "warning", f"{threads} for room: {named}{more}", advice)]


def _hidden(jobs: Sequence[Job]) -> list[Check]:
    """Name what was forgotten by a model's tool and is hidden until somebody decides."""
    hidden = [job for job in jobs if job.kind == FINISH_FORGETTING and not is_decided(job)]
    if not hidden:
        return []
    named = "; ".join(f"position {job.key} of {job.owner}" for job in hidden[:_NAMED])
    more = f"; and {len(hidden) - _NAMED} more" if len(hidden) > _NAMED else ""
    what = "1 forgetting is" if len(hidden) == 1 else f"{len(hidden)} forgettings are"
    advice = "erase each with: memoranda forget OWNER --finish POSITION; or bring it back with: memoranda undo OWNER POSITION"
    return [
        Check("forgetting", "note", f"{what} hidden until somebody decides: {named}{more}", advice)
    ]


async def _of_file(book: Book) -> list[Check]:
    engine = book.engine
    if not isinstance(engine, health_checks.OnFile):
        return []
    path = engine.path.absolute().resolve()
    mounts = _MOUNTS.read_text("utf-8", "replace") if _MOUNTS.exists() else ""
    return [
        await health_checks.integrity(engine.file),
        await health_checks.durability(
            engine.file, writable=os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
        ),
        health_checks.permissions(path),
        health_checks.log_size(path),
        health_checks.room(health_checks.size_of(path), shutil.disk_usage(path.parent).free),
        health_checks.file_system(path, mounts),
        health_checks.sync_time(path.parent),
        health_checks.sqlite_version(),
    ]


def _print_facts(printer: Printer, facts: BookFacts) -> None:
    records = ", ".join(f"{number} {kind}" for kind, number in facts.records.items())
    jobs = ", ".join(f"{number} {state}" for state, number in facts.jobs.items())
    printer.say(f"book {facts.address}", "title")
    pairs: list[tuple[str, Any]] = [
        ("engine", f"{facts.engine}, format {facts.format}"),
        ("size", health_checks.megabytes(facts.bytes)),
        ("owners", str(facts.owners)),
        ("records", records or "none"),
        ("jobs", jobs or "none"),
    ]
    printer.pairs(pairs)


def _print_checks(printer: Printer, checks: list[Check]) -> None:
    printer.say("checks", "title")
    broad = max(len(check.name) for check in checks)
    for check in checks:
        printer.labelled(
            f"  {check.name:<{broad}}  {check.state:<7}  ",
            check.found,
            label_style=_STYLES[check.state],
        )
        if check.advice:
            printer.labelled(" " * (broad + 13), check.advice, style="strong")
