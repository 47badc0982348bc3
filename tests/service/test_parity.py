"""Every verb of the book is on every surface, or its table says why not."""

from __future__ import annotations

import inspect

import click
import pytest

import memoranda
from memoranda.book.all_operations import NOT_OFFERED, OPERATIONS, PARTS
from memoranda.cli.program import Program
from memoranda.wire.routes import path_of

COMMANDS = sorted({one.command for one in OPERATIONS.values() if one.command})


def verbs_of_the_book() -> set[str]:
    found = set()
    for part, kind in {"": memoranda.Book, **PARTS}.items():
        for name, _ in inspect.getmembers(kind, inspect.isfunction):
            if name == "__call__" or not name.startswith("_"):
                found.add(part if name == "__call__" else f"{part}.{name}".strip("."))
    return found


def test_every_function_of_the_book_is_offered_or_says_why_not():
    assert verbs_of_the_book() == OPERATIONS.keys() | NOT_OFFERED.keys()
    assert not OPERATIONS.keys() & NOT_OFFERED.keys() and all(NOT_OFFERED.values())


async def test_every_part_of_the_book_is_one_that_is_compared(book):
    def verbs(value):
        return [name for name in vars(type(value)) if not name.startswith("_")]

    parts = {name for name, value in vars(book).items() if not name.startswith("_") and verbs(value)}
    inner = {
        "engine",
        "door",
        "finder",
        "tenant",
        "forming",
        "embeddings",
        "transfer",
        "backups",
        "forgetting",
    }
    assert parts - inner <= PARTS.keys(), parts


@pytest.mark.parametrize("verb", OPERATIONS.values(), ids=lambda verb: verb.name)
async def test_every_verb_of_the_table_is_reached_by_a_request(http, verb):
    path = path_of(verb, dict.fromkeys(verb.in_path, "ann"))
    answer = await http.request(verb.method, path, content=b"" if verb.method == "GET" else b"{}")
    told = answer.json() if "problem" in answer.headers["content-type"] else {}
    assert answer.status_code not in (405, 500), answer.text
    assert "there is nothing at this path" not in told.get("detail", ""), answer.text
    line = (await http.get("/metrics")).text
    assert f'memoranda_requests_total{{verb="{verb.name}"' in line


async def test_every_verb_of_the_table_is_in_the_document(http):
    paths = (await http.get("/openapi.json")).json()["paths"]
    listed = {(method.upper(), path.count("/")) for path, verbs in paths.items() for method in verbs}
    assert {(verb.method, verb.path.count("/")) for verb in OPERATIONS.values()} <= listed
    assert sum(len(verbs) for verbs in paths.values()) >= len(OPERATIONS.values())


@pytest.mark.parametrize("verb", OPERATIONS.values(), ids=lambda verb: verb.name)
def test_every_verb_of_the_table_is_a_verb_of_the_client(verb):
    client = pytest.importorskip("memoranda.client.remote_book", reason="the client is not here")
    part, dot, name = verb.name.partition(".")
    if not dot:
        assert callable(getattr(client.RemoteBook, part, None)) or part in PARTS
    elif part == "thread":
        assert callable(getattr(client.RemoteThread, name))


@pytest.mark.parametrize("command", COMMANDS)
def test_the_command_is_there(command):
    found: click.Command | None = Program("memoranda")
    for word in command.split():
        assert isinstance(found, click.Group)
        found = found.get_command(click.Context(found), word)
    assert found is not None
