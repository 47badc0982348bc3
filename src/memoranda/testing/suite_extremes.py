"""What lies at the edge of what may be kept, and what only looks like something else."""

from __future__ import annotations

from datetime import timedelta
from random import Random
from typing import Any

from memoranda.model.changes import Amend, ChangeAudience
from memoranda.model.jobs import ERROR_LENGTH, Job, JobDraft, JobState
from memoranda.model.owner import WHOLE, Audience, View
from memoranda.model.query import Filter
from memoranda.model.records import RecordType
from memoranda.model.trust import Limits
from memoranda.model.values import NAME_LENGTH
from memoranda.ports import Engine
from memoranda.testing.builders import Follower, Pen
from memoranda.testing.suite import Suite
from memoranda.testing.suite_spending import started_call

_LIKE_A_PIN: dict[str, Any] = {"pinned": True, "in": [{"pinned": True}]}
#: What text formats escape.
_STRANGE = "\\\"'\\x41\\"


def a_long_name(seed: int) -> str:
    """As long as a name may be, of characters that take four bytes each, and that nothing makes short."""
    random = Random(seed)
    characters = (chr(0x20000 + random.randrange(0xA000)) for _ in range(NAME_LENGTH - len(_STRANGE)))
    return "".join(characters) + _STRANGE


async def leased(pen: Pen) -> Job:
    """The one job, put and leased."""
    await pen.write(pen.remembering("x"), jobs=(JobDraft("form", "thread"),))
    job = await pen.engine.lease(["form"], "one", pen.now, 60.0)
    assert job is not None
    return job


class ExtremeSuite(Suite):
    """Long names, strange texts, and data that read like fields."""

    async def test_data_that_read_like_a_pin_pin_nothing(self, engine: Engine) -> None:
        pen = Pen(engine)
        await pen.remember("not pinned", data=_LIKE_A_PIN)
        pinned = await pen.remember("pinned", data={"pinned": False}, pinned=True)
        memories = frozenset({RecordType.MEMORY})
        for newest_first in (False, True):
            only = Filter(types=memories, pinned=True, newest_first=newest_first)
            page = await engine.scan(pen.owner, WHOLE, only, None, 10)
            assert [record.id for record in page.records] == [pinned]
        assert [record.id for record in await pen.scan(pinned=True)] == [pinned]
        assert await engine.count(pen.owner, WHOLE, Filter(types=memories, pinned=True)) == 1
        await pen.write(Amend(pinned, {"pinned": False}))
        assert await pen.scan(pinned=True) == []

    async def test_at_the_cap_what_only_reads_like_a_pin_makes_room(self, engine: Engine) -> None:
        pen = Pen(engine, limits=Limits(memories_per_owner=2, at_capacity="evict"))
        oldest = await pen.remember("old", data=_LIKE_A_PIN)
        kept = await pen.remember("pinned", data={"pinned": False}, pinned=True)
        await pen.remember("new")
        assert [(await pen.read(id)).status for id in (oldest, kept)] == ["evicted", "active"]

    async def test_as_many_groups_as_there_may_be_with_names_as_long_as_they_may_be(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        groups = sorted(a_long_name(number) for number in range(100))
        wide, narrow = Audience.of_groups(groups), Audience.of_groups(groups[:99])
        ids = [await pen.remember("tea", audience=audience) for audience in (wide, narrow, wide)]
        moved, shared = await pen.remember("coffee"), await pen.remember("milk")
        await pen.write(ChangeAudience(moved, wide), ChangeAudience(shared, narrow))
        shelves = await Follower(engine).follow()
        assert {audience: set(held) for audience, held in shelves.items() if held} == {
            wide: {ids[0], ids[2], moved},
            narrow: {ids[1], shared},
        }
        seen = await pen.scan(View(agent="a", groups=(groups[99],)))
        assert {record.id for record in seen} == {ids[0], ids[2], moved}

    async def test_what_was_spent_is_told_under_names_as_long_as_they_may_be(self, engine: Engine) -> None:
        await Pen(engine).remember("tea")
        names = [a_long_name(number) for number in range(3)]
        for _ in range(2):
            await engine.note_spent(started_call(agent=names[0], task=names[1], model=names[2]))
        await engine.note_spent(started_call(agent=names[0], task=names[2], model=names[1]))
        found = await engine.spent("default")
        assert sorted((one.agent, one.task, one.model, one.calls) for one in found) == sorted(
            [(*names, 2), (names[0], names[2], names[1], 1)]
        )

    async def test_a_job_ends_whatever_its_error_says(self, engine: Engine) -> None:
        pen = Pen(engine)
        for strange, told in (
            ("a\x00b\ud800", "a\ufffdb\ufffd"),
            ("\udc00\ud83d\ude00", "\ufffd😀"),
            ("\x00" * (ERROR_LENGTH + 1), "\ufffd" * ERROR_LENGTH),
        ):
            job = await leased(pen)
            assert await engine.postpone(job, pen.now, strange)
            (waiting,) = await engine.jobs(JobState.WAITING, 10)
            assert waiting.error == told
            again = await engine.lease(["form"], "two", pen.tick(), 60.0)
            assert again is not None
            assert await engine.fail(again, strange, pen.now, pen.now + timedelta(seconds=1))
            last = await engine.lease(["form"], "three", pen.tick(2), 60.0)
            assert last is not None
            assert await engine.fail(last, strange, pen.now, None)
            (dead,) = await engine.jobs(JobState.DEAD, 10)
            assert dead.error == told
            assert await engine.drop(dead.id)
