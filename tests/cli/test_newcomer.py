"""A first hour at a shell: mistakes are answered with what was meant, and what is printed runs as
it is.
"""

from __future__ import annotations

import json
import os
import pty
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import memoranda
from memoranda.cli.output.record_tables import nothing_seen
from tests.cli.command_line import Shell, record_id


def at_a_terminal(folder: Path, *words: str) -> str:
    """Run a command whose standard output is a terminal, and return what it prints."""
    reader, writer = pty.openpty()
    done = subprocess.Popen(
        [sys.executable, "-m", "memoranda", *words],
        cwd=folder,
        env={**os.environ, "MEMORANDA_BOOK": "book.db", "NO_COLOR": "1", "COLUMNS": "100"},
        stdin=subprocess.DEVNULL,
        stdout=writer,
    )
    os.close(writer)
    parts = []
    while True:
        try:
            part = os.read(reader, 65_536)
        except OSError:
            break
        if not part:
            break
        parts.append(part)
    os.close(reader)
    assert done.wait(60) == 0
    return b"".join(parts).decode()


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("recal ana tea", "did you mean recall"),
        ("jobs lst", "did you mean list"),
        ("list --onwer", "--owner"),
    ],
)
def test_a_misspelt_command_or_option_is_answered_with_what_was_meant(
    shell: Shell, words: str, meant: str
) -> None:
    assert meant in shell.run(*words.split(), code=2)


def test_where_nothing_is_found_the_records_are_counted_and_the_cure_is_named(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORANDA_EMBEDDING_USE", "none")
    assert "there are no memories and no profile" in shell.run("about", "ann")
    for words in ("recall ann tea", "context ann tea", "list ann", "profile ann"):
        assert "there are no such records" in shell.run(*words.split())
    assert "there is no owner ann\n" in shell.run("list", "ann")
    shell.run("remember", "ann", "Likes green tea", "--agent", "shop")
    assert "there is no owner Ann; did you mean ann?" in shell.run("list", "Ann")
    assert "no owner" not in shell.run("list", "ann", "--as-owner", "--type", "item")
    other = "name an agent with --agent, or read as the owner with --as-owner"
    assert f"this view sees no such records; {other}" in shell.run("list", "ann")
    assert "--group, or read as the owner" in shell.run("recall", "ann", "tea", "--agent", "other")
    shell.run("remember", "ann", "Lives in Ulm", "--audience", "global")
    by_words = "recall searches by words only (words alone were asked for)"
    seen = shell.run("recall", "ann", "zebra", "--why-not", "0190aaaa-0000-7000-8000-00001234abcd")
    assert f"nothing found: no match among 1 record of this view; {by_words}; {other}\n" in seen
    seen = shell.run("recall", "ann", "zebra", "--as-owner")
    assert seen == f"nothing found: no match among 2 records of this view; {by_words}\n"
    assert shell.run("list", "ann", "--type", "episode", "--as-owner").startswith(
        "no match among 2 records"
    )
    assert "there are no such records" in shell.run("recall", "ann", "zebra", "--type", "episode")


async def test_an_empty_answer_says_how_to_get_an_embedding_model(tmp_path: Path) -> None:
    async with memoranda.open(tmp_path / "book.db", worker=False, embed=None) as book:
        book.embeddings.no_vectors_because = "not installed; run: memoranda weights install"
        await book.remember("ann", "Likes green tea")
        owner = memoranda.Owner(id="ann")
        told = await nothing_seen(book, owner, {}, ["memory"], searched=True)
        assert told.startswith(
            "no match among 1 record of this view; recall searches by words only"
        )
        assert "run: memoranda weights install" in told
        assert "weights" not in await nothing_seen(book, owner, {}, ["memory"])


def test_a_long_message_is_cut_in_a_terminal_and_whole_with_an_option(shell: Shell) -> None:
    text = "ipsum " * 2_000 + "needle " + "lorem " * 20_000
    shell.run(
        "append",
        "ana",
        "--file",
        "-",
        "--agent",
        "a",
        text=f'{{"role": "user", "content": "{text}"}}',
    )
    shown = at_a_terminal(shell.folder, "recall", "ana", "needle", "--agent", "a")
    assert len(shown) < 3_000 and "more characters: --full" in shown and "needle lorem" in shown
    (hit,) = shell.json("recall", "ana", "needle", "--agent", "a")["hits"]
    part = hit["text"][hit["excerpt"]["start"] : hit["excerpt"]["end"]]
    assert "needle" in part and hit["excerpt"]["text"] == f"…{part}…"
    assert (
        at_a_terminal(shell.folder, "recall", "ana", "needle", "--agent", "a", "--full").count(
            "lorem"
        )
        == 20_000
    )
    assert shell.run("recall", "ana", "needle", "--agent", "a").count("lorem") == 20_000


def test_the_demo_ends_with_commands_that_run_as_printed(tmp_path: Path) -> None:
    settings = {"MEMORANDA_LIMITS_BATCHH": "1", "MEMORANDA_MODELS_USE": "x"}
    clean = {name: value for name, value in os.environ.items() if name != "MEMORANDA_BOOK"}
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-m", "memoranda", "demo"],
            cwd=tmp_path,
            env={**clean, **settings, "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            timeout=100,
            check=True,
        )
        lines = done.stdout[done.stdout.index("Try it yourself") :].splitlines()
        commands = [shlex.split(line) for line in lines if line.startswith("  ")]
        assert [command[-1] for command in commands][-1] == "--help" and len(commands) == 4
        for command in commands:
            told = subprocess.run(
                command,
                cwd=tmp_path,
                env=clean,
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            assert told.returncode == 0, told.stderr
            if "recall" in command:
                assert "walnuts" in told.stdout


def test_variables_that_a_command_does_not_use_do_not_stop_it(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORANDA_MODELS_USE", "nobody:nothing")
    shell.run("list", "--owners")
    shell.run("remember", "ana", "Likes tea", "--agent", "a")
    assert "nobody" in shell.run("jobs", "run", code=2)
    monkeypatch.setenv("MEMORANDA_LIMITS_BATCHH", "1")
    shell.run("weights", "show", code=0)
    assert "MEMORANDA_LIMITS_BATCHH" in shell.run("list", "--owners", code=2)


def test_an_export_to_a_missing_folder_names_the_folder(shell: Shell) -> None:
    told = shell.run("export", "--output", "nowhere/x.jsonl", code=2)
    assert "there is no folder" in told and told.rstrip().endswith("nowhere; make it first")
    assert "partial" not in told


def test_an_import_is_reported_in_words(shell: Shell) -> None:
    shell.run("remember", "ana", "Likes tea", "--agent", "a")
    shell.run("export", "--output", "e.jsonl")
    shell.run("init", "--book", "other.db")
    told = shell.run("import", "e.jsonl", "--book", "other.db")
    assert "imported 1 owner: 1 new here, taken in with their whole history" in told
    told = shell.run("import", "e.jsonl", "--book", "other.db")
    assert "imported 1 owner: 1 here before, given the records that were missing" in told


def test_a_copy_that_is_complete_says_so_when_it_is_run_again(shell: Shell) -> None:
    shell.run("remember", "ana", "Likes tea", "--agent", "a")
    shell.run("copy", "book.db", "copy.db")
    assert "the copy is complete" in shell.run("copy", "book.db", "copy.db")
    shell.run("remember", "ana", "Likes coffee", "--agent", "a")
    assert "this very book" in shell.run("copy", "book.db", "copy.db", code=2)
    assert "this very book" in shell.run("copy", "book.db", "book.db", code=2)


def test_retracting_what_was_superseded_says_that_nothing_changed(shell: Shell) -> None:
    old = record_id(
        shell.json("remember", "ana", "Lives in Lisbon", "--key", "home", "--agent", "a")
    )
    shell.run("remember", "ana", "Lives in Porto", "--key", "home", "--agent", "a")
    told = shell.run("retract", "ana", old, "--agent", "a")
    assert told.startswith("nothing changed for ana\n") and "position" not in told


def test_a_hint_never_advises_the_view_that_was_given(shell: Shell) -> None:
    shell.run("remember", "ana", "Likes tea", "--agent", "a")
    assert "--agent" in shell.run("recall", "ana", "tea")
    told = shell.run("recall", "ana", "tea", "--agent", "b")
    assert "--agent" not in told and "--group" in told and "--as-owner" in told
    assert "--" not in shell.run("recall", "ana", "zebra", "--as-owner")


def test_a_profile_is_shown_and_changed_as_the_person(shell: Shell) -> None:
    shell.run("append", "ana", "user", "I live in Boston.", "--agent", "a")
    shell.run("form", "ana")
    assert "Boston" in shell.run("profile", "ana", "--agent", "a")
    shell.run("profile", "ana", "--set", "home=Lisbon", "--set", 'interests=["tea"]')
    told = shell.run("profile", "ana", "--agent", "a")
    assert "Lisbon" in told and "Boston" not in told and "set by the person" in told
    assert '["tea"]' in shell.run("profile", "ana", "--agent", "b")
    shell.run("profile", "ana", "--unset", "home")
    assert "Lisbon" not in shell.run("profile", "ana", "--as-owner")
    assert "'home'" in shell.run("profile", "ana", "--unset", "home", code=3)
    assert "FIELD=VALUE" in shell.run("profile", "ana", "--set", "home", code=2)


def test_about_shows_what_is_known_with_sources_and_readers(shell: Shell) -> None:
    shell.run("append", "ana", "user", "I live in Boston.", "--agent", "a")
    shell.run("form", "ana")
    shell.run("remember", "ana", "Speaks Spanish", "--agent", "b", "--audience", "global")
    told = shell.run("about", "ana", "--as-owner")
    assert (
        "“I live in Boston.”" in told and "read by agent a" in told and "read by all agents" in told
    )
    assert "several agents may read 1" in told and "experience" in told
    told = shell.run("about", "ana", "--agent", "b")
    assert "Boston" not in told and "experience" not in told
    assert shell.json("about", "ana", "--as-owner")["total"] == 2


def test_doctor_lists_who_sees_how_much_of_a_persons_and_shows_no_content(shell: Shell) -> None:
    shell.run("remember", "ana", "Snores", "--agent", "coach")
    shell.run("remember", "ana", "Likes tea", "--agent", "coach", "--audience", "global")
    shell.run(
        "remember", "ana", "Blue", "--agent", "coach", "--group", "blue", "--audience", "group"
    )
    said = shell.run("doctor", "ana")
    assert [line.split() for line in said.splitlines()[1:4]] == [
        ["all", "agents", "1", "memory"],
        ["groups", "blue", "1", "memory"],
        ["agent", "coach", "1", "memory"],
    ]
    assert said.splitlines()[4].endswith("naming one: self")
    assert "Snores" not in said
    found = json.loads(shell.run("doctor", "ana", "--json"))
    assert [one["audience"]["kind"] for one in found["readers"]] == ["global", "group", "self"]
    assert found["readers"][2] == {
        "audience": {"kind": "self", "agent": "coach", "groups": []},
        "records": {"memory": 1},
    }
    assert found["sharing"] == {"default": "self", "agents": {}}
    assert "no records of ben" in shell.run("doctor", "ben")


def test_update_corrects_a_memory_by_its_id(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    shell.run("init")
    first = shell.json("remember", "ana", "Lives in Boston", "--key", "home", "--agent", "helper")
    id = first["items"][0]["id"]
    shell.run("update", "ana", id, "Lives in Lisbon", "--agent", "helper")
    page = shell.json("list", "ana", "--type", "memory", "--agent", "helper")["records"]
    held = [(one["content"], one["key"], one["status"]) for one in page]
    assert held == [
        ("Lives in Boston", "home", "superseded"),
        ("Lives in Lisbon", "home", "active"),
    ]
    again = shell.run("update", "ana", id, "Rome", "--agent", "helper", code=4)
    assert "superseded already" in again


def test_explained_hits_show_their_terms_as_bars_that_add_up(shell: Shell) -> None:
    for text in ("the harbour has a lighthouse", "rain again"):
        shell.run("remember", "ann", text)
    seen = shell.run("recall", "ann", "lighthouse harbour", "--explain", "--mode", "words")
    bars = re.findall(r"(words|its conversation|strength) +(\d\.\d\d)  (█*)", seen)
    assert [name for name, _, _ in bars] == ["words", "its conversation", "strength"]
    assert all(len(bar) == pytest.approx(40 * float(amount), abs=1) for _, amount, bar in bars)
    assert sum(float(amount) for _, amount, _ in bars) == pytest.approx(1.1, abs=0.02)
