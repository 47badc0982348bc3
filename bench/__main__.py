"""The bench: `python -m bench [--quick] [--json] [--engine URL ...] [name ...]` prints the machine,
then a table for each measurement, for each engine in turn.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench import (
    contexts,
    crowding,
    data_filtering,
    embedding,
    filtering,
    holding,
    items,
    large,
    load,
    machine,
    nights,
    recalling,
    scaling,
    servers,
    soak,
    starting,
    writing,
)
from bench.figures import FULL, QUICK, Place, Row, Scale, page_table, table
from tools import recorded_runs


def _filters(place: Place) -> Iterator[Row]:
    """Measure conditions of both sorts: on a record's own fields, and on its data."""
    yield from filtering.filters(place)
    yield from data_filtering.data_filters(place)


MEASUREMENTS: dict[str, Callable[[Place], Iterator[Row]]] = {
    "append": writing.append,
    "batches": writing.batches,
    "remember": writing.remember,
    "recall": recalling.recall,
    "owners": crowding.owners,
    "filters": _filters,
    "context": contexts.context,
    "embedding": embedding.embedding,
    "open": holding.opening,
    "start": starting.start,
    "nights": nights.nights,
    "size": holding.size,
    "repeats": holding.repeats,
    "crowd": crowding.crowd,
    "large": large.large,
    "scaling": scaling.scaling,
    "items": items.items,
    "service": load.service,
    "soak": soak.soak,
}
#: The measurements of recall: pages show their recorded runs.
RECORDED = frozenset({"recall", "owners", "context", "scaling"})
#: The engine that is measured where none is named.
_FILE = "file"
#: They take minutes, and run only if they are named.
LONG = frozenset({"crowd", "items", "large", "scaling", "service", "soak"})


def measure(chosen: list[str], place: Place, say: Callable[[str], None]) -> dict[str, list[Row]]:
    """Run each measurement in a folder of its own, and print its rows when it is done."""
    found: dict[str, list[Row]] = {}
    for name in chosen:
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix=f"bench_{name}_", dir=place.folder) as folder:
            here = replace(place, folder=Path(folder))
            try:
                found[name] = list(MEASUREMENTS[name](here))
            finally:
                if server := servers.server_at(place.engine):
                    asyncio.run(server.drop(here.prefix))
        title = f"{name} ({time.monotonic() - began:.0f} s; load {machine.load_now()})"
        say(table(title, found[name]) + "\n")
    return found


def read_arguments(arguments: list[str] | None) -> argparse.Namespace:
    """Parse the command line; refuse unknown measurements."""
    parser = argparse.ArgumentParser(
        prog="./dev bench", description="Measure a book's speed and size."
    )
    parser.add_argument(
        "names",
        nargs="*",
        metavar="name",
        help=f"some of {', '.join(MEASUREMENTS)}; without names, all but {', '.join(LONG)}",
    )
    parser.add_argument(
        "--quick", action="store_true", help="use smaller books; takes less than a minute"
    )
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object instead of tables"
    )
    parser.add_argument(
        "--record",
        action="store_true",
        help=f"store the runs of {', '.join(sorted(RECORDED))}, and write them into the pages that show them",
    )
    parser.add_argument(
        "--folder", type=Path, help="make the books here, not in the folder for temporary files"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--engine",
        metavar="URL",
        action="append",
        help="measure books on this server, postgresql://… or mongodb://…, each in a schema or database of its own, which is "
        f"dropped afterwards; {' and '.join(servers.STARTED)} start a server for the measurement; 'file' stands for files; "
        "several are measured one after another",
    )
    parser.add_argument(
        "--passages",
        type=int,
        action="append",
        metavar="N",
        help="measure shelves of this size instead of the usual sizes; may be given several times",
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="how long the service is asked")
    given = parser.parse_args(arguments)
    if unknown := sorted(set(given.names) - MEASUREMENTS.keys()):
        parser.error(
            f"no such measurement: {', '.join(unknown)}; there are {', '.join(MEASUREMENTS)}"
        )
    for engine in given.engine or ():
        if engine not in (*servers.STARTED, _FILE) and servers.server_at(engine) is None:
            parser.error(
                f"no such engine: {engine}; give an address, as postgresql://user@host/database"
            )
    return given


def main(arguments: list[str] | None = None) -> int:
    """Read the command line and measure."""
    given = read_arguments(arguments)
    scale = QUICK if given.quick else FULL
    if given.passages:
        scale = replace(scale, shelves=tuple(given.passages))
    runs = [_measured(given, scale, engine) for engine in given.engine or [_FILE]]
    if given.json:
        _say(json.dumps(runs if len(runs) > 1 else runs[0], indent=1, ensure_ascii=False))
    else:
        missed = [name for run in runs for name in run["missed"]]
        _say(f"missed targets: {', '.join(missed) or 'none'}")
        _say(
            "recorded runs older than what they measure:\n"
            + ("\n".join(recorded_runs.old()) or "none")
        )
    return 0


def _measured(given: argparse.Namespace, scale: Scale, engine: str) -> dict[str, Any]:
    """Measure on one engine, and return what was found as it is printed in JSON."""
    with ExitStack() as stack:
        folder = Path(
            stack.enter_context(
                tempfile.TemporaryDirectory(prefix="memoranda-bench-", dir=given.folder)
            )
        )
        url = "" if engine == _FILE else engine
        if start := servers.STARTED.get(engine):
            url = stack.enter_context(start(folder))
        place = Place(folder, scale, given.seed, url, given.seconds)
        facts = machine.facts(place.folder.parent)
        if server := servers.server_at(url):
            facts["server"] = asyncio.run(server.facts())
        say: Callable[[str], None] = (lambda text: None) if given.json else _say
        say("\n".join(f"{name:<10} {fact}" for name, fact in facts.items()) + "\n")
        found = measure(
            given.names or [name for name in MEASUREMENTS if name not in LONG], place, say
        )
    if given.record:
        _record(found, engine, facts)
    return {
        "machine": facts,
        "measured": {name: [row.as_json() for row in rows] for name, rows in found.items()},
        "missed": [row.name.strip() for rows in found.values() for row in rows if row.missed],
    }


def _record(found: dict[str, list[Row]], engine: str, facts: dict[str, str]) -> None:
    machine = ", ".join(
        f"{name} {fact}"
        if name in ("python", "sqlite", "server", "fsync", "pace", "load")
        else fact
        for name, fact in facts.items()
        if name != "folder"
    )
    for name in sorted(found.keys() & RECORDED):
        # No address of a server is published.
        kind = engine.partition(":")[0]
        options = "" if engine == _FILE else f"--engine {kind} "
        recorded_runs.record(
            name if engine == _FILE else f"{name}-{kind}",
            f"./dev bench {options}{name}",
            {name: page_table(found[name])},
            covers=recorded_runs.RECALL,
            machine=machine,
        )


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())
