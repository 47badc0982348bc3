"""Every verb of the book is on every surface, or its table says why not."""

from __future__ import annotations

import inspect
from typing import Any

import click
import pytest

import memoranda
from memoranda.access.guard import Guard
from memoranda.access.principal import Principal
from memoranda.book.all_operations import NOT_OFFERED, OPERATIONS, PARTS, named
from memoranda.cli.program import Program
from memoranda.errors import NotFound
from memoranda.operations import Names, Operation, Role, offer
from memoranda.wire.routes import path_of

COMMANDS = sorted({one.command for one in OPERATIONS.values() if one.command})


def verbs_of_the_book() -> set[str]:
    found = dict[object, str]()
    for part, kind in {"": memoranda.Book, **PARTS}.items():
        for name, function in inspect.getmembers(kind, inspect.isfunction):
            if not name.startswith("_"):
                # What is on the book itself is an operation by that short name alone.
                found.setdefault(function, f"{part}.{name}".strip("."))
    return set(found.values())


def test_every_function_of_the_book_is_offered_or_says_why_not():
    assert verbs_of_the_book() == OPERATIONS.keys() | NOT_OFFERED.keys()
    assert not OPERATIONS.keys() & NOT_OFFERED.keys() and all(NOT_OFFERED.values())


async def test_every_part_of_the_book_is_one_that_is_compared(book):
    def verbs(value):
        return [name for name in vars(type(value)) if not name.startswith("_")]

    parts = {
        name for name, value in vars(book).items() if not name.startswith("_") and verbs(value)
    }
    inner = {
        "engine",
        "door",
        "finder",
        "tenant",
        "forming",
        "embeddings",
        "own_work",
        "forget_settings",
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
    listed = {
        (method.upper(), path.count("/")) for path, verbs in paths.items() for method in verbs
    }
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


def declared_of(function: Any) -> Operation:
    found: Operation = function.declared
    return found


def test_an_operation_whose_argument_could_name_somebody_is_refused_until_it_says_whom():
    async def share_with(self: object, owner: str, colleague: str) -> None:
        """Share something."""

    offer(Role.EDITOR, "POST /share-with")(share_with)
    with pytest.raises(TypeError, match="say whom the argument 'colleague' names"):
        named("share_with", declared_of(share_with))
    offer(Role.EDITOR, "POST /share-with", names={"colleague": Names.NOBODY})(share_with)
    assert named("share_with", declared_of(share_with)).agent_arguments == ()


def test_what_names_users_is_refused_where_a_limited_credential_could_reach_it():
    async def compare(self: object, owner: str, evidence: str) -> None:
        """Compare users."""

    offer(Role.EDITOR, "POST /compare", names={"evidence": Names.USERS})(compare)
    with pytest.raises(TypeError, match="names users"):
        named("compare", declared_of(compare))
    # An argument that only lists of settings have is not known everywhere.
    offer(Role.EDITOR, "POST /compare")(compare)
    with pytest.raises(TypeError, match="'evidence'"):
        named("compare", declared_of(compare))


async def test_an_argument_that_names_an_agent_is_checked_under_any_name(book, monkeypatch):
    async def advise(self: object, helper: str) -> None:
        """Ask an agent."""

    declared = offer(
        Role.VIEWER, "GET /v1/advice", safe="it is of nobody", names={"helper": Names.AGENT}
    )
    declared(advise)
    monkeypatch.setitem(OPERATIONS, "advise", named("advise", declared_of(advise)))
    monkeypatch.setattr(type(book), "advise", advise, raising=False)
    who = Principal("key", "default", Role.VIEWER, agents=frozenset({"coach"}))
    with pytest.raises(NotFound, match="no agent 'guide'"):
        await Guard(book, who).call("advise", helper="guide")
    assert await Guard(book, who).call("advise", helper="coach") is None
