"""Times get, put and search of a book's store and of LangGraph's own, in turn; prints JSON.
``bench.items`` starts it.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from langgraph.store.base import BaseStore, PutOp
from langgraph.store.postgres import PostgresStore
from langgraph.store.sqlite import SqliteStore

from memoranda import Limits, open_sync
from memoranda.integrations.langgraph import MemorandaStore, owner_at

OWNER = "ana"
#: Items are spread over so many namespaces.
NAMESPACES = 50


def value(number: int) -> dict[str, Any]:
    """Return the value of an item: a text of some words, and fields to filter by."""
    text = f"Note {number} is about topic {number % 97} and project {number % 31}."
    return {"text": text, "number": number, "topic": f"topic {number % 97}"}


def namespace(number: int) -> tuple[str, str]:
    """Return the namespace of an item."""
    return OWNER, f"notes {number % NAMESPACES}"


def fill(store: BaseStore, size: int) -> None:
    """Store the items, a thousand at a time."""
    for begin in range(0, size, 1000):
        numbers = range(begin, min(begin + 1000, size))
        store.batch([PutOp(namespace(one), f"note {one}", value(one)) for one in numbers])


def operations(size: int) -> dict[str, Callable[[BaseStore, int], object]]:
    """Return what is timed, by name; each number asks for something else."""
    return {
        "get": lambda store, n: store.get(namespace(n * 7 % size), f"note {n * 7 % size}"),
        "put, a new item": lambda store, n: store.put((OWNER, "new"), f"new {n}", value(n)),
        "put, a new value": lambda store, n: store.put(namespace(n), f"note {n}", value(size + n)),
        "search, newest of a namespace": lambda store, n: store.search(namespace(n), limit=10),
        "search, a filter": lambda store, n: store.search(
            (OWNER,), filter={"number": n * 7 % size}, limit=10
        ),
        "list namespaces": lambda store, n: store.list_namespaces(prefix=(OWNER,), limit=10),
    }


def compared(
    ours: BaseStore, theirs: BaseStore, size: int, samples: int, note: str
) -> Iterator[tuple[str, Any]]:
    """Yield the median milliseconds of each operation in both stores, which take turns."""
    for store in (ours, theirs):
        fill(store, size)
    for name, run in operations(size).items():
        times: dict[str, list[float]] = {"ours": [], "theirs": []}
        few = samples if name.startswith(("get", "put")) else max(samples // 5, 5)
        for number in range(few):
            for who, store in (("ours", ours), ("theirs", theirs)):
                begun = time.perf_counter()
                run(store, number)
                times[who].append((time.perf_counter() - begun) * 1000)
        medians = {who: statistics.median(walls) for who, walls in times.items()}
        yield name, {**medians, "note": note}


def _ours(stack: ExitStack, address: Path | str) -> BaseStore:
    """Return a store over a new book that makes no vectors, as theirs makes none."""
    limits = Limits(items_per_owner=1_000_000)
    book = stack.enter_context(open_sync(address, embed=None, limits=limits))
    store: BaseStore = stack.enter_context(MemorandaStore(book, owner_of=owner_at(0)))
    return store


def main(arguments: list[str]) -> None:
    """Compare on a file, and on a server where one is given."""
    folder, size, samples, server = (
        Path(arguments[0]),
        int(arguments[1]),
        int(arguments[2]),
        arguments[3],
    )
    found: dict[str, Any] = {}
    with ExitStack() as stack:
        ours = _ours(stack, folder / f"items {size}.db")
        theirs = stack.enter_context(
            SqliteStore.from_conn_string(str(folder / f"theirs {size}.db"))
        )
        theirs.setup()
        (mode,) = theirs.conn.execute("PRAGMA journal_mode").fetchone()
        (sync,) = theirs.conn.execute("PRAGMA synchronous").fetchone()
        note = f"ours: log wal, synchronous FULL; theirs: log {mode}, synchronous {sync}"
        found.update(
            (f"file: {name}", one) for name, one in compared(ours, theirs, size, samples, note)
        )
    if server:
        joined = f"{server}{'&' if '?' in server else '?'}"
        with ExitStack() as stack:
            place = f"{joined}schema={folder.name.lower().replace('-', '_')}_{size}"
            ours = _ours(stack, place)
            other = stack.enter_context(PostgresStore.from_conn_string(server))
            other.setup()
            note = "both: one commit on the same server, synchronous_commit as it is set there"
            found.update(
                (f"server: {name}", one) for name, one in compared(ours, other, size, samples, note)
            )
            with other.conn.cursor() as cursor:
                cursor.execute("TRUNCATE store")
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])
