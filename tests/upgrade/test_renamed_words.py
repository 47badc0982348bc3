"""A book written at b965598, before public words were renamed: what it stores keeps its meaning.

The file holds agents' settings, a confirmed memory, a retracted source and an undo, each made with an operation id.
"""

from __future__ import annotations

import json
import lzma
import sqlite3
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
import pytest_asyncio

import memoranda
from memoranda.errors import OperationReused
from memoranda.formation.formation_settings import FormingSettings
from memoranda.model.profiles import Agent

TEA = "01a2015a-e96b-7979-afda-f08cf87ebd45"
SAID = "01a2015a-e94f-750c-91b9-de8d02a4bd11"
WRONG = "01a2015a-ea03-797a-a987-507499c33ee0"
GIN_POSITION = 11


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "old.db"
    place.write_bytes(lzma.decompress((Path(__file__).parent / "old/renamed-words.sqlite.xz").read_bytes()))
    return place


@pytest_asyncio.fixture
async def book(path: Path) -> AsyncIterator[memoranda.Book]:
    async with memoranda.open(path, embed=None, models=None, worker=False) as opened:
        yield opened


def stored_verbs(path: Path) -> list[str]:
    connection = sqlite3.connect(path)
    try:
        bodies = [row[0] for row in connection.execute("SELECT body FROM ledger ORDER BY owner, position")]
    finally:
        connection.close()
    return [line[0] for body in bodies for line in json.loads(body)["l"]]


async def test_the_ledger_shows_the_new_verb_and_stores_the_old_one(path: Path, book: memoranda.Book):
    assert "corroborate" in stored_verbs(path)
    steps = await book.history("ana", TEA, view="owner")
    assert [step.verb.value for step in steps] == ["remember", "confirm"]
    assert (await book.verify()).faults == ()
    before = stored_verbs(path).count("corroborate")
    await book.confirm("ana", TEA, view="owner")
    assert stored_verbs(path).count("corroborate") == before + 1 and "confirm" not in stored_verbs(path)


async def test_an_export_writes_the_stored_verb_and_an_import_reads_it(book: memoranda.Book):
    lines = [line async for line in book.export()]
    assert any('"corroborate"' in line for line in lines) and not any('"confirm"' in line for line in lines)
    async with memoranda.open("memory://", embed=None, models=None, worker=False) as other:
        await other.import_(lines)
        steps = await other.history("ana", TEA, view="owner")
        assert [step.verb.value for step in steps] == ["remember", "confirm"]
        assert (await other.verify()).faults == ()


async def test_a_request_repeated_after_the_upgrade_is_the_same_request(book: memoranda.Book):
    confirmed = await book.confirm("ana", TEA, sources=[SAID], view="owner", operation="again tea")
    retracted = await book.retract_source("ana", WRONG, reason="a slip", view="owner", operation="a slip")
    undone = await book.undo("ana", GIN_POSITION, with_dependents=True, view="owner", operation="no gin")
    told = await book.remember(
        "ana", "Drinks tea", agent="helper", audience="global", operation="remember tea"
    )
    put = await book.agents.put(
        "deaf", settings={"forming": {"on": False, "silence": 5}}, operation="set deaf"
    )
    assert all(receipt.repeated for receipt in (confirmed, retracted, undone, told, put))
    assert [item.verb.value for item in confirmed.items] == ["confirm"]
    with pytest.raises(OperationReused):
        await book.confirm("ana", TEA, view="owner", operation="again tea")


async def test_an_agents_stored_settings_are_still_honoured(book: memoranda.Book):
    deaf = await book.thread("ana", agent="deaf")
    await deaf.append("user", "I like jazz.")
    assert [one.state for one in (await deaf.form()).threads] == ["off"]
    quick = await book.thread("ana", agent="quick")
    said = await quick.append("user", "I like jazz.")
    (due,) = [job.run_at for job in await book.engine.jobs(None, 100) if job.key == str(quick.id)]
    assert due == said.at + timedelta(seconds=5)


@pytest.mark.parametrize(
    "own",
    [
        {"on": False},
        {"enabled": False},
        {"on": False, "enabled": True},
        {"on": False, "silence": -1},
        {"on": False, "max_wait": 1},
        {"enabled": False, "sorrow": 1},
    ],
)
def test_a_stored_off_never_becomes_on(own: dict[str, object]):
    now = "2026-01-01T00:00:00Z"
    agent = Agent.model_validate(
        {
            "id": TEA, "owner": {"kind": "tenant", "id": "default"}, "audience": {"kind": "global"},
            "recorded_at": now, "name": "deaf", "settings": {"forming": own},
        }
    )  # fmt: skip
    assert FormingSettings().for_agent(agent).enabled is False
