"""Migrations: find out whether a file is a book and which version its schema has, and upgrade
it.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

from memoranda.engines.sqlite.file.connections import Connector, begin_immediate, persist
from memoranda.engines.sqlite.file.copies import copy_verified, sync_folder
from memoranda.engines.sqlite.file.writer import Turnstile
from memoranda.errors import Corrupt, NotABook, StorageError, VersionMismatch
from memoranda.first_use import dataclass

#: "Memo": marks a SQLite file as a book.
APPLICATION_ID = 0x4D656D6F
#: The mark of books that development builds made.
_DEVELOPMENT_ID = 0x436D706C


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema; ``number`` is the version it leads to."""

    number: int
    name: str
    sql: str


class Migrations:
    """All migrations of one schema, oldest first. Their numbers are 1, 2, 3 and so on."""

    def __init__(self, steps: Sequence[Migration], *, application_id: int) -> None:
        numbers = [step.number for step in steps]
        if not numbers or numbers != list(range(1, len(numbers) + 1)):
            raise ValueError(f"migrations are numbered 1, 2, 3 and so on, not {numbers}")
        if not 0 < application_id < 2**31:
            raise ValueError("an application id is a positive 32-bit number")
        self._steps = tuple(steps)
        #: The application id in the file's header, which marks it as ours.
        self.application_id = application_id
        #: The version that these steps lead to.
        self.latest = len(numbers)

    def after(self, version: int) -> tuple[Migration, ...]:
        """Return the steps that upgrade a file of this version, in order; none for the latest
        version.
        """
        return self._steps[version:]


@dataclass(frozen=True, slots=True)
class Standing:
    """A file's kind and schema version, read from its header and its list of tables."""

    application_id: int
    version: int
    has_tables: bool
    has_log: bool

    @property
    def is_empty(self) -> bool:
        """True if no program has written to the file: no application id, no version and no
        tables.
        """
        return not (self.application_id or self.version or self.has_tables)


def standing(connection: sqlite3.Connection) -> Standing:
    """Read the file's kind and schema version; call it in a transaction, as another process may
    write in between.
    """

    def value(pragma: str) -> object:
        return connection.execute(f"PRAGMA {pragma}").fetchone()[0]

    tables = connection.execute("SELECT EXISTS (SELECT 1 FROM sqlite_schema)").fetchone()[0]
    application_id, version = value("application_id"), value("user_version")
    assert isinstance(application_id, int)
    assert isinstance(version, int)
    return Standing(application_id, version, bool(tables), value("journal_mode") == "wal")


def look(connection: sqlite3.Connection) -> Standing:
    """Return the file's kind and schema version, read at one moment."""
    connection.execute("BEGIN")
    try:
        return standing(connection)
    finally:
        connection.execute("ROLLBACK")


def check_standing(found: Standing, migrations: Migrations, path: Path) -> None:
    """Raise an error if the file is not a book, or a newer program wrote it."""
    if found.is_empty:
        return
    if found.application_id == _DEVELOPMENT_ID:
        raise VersionMismatch(
            f"{path} is a book of a development build, which no release reads: give the path of another book, "
            "or of a file that is not there yet."
        )
    if found.application_id != migrations.application_id or found.version < 1:
        raise NotABook(
            f"{path} is a database of another program: give the path of a book, "
            "or of a file that is not there yet."
        )
    if found.version > migrations.latest:
        raise VersionMismatch(
            f"{path} has format {found.version}, and this program knows formats up to {migrations.latest}: "
            "upgrade Memoranda, or open a backup of the older format."
        )


def bring_forward(
    writer: sqlite3.Connection, connector: Connector, turns: Turnstile, migrations: Migrations
) -> None:
    """Upgrade a new or older file to the latest version, unless another process has done so."""
    if connector.synchronous == "FULL":
        # While a file has no log yet, only this setting makes the removal of its rollback journal
        # durable.
        writer.execute("PRAGMA synchronous=EXTRA")
    writer.execute("PRAGMA foreign_keys=OFF")
    turn = turns.take(connector.wait_seconds)
    try:
        _migrate(writer, connector, migrations)
        persist(lambda: _use_log(writer, connector.path), connector.busy_seconds)
    finally:
        if turn:
            turns.release()
    writer.execute("PRAGMA foreign_keys=ON")
    writer.execute(f"PRAGMA synchronous={connector.synchronous}")
    sync_folder(connector.path.parent)


def _migrate(writer: sqlite3.Connection, connector: Connector, migrations: Migrations) -> None:
    begin_immediate(writer, connector.busy_seconds)
    kept: Path | None = None
    try:
        found = standing(writer)
        check_standing(found, migrations, connector.path)
        if not found.is_empty and found.version < migrations.latest:
            # We have the write lock: nobody can write between this copy and the upgrade.
            kept = _keep_copy(connector, found.version)
        for step in migrations.after(found.version):
            _apply(writer, step, migrations)
        writer.execute("COMMIT")
    except BaseException:
        if writer.in_transaction:
            writer.execute("ROLLBACK")
        if kept is not None:
            # The book is unchanged; without deleting the copy, repeated attempts would fill the
            # disk.
            kept.unlink(missing_ok=True)
        raise


def _keep_copy(connector: Connector, version: int) -> Path:
    moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    target = connector.path.with_name(f"{connector.path.name}.v{version}-{moment}.backup")
    copy_verified(connector, target, lambda done, total: None)
    return target


def _apply(writer: sqlite3.Connection, step: Migration, migrations: Migrations) -> None:
    for statement in statements_of(step.sql):
        writer.execute(statement)
    broken = writer.execute("PRAGMA foreign_key_check").fetchone()
    if broken is not None:
        raise Corrupt(
            f"Migration {step.number} ({step.name}) was undone and the book is unchanged: a row of {broken[0]} would have no parent. "
            "Restore a backup, or report this with the output of: memoranda verify"
        )
    writer.execute(f"PRAGMA application_id={migrations.application_id}")
    writer.execute(f"PRAGMA user_version={step.number}")


def statements_of(script: str) -> Iterator[str]:
    """Yield the statements of a script one by one: ``executescript`` would commit before it
    begins.
    """
    statement = ""
    for piece in re.split(r"(?<=;)", script):
        statement += piece
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
    if statement.strip():
        yield statement


def _use_log(writer: sqlite3.Connection, path: Path) -> None:
    mode = writer.execute("PRAGMA journal_mode=WAL").fetchone()[0]
    if mode != "wal":
        raise StorageError(
            f"{path} cannot have a write-ahead log where it is: keep the book on a local disk."
        )


def book_migrations() -> Migrations:
    """Return the steps of the schema, oldest first."""
    folder = files("memoranda.engines.sqlite").joinpath("schema")
    found = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    steps = [
        Migration(
            int(name.split("_")[0]),
            name.removesuffix(".sql").split("_", 1)[1],
            folder.joinpath(name).read_text("utf-8"),
        )
        for name in found
    ]
    return Migrations(steps, application_id=APPLICATION_ID)
