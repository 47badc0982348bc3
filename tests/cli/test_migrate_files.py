"""Files of ``mongoexport`` with odd documents: what can be read arrives, and the rest is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import memoranda
from tests.cli.command_line import Shell


def written(folder: Path, collection: str, *docs: Any) -> str:
    lines = [json.dumps(doc, ensure_ascii=False) for doc in docs]
    (folder / f"{collection}.json").write_text("\n".join(lines), "utf-8")
    return str(folder)


def told(shell: Shell, user: str) -> list[str]:
    found = shell.json("list", user, "--type", "memory", "--as-owner")["records"]
    return [one["content"] for one in found]


def test_a_text_with_other_ends_of_lines_stays_one_document(shell: Shell, tmp_path: Path) -> None:
    docs = [
        {"_id": f"u{number}", "memories": [{"id": str(number), "content": f"Likes{end}tea"}]}
        for number, end in enumerate(("\u2028", "\u0085", "\u001c"))
    ]
    shell.run("migrate", "beanie", written(tmp_path, "users", *docs))
    assert [told(shell, f"u{number}") for number in range(3)] == [
        [f"Likes{end}tea"] for end in ("\u2028", "\u0085", "\u001c")
    ]


def test_a_document_of_another_form_is_named_and_the_next_ones_arrive(
    shell: Shell, tmp_path: Path
) -> None:
    late = {"$date": {"$numberLong": "99999999999999999"}}
    place = written(
        tmp_path,
        "users",
        {"_id": "a", "profile": ["x"]},
        {"_id": "b", "memories": ["x"]},
        [1, 2],
        5,
        {"_id": "c", "memories": [{"id": "1", "content": "Likes tea", "created_at": late}]},
    )
    for dry in (["--dry-run"], []):
        report = shell.json("migrate", "beanie", place, *dry)
        assert [one["key"] for one in report["left_out"]] == [
            "a",
            "b",
            "users, document 3",
            "users, document 4",
        ]
        assert report["written"] == {"memories.remember": 1}
    assert told(shell, "c") == ["Likes tea"]


def test_a_dry_run_names_what_the_book_would_refuse(shell: Shell, tmp_path: Path) -> None:
    memories = [{"id": "1", "content": "x" * 1001}, {"id": "2", "content": "Likes tea"}]
    place = written(tmp_path, "users", {"_id": "ann", "memories": memories})
    planned = shell.json("migrate", "beanie", place, "--dry-run")
    assert "too long" in planned["left_out"][0]["why"]
    assert planned["written"] == {"memories.remember": 1}
    assert shell.json("migrate", "beanie", place) == planned


def test_an_item_with_a_long_key_arrives_once_and_is_taken_out_again(
    shell: Shell, tmp_path: Path
) -> None:
    name = "https://example.com/" + "p" * 235
    doc = {"namespace": ["mem", "ann"], "key": name, "value": {"a": 1}}
    place = written(tmp_path, "items", doc)
    first = shell.json("migrate", "langgraph", place)
    assert (first["written"], first["left_out"]) == ({"items.put": 1}, [])
    assert shell.json("migrate", "langgraph", place)["before"] == 1
    undone = shell.json("migrate", "langgraph", place, "--undo", first["run"])
    assert undone["written"] == {"items.put": 1}


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_a_file_in_another_encoding_is_read_or_refused_with_the_cure(
    shell: Shell, tmp_path: Path, encoding: str
) -> None:
    doc = {"_id": "ann", "memories": [{"id": "1", "content": "Likes tea"}]}
    (tmp_path / "users.json").write_text(json.dumps(doc), encoding)
    if encoding == "utf-16":
        answer = shell.run("migrate", "beanie", str(tmp_path), code=2)
        assert "is not JSON in UTF-8" in answer
    else:
        shell.run("migrate", "beanie", str(tmp_path))
        assert told(shell, "ann") == ["Likes tea"]


def a_thread(name: str, *texts: str) -> dict[str, Any]:
    return {
        "thread_id": name,
        "user_id": "ann",
        "messages": [{"role": "user", "content": text} for text in texts],
    }


def said(shell: Shell, name: str) -> list[str]:
    with memoranda.open_sync(shell.folder / "book.db", embed=None, worker=False) as book:
        thread = book.thread("ann", id=name, as_owner=True)
        return [one.content for one in thread.messages(limit=500).records]  # type: ignore[attr-defined]


def test_a_thread_that_changed_since_is_named(shell: Shell, tmp_path: Path) -> None:
    short, long = ["tea", "coffee"], [f"line {number}" for number in range(100)]
    name = "short_term_memory"
    place = written(tmp_path, name, a_thread("1", *short), a_thread("2", *long))
    shell.run("migrate", "agent-memory", place)
    written(tmp_path, name, a_thread("1", *short, "milk"), a_thread("2", *long, "one more"))
    report = shell.json("migrate", "agent-memory", place)
    assert report["left_out"] == [{"key": "1", "why": "it changed since it was migrated"}]
    assert said(shell, "1") == short and said(shell, "2") == [*long, "one more"]


def test_a_message_without_words_keeps_its_place(shell: Shell, tmp_path: Path) -> None:
    texts = [f"line {number}" if number != 120 else "" for number in range(150)]
    place = written(tmp_path, "short_term_memory", a_thread("1", *texts))
    assert shell.json("migrate", "agent-memory", place)["left_out"] == []
    assert said(shell, "1") == [text or "(…)" for text in texts]


def test_documents_of_different_collections_may_have_the_same_id(
    shell: Shell, tmp_path: Path
) -> None:
    written(tmp_path, "short_term_memory", a_thread("1", "tea"))
    episode = {"episode_id": "1", "thread_id": "1", "user_id": "ann", "summary": "Bought tea"}
    written(tmp_path, "episodic_memory", {**episode, "outcome": "succeeded"})
    memory = {"memory_id": "1", "user_id": "ann", "type": "fact", "content": "Likes tea"}
    place = written(tmp_path, "semantic_memory", {**memory, "source_episode_id": "1"})
    report = shell.json("migrate", "agent-memory", place)
    assert report["left_out"] == []
    assert told(shell, "ann") == ["Likes tea"] and said(shell, "1") == ["tea"]
    assert shell.json("migrate", "agent-memory", place)["before"] == 3
    undone = shell.json("migrate", "agent-memory", place, "--undo", report["run"])
    assert undone["left_out"] == [] and sum(undone["written"].values()) == 3


def test_a_thread_longer_than_a_page_is_taken_out(shell: Shell, tmp_path: Path) -> None:
    texts = [f"line {number}" for number in range(1100)]
    place = written(tmp_path, "short_term_memory", a_thread("1", *texts))
    run = shell.json("migrate", "agent-memory", place)["run"]
    undone = shell.json("migrate", "agent-memory", place, "--undo", run)
    assert (undone["written"], undone["left_out"]) == ({"thread": 1}, [])


def test_folders_of_one_name_are_different_sources(shell: Shell, tmp_path: Path) -> None:
    for number in range(2):
        folder = tmp_path / str(number) / "dump"
        folder.mkdir(parents=True)
        place = written(folder, "short_term_memory", a_thread(str(number), f"line {number}"))
        assert shell.json("migrate", "agent-memory", place)["before"] == 0
        assert said(shell, str(number)) == [f"line {number}"]
