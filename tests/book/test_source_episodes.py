"""Tests of links between memories and the episode of their thread: why, retract_source, its dry
run, undo.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import memoranda
from memoranda.errors import InvalidInput
from tests.cli.command_line import Shell


async def talk(book: memoranda.Book) -> tuple[Any, Any, Any]:
    """Close a thread with a memory and an episode; return thread, memory and episode."""
    thread = await book.thread("ana", name="chat", agent="guide")
    said = await thread.append("user", "I like tea")
    memory = await thread.remember("Likes tea", sources=said.ids())
    closed = await thread.close("completed", episode={"goal": "small talk", "external_id": "ep_1"})
    return thread, memory.id, closed.ids("episode")[0]


async def test_a_memory_names_the_episode_of_its_conversation(book: memoranda.Book) -> None:
    _, memory, episode = await talk(book)
    held: Any = await book.records.get("ana", memory, agent="guide")
    why: Any = await book.why("ana", memory, agent="guide")
    assert (held.source_episode, why.record.source_episode) == (episode, episode)
    assert held.version == 1
    exported = [line async for line in book.admin.export("ana")]
    assert (
        sum(
            f'"source_episode": "{episode}"' in line or f'"source_episode":"{episode}"' in line
            for line in exported
        )
        == 1
    )


async def test_a_memory_that_comes_after_its_episode_names_it_too(book: memoranda.Book) -> None:
    thread, _, episode = await talk(book)
    later = await thread.remember("Drinks a lot")
    held: Any = await book.records.get("ana", later.id, agent="guide")
    assert held.source_episode == episode


async def test_retracting_an_episode_is_shown_first_and_undone_whole(book: memoranda.Book) -> None:
    _, memory, episode = await talk(book)
    shown = await book.memories.retract_source("ana", "ep_1", dry_run=True, agent="guide")
    assert (shown.ids(), shown.dry_run, shown.position) == ((memory,), True, 0)
    assert "would retract memory" in repr(shown)
    before: Any = await book.records.get("ana", memory, agent="guide")
    done = await book.memories.retract_source("ana", episode, reason="broken tool", agent="guide")
    assert done.ids() == shown.ids() and not done.dry_run
    retracted: Any = await book.records.get("ana", memory, agent="guide")
    assert (retracted.status, retracted.reason) == ("retracted", "broken tool")
    again = await book.memories.retract_source("ana", episode, agent="guide")
    assert [part.code for part in again.ignored] == ["not_a_source"] and again.items == ()
    await book.undo("ana", done.position, agent="guide")
    after: Any = await book.records.get("ana", memory, agent="guide")
    assert after.model_dump(exclude={"version", "recorded_at"}) == before.model_dump(
        exclude={"version", "recorded_at"}
    )
    with pytest.raises(InvalidInput, match="dry_run"):
        await book.memories.retract_source("ana", episode, dry_run="yes", agent="guide")  # type: ignore[arg-type]


async def test_forgetting_the_episode_clears_the_link_alone(book: memoranda.Book) -> None:
    _, memory, episode = await talk(book)
    gone = await book.forget("ana", "ep_1", agent="guide")
    assert gone.ids == (episode,)
    held: Any = await book.records.get("ana", memory, agent="guide")
    assert (held.source_episode, held.active, held.version) == (None, True, 1)


def test_the_synchronous_book_shows_a_retraction_first(tmp_path: Path) -> None:
    with memoranda.open_sync(tmp_path / "b.db") as book:
        thread = book.thread("ana", agent="guide")
        said = thread.append("user", "I like tea")
        memory = thread.remember("Likes tea", sources=said.ids())
        closed = thread.close("completed", episode={"goal": "small talk"})
        (episode,) = closed.ids("episode")
        assert book.memories.retract_source("ana", episode, dry_run=True, agent="guide").ids() == (
            memory.id,
        )
        held: Any = book.records.get("ana", memory.id, agent="guide")
        assert (held.status, held.source_episode) == ("active", episode)


def test_the_command_line_shows_a_retraction_first(tmp_path: Path) -> None:
    with memoranda.open_sync(tmp_path / "book.db") as book:
        thread = book.thread("ana", agent="guide")
        said = thread.append("user", "I like tea")
        memory = thread.remember("Likes tea", sources=said.ids()).id
        thread.close("completed", episode={"goal": "small talk", "external_id": "ep_1"})
    shell = Shell(tmp_path)
    shown = shell.run("retract", "ana", "ep_1", "--source", "--dry-run", "--agent", "guide")
    assert "would be retracted: 1" in shown and "Likes tea" in shown and str(memory) in shown
    assert "told of by episode" in shell.run("why", "ana", str(memory), "--agent", "guide")
    assert shell.json("get", "ana", str(memory), "--agent", "guide")["status"] == "active"
    shell.run("retract", "ana", "ep_1", "--source", "--agent", "guide")
    assert shell.json("get", "ana", str(memory), "--agent", "guide")["status"] == "retracted"
    assert "nothing to retract" in shell.run(
        "retract", "ana", "ep_1", "--source", "--dry-run", "--agent", "guide"
    )
    assert "--source" in shell.run("retract", "ana", str(memory), "--dry-run", code=2)
