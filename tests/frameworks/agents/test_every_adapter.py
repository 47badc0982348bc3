"""Tests of every adapter: tenants, owners and sessions are isolated, and no acknowledged write is
lost or doubled.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import memoranda
from memoranda.errors import InvalidInput, StorageError
from tests.frameworks.agents.adapters import ADAPTERS, Adapter

every_adapter = pytest.mark.parametrize("adapter", ADAPTERS, ids=repr)

#: Names that a careless key, pattern, path or comparison would take for one another.
HOSTILE = (
    "ada", "Ada", "ada ", "ada/b", "ada.b", "ada:b", "ada%", "ada_", "*", "%", "..", "../ada", "ада", "ada\u200d",
    "é", "e\u0301", "'; DROP TABLE records; --", '{"id": "ada"}', "None", "0", "1", "\\", "x" * 255,
)  # fmt: skip


@every_adapter
async def test_what_two_tenants_say_under_hostile_names_is_read_by_each_alone(
    adapter: Adapter, tmp_path: Path
) -> None:
    refused = 0
    async with (
        memoranda.open(tmp_path / "book.db", tenant="one") as one,
        memoranda.open(tmp_path / "book.db", tenant="two") as two,
    ):
        said: dict[tuple[int, str, str], str] = {}
        for tenant, book in enumerate((one, two)):
            for owner, session in [(name, "s") for name in HOSTILE] + [
                ("ada", name) for name in HOSTILE
            ]:
                text = f"{tenant} {owner!r} {session!r}"
                try:
                    await adapter.say(book, owner, session, [text])
                except InvalidInput:
                    refused += 1
                else:
                    said[tenant, owner, session] = text
        for (tenant, owner, session), text in said.items():
            assert await adapter.heard((one, two)[tenant], owner, session) == [text]
    assert refused <= 8, "a name is refused or kept apart, and most are kept apart"


@every_adapter
@pytest.mark.parametrize("name", ["", "a\x00b", "a\nb", "x" * 5000])
async def test_an_owner_that_is_no_name_is_refused_and_nothing_is_stored(
    adapter: Adapter, book: memoranda.Book, name: str
) -> None:
    with pytest.raises(InvalidInput):
        await adapter.say(book, name, "s", ["hello"])
    assert list(await book.admin.owners()) == []


@every_adapter
async def test_the_same_call_twice_stores_once_and_what_comes_after_it(
    adapter: Adapter, book: memoranda.Book
) -> None:
    await adapter.say(book, "ada", "s", ["one", "two"])
    await adapter.say(book, "ada", "s", ["one", "two"])
    await adapter.say(book, "ada", "s", ["one", "two", "three"])
    assert await adapter.heard(book, "ada", "s") == ["one", "two", "three"]


@every_adapter
async def test_what_was_forgotten_does_not_come_back_with_a_repeated_call(
    adapter: Adapter, book: memoranda.Book
) -> None:
    await adapter.say(book, "ada", "s", ["one", "two", "three"])
    page = await book.records.list("ada", types=adapter.type, as_owner=True)
    (two,) = (record for record in page.records if record.passage_text() == "two")
    await book.forget("ada", two.id, as_owner=True)
    if adapter.name == "openai":
        # An operation id says that the application repeats itself: the book tells it that this was
        # forgotten.
        with pytest.raises(memoranda.Erased):
            await adapter.say(book, "ada", "s", ["one", "two", "three"])
    else:
        await adapter.say(book, "ada", "s", ["one", "two", "three"])
    assert await adapter.heard(book, "ada", "s") == ["one", "three"]


@every_adapter
async def test_a_book_that_is_down_says_so_and_the_call_is_repeated_later(
    adapter: Adapter, book: memoranda.Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    await adapter.say(book, "ada", "s", ["one"])

    async def down(*_: object, **__: object) -> None:
        raise StorageError("the disk is gone")

    with monkeypatch.context() as patched:
        patched.setattr(book, "thread", down)
        for verb in ("get", "get_many", "list", "put"):
            patched.setattr(type(book.items), verb, down)
        for call in (
            adapter.say(book, "ada", "s", ["one", "two"]),
            adapter.heard(book, "ada", "s"),
        ):
            with pytest.raises(StorageError, match="the disk is gone"):
                await call
    await adapter.say(book, "ada", "s", ["one", "two"])
    assert await adapter.heard(book, "ada", "s") == ["one", "two"]


WRITER = """
import asyncio, sys
import memoranda
from tests.frameworks.agents.adapters import ADAPTERS

async def main(name, address, session, first, count):
    adapter = next(one for one in ADAPTERS if one.name == name)
    said = []
    async with memoranda.open(address) as book:
        for place in range(int(count)):
            said.append(f"{first} {place}")
            await adapter.say(book, "ada", session, said[-3:])
            print(place, flush=True)

asyncio.run(main(*sys.argv[1:]))
"""


def writer(
    adapter: Adapter, address: Path, session: str, first: str, count: int
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, adapter.name, str(address), session, first, str(count)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )


@every_adapter
async def test_a_process_that_is_killed_loses_nothing_it_was_told_is_stored_and_its_repeat_doubles_nothing(
    adapter: Adapter, tmp_path: Path
) -> None:
    address = tmp_path / "book.db"
    process = writer(adapter, address, "s", "turn", 200)
    assert process.stdout is not None
    acknowledged = -1
    for line in process.stdout:
        acknowledged = int(line)
        if acknowledged >= 5:
            process.send_signal(signal.SIGKILL)
            break
    process.stdout.close()
    assert process.wait(60) == -signal.SIGKILL
    async with memoranda.open(address) as book:
        kept = await adapter.heard(book, "ada", "s")
        assert acknowledged < len(kept) < 200
        assert kept == [f"turn {place}" for place in range(len(kept))]
        whole = [f"turn {place}" for place in range(30)]
        await adapter.say(book, "ada", "s", whole)
        assert (await adapter.heard(book, "ada", "s"))[:30] == whole
        assert (await book.admin.verify()).faults == ()


@every_adapter
async def test_two_processes_write_one_session_at_once_and_each_keeps_its_order(
    adapter: Adapter, tmp_path: Path
) -> None:
    address = tmp_path / "book.db"
    running = [writer(adapter, address, "s", name, 10) for name in ("left", "right")]
    for process in running:
        await asyncio.to_thread(process.communicate, timeout=240)
        assert process.returncode == 0
    async with memoranda.open(address) as book:
        heard = await adapter.heard(book, "ada", "s")
    assert len(heard) == 20
    for name in ("left", "right"):
        assert [text for text in heard if text.startswith(name)] == [
            f"{name} {place}" for place in range(10)
        ]
