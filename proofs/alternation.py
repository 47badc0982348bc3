"""Two processes in turn: each finds the other's writes at once, and removed data disappears at
once.
"""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

from memoranda.engines.sqlite import reads as reading
from memoranda.engines.sqlite import vector_sets
from proofs._book.mutants import rewritten
from proofs._book.opening import without_syncs
from proofs._processes.alternating import EMBEDDERS, Asked, Mode, Subject, Talk, ask, two_processes

ABOUT = "two processes that write and read in turn never get a stale answer, by words or by meaning"
#: Steps: a write by one of them, then a read by the other.
CI_COUNT = 1_000
FULL_COUNT = 10_000
COVERS = "model storage paging.py door.py engines/sqlite recall language embedding book"

#: How often vectors are waited for, or made between write and read; else the books' own workers
#: make them some time.
_EMBEDDED = 0.4
#: Steps after which one of them has another model, and makes all vectors anew.
_RENEWAL = 400
#: A message's own text finds it among so many.
_NEAR = 5
#: A control is given so many steps.
_CONTROL = 300


class Stale(Exception):
    """A process did not find what another had written, or found what another had removed."""


class Undetected(Exception):
    """A control was not noticed."""


#: Each must be noticed.
_CONTROLS: dict[str, Callable[[], AbstractContextManager[object]]] = {
    "an index that is never brought up to date": partial(
        rewritten, reading._since, "if mark == seen.mark:", "if mark is not None:"
    ),
    "vectors that move no mark": partial(
        rewritten, vector_sets._put_vectors, "if write.set.is_active:", "if False:"
    ),
}


def run(count: int, seed: int) -> str:
    with tempfile.TemporaryDirectory(prefix="alternation-") as room, without_syncs(rewriting=False):
        folder = Path(room).resolve()
        read = _alternate(folder / "book.db", count, seed)
        noticed = [
            _noticed(folder / f"control {n}.db", name, seed) for n, name in enumerate(_CONTROLS)
        ]
    reads = ", ".join(
        f"{number} by {mode}" for mode, number in sorted(read.items()) if mode != "renewals"
    )
    return (
        f"{count} steps, {reads}, {read['renewals']} changes of model, none stale; {len(noticed)} controls were noticed, "
        f"the last after {max(noticed)} steps"
    )


def _noticed(path: Path, name: str, seed: int) -> int:
    with _CONTROLS[name]():
        for steps in (10, 30, 90, _CONTROL):
            try:
                _alternate(path.with_stem(f"{path.stem} {steps}"), steps, seed)
            except Stale:
                return steps
    raise Undetected(f"{name}: nothing was noticed in {_CONTROL} steps")


def _alternate(path: Path, count: int, seed: int) -> Counter[str]:
    return _Alternation(path, random.Random(seed)).run(count)


class _Alternation:
    def __init__(self, path: Path, rng: random.Random) -> None:
        self._path = path
        self._rng = rng
        self._talk = Talk(rng)
        self._embedder = 0
        self._read: Counter[str] = Counter()

    def run(self, count: int) -> Counter[str]:
        with two_processes(self._path) as pair:
            for step in range(1, count + 1):
                writer, reader = pair if step % 2 else pair[::-1]
                try:
                    self._step(writer, reader)
                    if step % _RENEWAL == 0:
                        self._renew(writer, reader)
                except Stale as found:
                    raise Stale(f"step {step}: {found}") from None
        return self._read

    def _step(self, writer: Connection, reader: Connection) -> None:
        subject, asked = self._talk.next_write()
        embedded = self._rng.random() < _EMBEDDED
        waits = (
            embedded and asked.verb in ("say", "remember", "supersede") and self._rng.random() < 0.5
        )
        asked = asked._replace(wait_for="embedded") if waits else asked
        self._talk.written(subject, asked, ask(writer, asked))
        self._find(reader, subject, asked, self._rng.choice(("words", "words", "hybrid")))
        if embedded:
            if not waits:
                ask(self._rng.choice((writer, reader)), Asked("embed"))
            self._find(reader, subject, asked, "meaning")

    def _find(self, reader: Connection, subject: Subject, asked: Asked, mode: Mode) -> None:
        """Check that recall finds all active statements of a subject and no others; by meaning, the
        exact text comes first.
        """
        if mode == "meaning":
            # What was waited for has a vector; what came before has one if all that lacked some
            # were made.
            lately = list(subject.held.items())[-1 if asked.wait_for == "embedded" else -2 :]
            for id, text in lately:
                found = self._found(
                    reader, subject, asked, Asked("recall", subject.owner, text, mode=mode)
                )
                # A message's score depends on its neighbours, too.
                best = found[:1] if id in subject.statements else found[:_NEAR]
                if id not in {found_id for found_id, _ in best}:
                    raise Stale(
                        f"after {asked} a process does not find {id} by meaning, but {best}"
                    )
            return
        found = self._found(
            reader, subject, asked, Asked("recall", subject.owner, subject.word, mode=mode)
        )
        # Neighbours in the talk, and what is near by meaning, are found as well.
        of_it = {id for id, text in found if subject.word in text}
        if of_it != subject.held.keys():
            raise Stale(
                f"after {asked} a process finds {of_it} by {mode}, not {sorted(subject.held)}"
            )

    def _found(
        self, reader: Connection, subject: Subject, asked: Asked, recall: Asked
    ) -> list[tuple[str, str]]:
        self._read[recall.mode] += 1
        found: list[tuple[str, str]] = ask(reader, recall)
        if left := subject.gone & {id for id, _ in found}:
            raise Stale(f"after {asked} a process still finds {left} by {recall.mode}")
        return found or [("nothing", "")]

    def _renew(self, one: Connection, other: Connection) -> None:
        """Let one process make another model's vectors; the other, with the old model, recalls by
        words until then.
        """
        self._embedder = (self._embedder + 1) % len(EMBEDDERS)
        ask(one, Asked("reembed", embedder=self._embedder))
        for reader in (other, one):
            subject, asked = self._talk.next_write()
            self._talk.written(subject, asked, ask(one, asked))
            self._find(reader, subject, asked, "hybrid")
        ask(other, Asked("reopen", embedder=self._embedder))
        self._read["renewals"] += 1
