"""Races with an erasure: no forgotten data remains or returns, whatever runs at the same time."""

from __future__ import annotations

import asyncio
import logging
import random
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import memoranda
from memoranda import Book
from memoranda.model.records import Owner
from proofs._book.companions import Companions
from proofs._book.meanings import judge_vectors
from proofs._book.opening import without_syncs
from proofs._book.racing import EMBEDDERS, Action, Outcome, Race, Returned, Target, perform

ABOUT = "no append, import, replay, job or vector made during an erasure brings anything back"
CI_COUNT = 1_000
FULL_COUNT = 20_000
COVERS = "model storage paging.py door.py engines/sqlite embedding formation language text worker.py book"

#: Races in one file before a new one begins.
_FILE = 25
#: Of the races, those that are run by several processes.
_ABROAD = 0.3
_PROCESSES = 3
#: How often the file is rewritten during the races.
_CLEARING = 0.1
#: Races that are run beside one another.
_AT_A_TIME = 5
#: The longest that anyone waits before doing its part, in seconds.
_LONGEST = 0.012


def run(count: int, seed: int) -> str:
    logging.disable(logging.CRITICAL)  # of every job that finds its sources gone
    with tempfile.TemporaryDirectory() as folder, without_syncs(rewriting=False):
        tally = asyncio.run(_Races(Path(folder), random.Random(seed)).run(count))
    return (
        f"{count} races, {tally['abroad']} of them between processes, nothing returned; {tally['before']} writes were "
        f"acknowledged and then forgotten, {tally['refused']} refused, {tally['after']} stand"
    )


class _Races:
    def __init__(self, folder: Path, rng: random.Random) -> None:
        self._folder = folder
        self._rng = rng
        self._tally: Counter[str] = Counter()

    async def run(self, count: int) -> Counter[str]:
        with Companions(_PROCESSES) as companions:
            for start in range(0, count, _FILE):
                abroad = companions if self._rng.random() < _ABROAD or start == 0 else None
                await self._file(start, min(_FILE, count - start), abroad)
        for what in ("before", "refused", "after"):
            if count >= 100 and self._tally[what] < count / 10:
                raise Returned(f"the races are too tame to show anything: {dict(self._tally)}")
        return self._tally

    async def _file(self, start: int, count: int, abroad: Companions | None) -> None:
        path = self._folder / f"{start}.db"
        embed = EMBEDDERS[0]
        async with (
            memoranda.open(path, embed=embed) as book,
            memoranda.open(path, embed=embed) as other,
        ):
            if abroad is not None:
                await abroad.open(path)
            for first in range(start, start + count, _AT_A_TIME):
                await self._races(
                    range(first, min(first + _AT_A_TIME, start + count)), book, other, abroad
                )
            await judge_vectors(book, f"after races {start} to {start + count - 1}")

    async def _races(
        self, numbers: range, book: Book, other: Book, abroad: Companions | None
    ) -> None:
        races = [self._drawn(number) for number in numbers]
        await asyncio.gather(*(race.prepare(book) for race in races))
        racing = self._at_once([race.actions(_LONGEST) for race in races], (book, other), abroad)
        if self._rng.random() < _CLEARING:
            # The worker clears the file of what was forgotten before, while all this goes on.
            outcomes, _ = await asyncio.gather(racing, other.engine.scrub())
        else:
            outcomes = await racing
        late = [action for race in races for action in race.late()]
        # Later actions may come from a process that does not know of the erasure, or from a second
        # open book.
        outcomes += await self._at_once([late], (other,), abroad)
        told = [
            [outcome for outcome in outcomes if outcome.action.owner == race.owner]
            for race in races
        ]
        for race, outcomes in zip(races, told, strict=True):
            await race.judge(book, outcomes, "after the race")
        await asyncio.gather(
            *(race.bring_back(book, o) for race, o in zip(races, told, strict=True))
        )
        for race, outcomes in zip(races, told, strict=True):
            await race.judge(other, outcomes, "later")
            self._count(outcomes, abroad)
        if faults := (await book.admin.verify()).faults:
            raise Returned(f"after races {numbers}: {faults[0]}")

    def _drawn(self, number: int) -> Race:
        target: Target = self._rng.choice(get_args(Target))
        return Race(Owner(id=f"race {number}"), target, random.Random(self._rng.random()))

    async def _at_once(
        self, groups: Sequence[Sequence[Action]], books: Sequence[Book], abroad: Companions | None
    ) -> list[Outcome]:
        """Let all actions run at once; with several processes each gets some of every group, this
        one too.
        """
        if abroad is None:
            actions = [action for group in groups for action in group]
            return list(
                await asyncio.gather(*(perform(self._rng.choice(books), each) for each in actions))
            )
        parts: list[list[Action]] = [[] for _ in range(len(abroad) + 1)]
        for group in groups:
            shift = self._rng.randrange(len(parts))
            for place, action in enumerate(group):
                parts[(place + shift) % len(parts)].append(action)
        mine = asyncio.gather(*(perform(books[0], action) for action in parts.pop()))
        return [*await abroad.perform(parts), *await mine]

    def _count(self, outcomes: list[Outcome], abroad: Companions | None) -> None:
        self._tally["abroad"] += abroad is not None
        forgetting = next(outcome for outcome in outcomes if outcome.action.kind == "forget")
        for outcome in outcomes:
            if outcome.error:
                self._tally["refused"] += 1
            elif outcome.ended < forgetting.began:
                self._tally["before"] += 1
            elif outcome.began > forgetting.ended:
                self._tally["after"] += 1
