"""Tests of the command line, as people and scripts run it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import memoranda
from tests.cli.command_line import Shell, record_id


def test_a_memory_is_given_the_day_on_which_it_happened(shell: Shell) -> None:
    made = shell.json("remember", "ana", "Ran a marathon", "--happened", "2023-05-07")
    assert "on 7 May 2023" in shell.run("get", "ana", record_id(made))
    newer = shell.json("update", "ana", record_id(made), "Ran a marathon", "--happened", "2023-05")
    shown = shell.json("get", "ana", record_id(newer))
    assert '"granularity": "month"' in json.dumps(shown)
    assert "happened: is no day" in shell.run("remember", "ana", "Ran", "--happened", "May", code=2)


def test_an_operator_lists_the_failed_threads_of_an_agent_for_every_owner(shell: Shell) -> None:
    with memoranda.open_sync(shell.folder / "book.db", worker=False) as book:
        for owner in ("ana", "ben"):
            book.thread(owner, agent="coach", title="Practice")
            book.thread(owner, agent="coach", title="Plan a run").close("failed")
        assert [record.owner.id for record in book.admin.list(only={"statuses": "failed"})] == [
            "ana",
            "ben",
        ]
    failed = (
        "list",
        "--all-owners",
        "--type",
        "thread",
        "--of-agent",
        "coach",
        "--status",
        "failed",
    )
    shown = shell.run(*failed)
    assert [line.split()[0] for line in shown.splitlines()[1:]] == [
        "ana",
        "ben",
    ] and "Practice" not in shown
    page = shell.json(*failed, "--limit", "1")
    (record,) = page["records"]
    assert record["owner"]["id"] == "ana" and record["status"] == "failed"
    assert "ben" in shell.run(*failed, "--limit", "1", "--cursor", page["cursor"])
    assert shell.run(*failed, "--limit", "1", "--all").count("Plan a run") == 2
    assert "no OWNER" in shell.run("list", "ana", "--all-owners", code=2)


def test_a_session_from_the_first_word_to_the_last(shell: Shell) -> None:
    said = shell.json(
        "append", "ana", "user", "I moved to Lisbon in May.", "--agent", "helper", "--name", "chat"
    )
    message = record_id(said)
    first = shell.json("remember", "ana", "Lives in Boston", "--key", "home", "--agent", "helper")
    second = shell.json(
        "remember",
        "ana",
        "Lives in Lisbon",
        "--key",
        "home",
        "--agent",
        "helper",
        "--source",
        message,
    )
    hits = shell.run("recall", "ana", "where in Lisbon?", "--agent", "helper")
    assert "Lives in Lisbon" in hits
    assert "Lives in Boston" not in hits
    assert "I moved to Lisbon in May." in shell.run(
        "why", "ana", record_id(second), "--agent", "helper"
    )
    assert "supersede" in shell.run("history", "ana", record_id(first), "--agent", "helper")
    shell.run("undo", "ana", str(second["position"]), "--agent", "helper")
    assert "Lives in Boston" in shell.run(
        "list", "ana", "--type", "memory", "--status", "active", "--agent", "helper"
    )
    shell.run("retract", "ana", record_id(first), "--agent", "helper")
    forgotten = shell.run("forget", "ana", "--everything", "--as-owner", "--yes")
    assert "complete" in forgotten
    assert "Lisbon" not in shell.run("list", "ana", "--as-owner")
    shell.run("verify")
    for path in shell.folder.iterdir():
        assert b"Lisbon" not in path.read_bytes()


def test_a_context_is_made_for_agents_and_for_programs(shell: Shell) -> None:
    shell.run("remember", "ana", "Is allergic to walnuts", "--agent", "helper")
    said = shell.json(
        "append", "ana", "user", "Are walnuts fine?", "--agent", "helper", "--name", "chat"
    )
    thread = said.get("thread") or said["receipt"]["items"][0]["id"]
    told = shell.run("context", "ana", "walnuts?", "--agent", "helper")
    assert "<memories>" in told and "Is allergic to walnuts" in told and "estimated" in told
    made = shell.json(
        "context",
        "ana",
        "--thread",
        thread,
        "--agent",
        "helper",
        "--budget",
        "500",
        "--no-mark-used",
    )
    assert made["counted"] == "estimated" and made["tokens"] <= 500
    assert {"memories", "conversation"} <= {block["name"] for block in made["blocks"]}
    assert "--as-owner" in shell.run("context", "ana", "walnuts?")
    assert "budget" in shell.run("context", "ana", "x", "--budget", "0", code=2)


def test_a_reader_never_makes_a_book(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    for words in (("recall", "ana", "x"), ("list", "ana"), ("remember", "ana", "x"), ("verify",)):
        assert "init" in shell.run(*words, code=12)
    assert list(tmp_path.iterdir()) == []


def test_errors_are_one_line_with_a_code_of_their_own(shell: Shell) -> None:
    for words, code, said in (
        (("remember", "ana", ""), 2, "content"),
        (("remember", "ana", "x", "--kind", "gossip"), 2, "gossip"),
        (("get", "ana", "0190b4f8-0000-7000-8000-000000000000"), 3, "no record"),
        (("get", "ana", "nonsense"), 3, "nonsense"),
        (("get", "ana", " "), 2, "not a valid id"),
        (("list", "ana", "--status", "bogus"), 2, "bogus"),
        (("dance",), 2, "dance"),
    ):
        told = shell.run(*words, code=code)
        assert said in told
        assert told.startswith("error:") or "rror" in told.splitlines()[0]
        assert len(told.splitlines()) == 1


def test_a_file_of_another_program_is_refused(shell: Shell) -> None:
    (shell.folder / "diary.txt").write_text("dear diary " * 1000)
    shell.run("list", "ana", "--book", "diary.txt", code=12)
    assert (shell.folder / "diary.txt").read_text() == "dear diary " * 1000


def test_the_same_operation_is_applied_once(shell: Shell) -> None:
    words = ("remember", "ana", "Owns a bicycle", "--agent", "helper", "--operation", "one")
    assert record_id(shell.json(*words)) == record_id(shell.json(*words))
    shell.run("remember", "ana", "Owns a car", "--agent", "helper", "--operation", "one", code=4)
    assert shell.run("list", "ana", "--agent", "helper").count("bicycle") == 1


def test_messages_come_as_lines_all_or_none(shell: Shell) -> None:
    lines = "\n".join(
        json.dumps({"role": "user", "content": f"line {number}"}) for number in range(5)
    )
    assert (
        len(shell.json("append", "ana", "--agent", "helper", text=lines)["receipt"]["items"]) == 5
    )
    bad = lines + '\n{"role": "boss", "content": "x"}\n{"role": "user", "content": ""}'
    told = shell.run("append", "ana", "--agent", "helper", text=bad, code=2)
    assert "messages[5].role" in told
    assert "messages[6].content" in told
    assert shell.run("list", "ana", "--type", "message", "--as-owner").count("line 0") == 1


def test_removing_asks_for_a_yes_where_nobody_can_be_asked(shell: Shell) -> None:
    told = shell.json("remember", "ana", "Keeps bees", "--agent", "helper")
    assert "--yes" in shell.run("forget", "ana", record_id(told), "--agent", "helper", code=2)
    assert "Keeps bees" in shell.run("list", "ana", "--agent", "helper")


def test_stored_escapes_never_reach_the_terminal(shell: Shell) -> None:
    shell.run("remember", "ana", "red \x1b[31malert\x07 \u202egnihton", "--agent", "helper")
    for words in (("list", "ana"), ("recall", "ana", "red")):
        shown = shell.run(*words, "--agent", "helper")
        assert "alert" in shown
        assert not set(shown) & {"\x1b", "\x07", "\u202e"}


def test_an_export_makes_the_same_book_again(shell: Shell) -> None:
    shell.run("append", "ana", "user", "I keep bees.", "--agent", "helper", "--name", "chat")
    shell.run(
        "remember", "ana", "Keeps bees", "--key", "hobby", "--agent", "helper", "--operation", "op"
    )
    shell.run("remember", "ben", "Keeps goats", "--agent", "helper")
    exported = shell.run("export")
    shell.run("init", "--book", "again.db")
    shell.run("import", "-", "--book", "again.db", text=exported)
    assert shell.run("export", "--book", "again.db") == exported
    shell.run("verify", "--book", "again.db")
    again = (
        "remember",
        "ana",
        "Keeps bees",
        "--key",
        "hobby",
        "--agent",
        "helper",
        "--operation",
        "op",
    )
    assert shell.json(*again, "--book", "again.db")["repeated"] is True


def test_an_export_to_a_full_disk_names_the_export(shell: Shell) -> None:
    shell.run("remember", "ana", "Keeps bees", "--agent", "helper")
    (shell.folder / "out.jsonl.partial").symlink_to("/dev/full")
    refused = shell.run("export", "--output", "out.jsonl", code=10)
    assert "out.jsonl: its disk has no room left" in refused
    assert "book.db" not in refused


def test_a_backup_restores_without_what_was_forgotten_since(shell: Shell) -> None:
    told = shell.json("remember", "ana", "Has a blue canary", "--agent", "helper")
    shell.run("remember", "ana", "Keeps bees", "--agent", "helper")
    shell.run("backup", "copy.db")
    assert "copy.db" in shell.run("forget", "ana", record_id(told), "--agent", "helper", "--yes")
    shell.run("restore", "copy.db", "restored.db")
    listed = shell.run("list", "ana", "--as-owner", "--book", "restored.db")
    assert "Keeps bees" in listed
    assert "canary" not in listed
    shell.run("restore", "copy.db", "restored.db", code=2)
    (shell.folder / "copy.db.erasures").unlink()
    refused = shell.run("restore", "copy.db", "again.db", code=2)
    assert "copy.db.erasures is missing" in refused
    assert "--without-erasures" in refused
    assert shell.json("restore", "copy.db", "again.db", "--erasures", "book.db")["warning"] == ""
    accepted = shell.done("restore", "copy.db", "third.db", "--without-erasures")
    assert "copy.db.erasures is missing" in accepted.stderr


def test_what_is_no_backup_is_refused_under_its_own_name(shell: Shell) -> None:
    (shell.folder / "diary.txt").write_text("dear diary " * 1000)
    refused = shell.run("restore", "diary.txt", "z.db", code=12)
    assert "diary.txt" in refused
    assert "z.db" not in refused


def test_the_doctor_finds_a_fresh_book_in_health(shell: Shell) -> None:
    shell.run("remember", "ana", "Keeps bees", "--agent", "helper")
    report = shell.run("doctor")
    assert "sqlite" in report
    assert "durable" in report
    shell.run("rebuild")
    shell.run("jobs", "run")
    assert shell.run("jobs", "list") is not None


def test_damage_is_found(shell: Shell) -> None:
    shell.run("remember", "ana", "Keeps bees", "--agent", "helper")
    book = shell.folder / "book.db"
    book.write_bytes(book.read_bytes().replace(b"Keeps bees", b"Keeps wasp"))
    done = shell.done("verify", code=1)
    assert "content" in done.stdout + done.stderr


def test_the_demo_shows_what_it_says(tmp_path: Path) -> None:
    shown = Shell(tmp_path).run("demo")
    for word in ("receipt", "</memories>", "supersede", "why", "undo", "Erasure", "0 times now"):
        assert word in shown


def test_an_operator_sees_the_items_that_programs_stored(shell: Shell) -> None:
    with memoranda.open_sync(shell.folder / "book.db", worker=False, embed=None) as book:
        item = book.items.put("ana", ("notes", "office"), "tea.md", {"text": "green tea"}).id
    (line,) = [
        line for line in shell.run("list", "ana", "--type", "item").splitlines() if "item" in line
    ]
    assert str(item) in line and "notes/office/tea.md" in line and "green tea" in line
    assert '{"text": "green tea"}' in shell.run("get", "ana", str(item))
    assert "green tea" in shell.run("export", "ana")
    shell.run("forget", "ana", str(item), "--what", "record", "--as-owner", "--yes")
    assert "green tea" not in shell.run("list", "ana", "--type", "item")


def test_a_closed_pipe_is_no_error(shell: Shell) -> None:
    for number in range(5):
        shell.run("remember", "ana", f"fact {number}", "--agent", "helper")
    done = subprocess.run(
        f"{sys.executable} -m memoranda export --book book.db | head -1",
        shell=True,
        cwd=shell.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert done.stdout.count("\n") == 1
