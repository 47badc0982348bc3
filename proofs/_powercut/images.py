"""The images that a power cut may leave of a recorded folder, each with the writes acknowledged by
then.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from proofs._powercut.disk import Contents, Disk, Fate
from proofs._powercut.record import Event, Kind

#: How much a cut beside such an event is worth trying.
_INTEREST = {
    Kind.CREATE: 6,
    Kind.MKDIR: 6,
    Kind.WRITE: 1,
    Kind.LENGTH: 8,
    Kind.SYNC_BEGIN: 4,
    Kind.SYNC_END: 6,
    Kind.RENAME: 8,
    Kind.UNLINK: 8,
    Kind.LINK: 6,
    Kind.MARK: 6,
}
#: A write elsewhere than to a log is, with SQLite, a checkpoint's.
_CHECKPOINT_INTEREST = 4


@dataclass(frozen=True, slots=True)
class Image:
    """A folder as a power cut may leave it."""

    #: How many events of the record had happened.
    cut: int
    #: How the pending operations fared, for the report of a failure.
    fate: str
    #: How many operations no sync vouched for at the cut; without any, nothing can be lost.
    pending: int
    contents: Contents
    #: The marks made before the cut, in order.
    acknowledged: tuple[str, ...]

    def write_to(self, folder: Path) -> None:
        for path, content in sorted(self.contents.items()):
            if content is None:
                (folder / path).mkdir()
            else:
                (folder / path).write_bytes(content)


def images(
    events: list[Event], rng: random.Random, count: int, lying_syncs: float = 0.0
) -> Iterator[Image]:
    """Yield this many images, in the order of their cuts; as a control, a share of the syncs may do
    nothing.
    """
    disk = Disk(trusted_sync=lambda: lying_syncs == 0.0 or rng.random() >= lying_syncs)
    acknowledged: list[str] = []
    followed = 0
    for cut in _cuts(events, rng, count):
        for event in events[followed:cut]:
            disk.follow(event)
            if event.kind is Kind.MARK:
                acknowledged += event.data.decode().splitlines()
        followed = cut
        pending = disk.pending()
        name, fate = _fate(pending, rng)
        yield Image(cut, name, len(pending), disk.after_cut(fate, rng), tuple(acknowledged))


def final_contents(events: list[Event]) -> Contents:
    """Return the folder's content if the power stays on."""
    disk = Disk()
    for event in events:
        disk.follow(event)
    return disk.after_cut(lambda _: 1.0, random.Random(0))


def _cuts(events: list[Event], rng: random.Random, count: int) -> list[int]:
    """Return random points between events, more of them near syncs, marks, checkpoints and changes
    of names.
    """
    logs = {
        event.inode for event in events if event.kind is Kind.CREATE and event.path.endswith("-wal")
    }
    interest = [0, *(_interest(event, logs) for event in events), 0]
    weights = [before + after for before, after in pairwise(interest)]
    return sorted(rng.choices(range(len(weights)), weights, k=count))


def _interest(event: Event, logs: set[int]) -> int:
    if event.kind is Kind.WRITE and event.inode not in logs:
        return _CHECKPOINT_INTEREST
    return _INTEREST[event.kind]


def _fate(pending: list[int], rng: random.Random) -> tuple[str, Fate]:
    """Return one possible outcome of the pending operations."""
    way = rng.choices(
        ("nothing", "everything", "prefix", "subset", "all but one"), (2, 1, 3, 6, 2)
    )[0]
    if not pending or way == "everything":
        return "everything kept", lambda _: 1.0
    victim = rng.choice(pending)
    if way == "nothing":
        return "all pending lost", lambda _: 0.0
    if way == "prefix":
        return (
            f"lost from {victim} on",
            lambda sequence: 0.5 if sequence == victim else float(sequence < victim),
        )
    if way == "all but one":
        return f"only {victim} lost or torn", lambda sequence: 0.4 if sequence == victim else 1.0
    chance = rng.random()
    return f"each kept with {chance:.2f}", lambda _: chance
