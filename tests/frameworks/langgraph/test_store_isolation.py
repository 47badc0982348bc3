"""A book as LangGraph's store under attack and in trouble: hostile namespaces, holes, kills, and a
server that is down.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables.config import var_child_runnable_config
from langgraph.store.base import PutOp

import memoranda
from memoranda.errors import Busy, NotAllowed
from memoranda.integrations.langgraph import MemorandaStore, owner_at, owner_from_run
from memoranda.integrations.langgraph.owner_batches import OwnerBatches, OwnerQueues
from memoranda.wire.langgraph_store import NamespaceOwners
from tests.engines.between import SOON, between, through
from tests.engines.postgres_server import Place

# ── faults ────────────────────────────────────────────────────────────────────────────────────────

_WRITER = """
import sys
from langgraph.store.base import PutOp
from memoranda.integrations.langgraph import MemorandaStore, owner_at
with MemorandaStore(sys.argv[1], owner_of=owner_at(0)) as store:
    number = 0
    while True:
        store.batch([PutOp(("ana", "n"), f"k{at}", {"batch": number}) for at in range(20)])
        print(number, flush=True)
        number += 1
"""


@pytest.mark.parametrize("number", range(3))
def test_a_program_that_is_killed_in_a_batch_leaves_the_whole_batch_or_none_of_it(
    tmp_path: Path, number: int
):
    around = {**os.environ, "MEMORANDA_EMBEDDING_USE": "none"}
    command = [sys.executable, "-c", _WRITER, str(tmp_path / "book.db")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=around, text=True) as writer:
        assert writer.stdout is not None
        for _ in range(5 + number):
            told = int(writer.stdout.readline())
        writer.send_signal(signal.SIGKILL)
        rest = writer.stdout.read().split()
    told = max([told, *(int(word) for word in rest)])
    with MemorandaStore(tmp_path / "book.db", owner_of=owner_at(0)) as store:
        batches = [item.value["batch"] for item in store.search(("ana",), limit=100)]
    assert len(batches) == 20
    assert set(batches) in ({told}, {told + 1})


async def test_a_book_that_is_down_is_told_by_a_typed_error_and_keeps_no_half_batch(
    postgres: Place,
):
    url = postgres.new_book()
    async with memoranda.open(url, worker=False):
        pass
    async with (
        between(url) as way,
        memoranda.open(through(url, way, connections=2, **SOON), worker=False) as book,
    ):
        store = MemorandaStore(book, owner_of=owner_at(0))
        await store.aput(("ana",), "k", {"v": 1})
        way.is_down = True
        way.cut()
        for call in (
            store.aget(("ana",), "k"),
            store.abatch([PutOp(("ana",), f"new{at}", {"v": at}) for at in range(20)]),
            store.asearch(("ana",), query="tea"),
        ):
            with pytest.raises(Busy, match="cannot be reached"):
                await call
        way.is_down = False
        assert [(item.key, item.value) for item in await store.asearch(("ana",))] == [
            ("k", {"v": 1})
        ]
        await store.aput(("ana",), "k", {"v": 2})


# ── isolation ─────────────────────────────────────────────────────────────────────────────────────

_LABELS = [
    "ana",
    "ben",
    "ana\x1f",
    "an",
    "*",
    "ana%",
    "_",
    "ben\n",
    "ＡＮＡ",
    "a\u0301na",
    "users",
    "memories",
    "🐘",
    "[a]",
    "'; --",
]


#: Names of owners hold no control characters.
_USERS = [label for label in _LABELS if label.isprintable()]


async def _fuzz(seed: int, steps: int) -> None:
    """Let users of two tenants write and read at random; raise AssertionError if one meets
    another's value.
    """
    rng = random.Random(seed)
    async with memoranda.open("memory://", worker=False, tenant="one") as book:
        store = MemorandaStore(book, owner_of=owner_at(1))
        run = MemorandaStore(book, owner_of=owner_from_run("user_id"))
        some = MemorandaStore(book, owner_of=owner_at(1), across_owners=["ana", "ben"])
        for _ in range(steps):
            await asyncio.gather(*(_try(rng, store, run, some) for _ in range(4)))


async def _try(
    rng: random.Random, store: MemorandaStore, run: MemorandaStore, some: MemorandaStore
) -> None:
    user = rng.choice(_USERS)
    namespace = ("memories", user, *rng.choices(_LABELS, k=rng.randint(0, 2)))
    key = rng.choice(["k", "tea", "../k", "k\n"])
    kind = rng.randrange(6)
    if kind == 0:
        await store.aput(namespace, key, {"of": user, "text": "secret"})
    elif kind == 1:
        found = await store.aget(namespace, key)
        assert found is None or found.value["of"] == user
    elif kind == 2:
        query = rng.choice([None, "secret"])
        for item in await store.asearch(namespace, query=query, limit=50):
            assert item.value["of"] == user and item.namespace[: len(namespace)] == namespace
    elif kind == 3:
        with pytest.raises(NotAllowed):
            await store.asearch(rng.choice([(), ("memories",), ("memories",)]))
        with pytest.raises(NotAllowed):
            await store.alist_namespaces(prefix=("memories", "*"))
        if user != "*":
            for labels in await store.alist_namespaces(prefix=namespace[:2], limit=100):
                assert labels[1] == user
    elif kind == 4:
        for item in await some.asearch(
            ("memories",), limit=100, query=rng.choice([None, "secret"])
        ):
            assert item.value["of"] in ("ana", "ben")
        for labels in await some.alist_namespaces(limit=1000):
            assert labels[1] in ("ana", "ben")
    else:
        await _in_run(rng, run, user)


async def _in_run(rng: random.Random, run: MemorandaStore, user: str) -> None:
    """Write and read the one namespace that all runs use, in the run of a user."""

    async def inside() -> None:
        var_child_runnable_config.set({"configurable": {"user_id": user}})
        if rng.random() < 0.5:
            await run.aput(("shared", "name"), "k", {"of": user})
        found, hits = await asyncio.gather(
            run.aget(("shared", "name"), "k"), run.asearch(("shared", "name"))
        )
        assert found is None or found.value["of"] == user
        assert all(item.value["of"] == user for item in hits)

    await asyncio.create_task(inside())


async def test_no_user_meets_another_ones_items_through_the_store():
    await _fuzz(seed=1, steps=400)


def _any_owner(self: Any, prefix: Any, *, listing: bool = False) -> Any:
    """Leave out the question if a prefix spans owners."""
    place = self._asked(tuple(prefix))
    return place


_ONE = memoranda.Owner(tenant="one", id="ana")
_HOLES: dict[str, Any] = {
    "a prefix may span owners": (NamespaceOwners, "of_prefix", _any_owner),
    "all owners are read across": (
        NamespaceOwners,
        "owners",
        lambda self: self._all_owners(),
    ),
    "one queue for all owners": (
        OwnerQueues,
        "run",
        (lambda whole: lambda self, owner, ops: whole(self, _ONE, ops))(OwnerQueues.run),
    ),
    "one owner for all items": (
        OwnerBatches,
        "_got",
        (lambda whole: lambda self, owner, gets: whole(self, _ONE, gets))(OwnerBatches._got),
    ),
}


@pytest.mark.parametrize("hole", _HOLES)
async def test_a_check_that_is_left_out_is_noticed(monkeypatch: pytest.MonkeyPatch, hole: str):
    room, name, broken = _HOLES[hole]
    monkeypatch.setattr(room, name, broken)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        await _fuzz(seed=2, steps=400)


async def test_another_tenants_owner_is_refused_and_their_books_share_nothing(tmp_path: Path):
    async with (
        memoranda.open(tmp_path / "book.db", tenant="one", worker=False) as one,
        memoranda.open(tmp_path / "book.db", tenant="two", worker=False) as two,
    ):
        mine = MemorandaStore(one, owner_of=owner_at(0), across_owners=True)
        theirs = MemorandaStore(two, owner_of=owner_at(0), across_owners=True)
        await mine.aput(("ana",), "k", {"of": "one"})
        assert await theirs.aget(("ana",), "k") is None
        assert await theirs.asearch(()) == await theirs.alist_namespaces() == []
        wrong = MemorandaStore(two, owner_of=lambda _: memoranda.Owner(tenant="one", id="ana"))
        with pytest.raises(NotAllowed, match="tenant"):
            await wrong.aget(("ana",), "k")
