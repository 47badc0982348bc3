"""Killed formation: every message is formed once and paid for once, however often a process was
killed.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import random
import signal
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import get_args

from memoranda import Book
from memoranda.model.memories import Memory
from memoranda.model.records import Owner, RecordType
from proofs._book.forming import Fate, Manner, Moment, Ticking, forming, work
from proofs._book.opening import without_syncs, without_threads
from tests.comparison import all_records, differences, records_as_texts

ABOUT = "formation killed at any step gives the result of an undisturbed run, and buys no stored answer twice"
CI_COUNT = 200
FULL_COUNT = 5_000
COVERS = "model storage paging.py door.py engines/sqlite formation language worker.py"

_START = datetime(2026, 3, 2, 9, tzinfo=UTC)
_OWNERS = tuple(Owner(id=f"owner {number}") for number in range(3))
#: After so many processes were killed over what was said on one day, one works in peace.
_A_DAY = 14
#: A next process comes when the lease of a dead one has run out. What it writes is dated a second
#: later only: which memories a question shows, and so where a portion ends, depends on the hour.
_LATER, _WRITTEN_LATER = timedelta(minutes=10), timedelta(seconds=1)
_LIKED = ("tea", "jazz", "rowing")
#: What a user says on a day, in whatever order: of each sort one, and some more.
_TURNS = ("I said {word} today", "I moved to {word}", "I still like {liked}", "It helped: {word}")
_MORE = 2
_FILLING = (
    "and there was much more of it than I can tell now, of the weather and of the way there and back, of those whom we "
    "met and of what they had to tell of the weather and of the way, until it was late and nobody had more to say"
)
#: Kills in one book; what a process does grows with its book.
_A_BOOK = 250
#: How many kills a control is given.
_CONTROL = 20
_CONTROLS: tuple[Manner, ...] = ("keeps nothing", "marks nothing")
_PATIENCE_SECONDS = 60.0
#: Numbers of each book that the result adds up.
_SUMMED = ("days", "said", "held", "calls", "again", "lost")


class Misformed(Exception):
    """A record is there twice or missing, or an answer was bought again without need."""


class Undetected(Exception):
    """A control was not noticed."""


def run(count: int, seed: int) -> str:
    logging.disable(logging.CRITICAL)
    with (
        tempfile.TemporaryDirectory(prefix="form-kill-") as folder,
        without_syncs(rewriting=False),
        without_threads(),
    ):
        yards = [
            _compared(Path(folder), min(_A_BOOK, count - before), f"{seed} {before}", "careful")
            for before in range(0, count, _A_BOOK)
        ]
        missed = [manner for manner in _CONTROLS if not _noticed(Path(folder), f"{seed}", manner)]
    if missed:
        raise Undetected(f"nobody noticed one that {' or '.join(missed)}")
    total = {name: sum(getattr(yard, name) for yard in yards) for name in _SUMMED}
    kills = sum((yard.struck for yard in yards), Counter[str]())
    struck = ", ".join(f"{number} {moment}" for moment, number in sorted(kills.items()))
    return (
        f"{kills.total()} kills ({struck}), {total['lost']} of them between an answer and its store; {len(yards)} books, "
        f"{total['days']} days, {total['said']} messages formed once, {total['held']} records as in an undisturbed run; "
        f"{total['calls']} calls, {total['again']} bought again; {len(_CONTROLS)} controls noticed"
    )


def _noticed(folder: Path, seed: str, manner: Manner) -> bool:
    try:
        _compared(folder, _CONTROL, seed, manner)
    except Misformed:
        return True
    return False


def _compared(folder: Path, kills: int, seed: str, manner: Manner) -> _Yard:
    """Form with this many kills, then the same without any, and compare."""
    place = Path(tempfile.mkdtemp(dir=folder))
    disturbed = _Yard(place / "killed.db", random.Random(seed), manner)
    asyncio.run(disturbed.run(kills))
    calm = _Yard(place / "calm.db", random.Random(seed), "careful")
    asyncio.run(calm.run(0, disturbed.days))
    found, wanted = asyncio.run(disturbed.records_as_texts()), asyncio.run(calm.records_as_texts())
    if differing := differences(found, wanted):
        raise Misformed(f"{len(differing)} records differ: {'; '.join(differing[:2])}")
    disturbed.held = found.total()
    disturbed.judge()
    return disturbed


@dataclass(slots=True)
class _Yard:
    """Lets users talk by day, and kills the forming processes at night."""

    path: Path
    rng: random.Random
    manner: Manner
    days: int = 0
    said: int = 0
    held: int = 0
    calls: int = 0
    again: int = 0
    lost: int = 0
    struck: Counter[str] = field(default_factory=Counter)
    _due: list[Moment] = field(default_factory=list)
    _words: int = 0

    @property
    def _log(self) -> Path:
        return self.path.with_suffix(".log")

    async def run(self, kills: int, days: int = 0) -> None:
        """Kill this many processes, or none in this many days."""
        talk = random.Random(f"{self.rng.random()} talk")
        while self.struck.total() < kills or self.days < days:
            async with forming(self.path, Ticking(self._now()), None) as book:
                for place in range(len(_OWNERS)):
                    await self._talk(book, talk, place)
            self.days += 1
            for night in range(1, _A_DAY + 1):
                if self.struck.total() >= kills or not self._killed(night):
                    break
            await self._peace(_A_DAY + 1)

    def _now(self, night: int = 0) -> datetime:
        return _START + self.days * timedelta(days=1) + night * _WRITTEN_LATER

    # ── what is said ──────────────────────────────────────────────────────────────────────────────

    async def _talk(self, book: Book, talk: random.Random, place: int) -> None:
        """Append some turns to a thread that lasts two days; every second owner's model returns an
        episode.
        """
        thread = await book.thread(
            _OWNERS[place], agent=f"guide {place}", name=f"talk {self.days // 2}"
        )
        turns = [*_TURNS, *talk.choices(_TURNS, k=_MORE)]
        talk.shuffle(turns)
        drafts = [{"role": "user", "content": self._turn(talk, place, turn)} for turn in turns]
        self.said += len(drafts)
        await thread.append(drafts)
        await (thread.close() if self.days % 2 else thread.form(wait=False))

    def _turn(self, talk: random.Random, place: int, turn: str) -> str:
        self._words += 1
        # Of one length: which of several equal memories a question shows is left to chance, and
        # decides how much a portion holds.
        word = f"word{self._words:04}"
        also = ", with an episode" if place % 2 else ""
        return f"{turn.format(word=word, liked=talk.choice(_LIKED))}, {word}{also}, {_FILLING}."

    # ── death ─────────────────────────────────────────────────────────────────────────────────────

    def _killed(self, night: int) -> bool:
        """Start one process with a moment of death; False if it never reached that moment and
        finished all work.
        """
        if not self._due:
            self._due = [*get_args(Moment), "random", "random"]
            self.rng.shuffle(self._due)
        # Threads close every other day.
        closing = [place for place, moment in enumerate(self._due) if "closing" in moment]
        moment = self._due.pop(closing[0] if closing and self.days % 2 == 0 else -1)
        context = multiprocessing.get_context("forkserver")
        # Neither the proof nor the one that forks for it has threads that a fork would leave
        # behind.
        context.set_forkserver_preload(["proofs._book.forming"])
        ready = context.Event()
        fate = Fate(moment, self.rng.choice((1, 1, 2)))
        process = context.Process(
            target=work,
            args=(self.path, self._log, self._now(night), night * _LATER, fate, self.manner, ready),
            daemon=True,
        )
        process.start()
        if moment == "random" and ready.wait(_PATIENCE_SECONDS):
            time.sleep(self.rng.uniform(0.0, 0.12))
            process.kill()
        return self._ended(process, moment)

    def _ended(self, process: BaseProcess, moment: Moment) -> bool:
        process.join(_PATIENCE_SECONDS)
        if process.is_alive():
            process.kill()
            raise Misformed(f"a process that should die {moment} has not ended")
        if process.exitcode == -signal.SIGKILL:
            self.struck[moment] += 1
            return True
        if process.exitcode != 0:
            raise Misformed(f"a process left with {process.exitcode}")
        return False

    async def _peace(self, night: int) -> None:
        """Let a process that is not killed finish the work."""
        context = multiprocessing.get_context("forkserver")
        fate = Fate("random")
        process = context.Process(
            target=work,
            args=(self.path, self._log, self._now(night), night * _LATER, fate, self.manner),
            daemon=True,
        )
        process.start()
        self._ended(process, "random")
        async with forming(self.path, Ticking(self._now(night + 1)), None) as book:
            left = [job for job in await book.engine.jobs(None, 100) if job.kind == "form"]
            if left:
                raise Misformed(f"{len(left)} threads are left unformed: {left[0].error}")

    # ── the end ───────────────────────────────────────────────────────────────────────────────────

    async def records_as_texts(self) -> Counter[str]:
        """Return the book's content, after checking that the book is sound."""
        async with forming(self.path, Ticking(self._now()), None) as book:
            if faults := (await book.admin.verify(whole=True)).faults:
                raise Misformed(f"the ledger does not hold: {faults[0]}")
            for owner in _OWNERS:
                memories = [
                    one
                    for one in await all_records(book, owner, RecordType.MEMORY)
                    if isinstance(one, Memory)
                ]
                twice = [
                    text
                    for text, number in Counter(one.content for one in memories).items()
                    if number > 1
                ]
                if twice:
                    raise Misformed(f"{twice[0]!r} is there more than once")
            return await records_as_texts(book, versions=True)

    def judge(self) -> None:
        """Compare the bought answers with those lost by a kill."""
        bought: Counter[str] = Counter()
        lost: Counter[str] = Counter()
        hanging: dict[str, str] = {}
        for line in self._log.read_text().splitlines():
            process, event, words = line.split(" ", 2)
            if event == "asked":
                bought.update(_each(words))
                hanging[process] = words
                self.calls += 1
            else:
                hanging.pop(process, None)
        for words in hanging.values():
            lost.update(_each(words))
        self.lost = len(hanging)
        for word, number in bought.items():
            if number - 1 > lost[word]:
                raise Misformed(
                    f"{word} was asked about {number} times, and {lost[word]} answers were lost"
                )
        self.again = self._repeated()

    def _repeated(self) -> int:
        asked = [
            line.split(" ", 2)[2]
            for line in self._log.read_text().splitlines()
            if " asked " in line
        ]
        return len(asked) - len(set(asked))


def _each(words: str) -> list[str]:
    """Return each turn in a question, with the task and how often it was asked before."""
    task, earlier, *turns = words.split(" ")
    return [f"{task} {earlier} {turn}" for turn in turns]
