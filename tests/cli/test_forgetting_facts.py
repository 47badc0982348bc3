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
        kept = book.remember("ana", "Lives in Lisbon", key="home", agent="helper", audience="global")
    return str(kept.id)


def told(shell: Shell) -> set[str]:
    with memoranda.open_sync(shell.folder / "book.db", embed=None) as book:
        page = book.list("ana", types="message", view="owner")
    return {record.content for record in page.records}  # type: ignore[attr-defined]


def test_a_dry_run_shows_what_goes_what_is_listed_and_what_may_still_tell_of_it(shell: Shell) -> None:
    filled(shell, "Hi! I live in Lisbon.", "My sister lives in Lisbon.", "Lisboa is great.")
    shown = shell.run("forget", "ana", "--about", "where I live", "--as-owner", "--dry-run")
    for words in (
        "parts of other records that go",
        "“I live in Lisbon.”",
        "--take",
        "may still tell of it",
        "“Lisboa is great.”",
    ):
        assert words in shown
    assert "erased" not in shown
    assert len(told(shell)) == 3
    plan = shell.json("forget", "ana", "--about", "where I live", "--as-owner", "--dry-run")
    assert plan["state"] == "planned"
    (listed,) = plan["plan"]["listed"]
    done = shell.json("forget", "ana", "--about", "where I live", "--take", listed["name"], *OWNER)
    assert (done["state"], done["removed"]["memory"]) == ("complete", 1)
    assert [one["text"] for one in done["still_tells"]] == ["Lisboa is great."]
    assert told(shell) == {"Hi!", "Lisboa is great."}


def test_the_record_alone_goes_from_the_shell_too(shell: Shell) -> None:
    home = filled(shell, "I live in Lisbon.")
    shell.run("forget", "ana", home, "--what", "record", *OWNER)
    assert told(shell) == {"I live in Lisbon."}


def test_one_way_to_name_what_to_forget_is_needed(shell: Shell) -> None:
    for words in (("x", "--about", "home"), ()):
        assert "give either IDs, --about, --everything or --finish" in shell.run(
            "forget", "ana", *words, *OWNER, code=2
        )
