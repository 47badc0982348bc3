"""A book in use moves while its copier is killed again and again: nothing is lost, and nothing
forgotten returns.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import random
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memoranda.assembly import open_engine
from memoranda_conformance.builders import SMALL
from proofs._moving.copying import NOTICED, OMISSIONS, STEPS, Aim, cancel, copy
from proofs._moving.judging import Unlike, judge
from proofs._moving.living import erase, new_name, told, write

if TYPE_CHECKING:
    from proofs._server.own import OwnServer

ABOUT = "a book moves between engines while processes use it and the copier is killed; nothing is lost or comes back"
#: Kills of the copier, from file to file; to and from a server there are fewer in CI.
CI_COUNT = 20
FULL_COUNT = 200
COVERS = "model storage paging.py door.py engines assembly book/admin"

_WRITERS = 4
#: Writes before the first copy begins.
_WRITES = 60
#: A copier that is killed at any time is so within these seconds from its start.
_LIFE = (0.05, 0.6)
#: A process that has not ended by then never will.
_PATIENCE = 60.0
#: So long everybody goes on after a copy was cancelled.
_PAUSE = 0.2
_PARTITIONS = 3
#: A copier with this aim is killed from outside.
_ANY_TIME = "any time"
#: A control gets so many books.
_TRIES = 4

_context = multiprocessing.get_context("forkserver")


def run(count: int, seed: int) -> str:
    _context.set_forkserver_preload(["proofs._moving.copying", "proofs._moving.living"])
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="moving-") as folder:
        lines = [_moved(Path(folder, "files"), "{}/one.db", "{}/two.db", count, rng)]
        with _server() as server:
            if server is None:
                lines.append("no PostgreSQL server here")
            else:
                fewer = count if count > CI_COUNT else max(count // 4, 1)
                there, back = server.new_book(), server.new_book(partitions=_PARTITIONS)
                lines.append(_moved(Path(folder, "there"), "{}/one.db", there, fewer, rng))
                lines.append(_moved(Path(folder, "back"), back, "{}/two.db", fewer, rng))
        for omission in OMISSIONS:
            _control(Path(folder), omission, rng)
    return f"{'; '.join(lines)}; each of {len(OMISSIONS)} steps left out was noticed"


def _moved(folder: Path, source: str, target: str, kills: int, rng: random.Random) -> str:
    """Use a book, kill its copier this many times, let it move, and check the result."""
    folder.mkdir()
    scene = Scene(folder, source.format(folder), target.format(folder), rng)
    with scene.lived_in():
        scene.await_writes()
        for number in range(kills):
            scene.kill_one(last=number == kills - 1)
        scene.copy(switch=True)
        scene.await_end()
    struck = ", ".join(f"{step} {times}" for step, times in sorted(scene.struck.items()))
    name = f"{source.split(':')[0] if '://' in source else 'file'} to {target.split(':')[0] if '://' in target else 'file'}"
    return f"{name}: {kills} kills ({struck}), {asyncio.run(judge(scene.source, scene.target, folder))}"


def _control(folder: Path, omission: str, rng: random.Random) -> None:
    """Check that a copier that leaves a step out is noticed."""
    for number in range(_TRIES):
        own = Path(folder, f"{omission} {number}")
        own.mkdir()
        scene = Scene(own, f"{own}/one.db", f"{own}/two.db", rng)
        with scene.lived_in():
            scene.await_writes()
            scene.kill(Aim("end_arrival", 1, after=False), switch=False)
            scene.cancel()
            time.sleep(0.5)
            noticed = scene.copy(switch=True, omission=omission)
            time.sleep(0.5)
        if noticed:
            return
        try:
            asyncio.run(judge(scene.source, scene.target, own))
        except Unlike:
            return
    raise Unlike(f"left out that {omission}, and nothing was noticed in {_TRIES} books")


@dataclass(slots=True)
class Scene:
    """A book that processes use, and that is copied again and again."""

    folder: Path
    source: str
    target: str
    rng: random.Random
    struck: Counter[str] = field(default_factory=Counter)
    _lives: list[BaseProcess] = field(default_factory=list)
    _stop: Any = field(default_factory=_context.Event)

    @contextlib.contextmanager
    def lived_in(self) -> Iterator[None]:
        """Let four processes write and one forget until the book has moved, or until stopped."""
        asyncio.run(_made(self.source))
        for number in range(_WRITERS):
            log = self.folder / f"writer{number}.log"
            self._start(write, self.source, log, new_name(), self.rng.getrandbits(32), self._stop)
        log = self.folder / "eraser.log"
        self._start(erase, self.source, log, self.rng.getrandbits(32), self._stop)
        try:
            yield
            self._stop.set()
            self.await_end()
        finally:
            for process in self._lives:
                process.kill()
                process.join()

    def _start(self, live: Any, *given: Any) -> None:
        process = _context.Process(target=live, args=given, daemon=True)
        process.start()
        self._lives.append(process)

    def await_writes(self) -> None:
        """Wait until there are enough writes to copy."""
        until = time.monotonic() + _PATIENCE
        while len(told(self.folder, "writer")) < _WRITES:
            if time.monotonic() > until:
                raise Unlike("nobody writes")
            time.sleep(0.05)

    def await_end(self) -> None:
        """Wait until every process has learnt that the book has moved."""
        for process in self._lives:
            process.join(_PATIENCE)
            if process.exitcode != 0:
                raise Unlike(f"a process that used the book left with {process.exitcode}")

    def copy(self, *, switch: bool, omission: str = "") -> bool:
        """Copy without kills; return True if the copy's own comparison noticed the step that was
        left out.
        """
        process = _context.Process(
            target=copy, args=(self.source, self.target, switch, None, omission)
        )
        process.start()
        process.join(_PATIENCE)
        if process.exitcode != 0 and not (omission and process.exitcode == NOTICED):
            process.kill()
            raise Unlike(f"a copy that nobody hindered left with {process.exitcode}")
        return process.exitcode == NOTICED

    def kill_one(self, *, last: bool) -> None:
        """Start a copy and kill it; then let the next run continue it, or cancel it, so that all
        processes write again.
        """
        if last:
            # The source says that the book has moved, and the target does not open yet.
            aim = self.rng.choice((Aim("moved", 1, after=True), Aim("end_arrival", 1, after=False)))
        else:
            step = self.rng.choice((*STEPS, _ANY_TIME))
            call = self.rng.randint(1, 12) if step in ("lay", "lay_frame", "pieces") else 1
            aim = Aim(step, call, self.rng.random() < 0.5)
        self.kill(aim, switch=last or self.rng.random() < 0.5)
        if not last and self.rng.random() < 0.5:
            self.cancel()
            time.sleep(_PAUSE)

    def kill(self, aim: Aim, *, switch: bool) -> None:
        """Start a copy that is killed."""
        process = _context.Process(target=copy, args=(self.source, self.target, switch, aim))
        process.start()
        if aim.step == _ANY_TIME:
            process.join(self.rng.uniform(*_LIFE))
            process.kill()
        process.join(_PATIENCE)
        if process.exitcode == 0 and aim.step == _ANY_TIME and not switch:
            # It was done before its time was over; the book is where it was.
            return
        if process.exitcode != -signal.SIGKILL:
            process.kill()
            raise Unlike(f"a copy that was to be killed left with {process.exitcode}")
        self.struck[aim.step] += 1

    def cancel(self) -> None:
        """Release the source."""
        process = _context.Process(target=cancel, args=(self.source, self.target))
        process.start()
        process.join(_PATIENCE)
        if process.exitcode != 0:
            raise Unlike(f"a copy could not be cancelled: {process.exitcode}")


async def _made(address: str) -> None:
    """Make a book with a set of vectors, so that every write puts a job for them."""
    engine = await open_engine(address)
    await engine.begin_set(SMALL)
    await engine.close()


@contextlib.contextmanager
def _server() -> Iterator[OwnServer | None]:
    """Start a server for this proof; None if none can be started."""
    try:
        # A machine may have no server, or no driver.
        from proofs._server.own import OwnServer  # noqa: PLC0415
    except ModuleNotFoundError:
        yield None
        return
    with OwnServer(fsync="off") as server:
        yield server
