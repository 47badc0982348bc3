"""The command ``export --everything``: all that is stored about one person."""

from __future__ import annotations

import json
from pathlib import Path

import memoranda
from tests.cli.command_line import Shell


def test_everything_about_a_person_is_written_and_imported_without_what_others_hold(
    tmp_path: Path,
) -> None:
    shell = Shell(tmp_path)
    shell.run("init")
    with memoranda.open_sync(tmp_path / "book.db", worker=False, embed=None) as book:
        tea, rum = book.remember("ann", "likes tea").id, book.remember("ben", "likes rum").id
        book.experience.add("guide", "heuristics", "Serve tea", evidence={"ann": [tea]})
        book.experience.add("guide", "heuristics", "Serve rum", evidence={"ben": [rum]})
        told = list(book.admin.export("ann", everything=True))
    written = shell.run("export", "ann", "--everything")
    assert written.splitlines() == told
    assert "Serve tea" in written and "rum" not in written
    assert "Serve tea" not in shell.run("export", "ann")
    shell.run("export", "ann", "--everything", "--output", "ann.jsonl")
    shell.run("init", "--book", "again.db")
    imported = shell.run("import", "ann.jsonl", "--book", "again.db")
    assert "left out: 1 (it tells what others hold about the owner" in imported
    assert "likes tea" in shell.run("list", "ann", "--as-owner", "--book", "again.db")


def test_of_a_person_who_was_erased_the_erasure_and_the_restriction_are_told(
    tmp_path: Path,
) -> None:
    shell = Shell(tmp_path)
    shell.run("init")
    shell.run("remember", "ann", "likes tea", "--agent", "helper")
    shell.run("restrict", "ann")
    shell.run("forget", "ann", "--everything", "--as-owner", "--yes")
    lines = [json.loads(line) for line in shell.run("export", "ann", "--everything").splitlines()]
    assert [line.get("what", line["line"]) for line in lines] == [
        "head",
        "restriction",
        "restricting",
        "erasure",
        "last",
    ]


def test_it_needs_an_owner(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    shell.run("init")
    assert "everything: name the owner" in shell.run("export", "--everything", code=2)
