"""The official conformance runner and the official Inspector ask the server of MCP over HTTP."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

ABOUT = "the official conformance runner and Inspector find no fault in the server of MCP"
#: The packages are fetched once, whatever the count.
CI_COUNT = 1
FULL_COUNT = 1
COVERS = "mcp_server service compatible"

_REVISION = "2026-07-28"
_PACKAGES = (
    "node@24",
    "@modelcontextprotocol/conformance@0.2.0-alpha.12",
    "@modelcontextprotocol/inspector@2.12.0",
)
_FETCH_SECONDS = 120
#: The scenarios that ask for no tool, resource or prompt of the runner's own.
_NEEDS_NO_FIXTURE = (
    "tools-list",
    "resources-list",
    "prompts-list",
    "sep-2164-resource-not-found",
    "dns-rebinding-protection",
    "caching",
    "server-sse-multiple-streams",
    "tools-call-error",
    "http-header-validation",
)
#: The scenarios that the frozen list of the revision scores.
_SCORED = 37
_SERVER = """
import asyncio, sys, uvicorn, memoranda
from memoranda.access.principal import Principal
from memoranda.operations import Role
from memoranda.mcp_server.http_mount import McpMount
from memoranda.service.app import make_app
async def credential(secret):
    return Principal("runner", "default", Role.ADMIN, person="ann")
def add_to(server):
    pass
async def main():
    async with memoranda.open("memory://", worker=False, embed=None) as book:
        mount = McpMount(book)
        add_to(mount.core)
        running = [mount.running()]
        app = make_app(book, authenticate=credential, mounts=[("", mount)], while_it_runs=running)
        await uvicorn.Server(uvicorn.Config(app, port=int(sys.argv[1]), log_level="error")).serve()
"""
#: The same server with the tools, resources and prompts that the runner asks for.
_WITH_FIXTURES = """
from proofs._mcp.asking_back import add_asking_back
from proofs._mcp.fixtures import add_fixtures
def add_to(server):
    add_fixtures(server)
    add_asking_back(server)
"""
#: The control: a server that refuses to list its tools.
_BROKEN = """
import mcp.server
async def list_tools(self):
    raise RuntimeError("broken")
mcp.server.MCPServer.list_tools = list_tools
"""
_START = "asyncio.run(main())\n"
_CONFIRM = "confirmation=CONFIRM"
#: A call of each tool, in an order in which each has something to do; {id}, {entry} and {position}
#: are of answers before.
_CALLS = (
    ("remember", "content=Ann likes tea"),
    ("recall", "query=tea"),
    ("context", "query=tea"),
    ("why", "id={id}"),
    ("forget", "id={id}"),
    ("finish_forgetting", "userId=ann", "position={position}", _CONFIRM),
    ("upsert_user_memory", "userId=ann", "key=color", "value=blue", "agentId=bot"),
    ("list_user_memories", "userId=ann"),
    ("get_visible_memories", "userId=ann", "agentId=bot"),
    ("search_user_memories", "userId=ann", "query=blue"),
    ("get_memory_by_key", "userId=ann", "key=color"),
    ("count_user_memories", "userId=ann"),
    ("export_user_data", "userId=ann"),
    ("delete_user_memory", "entryId={entry}"),
    ("delete_all_user_memories", "userId=ann", _CONFIRM),
    ("delete_user_data", "userId=ann", _CONFIRM),
)


class Faulty(Exception):
    """A scenario or a call of a tool failed."""


class Undetected(Exception):
    """The control was not noticed."""


def run(count: int, seed: int) -> str:
    with tempfile.TemporaryDirectory(prefix="mcp-conformance-") as folder:
        why_not = fetched(Path(folder))
        if why_not:
            return f"skipped: {why_not}"
        with _served(_SERVER + _START) as address:
            told = _told(Path(folder), address)
            _require(told, _NEEDS_NO_FIXTURE)
            calls = _inspect(Path(folder), f"{address}/admin")
        with _served(_SERVER + _WITH_FIXTURES + _START) as address:
            checks = _require_all_scored(_told(Path(folder), address))
        for control in (told, _told_of_a_broken_one(Path(folder))):
            try:
                _require_all_scored(control)
            except Faulty:
                continue
            raise Undetected(
                "a server without the fixtures, or one that cannot list its tools, passed"
            )
    own = len(_NEEDS_NO_FIXTURE)
    return (
        f"all {_SCORED} scored scenarios passed ({checks} checks), and {own} without the fixtures; "
        f"{calls} tools answered Inspector; the controls were noticed"
    )


def fetched(folder: Path, npm: str = "npm", packages: Iterable[str] = _PACKAGES) -> str:
    """Fetch packages, by default the runner, Inspector and their node; return why that is not
    possible, or an empty text.
    """
    program = shutil.which(npm)
    if program is None:
        return f"there is no {npm} on this machine"
    command = [program, "install", "--prefix", str(folder), "--no-audit", "--no-fund", *packages]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_FETCH_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"{npm} fetched nothing within {_FETCH_SECONDS} s"
    return "" if done.returncode == 0 else f"{npm} could not fetch the packages"


def _node(folder: Path, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    tools = folder / "node_modules" / ".bin"
    command = [str(tools / "node"), str(tools / program), *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=240, check=False, cwd=folder
    )


def _told(folder: Path, address: str) -> str:
    """Return what the runner says about a server."""
    return _node(
        folder, "conformance", "server", "--url", address, "--requirements", _REVISION
    ).stdout


def _told_of_a_broken_one(folder: Path) -> str:
    with _served(_SERVER + _WITH_FIXTURES + _BROKEN + _START) as address:
        return _told(folder, address)


def _require(told: str, scenarios: Iterable[str]) -> int:
    """Return how many checks of these scenarios passed; each must have passed some and failed
    none.
    """
    passed = dict(re.findall(r"^✓ ([\w-]+): ([1-9]\d*) passed, 0 failed", told, re.MULTILINE))
    missing = [name for name in scenarios if name not in passed]
    if missing:
        raise Faulty(f"these scenarios did not pass: {', '.join(missing)}")
    return sum(int(passed[name]) for name in scenarios)


def _require_all_scored(told: str) -> int:
    run, _, rest = told.partition("Not scored for")
    unscored = set(re.findall(r"^ +[✓✗] ([\w-]+) \(", rest, re.MULTILINE))
    scored = set(re.findall(r"^[✓✗] ([\w-]+):", run, re.MULTILINE)) - unscored
    if len(scored) != _SCORED:
        raise Faulty(f"the runner scored {len(scored)} scenarios, not {_SCORED}")
    return _require(told, sorted(scored))


def _inspect(folder: Path, address: str) -> int:
    """Call every tool by Inspector's command line."""
    known: dict[str, object] = {}
    for name, *arguments in _CALLS:
        given = [part for one in arguments for part in ("--tool-arg", one.format(**known))]
        asked = ("--cli", f"{address}?owner=ann", "--transport", "http", "--method")
        done = _node(folder, "mcp-inspector", *asked, "tools/call", "--tool-name", name, *given)
        try:
            answer = json.loads(done.stdout)
        except ValueError:
            raise Faulty(f"{name}: Inspector got no answer: {done.stderr[-200:]}") from None
        if answer.get("isError"):
            raise Faulty(f"{name}: {answer['content']}")
        found = answer["structuredContent"]
        known |= {"entry": found["id"]} if name == "upsert_user_memory" else found
    return len(_CALLS)


@contextmanager
def _served(program: str) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([sys.executable, "-c", program, str(port)], stderr=subprocess.DEVNULL)
    try:
        asyncio.run(_listens(port))
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        server.terminate()
        server.wait(30)


async def _listens(port: int) -> None:
    async with asyncio.timeout(60):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except ConnectionRefusedError:
                await asyncio.sleep(0.1)
            else:
                writer.close()
                return
