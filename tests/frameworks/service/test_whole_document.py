"""Whatever a tester of the whole document sends, the service answers as the document says, and
makes no mistake.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import memoranda
from memoranda.access.service_settings import ServiceSettings
from memoranda.service.app import make_app
from memoranda.service.composition import server_of

ROOT = Path(__file__).parents[3]
#: The same requests each time; a long run tries others: it sets its seconds, and its seed.
SECONDS = os.environ.get("TEST_DOCUMENT_SECONDS")
HOW_LONG: tuple[str, ...] = ("--generation-deterministic", "--max-examples", "20")
if SECONDS:
    HOW_LONG = ("--max-time", SECONDS, "--seed", os.environ.get("TEST_DOCUMENT_SEED", "1"))
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    # Not the methods that Allow names: /v1/jobs/run is also the job "drain".
    "unsupported_method",
)


@contextmanager
def open_service(book: Path) -> Iterator[str]:
    """Serve a book to which nobody needs a key, so that no request can lock the tester out."""
    ready, told = threading.Event(), list[str]()
    stop: list[object] = []

    async def serve() -> None:
        async with memoranda.open(book, worker=False) as opened:

            def listening(address: str) -> None:
                told.append(address)
                ready.set()

            server = server_of(
                make_app(opened, ServiceSettings(requests_per_minute=0)), "127.0.0.1", 0, listening
            )
            stop.append(server)
            await server.serve()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    try:
        assert ready.wait(30)
        yield told[0]
    finally:
        for server in stop:
            server.should_exit = True  # type: ignore[attr-defined]
        thread.join(60)


def test_no_answer_is_a_mistake_and_none_is_undocumented(tmp_path: Path) -> None:
    with open_service(tmp_path / "book.db") as url:
        done = subprocess.run(
            [
                str(Path(sys.executable).with_name("schemathesis")),
                *("run", f"{url}/openapi.json", "--checks", ",".join(CHECKS)),
                *(
                    "--phases",
                    "examples,coverage,fuzzing,stateful",
                    "--continue-on-failure",
                    *HOW_LONG,
                ),
            ],
            cwd=tmp_path,
            env={
                **os.environ,
                "PYTHONPATH": str(ROOT),
                "SCHEMATHESIS_HOOKS": "tests.frameworks.service.line_bodies",
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stdout
    for phase in ("Examples", "Coverage", "Fuzzing", "Stateful"):
        assert f"✅ {phase}" in done.stdout, done.stdout
