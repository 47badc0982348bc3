"""The books in ``old/``, put where a test wants them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg

_OLD = Path(__file__).parent / "old"


class Known:
    """What the tests know of one old book."""

    def __init__(self, place: str) -> None:
        self._found: dict[str, Any] = json.loads((_OLD / "known.json").read_text("utf-8"))[place]

    def id(self, name: str) -> UUID:
        """A record's id."""
        return UUID(self._found["ids"][name])

    def thread(self, agent: str) -> UUID:
        """The id of the conversation with an agent."""
        return UUID(self._found["threads"][agent])

    def position(self, name: str) -> int:
        """Where the ledger has the operation that wrote a record."""
        return int(self._found["positions"][name])


#: The export was made from the file.
FILE, SERVER = Known("file"), Known("server")


def _unpacked(name: str) -> bytes:
    return gzip.decompress((_OLD / name).read_bytes())


def put_file(path: Path) -> Path:
    """Write the old file."""
    path.write_bytes(_unpacked("book.sqlite.gz"))
    return path


def export_lines() -> list[str]:
    """The old export."""
    return _unpacked("export.jsonl.gz").decode().splitlines()


async def put_schema(url: str, schema: str = "commonplace") -> None:
    """Make the old schema, as the role of the address."""
    connection = await asyncpg.connect(url)
    await connection.execute(_unpacked("schema.sql.gz").decode())
    if schema != "commonplace":
        await connection.execute(f"ALTER SCHEMA commonplace RENAME TO {schema}")
    await connection.close()
