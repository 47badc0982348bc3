"""How ``memoranda mcp`` ends: when its input closes, and on SIGTERM and Ctrl-C."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

import pytest

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


async def _talking(folder: Path) -> asyncio.subprocess.Process:
    """Start the server on standard input, and return it when it has answered."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "memoranda",
        *("mcp", "--book", str(folder / "book.db"), "--owner", "ann"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={**os.environ, "MEMORANDA_EMBEDDING_USE": "none"},
        # Programs that a script starts in the background ignore Ctrl-C, and so do those that they
        # start.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(json.dumps(HELLO).encode() + b"\n")
    await process.stdin.drain()
    async with asyncio.timeout(60):
        assert json.loads(await process.stdout.readline())["id"] == 1
    return process


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
async def test_a_signal_ends_it_though_its_input_stays_open(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    process = await _talking(tmp_path)
    process.send_signal(number)
    async with asyncio.timeout(30):
        assert await process.wait() == code


async def test_it_ends_well_when_its_input_closes(tmp_path: Path) -> None:
    process = await _talking(tmp_path)
    assert process.stdin is not None
    process.stdin.close()
    async with asyncio.timeout(30):
        assert await process.wait() == 0
