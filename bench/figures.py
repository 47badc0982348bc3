"""Results of a measurement: samples become rows, rows become tables."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bench.servers import plain, server_at

#: Address of a book: a file, or a schema or database on a server.
Address = Path | str


@dataclass(frozen=True, slots=True)
class Scale:
    """Amount of work in each measurement."""

    #: Repetitions of a usual measurement.
    samples: int
    #: Passages in a shelf.
    shelves: tuple[int, ...]
    #: Numbers of owners, few and many, and passages of each.
    owners: tuple[int, int]
    passages: int
    #: The same for owners without vectors, which would take too long to make.
    crowd: tuple[int, int]
    #: Numbers of owners at which one growing book is measured.
    growth: tuple[int, ...]
    #: Passages in a shelf of messages, memories and episodes.
    mixed: int
    #: Passages that wait for the local model.
    backlog: int
    #: Messages in the file whose size is measured.
    messages: int
    #: Processes started.
    starts: int
    processes: int = 16


FULL = Scale(
    2000,
    (1000, 10_000, 100_000),
    (100, 1000),
    100,
    (100, 10_000),
    (100, 1000, 10_000),
    10_000,
    1024,
    20_000,
    9,
)
QUICK = Scale(300, (1000, 10_000), (50, 200), 100, (50, 500), (20, 100), 2000, 128, 2000, 3, 8)
#: For tests, which only check that the bench runs.
TINY = Scale(12, (30,), (2, 4), 10, (2, 4), (2, 4), 200, 10, 40, 1, 2)


@dataclass(frozen=True, slots=True)
class Place:
    """Folder or server of the measured books, and the amount of work."""

    folder: Path
    scale: Scale
    seed: int = 1
    #: The address of a database on a server, where books are not files.
    engine: str = ""
    #: How long the service is asked.
    seconds: float = 60.0

    @property
    def prefix(self) -> str:
        """Beginning of the names of this place's books on a server."""
        return plain(self.folder.name)

    def book(self, name: str) -> Address:
        """Return the address of a book of this place."""
        server = server_at(self.engine)
        if server is None:
            return self.folder / f"{name}.db"
        return server.book(f"{self.prefix}_{plain(name)}")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table. If there are percentiles, the value is the median."""

    name: str
    #: None if it could not be measured; the note says why.
    value: float | None
    unit: str
    p95: float | None = None
    p99: float | None = None
    #: CPU time of all threads per repetition.
    cpu_ms: float | None = None
    #: The value should be at most this.
    target: float | None = None
    note: str = ""
    #: The value should be at least this.
    least: float | None = None

    @property
    def missed(self) -> bool:
        if self.value is None:
            return False
        too_much = self.target is not None and self.value > self.target
        return too_much or (self.least is not None and self.value < self.least)

    def times(self, other: Row) -> float:
        """Return this value as a multiple of the other's."""
        assert self.value is not None and other.value is not None
        return self.value / other.value

    def as_json(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value not in (None, "")}


def percentile(samples: Sequence[float], share: float) -> float:
    """Return the smallest sample that at least this share of the samples does not exceed."""
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, max(0, -(-len(ordered) * int(share * 100) // 100) - 1))]


@dataclass(slots=True)
class Timed:
    """Wall time of each repetition, and the CPU time of all of them."""

    #: Milliseconds.
    walls: list[float] = field(default_factory=list)
    cpu_seconds: float = 0.0
    seconds: float = 0.0

    @contextmanager
    def all(self) -> Iterator[None]:
        """Time all repetitions together."""
        cpu, wall = time.process_time(), time.perf_counter()
        yield
        self.cpu_seconds += time.process_time() - cpu
        self.seconds += time.perf_counter() - wall

    @contextmanager
    def once(self) -> Iterator[None]:
        """Time one repetition."""
        wall = time.perf_counter()
        yield
        self.walls.append((time.perf_counter() - wall) * 1000)

    def row(self, name: str, *, target: float | None = None, note: str = "") -> Row:
        cpu = self.cpu_seconds * 1000 / len(self.walls) if self.cpu_seconds else None
        p50, p95, p99 = (percentile(self.walls, share) for share in (0.5, 0.95, 0.99))
        return Row(name, p50, "ms", p95, p99, cpu, target, note)


def table(title: str, rows: Iterable[Row]) -> str:
    """Return the rows as a table of text."""
    lines = [f"{title:<60} {'p50':>10} {'p95':>9} {'p99':>9} {'CPU ms':>8} {'target':>9}"]
    for row in rows:
        cells = ["not measured" if row.value is None else _number(row.value) + _unit(row)]
        cells += [_number(each) for each in (row.p95, row.p99, row.cpu_ms)]
        bounds = (("≤", row.target), ("≥", row.least))
        wanted = " ".join(f"{sign} {_number(bound)}" for sign, bound in bounds if bound is not None)
        wanted += " MISSED" if row.missed else ""
        note = f"  {row.note}" if row.note else ""
        lines.append(
            f"  {row.name:<58} {cells[0]:>10} {cells[1]:>9} {cells[2]:>9} {cells[3]:>8} {wanted:>9}{note}".rstrip()
        )
    return "\n".join(lines)


def page_table(rows: Iterable[Row]) -> list[list[str]]:
    """Return the rows as a table of a page."""
    lines = [["", "p50", "p95", "p99", "CPU", "target"]]
    for row in rows:
        value = "not measured" if row.value is None else f"{_number(row.value)} {row.unit}"
        bounds = (("≤", row.target), ("≥", row.least))
        wanted = " ".join(f"{sign} {_number(bound)}" for sign, bound in bounds if bound is not None)
        missed = ": **missed**" if row.missed else ""
        rest = [_number(each) for each in (row.p95, row.p99, row.cpu_ms)]
        lines.append([row.name.strip(), value, *rest, wanted + missed])
    return lines


def _unit(row: Row) -> str:
    return "" if row.unit == "ms" else f" {row.unit}"


def _number(value: float | None) -> str:
    if value is None:
        return ""
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.3g}"
