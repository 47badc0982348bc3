"""The page about the client: its program runs as it stands against a service."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

from tests.client.conftest import served

PAGE = (Path(__file__).parent.parent.parent / "docs" / "client.md").read_text("utf-8")


async def test_the_program_of_the_page_runs_against_a_service(own_book):
    program = PAGE.partition("```python\n")[2].partition("```")[0]
    async with served(own_book) as address:
        code = program.replace("http://127.0.0.1:7411", address).replace("mem_…", "mem_any")
        assert code.count(address) == code.count("mem_any") == 1
        running = [sys.executable, "-c", code]
        done = await asyncio.to_thread(subprocess.run, running, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "likes green tea" in done.stdout
