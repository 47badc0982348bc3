"""The commands for backups of a whole book: ``backup`` and ``restore``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import click

from memoranda.assembly import open_engine
from memoranda.book.admin.backup_files import Restored, restore
from memoranda.cli import exits
from memoranda.cli.option_forms import option
from memoranda.cli.options import opens_book
from memoranda.cli.output.terminal import counted
from memoranda.cli.session import Session, path_of
from memoranda.errors import InvalidInput, NotABook
from memoranda.model.query import Findings
from memoranda.model.values import utc_now
from memoranda.ports import Engine

_PATH = click.Path(path_type=Path)


@click.command("backup")
@opens_book
@click.argument("target", type=_PATH)
def backup_command(session: Session, target: Path) -> None:
    """Copy the book to TARGET, a new file, while it is in use; open the copy, and verify it against
    its ledger.

    The copy is the book at one moment, also of a book on a server. It opens like any book.
    """
    found = session.run(_backup(session, target))
    if not session.print_json({"target": target.absolute(), **_counts(found)}):
        session.printer.say(f"backed up to {target}", "good")
        session.printer.say(_verified(found))


async def _backup(session: Session, target: Path) -> Findings:
    _check_folder(target)
    async with session.writing() as book:
        with session.progress("copying") as progress:
            return await book.admin.backup(target.absolute(), progress)


@click.command("restore")
@opens_book
@click.argument("backup", type=_PATH)
@click.argument("target", type=_PATH)
@option("--erasures BOOK...", "A book whose later erasures are made here too; repeatable.")
@option(
    "--without-erasures",
    "Restore although the notes beside BACKUP are lost or damaged: what was forgotten may come back.",
)
def restore_command(
    session: Session, backup: Path, target: Path, erasures: Sequence[str], without_erasures: bool
) -> None:
    """Copy BACKUP to TARGET, a new file, and remove from the copy what was forgotten since.

    What was forgotten is known from the notes beside the backup (BACKUP.erasures), and from each book given with --erasures:
    give the book that the backup was made of, if it still opens. Without both, nothing is restored unless you give
    --without-erasures. --book plays no part.
    """
    restored, found = session.run(
        _restore(backup, target, erasures, without_erasures=without_erasures)
    )
    session.mark_done()
    if restored.warning:
        exits.note(restored.warning)
    answer = {"target": target.absolute(), "removed": restored.removed, "warning": restored.warning}
    if session.print_json({**answer, **_counts(found)}):
        return
    session.printer.say(f"restored to {target}", "good")
    session.printer.say(f"forgotten since, and taken out: {restored.removed}")
    session.printer.say(_verified(found))


async def _restore(
    backup: Path, target: Path, erasures: Sequence[str], *, without_erasures: bool
) -> tuple[Restored, Findings]:
    if not backup.is_file():
        raise NotABook(f"there is no backup at {backup}: check the path")
    _check_folder(target)
    async with AsyncExitStack() as opened:
        books = [await opened.enter_async_context(_open_book(address)) for address in erasures]
        restored = await restore(
            _opened,
            backup.absolute(),
            target.absolute(),
            books=books,
            without_erasures=without_erasures,
            at=utc_now(),
        )
    async with _open_book(str(target)) as engine:
        return restored, await engine.verify()


async def _opened(path: Path) -> Engine:
    return await open_engine(path, create=False)


@asynccontextmanager
async def _open_book(address: str) -> AsyncIterator[Engine]:
    path_of(address)
    engine = await open_engine(address, create=False)
    try:
        yield engine
    finally:
        await engine.close()


def _check_folder(target: Path) -> None:
    if not target.absolute().parent.is_dir():
        raise InvalidInput(
            f"target: the folder {target.absolute().parent} does not exist; create it first",
            field="target",
        )


def _counts(found: Findings) -> dict[str, int]:
    return {"records": found.records, "versions": found.versions, "entries": found.entries}


def _verified(found: Findings) -> str:
    return (
        f"verified: {counted(found.records, 'record')}, {counted(found.versions, 'earlier version')}, "
        f"{counted(found.entries, 'ledger entry', 'ledger entries')}, all as the ledger says"
    )
