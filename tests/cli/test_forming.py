"""Tests of ``form``: it reports the threads that were formed, that wait, or that were given up, and
if formation is off.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import memoranda
from tests.cli.command_line import Shell
from tests.fakes import model_replies as replies
from tests.fakes.model_server import ModelServer


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.setenv("MEMORANDA_EMBEDDING_USE", "none")
    made = Shell(tmp_path)
    say(made, "ana", "I live in Oslo.")
    return made


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    with ModelServer([replies.answer({})]) as serving:
        for variable, value in serving.environment.items():
            monkeypatch.setenv(variable, value)
        monkeypatch.setenv("MEMORANDA_MODELS_USE", "openai-chat:gpt-5-mini")
        yield serving


def say(shell: Shell, owner: str, text: str, **settings: Any) -> None:
    async def said() -> None:
        async with memoranda.open(shell.folder / "book.db", worker=False, models=None) as book:
            await book.agents.put("guide", settings=settings)
            await (await book.thread(owner, agent="guide", name="talk")).append("user", text)

    asyncio.run(said())


def form(shell: Shell, *words: str, code: int = 0) -> Any:
    told = json.loads(shell.done("form", "ana", *words, "--json", code=code).stdout)
    return [(one["state"], one["because"]) for one in told["threads"]], told


def test_what_was_formed_is_told_once(shell: Shell) -> None:
    say(shell, "ben", "I like tea.")
    threads, told = form(shell)
    assert (threads, told["formed"], len(told["memories"])) == ([("formed", "")], 1, 1)
    assert shell.run("form", "ana") == "threads formed: 0, new memories: 0\n"


def test_what_was_left_out_of_an_answer_is_told_with_its_place_and_the_reason(
    shell: Shell, server: ModelServer
) -> None:
    note = {"content": "Owns a boat", "sources": [{"message": "m1"}], "kind": "secret"}
    server.script = [replies.answer({"notes": [note, {"content": "Owns a kite"}]})] * 3
    told = form(shell)[1]
    assert {(one["part"], one["code"]) for one in told["left_out"]} >= {("notes[1]", "unsourced")}
    assert all(
        one["reason"] and one["thread"] == told["threads"][0]["thread"] for one in told["left_out"]
    )


def test_a_part_that_no_answer_was_usable_for_is_told_with_the_way_to_try_it_again(
    shell: Shell, server: ModelServer
) -> None:
    server.script = [replies.refusal()]
    threads, told = form(shell)
    assert (told["formed"], told["waiting"]) == (0, 1)
    assert [state for state, _ in threads] == ["waiting"]
    assert "refuses" in threads[0][1]
    asked = len(server.asked)
    said = shell.run("form", "ana")
    job = told["threads"][0]["job"]
    assert "refuses" in said and f"memoranda jobs retry {job}" in said
    assert len(server.asked) == asked
    server.script = [replies.answer({})]
    thread = told["threads"][0]["thread"]
    assert form(shell, "--thread", thread)[0] == [("formed", "")]


def test_what_waits_for_a_person_is_tried_as_soon_as_one_asks_for_it(
    shell: Shell, server: ModelServer
) -> None:
    server.script = [replies.unauthorized()]
    threads, told = form(shell)
    assert (told["formed"], told["waiting"], "check the key" in threads[0][1]) == (0, 1, True)
    assert "waits until" in shell.run("form", "ana")
    server.script = [replies.answer({})]
    assert form(shell)[0] == [("formed", "")]


def test_a_job_that_waits_for_a_person_can_be_replayed(shell: Shell, server: ModelServer) -> None:
    server.script = [replies.unauthorized()]
    (waiting,) = form(shell)[1]["threads"]
    server.script = [replies.answer({})]
    shell.run("jobs", "retry", waiting["job"])
    shell.run("jobs", "run")
    assert form(shell)[0] == []
    assert "no dead or waiting job" in shell.run("jobs", "retry", waiting["job"], code=3)


def test_that_formation_is_off_is_told(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as off:
        off.setenv("MEMORANDA_FORMING_ENABLED", "false")
        ((state, why),) = form(shell)[0]
        assert state == "off" and "turn on forming.enabled" in why
        assert "threads not formed because forming.enabled" in shell.run("form", "ana")
    assert form(shell)[0] == [("formed", "")]


def test_that_formation_is_off_for_an_agent_is_told(shell: Shell) -> None:
    say(shell, "ana", "I like tea.", forming={"enabled": False})
    threads, told = form(shell)
    assert ([state for state, _ in threads], told["formed"], told["off"]) == (["off"], 0, 1)


def test_who_forms_is_changed_by_a_command_and_others_are_told(
    shell: Shell, server: ModelServer
) -> None:
    assert "formed from now on with rules" in shell.run("form", "--with", "rules")
    done = shell.done("form", "ana")
    assert "this book is formed with rules" in done.stderr and "waiting: 1" in done.stdout
    assert not server.asked
    assert "memoranda form --with" in shell.run("doctor")
    assert json.loads(shell.run("form", "--with", "rules", "--agent", "guide", "--json")) == {
        "who_forms": "rules"
    }
    shell.run("form", "--with", "default", "--agent", "guide")
    told = shell.done("form", "--with", "openai-chat:gpt-5-mini").stderr
    assert "memoranda form --with openai:gpt-5-mini" in told
    assert "threads formed: 1" in shell.run("form", "ana", "--with", "openai:gpt-5-mini")
    assert len(server.asked) == 1
    assert "name the OWNER" in shell.done("form", code=2).stderr


def test_what_comes_with_an_import_is_known_to_the_doctor_and_formed(shell: Shell) -> None:
    shell.run("export", "--output", "all.jsonl")
    shell.run("init", "--book", "new.db")
    shell.run("import", "all.jsonl", "--book", "new.db", "--no-wait")
    assert "1 thread waits to be formed" in shell.run("doctor", "--book", "new.db")
    assert "threads formed: 1" in shell.run("form", "ana", "--book", "new.db")


def test_a_sentence_that_no_rule_reads_says_what_to_do(shell: Shell) -> None:
    shell.run("append", "ana", "user", "The meeting ran late.", "--agent", "guide")
    said = shell.run("form", "ana")
    assert (
        "left out message 1 (unread): " in said
        and "state it with remember" in said
        and "[models]" in said
    )


def test_what_waits_is_named_by_every_command_that_shows_what_is_known(shell: Shell) -> None:
    say(shell, "ana", "I like tea.")
    waits = "1 conversation waits to be formed; `memoranda form ana` does it now"
    for words in (
        ("about", "ana"),
        ("list", "ana", "--type", "memory"),
        ("list", "ana"),
        ("profile", "ana"),
        ("recall", "ana", "zebra"),
        ("context", "ana", "zebra", "--type", "memory"),
    ):
        told = shell.run(*words, "--agent", "guide")
        assert waits in told and "no such records" not in told, words
        assert waits not in shell.run(*words, "--agent", "other"), words
    assert json.loads(shell.run("list", "ana", "--as-owner", "--json"))["waiting"] == 1
    assert "threads formed: 1, new memories: 2" in shell.run("form", "ana", "--agent", "guide")
    assert "waits" not in shell.run("about", "ana", "--agent", "guide")
