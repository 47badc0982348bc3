"""Add an operation to a copy of the package: one method in one file, and it is on every surface.

    python -m examples.extending.one_operation

The copy is made in a temporary folder; this checkout stays as it is.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import memoranda

#: The whole operation. It stands beside ``confirm`` in ``book/nouns/memories.py``.
STAR = '''
    @offer(Role.EDITOR, "POST /memories/{id}/star")
    async def star(
        self, owner: str | Owner, id: UUID | str, *, operation: str | None = None, **who: Unpack[Who]
    ) -> Receipt:
        """Mark a memory with a star: it is pinned, so it is never archived."""
        change = Amend(await self._id(owner, who, id), {"pinned": True})
        return await self._change(owner, change, ["star", str(id)], operation, who)
'''
PLACE = '\n    @offer(Role.EDITOR, "PATCH /memories/{id}")'

#: Runs with the changed package: the operation as each kind of caller meets it.
USE = """
import asyncio, memoranda
from memoranda.access.guard import Guard
from memoranda.access.principal import local_admin
from memoranda.book.all_operations import OPERATIONS

def stored(receipt):
    return str(receipt.ids()[0])

async def served():
    async with memoranda.open("memory://", worker=False, embed=None) as book:
        first = stored(await book.remember("ana", "I like tea"))
        second = stored(await book.remember("ana", "I like walks"))
        await book.memories.star("ana", first)
        print("Python, awaited:", (await book.records.get("ana", first)).pinned)
        await Guard(book, local_admin(book.tenant)).call("memories.star", owner="ana", id=second)
        print("any door, by the guard:", (await book.records.get("ana", second)).pinned)

asyncio.run(served())
with memoranda.open_sync("star.db", worker=False, embed=None) as book:
    id = stored(book.remember("ana", "I like tea"))
    book.remember("ana", "I like walks")
    book.memories.star("ana", id)
    print("Python, blocking:", book.records.get("ana", id).pinned)

from memoranda.client.remote_book import _PART_CLASSES
from memoranda.service.openapi_document import _own
from memoranda.wire.routes import match

print("REST:", match("POST", b"/v1/owners/ana/memories/x/star").verb.name)
print("OpenAPI:", "/v1/owners/{owner}/memories/{id}/star" in _own()["paths"])
print("client:", callable(_PART_CLASSES["memories"].star))
print("for a viewer's key:", OPERATIONS["memories.star"].role)
"""


def main() -> int:
    """Make the copy, add the operation, and use it; return the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder, "memoranda")
        shutil.copytree(
            Path(memoranda.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__")
        )
        file = package / "book" / "nouns" / "memories.py"
        before = file.read_text("utf-8")
        if PLACE not in before:
            sys.exit("book/nouns/memories.py has changed: choose another place for the method")
        file.write_text(before.replace(PLACE, STAR + PLACE, 1), "utf-8")
        print(f"1 file changed, {len(STAR.strip().splitlines())} lines added")
        around = {**os.environ, "PYTHONPATH": folder}
        done = subprocess.run(
            [sys.executable, "-c", USE], cwd=folder, env=around, check=False
        ).returncode
        if done:
            return done
        command = [sys.executable, "-m", "memoranda", "call"]
        asked = ["records.list", "owner=ana", "newest_first=true", "limit=1", "--book", "star.db"]
        listed = subprocess.run(
            [*command, *asked], cwd=folder, env=around, check=True, capture_output=True
        )
        id = listed.stdout.split(b'"id": "')[1].split(b'"')[0].decode()
        starred = ["memories.star", "owner=ana", f"id={id}", "--book", "star.db"]
        print("command line: ", end="", flush=True)
        return subprocess.run([*command, *starred], cwd=folder, env=around, check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main())
