"""Every verb of the book is on every surface, or its table says why not."""

from __future__ import annotations

import inspect

import click
import pytest

import memoranda
from memoranda.access.verb_table import BY_NAME, LEFT_OUT, NOT_BY_COMMAND, VERBS
from memoranda.cli.program import Program
from memoranda.wire.routes import path_of
from memoranda.wire.verb_functions import PARTS

#: The command that calls each verb.
BY_COMMAND = {
    "restriction": "restrict",
    "restrict": "restrict",
    "unrestrict": "unrestrict",
    "thread": "append",
    "thread.append": "append",
    "remember": "remember",
    "update": "update",
    "retract": "retract",
    "undo": "undo",
    "recall": "recall",
    "context": "context",
    "about": "about",
    "list": "list",
    "get": "get",
    "why": "why",
    "history": "history",
    "ledger": "history",
    "forget": "forget",
    "forget_all": "forget-all",
    "profile.get": "profile",
    "profile.patch": "profile",
    "profile.documents": "profile",
    "agents.list": "doctor",
    "experience.list": "experience list",
    "experience.retire": "experience retire",
    "experience.check_privacy": "experience check-privacy",
    "experience.approve": "experience approve",
    "owners": "list",
    "usage": "usage",
    "facts": "doctor",
    "export": "export",
    "import_": "import",
    "verify": "verify",
    "rebuild": "rebuild",
    "scrub": "forget",
    "retract_source": "retract",
    "finish_forgetting": "forget",
    "readers": "doctor",
    "count": "list",
    "admin.list": "list",
    "who_forms": "doctor",
    "form_with": "form",
    "thread.form": "form",
    "thread.form_again": "form",
    "reembed": "reembed",
    "form": "form",
    "jobs.list": "jobs list",
    "jobs.retry": "jobs retry",
    "jobs.drop": "jobs drop",
    "worker.run_once": "jobs run",
    "drain": "jobs run",
    "admin.reads": "audit",
    "keys.list": "keys list",
    "keys.uses": "keys list",
    "keys.create": "keys create",
    "keys.rotate": "keys rotate",
    "keys.revoke": "keys revoke",
}


def verbs_of_the_book() -> set[str]:
    found = set()
    for part, kind in {"": memoranda.Book, **PARTS}.items():
        for name, _ in inspect.getmembers(kind, inspect.isfunction):
            if name == "__call__" or not name.startswith("_"):
                found.add(part if name == "__call__" else f"{part}.{name}".strip("."))
    return found


def test_every_verb_of_the_book_is_in_the_table_or_left_out_with_a_reason():
    verbs = verbs_of_the_book()
    assert verbs == BY_NAME.keys() | LEFT_OUT.keys()
    assert not BY_NAME.keys() & LEFT_OUT.keys() and all(LEFT_OUT.values())


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


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
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
    assert {(verb.method, verb.path.count("/")) for verb in VERBS} <= listed
    assert sum(len(verbs) for verbs in paths.values()) >= len(VERBS)


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_every_verb_of_the_table_is_a_verb_of_the_client(verb):
    client = pytest.importorskip("memoranda.client.remote_book", reason="the client is not here")
    part, dot, name = verb.name.partition(".")
    if not dot:
        assert callable(getattr(client.RemoteBook, part, None)) or part in PARTS
    elif part == "thread":
        assert callable(getattr(client.RemoteThread, name))


def test_every_verb_of_the_table_has_a_command_or_a_reason():
    assert BY_COMMAND.keys() | NOT_BY_COMMAND.keys() == BY_NAME.keys()
    assert not BY_COMMAND.keys() & NOT_BY_COMMAND.keys() and all(NOT_BY_COMMAND.values())


@pytest.mark.parametrize("command", sorted(set(BY_COMMAND.values())))
def test_the_command_is_there(command):
    found: click.Command | None = Program("memoranda")
    for word in command.split():
        assert isinstance(found, click.Group)
        found = found.get_command(click.Context(found), word)
    assert found is not None
