"""The page about the client: its program runs as it stands against a service."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.client.conftest import served

PAGE = (Path(__file__).parent.parent.parent / "docs" / "start" / "http.md").read_text("utf-8")


async def test_the_program_of_the_page_runs_against_a_service(own_book, capsys):
    program = PAGE.partition("```python\n")[2].partition("```")[0]
    async with served(own_book) as address:
        code = program.replace("http://127.0.0.1:7411", address).replace("mem_…", "mem_any")
        assert code.count(address) == code.count("mem_any") == 1
        # In a thread, because the program runs an event loop of its own beside that of the service.
        await asyncio.to_thread(exec, code, {"__name__": "__main__"})
    assert "likes green tea" in capsys.readouterr().out
