"""The command ``mcp``: the memory on standard input and output, for a coding agent or a desktop
program.
"""

from __future__ import annotations

import getpass
import os
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from urllib.parse import urlsplit

import click

from memoranda.access.guard import Guard
from memoranda.access.principal import Principal, local_admin
from memoranda.access.read_audit import ReadAudit
from memoranda.access.service_settings import ServiceSettings
from memoranda.assembly import open as open_book
from memoranda.assembly import service_settings
from memoranda.book import Book
from memoranda.book.input import Who
from memoranda.cli import exits
from memoranda.cli.option_forms import option
from memoranda.cli.options import BOOK_VARIABLE, opens_book, seen_as_agent
from memoranda.cli.session import Session
from memoranda.errors import InvalidInput, installing
from memoranda.model.records import AudienceKind
from memoranda.operations import Role

try:
    from memoranda.mcp_server import program_entries
    from memoranda.mcp_server.asker import Asker, Whose
    from memoranda.mcp_server.server_factory import make_server
except ModuleNotFoundError as exc:  # the extra is not installed
    if (exc.name or "").startswith("memoranda"):
        raise
    MISSING: str | None = exc.name
else:
    MISSING = None

_PROGRAMS = ("claude-code", "cursor")


@click.command("mcp")
@opens_book
@seen_as_agent
@option("--owner NAME", "Whose memory it is [default: the name of your login].")
@option(
    "--audience",
    "Who reads what is remembered [default: the book's setting].",
    of=AudienceKind,
)
@option("--admin", "Serve the administrator's tools, too.")
@option("--install", "Write this server into the project's file of a program.", of=_PROGRAMS)
@option("--uninstall", "Take it out of that file again.", of=_PROGRAMS)
@option("--print", "With --install: print the entry, and write nothing.", "only_print")
def mcp_command(
    session: Session,
    who: Who,
    owner: str | None,
    audience: str | None,
    admin: bool,
    install: str | None,
    uninstall: str | None,
    only_print: bool,
) -> None:
    """Serve the memory to a program that speaks MCP, on standard input and output.

    Without --book it is one book of yours, in your data folder, which is made if there is none.
    """
    if MISSING is not None:
        raise InvalidInput(f"MCP needs {MISSING}: {installing('server')}")
    if (install and uninstall) or (only_print and not install):
        raise click.UsageError(
            "--install and --uninstall exclude each other, and --print goes with --install"
        )
    if uninstall:
        _uninstall(session, uninstall)
    elif install:
        own = [*(["--owner", owner] if owner else []), *(["--admin"] if admin else [])]
        _install(session, install, who, audience or "group", own, only_print=only_print)
    else:
        whose = Whose(
            owner or getpass.getuser(),
            who.get("agent") or "mcp",
            tuple(who.get("groups") or ()),
            audience,
        )
        try:
            with exits.ctrl_c_interrupts():
                session.run(_serve(session, whose, admin=admin))
        except KeyboardInterrupt:
            # The thread that waits for the next line of input would keep the process.
            exits.end_at_once()


async def _serve(session: Session, whose: Whose, *, admin: bool) -> None:
    address = session.address if _named_book() else str(_own_book())
    async with open_book(
        address, tenant=session.tenant, config=session.config, models="auto"
    ) as book:
        own = frozenset({whose.owner}), frozenset({whose.agent}), frozenset(whose.groups)
        principal = (
            local_admin(book.tenant)
            if admin
            else Principal(whose.agent, book.tenant, Role.EDITOR, *own)
        )
        async with _audit_of(book, service_settings(session.config)) as audit:
            asker = Asker(Guard(book, principal, "mcp", audit), whose)
            await make_server(asker, admin=admin).run_stdio_async()


def _audit_of(
    book: Book, settings: ServiceSettings
) -> AbstractAsyncContextManager[ReadAudit | None]:
    """Return the audit of reads, if there is to be one; the book of a service notes them there."""
    if not settings.audit or not isinstance(book, Book):
        return nullcontext()
    return ReadAudit(book, settings.audit_days)


def _uninstall(session: Session, program: str) -> None:
    path = program_entries.project_of(Path.cwd()) / program_entries.FILES[program]
    done = "removed from" if program_entries.remove_entry(path) else "not in"
    session.printer.say(f"memoranda is {done} {path}", "good")


def _install(
    session: Session, program: str, who: Who, audience: str, own: list[str], *, only_print: bool
) -> None:
    """Write or print the entry of a program."""
    project = program_entries.project_of(Path.cwd())
    groups = who.get("groups") or [program_entries.group_of(project)]
    options = ["--agent", who.get("agent") or program]
    options += [part for group in groups for part in ("--group", group)]
    options += ["--audience", audience, *own, *_book_options(session)]
    entry = program_entries.entry_of(options)
    if only_print:
        click.echo(program_entries.shown_entry(entry), nl=False)
        return
    path = project / program_entries.FILES[program]
    program_entries.install_entry(path, entry)
    session.printer.say(f"memoranda is in {path}; restart {program}", "good")


def _book_options(session: Session) -> list[str]:
    """Return the options by which a program in another folder opens the same book."""
    options = [] if session.whole else ["--tenant", session.tenant]
    if session.config:
        options += ["--config", str(Path(session.config).resolve())]
    if not _named_book():
        return options
    if "://" not in session.address:
        return [*options, "--book", str(Path(session.address).resolve())]
    if urlsplit(session.address).password:
        raise InvalidInput(
            "book: the address has a password, which would stand in a file of the project; leave it out, and put it into "
            "~/.pgpass or the variable PGPASSWORD"
        )
    return [*options, "--book", session.address]


def _named_book() -> bool:
    """Return True if an option or the environment names the book."""
    ctx = click.get_current_context()
    named = (
        ctx.params.get("book"),
        ctx.find_root().params.get("book"),
        os.environ.get(BOOK_VARIABLE),
    )
    return any(named)


def _own_book() -> Path:
    """Return the path of the user's own book; its folder is made if there is none."""
    folder = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "memoranda"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder / "memoranda.db"
