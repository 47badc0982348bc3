"""The key of a book's digests."""

from __future__ import annotations

import os
import sqlite3


def secret_of(connection: sqlite3.Connection) -> bytes:
    """The key; read in each transaction, for an import may have brought another."""
    return bytes(connection.execute("SELECT value FROM book WHERE name = 'secret'").fetchone()[0])


def has_secret(connection: sqlite3.Connection) -> bool:
    """Whether a book has its key yet."""
    return connection.execute("SELECT 1 FROM book WHERE name = 'secret'").fetchone() is not None


def make_secret(connection: sqlite3.Connection) -> None:
    """Another process may have been quicker; the first secret stays."""
    connection.execute("INSERT OR IGNORE INTO book (name, value) VALUES ('secret', ?)", (os.urandom(32),))
