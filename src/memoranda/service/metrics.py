"""Metrics of the service in the text form that Prometheus reads; they never name an owner."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

from memoranda import telemetry

#: What is counted of nights.
_NIGHTS = {
    "users_processed": "Owners whose night was done.",
    "entries_pruned": "Memories that nights archived.",
    "contradictions_found": "Contradictions that nights found.",
    "cycles_failed": "Attempts at a night that failed.",
}
#: Upper bounds in seconds of the buckets of a request's duration.
_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """Counts of requests by verb and status, and how long they took."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, int]] = Counter()
        self._durations: dict[str, list[int]] = defaultdict(lambda: [0] * (len(_BOUNDS) + 1))
        self._seconds: dict[str, float] = defaultdict(float)

    def request(self, verb: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        self._requests[verb, status] += 1
        self._durations[verb][bisect_left(_BOUNDS, seconds)] += 1
        self._seconds[verb] += seconds
        telemetry.count("service.requests")

    def text(self, gauges: Mapping[str, tuple[str, float]]) -> str:
        """Return all metrics, with some values of the present: each with its description."""
        lines = [*self._counts(), *self._histogram(), *_nights()]
        for name, (about, value) in gauges.items():
            lines += _head(name, "gauge", about)
            lines.append(f"{name} {value:g}")
        return "\n".join(lines) + "\n"

    def _counts(self) -> Iterator[str]:
        yield from _head("memoranda_requests_total", "counter", "Requests by verb and status.")
        for (verb, status), number in sorted(self._requests.items()):
            yield f'memoranda_requests_total{{verb="{verb}",status="{status}"}} {number}'

    def _histogram(self) -> Iterator[str]:
        name = "memoranda_request_seconds"
        yield from _head(
            name, "histogram", "Time from the arrival of a request to the end of its answer."
        )
        for verb, buckets in sorted(self._durations.items()):
            below = 0
            for bound, number in zip((*_BOUNDS, "+Inf"), buckets, strict=True):
                below += number
                yield f'{name}_bucket{{verb="{verb}",le="{bound}"}} {below}'
            yield f'{name}_sum{{verb="{verb}"}} {self._seconds[verb]:.6f}'
            yield f'{name}_count{{verb="{verb}"}} {below}'


def _nights() -> Iterator[str]:
    """Yield the totals of the nights that this process did."""
    for name, about in _NIGHTS.items():
        yield from _head(f"memoranda_dream_{name}_total", "counter", about)
        counted = telemetry.NIGHTS[f"dream.{name.replace('_', '.')}"]
        yield f"memoranda_dream_{name}_total {counted:g}"
    name = "memoranda_dream_duration_seconds"
    yield from _head(name, "summary", "Time that nights took, each of one owner.")
    yield f"{name}_sum {telemetry.NIGHTS['dream.duration']:.6f}"
    yield f"{name}_count {telemetry.NIGHTS['dream.users.processed']:g}"


def _head(name: str, kind: str, about: str) -> Iterable[str]:
    return f"# HELP {name} {about}", f"# TYPE {name} {kind}"
