"""Addresses mean what they say, or are refused with words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import memoranda
from memoranda import InvalidInput
from memoranda.engines.inmemory import InMemoryEngine
from memoranda.engines.sqlite.engine import SqliteEngine


@pytest.mark.parametrize(
    ("address", "words"),
    [
        (":memory:", "memory://"),
        ("memory:", "memory://"),
        ("memory://name", "no name"),
        ("memory:///name", "no name"),
        ("memory://?x=1", "no name"),
        ("sqlite:///x.db?mode=ro", "takes only a path"),
        ("sqlite:///x.db?", "takes only a path"),
        ("sqlite:///x.db#part", "takes only a path"),
        ("sqlite://host/x.db", "names no engine"),
        ("other://x", "names no engine"),
        ("sqlite://[", "not a valid URL"),
        ("", "give a path"),
        (5, "not 5"),
        (None, "not None"),
        (b"x.db", "give a path"),
    ],
)
async def test_an_address_that_means_nothing_here_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: Any, words: str
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput, match=words) as caught:
        await memoranda.open(address)
    assert caught.value.field == "address"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("how", [{"read_only": True}, {"create": False}])
async def test_a_book_in_memory_is_neither_found_nor_only_read(how: dict[str, Any]):
    with pytest.raises(InvalidInput, match="always new"):
        await memoranda.open("memory://", **how)


async def test_the_addresses_that_there_are_open(tmp_path: Path):
    async with memoranda.open("memory://") as book:
        assert isinstance(book.engine, InMemoryEngine)
    async with memoranda.open(f"sqlite:///{tmp_path}/a%3Fb.db") as book:
        assert isinstance(book.engine, SqliteEngine)
    async with memoranda.open(tmp_path / "plain?.db"):
        pass
    assert {path.name for path in tmp_path.glob("*.db")} == {"a?b.db", "plain?.db"}


async def test_an_opening_that_fails_late_lets_go_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    closed = []
    close = SqliteEngine.close

    async def noted(engine: SqliteEngine) -> None:
        closed.append(engine)
        await close(engine)

    async def failing(engine: SqliteEngine, rule: int, limit: int) -> list[Any]:
        raise RuntimeError("no terms")

    monkeypatch.setattr(SqliteEngine, "close", noted)
    monkeypatch.setattr(SqliteEngine, "stale_terms", failing)
    with pytest.raises(RuntimeError, match="no terms"):
        await memoranda.open(tmp_path / "book.db")
    assert len(closed) == 1
