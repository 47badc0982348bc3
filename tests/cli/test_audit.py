"""Tests of the audit of reads at the command line."""

from __future__ import annotations

import asyncio
from pathlib import Path

import memoranda
from memoranda.access.guard import Guard
from memoranda.access.principal import local_admin
from memoranda.access.read_audit import ReadAudit
from tests.cli.command_line import Shell


def test_the_audit_lists_who_read_about_whom(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    shell.run("init")
    assert "no read was noted" in shell.run("audit")

    async def ask() -> None:
        async with memoranda.open(tmp_path / "book.db") as book, ReadAudit(book) as audit:
            guard = Guard(book, local_admin("default"), "mcp", audit)
            await guard.call("recall", owner="ana", query="tea?")
            await guard.call("admin.list")

    asyncio.run(ask())
    assert [line["verb"] for line in shell.json("audit")["reads"]] == ["recall", "admin.list"]
    (line,) = shell.json("audit", "--owner", "ana")["reads"]
    assert (line["principal"], line["verb"], line["surface"]) == ("local", "recall", "mcp")
    shown = shell.run("audit", "ana")
    assert "recall" in shown
    assert "admin.list" not in shown
    assert "the whole tenant" in shell.run("audit")
    assert shell.json("audit", "--since", "2999-01-01") == {"reads": []}
    assert shell.json("audit", "--limit", "1")["reads"][0]["verb"] == "recall"
