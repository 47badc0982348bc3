"""Two engines that are given the same work say and hold the same, whatever the work is."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda.engines.inmemory import InMemoryEngine
from memoranda.engines.sqlite.engine import SqliteEngine
from memoranda.model.changes import Batch
from memoranda.model.ledger import Receipt
from memoranda.model.passages import Use
from memoranda.model.query import Filter
from memoranda.model.records import WHOLE, Owner, View
from memoranda.model.vectors import EMBED, Embedding
from memoranda.ports import Engine
from memoranda.text.terms import RULE
from memoranda_conformance.builders import ANN, AT_B, START, Follower, adopted, exported
from tests.engines.dice import Dice
from tests.engines.pair import Pair
from tests.engines.random_runs import OWNERS
from tests.engines.random_work import VIEWS, World
from tests.engines.shapes import entry_shape, erasure, job_shape

EXAMPLES = int(os.environ.get("HYPOTHESIS_EXAMPLES", "15"))

#: How often each step is taken, of those in this list.
STEPS = (
    *("write",) * 12,
    *("undo",) * 4,
    *("erase",) * 3,
    *("again", "lease", "put vectors") * 2,
    *("settle job",) * 3,
    "sets",
    *("note use", "put terms", "rebuild", "old era"),
)

EMBEDDINGS = (Embedding("local", "small", 2), Embedding("local", "large", 3))


class Working:
    """Takes random steps on a pair of engines and compares what they hold."""

    def __init__(self, pair: Pair) -> None:
        self._pair = pair
        self._world = World()

    async def take(self, step: str, dice: Dice) -> None:
        """One step."""
        await getattr(self, "_" + step.replace(" ", "_"))(dice)
        await self._compare_ledgers()
        if dice.rarely(4):
            await self._compare()

    async def begin(self) -> None:
        """Something to build upon."""
        for owner in OWNERS:
            receipt = await self._pair.same(partial(apply, self._world.first(owner)))
            self._world.written(receipt)

    async def _apply(self, batch: Batch) -> None:
        receipt = await self._pair.same(partial(apply, batch))
        if receipt is not None:
            self._world.written(receipt)

    async def _write(self, dice: Dice) -> None:
        await self._apply(self._world.batch(dice))

    async def _undo(self, dice: Dice) -> None:
        await self._apply(self._world.batch(dice, undo=True))

    async def _again(self, dice: Dice) -> None:
        if self._world.batches:
            await self._apply(dice.pick(self._world.batches))

    async def _old_era(self, dice: Dice) -> None:
        batch = self._world.batch(dice)
        known = self._pair.eras.get((batch.owner, 0), [])
        place = dice.number(len(known) + 1)

        async def apply_in(number: int, engine: Engine) -> Any:
            eras = self._pair.eras.get((batch.owner, number), [])
            return await engine.apply(replace(batch, era=[*eras, UUID(int=1)][place]))

        await self._pair.same(apply_in)

    async def _erase(self, dice: Dice) -> None:
        target = self._world.target(dice, everything=dice.rarely(12))

        async def erase(number: int, engine: Engine) -> Any:
            return erasure(await engine.erase(target, self._world.now))

        await self._pair.same(erase)

    async def _note_use(self, dice: Dice) -> None:
        owner, view = dice.pick(OWNERS), dice.pick(VIEWS)
        uses = {id: Use(count=dice.number(9)) for id in self._world.any_of(dice, owner, 4)}
        await self._pair.same(lambda number, engine: engine.note_use(owner, view, uses))

    async def _put_terms(self, dice: Dice) -> None:
        ids = self._world.any_of(dice, dice.pick(OWNERS), 4)
        await self._pair.same(
            lambda number, engine: engine.put_terms(RULE, dict.fromkeys(ids, bytes(9)))
        )

    async def _put_vectors(self, dice: Dice) -> None:
        embedding = dice.pick(EMBEDDINGS)
        some = bytes([dice.number(9)]) * embedding.packed_bytes
        vectors = dict.fromkeys(self._world.any_of(dice, dice.pick(OWNERS), 6), some)
        await self._pair.same(lambda number, engine: engine.put_vectors(embedding, vectors))

    async def _sets(self, dice: Dice) -> None:
        embedding = dice.pick(EMBEDDINGS)
        calls: tuple[Callable[[int, Engine], Awaitable[Any]], ...] = (
            lambda number, engine: engine.begin_set(embedding),
            lambda number, engine: engine.begin_set(embedding),
            lambda number, engine: engine.switch_set(embedding),
            lambda number, engine: engine.drop_set(embedding),
        )
        await self._pair.same(dice.pick(calls))

    async def _rebuild(self, dice: Dice) -> None:
        await self._pair.both(lambda number, engine: engine.rebuild())

    async def _lease(self, dice: Dice) -> None:
        self._world.tick(dice)
        seconds, worker = dice.pick((60.0, 2.0)), dice.pick(("one", "two"))
        one, two = await self._pair.both(
            lambda number, engine: engine.lease(["form"], worker, self._world.now, seconds)
        )
        assert job_shape(one) == job_shape(two)
        if one is not None and two is not None:
            self._pair.leases.append((one, two))

    async def _settle_job(self, dice: Dice) -> None:
        if not self._pair.leases:
            return
        self._world.tick(dice)
        jobs, now, about = (
            dice.pick(self._pair.leases),
            self._world.now,
            self._world.any_of(dice, ANN),
        )
        calls: tuple[Callable[[int, Engine], Awaitable[bool]], ...] = (
            lambda number, engine: engine.finish(jobs[number]),
            lambda number, engine: engine.fail(jobs[number], "so", now, None),
            lambda number, engine: engine.fail(jobs[number], "so", now, now.replace(year=2026)),
            lambda number, engine: engine.renew(jobs[number], now, 9),
            lambda number, engine: engine.postpone(
                jobs[number], now + timedelta(seconds=9), "down"
            ),
            lambda number, engine: engine.keep(jobs[number], {"n": 1}, about),
            lambda number, engine: engine.replay(jobs[number].id, now),
            lambda number, engine: engine.drop(jobs[number].id),
        )
        await self._pair.same(dice.pick(calls))

    # ── comparing ─────────────────────────────────────────────────────────────────────────────────

    async def _compare_ledgers(self) -> None:
        for owner in OWNERS:
            for number, engine in enumerate(self._pair.engines):
                eras = self._pair.eras.setdefault((owner, number), [])
                for entry in await engine.entries(owner, 0, 1):
                    if entry.era not in eras:
                        eras.append(entry.era)
            await self._pair.same(partial(self._ledger, owner))

    async def _compare(self) -> None:
        for owner in OWNERS:
            await self._pair.same(partial(self._shelves, owner, WHOLE))
            await self._pair.same(partial(self._scanned, owner, WHOLE))
        await self._pair.same(lambda number, engine: upkeep_aside(engine))
        await self._pair.same(lambda number, engine: embedding_work(engine))

    async def _ledger(self, owner: Owner, number: int, engine: Engine) -> Any:
        return [
            entry_shape(entry, self._pair.eras[owner, number])
            for entry in await engine.entries(owner, 0, 999)
        ]

    async def _shelves(self, owner: Owner, view: View, number: int, engine: Engine) -> Any:
        """Return the follower's shelves, after checking that a fresh reader has the same ones."""
        fresh = Follower(engine, owner, view)
        held = self._pair.followers.setdefault((owner, view, number), Follower(engine, owner, view))
        shelves = {audience: shelf for audience, shelf in (await fresh.follow()).items() if shelf}
        kept = await held.follow()
        # An erased owner's shelves are gone, and nobody tells; an index drops what it no longer
        # hears of.
        assert {audience: kept[audience] for audience in shelves} == shelves
        return shelves

    async def _scanned(self, owner: Owner, view: View, number: int, engine: Engine) -> Any:
        return await scanned(engine, owner, view)

    async def compare_all(self) -> None:
        """Compare everything that can be read, and hold both against their ledgers."""
        await self._compare()
        for owner in OWNERS:
            for view in VIEWS:
                for compared in (self._scanned, self._shelves, self._told):
                    await self._pair.same(partial(compared, owner, view))
        for engine in self._pair.engines:
            findings = await engine.verify()
            assert (engine.name, findings.faults) == (engine.name, ())

    async def _told(self, owner: Owner, view: View, number: int, engine: Engine) -> Any:
        ids = self._world.tried
        own = self._world.ids_of(owner) if view in (WHOLE, AT_B) else []
        histories = [await engine.history(owner, view, id) for id in own]
        filters = [Filter(kinds=frozenset({kind})) for kind in ("fact", "user", "a")]
        filters += [
            Filter(agent="a"),
            Filter(keys=frozenset({"drink"})),
            Filter(tags=frozenset({"a"})),
        ]
        filters += [Filter(known_at=START + timedelta(seconds=passed)) for passed in (5, 30, 90)]
        filters += [Filter(as_of=START), Filter(trust=frozenset({"web", "user"}))]
        counts: list[Any] = [await engine.count(owner, view, each) for each in filters]
        counts += [
            await engine.newest(owner, view, filters[0], 99),
            await engine.kinds(owner, view, Filter()),
        ]
        sight = await engine.look(owner, view, lambda _: None, lambda _: ids)
        looked = sight.records, sight.uses, sight.grounds
        got = await engine.get(owner, view, ids)
        citing = [Filter(sources=frozenset(ids), newest_first=down) for down in (False, True)]
        cited = [(await engine.scan(owner, view, each, None, 99)).records for each in citing]
        return histories, counts, looked, await engine.uses(owner, view, ids), got, cited

    async def compare_adopted(self, spare: Engine) -> None:
        """Check that an engine that adopted another's export answers like the first."""
        for owner in OWNERS:
            lines = await exported(self._pair.engines[1], owner)
            if not lines or await adopted(spare, owner, lines) is None:
                continue
            assert await scanned(spare, owner, WHOLE) == await scanned(
                self._pair.engines[0], owner, WHOLE
            )
            for id in self._world.ids_of(owner):
                told = [
                    await each.history(owner, WHOLE, id) for each in (spare, self._pair.engines[0])
                ]
                assert told[0] == told[1]
        assert (await spare.verify()).faults == ()


async def apply(batch: Batch, number: int, engine: Engine) -> Receipt:
    return await engine.apply(batch)


async def scanned(engine: Engine, owner: Owner, view: View) -> Any:
    """All that a view sees, in both orders."""
    up = await engine.scan(owner, view, Filter(), None, 9999)
    down = await engine.scan(owner, view, Filter(newest_first=True), None, 9999)
    assert list(up.records) == list(reversed(down.records))
    assert await engine.count(owner, view, Filter()) == len(up.records)
    return up.records


async def upkeep_aside(engine: Engine) -> Any:
    """All jobs but those that an engine puts for its own files."""
    return sorted(
        map(repr, (job_shape(job) for job in await engine.jobs(None, 99) if job.owner is not None))
    )


async def embedding_work(engine: Engine) -> Any:
    """Return the vector sets, their missing vectors, and the jobs that make them."""
    lacking = [await engine.lacking(embedding, 99) for embedding in EMBEDDINGS]
    jobs = [job_shape(job) for job in await engine.jobs(None, 99) if job.kind == EMBED]
    return await engine.vector_sets(), lacking, sorted(map(repr, jobs))


async def work(steps: list[tuple[str, int]], folder: Path) -> None:
    """Give the same work to a book in a file."""
    await beside_the_reference(
        steps, await SqliteEngine.open(folder / "book.db", synchronous="OFF")
    )


async def beside_the_reference(steps: list[tuple[str, int]], engine: Engine) -> None:
    """Give an empty engine, and the one in memory, the same work; it is closed after it."""
    try:
        working = Working(Pair((InMemoryEngine(), engine)))
        await working.begin()
        for step, seed in steps:
            await working.take(step, Dice(seed))
        await working.compare_all()
        await working.compare_adopted(InMemoryEngine())
    finally:
        await engine.close()


@settings(max_examples=EXAMPLES, deadline=None, derandomize="HYPOTHESIS_EXAMPLES" not in os.environ)
@given(st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 2**32)), min_size=1, max_size=60))
def test_two_engines_given_the_same_work_say_and_hold_the_same(
    steps: list[tuple[str, int]],
) -> None:
    with tempfile.TemporaryDirectory(
        dir="/dev/shm" if os.path.isdir("/dev/shm") else None
    ) as folder:
        asyncio.run(work(steps, Path(folder)))
