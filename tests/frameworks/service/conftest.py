"""A service of ours as a process of its own, with an administrator's key."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import memoranda
from tests.service.live_service import live_service


@dataclass(frozen=True)
class Live:
    """A running service: its address, the secret of one key, and the folder of its book."""

    url: str
    secret: str
    folder: Path


def pytest_configure(config: pytest.Config) -> None:
    # Not ours: attrs warns of a class of the generator of clients, and others when they are
    # imported.
    for warning in ("ignore::DeprecationWarning", "ignore::UserWarning"):
        config.addinivalue_line("filterwarnings", warning)


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    async def make_key() -> str:
        async with memoranda.open(tmp_path / "book.db", worker=False) as book:
            return (await book.keys.create("tests", role="admin")).secret

    secret = asyncio.run(make_key())
    with live_service(tmp_path / "book.db", MEMORANDA_SERVICE_REQUESTS_PER_MINUTE="0") as url:
        yield Live(url, secret, tmp_path)
