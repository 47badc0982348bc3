"""Tests of the retention of memories by kind: archived first, erased later, tried before."""

from __future__ import annotations

from pathlib import Path

import memoranda
from memoranda.model.memories import Memory
from memoranda.testing.clock import HandClock

SETTINGS = (
    '[retention]\narchive_days = { context = 30, "*" = 300 }\nerase_days = { context = 60 }\n'
)


async def test_a_kind_is_archived_and_then_erased_and_a_dry_run_tells_before(
    tmp_path: Path, clock: HandClock
) -> None:
    config, path = tmp_path / "settings.toml", tmp_path / "b.db"
    # What was there before the setting.
    async with memoranda.open(path, clock=clock, embed=None, worker=False) as book:
        room = (await book.remember("ana", "Is in room zqcanaryqz", kind="context", agent="a")).id
        kept = await book.remember(
            "ana", "Sits by the door", kind="context", agent="a", pinned=True
        )
        await book.remember("ana", "Likes tea", agent="a")
    config.write_text(SETTINGS)
    async with memoranda.open(path, clock=clock, embed=None, worker=False, config=config) as book:

        async def counts() -> tuple[int, int]:
            active, archived = [
                await book.records.count("ana", only={"statuses": [one]}, as_owner=True)
                for one in ("active", "archived")
            ]
            return active, archived

        await book.worker.drain()
        assert await counts() == (3, 0)
        clock.advance(days=31)
        tried = await book.admin.retain("ana", dry_run=True)
        assert (
            tried.archived is not None and tried.archived.ids() == (room,) and tried.erased is None
        )
        assert await counts() == (3, 0)
        await book.worker.drain()
        assert await counts() == (2, 1)
        clock.advance(days=59)
        await book.worker.drain()
        assert await counts() == (2, 1)
        clock.advance(days=2)
        tried = await book.admin.retain("ana", dry_run=True)
        assert (
            tried.erased is not None
            and tried.erased.ids == (room,)
            and tried.erased.state == "planned"
        )
        assert await counts() == (2, 1)
        await book.worker.drain()
        assert await counts() == (2, 0)
        assert [one.lines[0].id for one in await book.records.ledger("ana", as_owner=True)][
            -1
        ] == room
        clock.advance(days=300)
        await book.worker.drain()
        assert await counts() == (1, 1)
        left = await book.records.get("ana", kept.id, agent="a")
        assert isinstance(left, Memory) and left.counts
        await book.worker.drain()
    assert b"zqcanaryqz" not in b"".join(one.read_bytes() for one in tmp_path.glob("b.db*"))


async def test_without_the_setting_nothing_is_archived_or_erased(clock: HandClock) -> None:
    async with memoranda.open("memory://", clock=clock, embed=None, worker=False) as book:
        await book.remember("ana", "Is in room 12", kind="context", agent="a")
        clock.advance(days=3000)
        done = await book.admin.retain("ana")
        assert (done.archived, done.erased) == (None, None)


async def test_an_agent_has_its_own_limits_and_what_it_does_at_them(clock: HandClock) -> None:
    async with memoranda.open("memory://", clock=clock, embed=None, worker=False) as book:
        own = {"memories_per_owner": 2, "at_capacity": "evict_oldest"}
        await book.agents.put("a", settings={"limits": own})
        for number in range(3):
            await book.remember("ana", f"Fact {number}", agent="a")
        page = await book.records.list("ana", only={"statuses": ["archived"]}, agent="a")
        assert [one.passage_text() for one in page.records] == ["Fact 0"]


async def test_what_another_memory_rests_on_is_not_erased(tmp_path: Path, clock: HandClock) -> None:
    config = tmp_path / "settings.toml"
    config.write_text('[retention]\narchive_days = { "*" = 30 }\nerase_days = { "*" = 60 }\n')
    async with memoranda.open(
        tmp_path / "b.db", clock=clock, embed=None, worker=False, config=config
    ) as book:
        employer, desk, room, floor = [
            (await book.remember("ana", text, agent="a", audience="global")).id
            for text in ("Works at ACME", "Sits by the door", "Is in room 12", "Is on floor 3")
        ]
        clock.advance(days=31)
        await book.admin.retain("ana")
        rests = [
            (await book.remember("ana", text, agent="a", audience="global", pinned=True, sources=sources)).id
            for text, sources in (("Gets ACME's pension", [employer]), ("Finds the way", [room, floor]))
        ]  # fmt: skip
        clock.advance(days=61)
        erased = (await book.admin.retain("ana")).erased
        assert erased is not None and set(erased.ids) in ({desk, room}, {desk, floor})
        left = await book.records.list("ana", types="memory", as_owner=True)
        assert {one.id for one in left.records} == {employer, room, floor, *rests} - {*erased.ids}
        clock.advance(days=1)
        assert (await book.admin.retain("ana")).erased is None


async def test_more_protected_memories_than_one_call_takes_keep_nothing_back(
    tmp_path: Path, clock: HandClock
) -> None:
    config = tmp_path / "settings.toml"
    config.write_text(
        '[retention]\narchive_days = { "*" = 30 }\n[limits]\nbatch = 5\n[dream]\nprune_stale_after_days = 30\n'
    )
    async with memoranda.open(
        "memory://", clock=clock, embed=None, worker=False, config=config
    ) as book:
        for number in range(12):
            await book.remember("ana", f"Own note {number}", as_owner=True)
        for night in (False, True):
            stale = [
                (await book.remember("ana", f"Stale {number}, {night}", agent="a")).id
                for number in range(7)
            ]
            clock.advance(days=31)
            gone: list[set[object]] = []
            for _ in range(3):
                if night:
                    gone.append(set((await book.dreams.run("ana")).archived))
                else:
                    done = (await book.admin.retain("ana")).archived
                    gone.append(set() if done is None else set(done.ids()))
            assert [len(some) for some in gone] == [5, 2, 0] and set.union(*gone) == {*stale}
