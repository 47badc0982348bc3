"""A loop that is closed with tasks in it leaves no complaint, however far they are."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref

import pytest

from memoranda.tasks import quiet_task

_PROGRAM = """
import asyncio, gc
from memoranda.tasks import quiet_task
from memoranda.tasks import TimeLimit

async def call():
    await asyncio.sleep(60)

async def outer(wait):
    quiet_task(lambda: TimeLimit(60).wait(call))
    for _ in range(wait):
        await asyncio.sleep(0)

loop = asyncio.new_event_loop()
loop.run_until_complete(outer(STEPS))
loop.close()
gc.collect()
"""


@pytest.mark.parametrize("steps", range(5))
def test_a_closed_loop_leaves_no_complaint_at_any_step_of_its_tasks(steps: int):
    words = [sys.executable, "-c", _PROGRAM.replace("STEPS", str(steps))]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


async def test_a_task_that_is_over_keeps_nothing_of_what_it_ran() -> None:
    class Held:
        async def run(self) -> int:
            return 1

    held = Held()
    left = weakref.ref(held)
    task = quiet_task(held.run)
    del held
    assert await task == 1
    gc.collect()
    assert left() is None
