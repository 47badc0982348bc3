"""The rehearsing engine refuses use cases that an engine without transactions over many statements
could not run.
"""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest

from memoranda.model.changes import JobDraft
from memoranda.model.values import new_id
from memoranda.storage.questions import Base, Load
from memoranda.storage.use_case import Deciding, ask
from memoranda.storage.use_cases.apply import apply_batch
from memoranda.storage.writes import PutJob, StoreRecords
from memoranda_conformance.builders import ANN, BEN, START, Pen
from tests.engines.rehearsal import RehearsingEngine, groups


async def test_a_use_case_that_asks_about_what_it_wrote_is_refused():
    engine = RehearsingEngine()
    pen = Pen(engine)
    batch = pen.batch(pen.remembering("likes tea", id=UUID(int=7)))

    def writes_then_asks() -> Deciding[int]:
        yield from apply_batch(batch, new_id())
        return len((yield from ask(Load((UUID(int=7),)))))

    with pytest.raises(AssertionError, match="asks about what this use case writes"):
        await engine.write(writes_then_asks)
    assert await pen.scan() == []


async def test_a_use_case_that_remembers_an_earlier_run_is_refused():
    engine = RehearsingEngine()
    await Pen(engine).remember("likes tea")
    runs: list[int] = []

    def counts_its_runs() -> Deciding[int]:
        yield from ask(Base(ANN))
        runs.append(1)
        return len(runs)

    with pytest.raises(AssertionError, match="an earlier run"):
        await engine.write(counts_its_runs)
    with pytest.raises(AssertionError, match="the second time"):
        await engine.read(counts_its_runs)


async def test_a_use_case_that_leaves_one_owner_broken_until_the_next_is_refused():
    engine = RehearsingEngine()
    pen = Pen(engine)
    await pen.remember("likes tea")
    batch = pen.batch(pen.remembering("likes gin"))

    def leaves_the_record_out() -> Deciding[None]:
        use_case = apply_batch(batch, new_id())
        step = next(use_case)
        while not isinstance(step, StoreRecords):
            step = use_case.send((yield step))
        yield replace(step, puts=(), rows=())

    with pytest.raises(AssertionError, match="is in the ledger and not in the book"):
        await engine.write(leaves_the_record_out)


async def test_the_writes_of_an_owner_are_committed_together_and_those_without_one_with_the_owner_before():
    engine = RehearsingEngine()
    for owner in (ANN, BEN):
        await Pen(engine, owner).remember("likes tea")

    def bases() -> Deciding[list[PutJob]]:
        one = yield from ask(Base(ANN))
        two = yield from ask(Base(BEN))
        draft = JobDraft("form", "thread")
        return [PutJob(base, draft, START, UUID(int=1)) for base in (one, None, two, one)]

    first, own, second, again = await engine.read(bases)
    assert groups([first, own, second, again]) == [[first, own, again], [second]]
