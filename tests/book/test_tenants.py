"""A handle of one tenant counts and verifies its own records; an operator asks for the whole
book.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import memoranda


async def test_facts_and_findings_of_a_tenant_tell_nothing_of_another(tmp_path: Path) -> None:
    path = tmp_path / "book.db"
    async with memoranda.open(path, tenant="one") as one, memoranda.open(path, tenant="two") as two:
        await one.remember("ana", "likes tea", agent="helper")
        for owner in ("ana", "ben"):
            told = await two.remember(owner, "likes rum", agent="helper")
        facts = await one.admin.facts()
        assert (facts.owners, facts.records["memory"], facts.details["vectors"]["passages"]) == (
            1,
            1,
            1,
        )
        assert (await two.admin.facts()).owners == 2
        whole = await one.admin.facts(whole=True)
        assert (whole.owners, whole.records["memory"], whole.details["vectors"]["passages"]) == (
            3,
            3,
            3,
        )
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "UPDATE records SET body = replace(body, 'rum', 'gin') WHERE id = ?", (told.id.bytes,)
        )
        connection.commit()
    async with memoranda.open(path, tenant="one") as one, memoranda.open(path, tenant="two") as two:
        assert ((await one.admin.verify()).records, (await one.admin.verify()).faults) == (1, ())
        assert (
            (await two.admin.verify()).faults == (await one.admin.verify(whole=True)).faults != ()
        )
