"""Agreement of engines: the same random work gives the same answers and data on all, step by
step.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
from collections import Counter
from pathlib import Path

from proofs._book.mutants import replaced
from tests.engines.test_engines_agree import STEPS, work

ABOUT = "random changes, undos, erasures and imports give the same data and answers in memory and in SQLite"
CI_COUNT = 300
FULL_COUNT = 5000
COVERS = "model storage text engines/inmemory engines/sqlite"

#: Steps of one program.
FEWEST, MOST = 5, 40
#: Within so many programs a difference that was put in on purpose has to be found.
CONTROL = 40


class Disagreement(Exception):
    """Two engines differ in their answers or data."""


def run(count: int, seed: int) -> str:
    rng = random.Random(seed)
    taken: Counter[str] = Counter()
    for number in range(1, count + 1):
        steps = program(rng)
        try:
            carry_out(steps)
        except AssertionError as difference:
            least = shortened(steps)
            raise Disagreement(
                f"program {number}, cut down to {least}: {difference}"
            ) from difference
        taken.update(step for step, _ in steps)
    found_after = control(rng)
    kinds = ", ".join(f"{step} {times}" for step, times in taken.most_common())
    return f"{count} programs of {taken.total()} steps agree; control found after {found_after} ({kinds})"


def program(rng: random.Random) -> list[tuple[str, int]]:
    """Return some steps, each with the seed that decides its details."""
    return [(rng.choice(STEPS), rng.getrandbits(32)) for _ in range(rng.randint(FEWEST, MOST))]


def carry_out(steps: list[tuple[str, int]]) -> None:
    """Do the same on both engines, and compare after each step; raise if they differ."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(
        prefix="agree-", dir=memory if memory.is_dir() else None
    ) as folder:
        asyncio.run(work(steps, Path(folder)))


def shortened(steps: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return the same failure in fewer steps, without each step that is not needed for it."""
    least = list(steps)
    for step in steps:
        fewer = [each for each in least if each is not step]
        try:
            carry_out(fewer)
        except AssertionError:
            least = fewer
    return least


def control(rng: random.Random) -> int:
    """Check that an engine that forgets to count its memories is noticed; return after how many
    programs.
    """
    with replaced(
        "move_owner",
        "UPDATE owners SET position = ?, held = held + 0 * ?, items = items + ? WHERE no = ?",
    ):
        for number in range(1, CONTROL + 1):
            try:
                carry_out(program(rng))
            except AssertionError:
                return number
    raise Disagreement(
        f"an engine that does not count what it holds was not found in {CONTROL} programs"
    )
