"""Compare the MCP server with the official memory server: ``python -m bench.mcp_peer [--count N]``.

It needs npm, which fetches the official server and a tokenizer. For both servers it prints the
tokens (o200k) of their tools, and how many acknowledged statements are kept when 2 and 4 processes
write to one store at once.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mcp
from mcp.client.stdio import StdioServerParameters

import memoranda
from proofs.mcp_conformance import fetched

_PACKAGES = ("@modelcontextprotocol/server-memory@2026.8.31", "js-tiktoken@1.0.21")
_PROCESSES = (2, 4)
_COUNT = """
const { Tiktoken } = require("js-tiktoken/lite");
const encoder = new Tiktoken(require("js-tiktoken/ranks/o200k_base"));
const texts = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(texts.map((text) => encoder.encode(text, "all").length)));
"""


@dataclass(frozen=True)
class Peer:
    """A server of MCP over standard input: how to start it on a store, how to write, and how to
    count what is there.
    """

    name: str
    start: Callable[[Path, int], StdioServerParameters]
    tool: str
    arguments: Callable[[str], dict[str, Any]]
    stored: Callable[[Path], set[str]]


def ours() -> Peer:
    """Return this checkout's server."""

    def start(store: Path, number: int) -> StdioServerParameters:
        arguments = ["mcp", "--book", str(store), "--owner", "ann", "--agent", f"agent {number}"]
        around = {
            "MEMORANDA_EMBEDDING_USE": "none",
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        }
        return StdioServerParameters(
            command=sys.executable, args=["-m", "memoranda", *arguments], env=around
        )

    def stored(store: Path) -> set[str]:
        with memoranda.open_sync(store, worker=False) as book:
            page = book.records.list("ann", types="memory", limit=1000, as_owner=True)
        return {str(record.passage_text()) for record in page.records}

    return Peer("memoranda", start, "remember", lambda text: {"content": text}, stored)


def official(folder: Path) -> Peer:
    """Return the official memory server, which keeps lines of JSON in a file."""

    def start(store: Path, number: int) -> StdioServerParameters:
        program = folder / "node_modules" / ".bin" / "mcp-server-memory"
        return StdioServerParameters(command=str(program), env={"MEMORY_FILE_PATH": str(store)})

    def arguments(text: str) -> dict[str, Any]:
        return {"entities": [{"name": text, "entityType": "statement", "observations": [text]}]}

    def stored(store: Path) -> set[str]:
        found = set()
        for line in store.read_text().splitlines():
            try:
                found.add(json.loads(line)["name"])
            except (ValueError, KeyError):
                # Two processes that write at once also leave torn lines.
                continue
        return found

    return Peer("server-memory", start, "create_entities", arguments, stored)


async def race(peer: Peer, store: Path, processes: int, count: int) -> tuple[int, int]:
    """Return how many statements were acknowledged, and how many of those are kept."""

    async def write(number: int) -> set[str]:
        done = set()
        async with mcp.Client(peer.start(store, number)) as client:
            for place in range(count):
                text = f"process {number} says statement {place}"
                if not (await client.call_tool(peer.tool, peer.arguments(text))).is_error:
                    done.add(text)
        return done

    acknowledged = set().union(*await asyncio.gather(*map(write, range(processes))))
    return len(acknowledged), len(acknowledged & peer.stored(store))


async def tool_texts(peer: Peer, store: Path) -> tuple[str, str]:
    """Return the tools as a model reads them, and as they cross the wire."""
    async with mcp.Client(peer.start(store, 0)) as client:
        listed = await client.list_tools()
    model = "\n".join(
        json.dumps([one.name, one.description, one.input_schema]) for one in listed.tools
    )
    return model, listed.model_dump_json(by_alias=True, exclude_none=True)


def main() -> int:
    """Print both servers' figures."""
    parser = argparse.ArgumentParser(prog="python -m bench.mcp_peer", description=__doc__)
    parser.add_argument("--count", type=int, default=20, help="statements that each process stores")
    count = parser.parse_args().count
    with tempfile.TemporaryDirectory(prefix="mcp-peer-") as name:
        folder = Path(name)
        if why_not := fetched(folder, packages=_PACKAGES):
            sys.stderr.write(f"{why_not}\n")
            return 1
        for peer in (ours(), official(folder)):
            texts = asyncio.run(tool_texts(peer, folder / f"{peer.name}-tools"))
            command = ["node", "-e", _COUNT]
            told = subprocess.run(
                command,
                input=json.dumps(texts),
                cwd=folder,
                check=True,
                text=True,
                capture_output=True,
            )
            model, wire = json.loads(told.stdout)
            sys.stdout.write(
                f"{peer.name}: tools of {model} tokens to the model, {wire} on the wire\n"
            )
            for processes in _PROCESSES:
                acknowledged, kept = asyncio.run(
                    race(peer, folder / f"{peer.name}-{processes}", processes, count)
                )
                sys.stdout.write(
                    f"  {processes} processes: {kept} of {acknowledged} acknowledged statements kept\n"
                )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
