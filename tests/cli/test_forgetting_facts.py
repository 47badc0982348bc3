"""Tests of ``memoranda forget`` for facts: it takes exactly the parts that it has shown."""

from __future__ import annotations

import memoranda
from tests.cli.command_line import Shell

OWNER = ("--as-owner", "--yes")


def filled(shell: Shell, *texts: str) -> str:
    """Write a book with messages and the memory of a home; return the memory's id."""
    with memoranda.open_sync(shell.folder / "book.db", embed=None) as book:
        thread = book.thread("ana", agent="helper", audience="global")
        thread.append([{"role": "user", "content": text} for text in texts])
        kept = book.remember(
            "ana", "Lives in Lisbon", key="home", agent="helper", audience="global"
        )
    return str(kept.id)


def told(shell: Shell) -> set[str]:
    with memoranda.open_sync(shell.folder / "book.db", embed=None) as book:
        page = book.records.list("ana", types="message", as_owner=True)
    return {record.content for record in page.records}  # type: ignore[attr-defined]


def test_a_dry_run_shows_a_plan_of_few_lines_and_does_just_that(shell: Shell) -> None:
    filled(shell, "Hi! I live in Lisbon.", "My sister lives in Lisbon.", "Lisboa is great.")
    shown = shell.run("forget", "ana", "--about", "where I live", "--as-owner", "--dry-run")
    lines = shown.strip().splitlines()
    assert (
        lines[0] == "forget: “Lives in Lisbon”"
        and lines[-1] == "other wordings are not searched for"
    )
    assert len(lines) <= 12 and shown.count("sister") == 1 and "--take" in shown
    assert len(told(shell)) == 3
    plan = shell.json("forget", "ana", "--about", "where I live", "--as-owner", "--dry-run")
    assert plan["state"] == "planned"
    (listed,) = plan["plan"]["listed"]
    done = shell.json("forget", "ana", "--about", "where I live", "--take", listed["name"], *OWNER)
    assert (done["state"], done["removed"]["memory"]) == ("complete", 1)
    assert told(shell) == {"Hi!", "Lisboa is great."}


def test_earlier_values_are_shown_with_their_day_and_go_unless_they_are_kept(shell: Shell) -> None:
    with memoranda.open_sync(shell.folder / "book.db", embed=None) as book:
        old = book.remember("ana", "Lives in Porto", key="home", agent="helper", audience="global")
        new = book.remember("ana", "Lives in Lisbon", key="home", agent="helper", audience="global")
    shown = shell.run("forget", "ana", str(new.id), "--as-owner", "--dry-run")
    assert "earlier values, which go too unless --keep ID: “Lives in Porto” of " in shown
    kept = shell.json(
        "forget", "ana", str(new.id), "--keep", str(old.id), "--as-owner", "--dry-run"
    )
    assert kept["ids"] == [str(new.id)]
    assert set(shell.json("forget", "ana", str(new.id), *OWNER)["ids"]) == {
        str(old.id),
        str(new.id),
    }


def test_two_facts_and_a_key_are_named_at_the_shell(shell: Shell) -> None:
    filled(shell, "I live in Lisbon.", "I am 42 and I like tea.")
    with memoranda.open_sync(shell.folder / "book.db", embed=None) as book:
        book.remember("ana", "Is 42 years old", key="age", agent="helper", audience="global")
    shown = shell.run(
        "forget", "ana", "--about", "my age and where I live", "--as-owner", "--dry-run"
    )
    assert set(shown.splitlines()[:2]) == {"forget: “Is 42 years old”", "forget: “Lives in Lisbon”"}
    shell.run("forget", "ana", "--key", "age", *OWNER)
    assert told(shell) == {"I live in Lisbon.", "I like tea."}


def test_the_record_alone_goes_from_the_shell_too(shell: Shell) -> None:
    home = filled(shell, "I live in Lisbon.")
    shell.run("forget", "ana", home, "--what", "record", *OWNER)
    assert told(shell) == {"I live in Lisbon."}


def test_one_way_to_name_what_to_forget_is_needed(shell: Shell) -> None:
    for words in (("x", "--about", "home"), ("--key", "home", "--about", "home"), ()):
        assert "give either IDs, --about, --key, --everything or --finish" in shell.run(
            "forget", "ana", *words, *OWNER, code=2
        )
