"""Several servers of MCP write to one book at once: every acknowledged statement is there
afterwards.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path

import mcp
from mcp.client.stdio import StdioServerParameters

import memoranda

ABOUT = "2 and 4 servers of MCP over standard input write to one book at once, and keep all they acknowledge"
#: Statements that each process stores.
CI_COUNT = 20
FULL_COUNT = 20
COVERS = "model storage door.py engines/sqlite access mcp_server compatible"

_PROCESSES = (2, 4)
_PROGRAM = "from memoranda.cli.program import main; main()"
#: The control: a build that acknowledges each fifth statement without storing it.
_FORGETFUL = """
from memoranda.access.guard import Guard
whole, state = Guard.call, {"count": 0, "receipt": None}
async def call(self, name, /, **arguments):
    if name == "remember":
        state["count"] += 1
        if state["count"] % 5 == 0:
            return state["receipt"]
        state["receipt"] = await whole(self, name, **arguments)
        return state["receipt"]
    return await whole(self, name, **arguments)
Guard.call = call
"""


class Lost(Exception):
    """An acknowledged statement is not in the book."""


class Undetected(Exception):
    """The control was not noticed."""


def run(count: int, seed: int) -> str:
    with tempfile.TemporaryDirectory(prefix="mcp-race-") as folder:
        room = Path(folder)
        kept = [
            asyncio.run(_race(room / f"{number}.db", number, count, seed, _PROGRAM))
            for number in _PROCESSES
        ]
        try:
            asyncio.run(_race(room / "control.db", 2, max(count, 5), seed, _FORGETFUL + _PROGRAM))
        except Lost:
            return (
                f"{' and '.join(kept)} acknowledged statements were kept; the control was noticed"
            )
    raise Undetected("a build that loses each fifth acknowledged statement was not noticed")


async def _race(book: Path, processes: int, count: int, seed: int, program: str) -> str:
    async with memoranda.open(book, worker=False):
        pass
    told = await asyncio.gather(
        *(_write(book, number, count, seed, program) for number in range(processes))
    )
    acknowledged = {content for contents in told for content in contents}
    async with memoranda.open(book, worker=False) as opened:
        page = await opened.records.list("ann", types="memory", limit=1000, as_owner=True)
    stored = {record.passage_text() for record in page.records}
    lost = acknowledged - stored
    if lost or len(acknowledged) != processes * count:
        raise Lost(
            f"{processes} processes: {len(acknowledged)} acknowledged, {len(lost)} of them lost"
        )
    return f"{len(stored)} of {processes * count}"


async def _write(book: Path, number: int, count: int, seed: int, program: str) -> list[str]:
    """Store statements through a server of its own, and return those that it acknowledged."""
    arguments = [
        "mcp",
        "--book",
        str(book),
        "--owner",
        "ann",
        "--group",
        "race",
        "--audience",
        "group",
    ]
    server = StdioServerParameters(
        command=sys.executable,
        args=["-c", program, *arguments, "--agent", f"agent {number}"],
        env={
            "MEMORANDA_EMBEDDING_USE": "none",
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        },
    )
    acknowledged = []
    async with mcp.Client(server) as client:
        for place in range(count):
            content = f"agent {number} says statement {place} of run {seed}"
            answer = await client.call_tool("remember", {"content": content})
            if not answer.is_error and answer.structured_content["status"] == "stored":
                acknowledged.append(content)
    return acknowledged
