"""Records a workload in a process of its own, and checks the images that a power cut may leave."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from proofs._powercut.build import compiled_recorder
from proofs._powercut.disk import Contents
from proofs._powercut.images import Image, final_contents, images
from proofs._powercut.record import MARKS, BrokenRecord, Event, read_record

_ROOT = Path(__file__).resolve().parents[2]


class Lost(Exception):
    """An image does not open, is damaged, or misses an acknowledged write."""


class Missing(Lost):
    """An image opens and is intact, but an acknowledged write is not in it."""


#: Raises `Lost`; the folder is the image, and the marks are those made before the cut.
Check = Callable[[Path, tuple[str, ...]], None]


@dataclass(frozen=True, slots=True)
class Outcome:
    images: int
    #: Images at whose cut something was pending, so that the power cut had something to take.
    struck: int
    #: Marks that the images had to hold, over all of them.
    acknowledged: int
    #: One line for each image that failed its check.
    losses: tuple[str, ...]
    #: How many of them opened and were whole, only without what was acknowledged.
    missing: int


def record(workload: str, arguments: list[str]) -> list[Event]:
    """Record what `module:function`, called with an empty folder and the arguments, does to that
    folder.
    """
    with tempfile.TemporaryDirectory(prefix="power-cut-") as room:
        place = Path(room).resolve()
        folder, log = place / "folder", place / "log"
        folder.mkdir()
        environment = os.environ | {
            "RECORDER_FOLDER": str(folder),
            "RECORDER_LOG": str(log),
            "LD_PRELOAD": str(compiled_recorder(place)),
        }
        command = [
            sys.executable,
            "-m",
            "proofs._powercut.perform",
            workload,
            str(folder),
            *arguments,
        ]
        subprocess.run(command, cwd=_ROOT, env=environment, check=True)
        events = read_record(log)
        _compare(final_contents(events), _contents(folder))
    return events


def judge(
    events: list[Event],
    check: Check,
    count: int,
    seed: int,
    lying_syncs: float = 0.0,
    keep: bool = False,
) -> Outcome:
    """Check this many images; with `lying_syncs`, a share of the syncs did not do what they
    promised.

    With `keep`, the first image that fails stays on this machine, as it was before the check opened
    it.
    """
    struck = acknowledged = missing = 0
    losses: list[str] = []
    for image in images(events, random.Random(seed), count, lying_syncs):
        struck += image.pending > 0
        acknowledged += len(image.acknowledged)
        try:
            _check(image, check)
        except Lost as loss:
            missing += isinstance(loss, Missing)
            kept = f" (kept in {_kept(image)})" if keep and not losses else ""
            losses.append(
                f"cut after event {image.cut} of {len(events)}, {image.fate}: {loss}{kept}"
            )
    return Outcome(count, struck, acknowledged, tuple(losses), missing)


def _check(image: Image, check: Check) -> None:
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(
        prefix="power-cut-", dir=memory if memory.is_dir() else None
    ) as room:
        image.write_to(Path(room))
        check(Path(room), image.acknowledged)


def _kept(image: Image) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="power-cut-loss-"))
    image.write_to(folder)
    return folder


def _contents(folder: Path) -> Contents:
    paths = [
        path for path in folder.rglob("*") if path.name != MARKS and not path.name.endswith("-shm")
    ]
    return {
        path.relative_to(folder).as_posix(): None if path.is_dir() else path.read_bytes()
        for path in paths
    }


def _compare(replayed: Contents, found: Contents) -> None:
    different = [
        path
        for path in sorted(replayed.keys() | found.keys())
        if replayed.get(path, b"?") != found.get(path, b"!")
    ]
    if different:
        raise BrokenRecord(
            f"the record misses operations: replayed, these differ: {', '.join(different)}"
        )
