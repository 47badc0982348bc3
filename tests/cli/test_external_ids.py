"""The command line stores records under your own ids, and takes these wherever it takes an id."""

from __future__ import annotations

from tests.cli.command_line import Shell


def test_the_command_line_stores_and_takes_external_ids(shell: Shell) -> None:
    thread = shell.json("append", "ana", "user", "I like tea", "--name", "chat-1")["thread"]
    shell.run("remember", "ana", "Likes tea", "--external-id", "m1", "--thread", "chat-1")
    memory = shell.json("get", "ana", "m1")
    assert (memory["external_id"], memory["thread"]) == ("m1", thread)
    assert "m1" in shell.run("get", "ana", "m1")
    shell.run("append", "ana", "user", "And cake", "--thread", "chat-1")
    assert shell.json("list", "ana", "--type", "message", "--thread", "chat-1", "--count") == {
        "count": 2
    }
    shell.run("update", "ana", "m1", "Likes green tea", "--external-id", "m2")
    assert shell.json("why", "ana", "m2")["record"]["supersedes"] == [memory["id"]]
    assert len(shell.json("history", "ana", "m1")["steps"]) == 2
    assert "m1" in shell.run("remember", "ana", "Likes tea", "--external-id", "m1", code=4)
    assert "ignored: abc-123: no memory" in shell.run(
        "remember", "ana", "Has a cat", "--supersedes", "abc-123"
    )
    shell.run("retract", "ana", "m2")
    shell.run("form", "ana", "--thread", "chat-1")
    gone = shell.json("forget", "ana", "m1", "m2", "--what", "record", "--yes", "--as-owner")
    assert memory["id"] in gone["ids"] and len(gone["ids"]) == 2
    assert "m1" in shell.run("get", "ana", "m1", code=3)
