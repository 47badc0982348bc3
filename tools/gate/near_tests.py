"""Run the tests that a change is most likely to break: those downstream of it by imports, the
nearest and the failed first.
"""

from __future__ import annotations

import heapq
import json
import math
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from tools.checkout import ROOT
from tools.gate import durations
from tools.gate.changes import read_latest
from tools.gate.import_graph import read_graph

#: Seconds of tests that are chosen; two processes run them side by side.
CHOSEN_SECONDS = 160.0
#: No test starts later than so many seconds after the begin, so that all is over within four
#: minutes.
LAST_START = 200.0
#: What still runs then hangs.
LAST_END = 240.0
#: Expected of a test that never ran here.
UNKNOWN_SECONDS = 0.3
CACHE = ".pytest_cache/v"


class Selection(NamedTuple):
    """Files of tests to run, the first ones first, and those downstream that are left out, the
    nearest first.
    """

    chosen: list[str]
    left_out: list[str]


def is_test(path: str) -> bool:
    """True if the ordinary run collects the file."""
    in_tests = path.startswith("tests/") and not path.startswith("tests/frameworks/")
    return in_tests and Path(path).name.startswith("test_")


def distances(changed: Iterable[str], graph: Mapping[str, Iterable[str]]) -> dict[str, float]:
    """Return how far each file is downstream of a change; a file that imports much is less about
    each of its imports.
    """
    importers = defaultdict(list)
    for importer, imported in graph.items():
        cost = math.log2(1 + len(set(imported)))
        for other in imported:
            importers[other].append((importer, cost))
    found: dict[str, float] = {}
    queue = [(0.0, path) for path in changed]
    heapq.heapify(queue)
    while queue:
        far, path = heapq.heappop(queue)
        if path in found:
            continue
        found[path] = far
        for importer, cost in importers[path]:
            if importer not in found:
                heapq.heappush(queue, (far + cost, importer))
    return found


def select(
    changed: Iterable[str],
    graph: Mapping[str, Iterable[str]],
    seconds: Mapping[str, float],
    failed: Iterable[str] = (),
    budget: float = CHOSEN_SECONDS,
) -> Selection:
    """Return the files of tests that fit into the time; what changed itself or failed before is
    always among them.
    """
    far = distances(changed, graph)
    first = {path for path in failed if path in graph}
    tests = {path for path in far if is_test(path) and path in graph} | first
    order = sorted(tests, key=lambda path: (path not in first, far.get(path, math.inf), path))
    chosen, left_out, left = [], [], budget
    for path in order:
        needed = seconds.get(path, UNKNOWN_SECONDS)
        if path in first or far[path] == 0 or needed <= left:
            chosen.append(path)
            left -= needed
        else:
            left_out.append(path)
    return Selection(chosen, left_out)


def with_readers(
    changed: Iterable[str], graph: Mapping[str, Iterable[str]], root: Path = ROOT
) -> dict[str, set[str]]:
    """Return the graph with changed files that are not Python, as imported by what names them."""
    others = {path: Path(path).name for path in changed if not path.endswith(".py")}
    found = {path: set(imported) for path, imported in graph.items()}
    for path, imported in found.items():
        if others:
            text = (root / path).read_text("utf-8")
            imported |= {other for other, name in others.items() if name in text}
    return found


def file_seconds(graph: Iterable[str], root: Path = ROOT) -> dict[str, float]:
    """Return what each file of tests took when it ran last, and an estimate for the others."""
    taken: dict[str, float] = defaultdict(float)
    for test, seconds in _cached(root, durations.KEY).items():
        taken[test.partition("::")[0]] += seconds
    for path in graph:
        if is_test(path) and path not in taken:
            taken[path] = UNKNOWN_SECONDS * (root / path).read_text("utf-8").count("def test_")
    return taken


def _cached(root: Path, key: str) -> dict[str, float]:
    file = root / CACHE / key
    found: dict[str, float] = json.loads(file.read_text("utf-8")) if file.exists() else {}
    return found


def counted(number: int, what: str) -> str:
    """Return a number with its noun."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def main(arguments: list[str]) -> int:
    """Choose the tests, say what is left out, and run them."""
    begun = time.time()
    change = read_latest()
    graph = with_readers(change.paths, read_graph())
    seconds = file_seconds(graph)
    failed = {test.partition("::")[0] for test in _cached(ROOT, "cache/lastfailed")}
    chosen, left_out = select(change.paths, graph, seconds, failed)
    print(f"changed since {change.since}: {counted(len(change.paths), 'file')}")
    print(
        f"near: {counted(len(chosen), 'file')} of tests, about {sum(map(seconds.__getitem__, chosen)):.0f} s of work"
    )
    about = sum(map(seconds.__getitem__, left_out))
    rest = (
        f", about {about:.0f} s of work, the nearest is {left_out[0]}; ./dev test runs them"
        if left_out
        else ""
    )
    print(f"left out: {counted(len(left_out), 'file')} of tests{rest}", flush=True)
    if not chosen:
        return 0
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "tools.gate.durations",
        "--stop-at",
        str(begun + LAST_START),
    ]
    # By files and in their order, so that what is nearest is told first.
    command += [
        "-n",
        "2",
        "--dist",
        "loadfile",
        "--no-loadscope-reorder",
        "--failed-first",
        "-m",
        "not again",
    ]
    left = begun + LAST_END - time.time()
    try:
        return subprocess.run(
            [*command, *arguments, *chosen], cwd=ROOT, check=False, timeout=left
        ).returncode
    except subprocess.TimeoutExpired:
        print("stopped after four minutes: a test that had started did not end", flush=True)
        return 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
