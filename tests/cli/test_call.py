"""``memoranda call``: every operation of the book at a shell, with the checks of a request."""

from __future__ import annotations

import json

from tests.cli.command_line import Shell


def test_an_operation_without_a_command_of_its_own_is_called_by_its_name(shell: Shell) -> None:
    put = shell.run(
        "call",
        "items.put",
        "owner=ana",
        "namespace=notes",
        "namespace=work",
        "name=one",
        'value={"a": [1, 2]}',
    )
    assert json.loads(put)["items"][0]["verb"] == "put"
    got = json.loads(
        shell.run("call", "items.get", "owner=ana", "namespace=notes", "namespace=work", "name=one")
    )
    assert (got["namespace"], got["value"]) == (["notes", "work"], {"a": [1, 2]})


def test_a_text_of_digits_stays_a_text_and_flags_and_lists_are_read(shell: Shell) -> None:
    shell.run(
        "call", "remember", "owner=ana", "content=42", "key=7", "pinned=true", "tags=12", "tags=[x"
    )
    (memory,) = json.loads(shell.run("call", "records.list", "owner=ana"))["records"]
    assert (memory["content"], memory["key"], memory["pinned"], memory["tags"]) == (
        "42",
        "7",
        True,
        ["12", "[x"],
    )


def test_a_thread_is_reached_by_its_name_and_takes_a_list_of_messages(shell: Shell) -> None:
    shell.run("call", "thread", "owner=ana", "name=talk")
    shell.run(
        "call",
        "thread.append",
        "owner=ana",
        "thread=talk",
        'messages=[{"role": "user", "content": "hello"}]',
    )
    (message,) = json.loads(shell.run("call", "thread.messages", "owner=ana", "thread=talk"))[
        "records"
    ]
    assert message["content"] == "hello"


def test_what_cannot_be_undone_wants_yes_where_there_is_no_terminal(shell: Shell) -> None:
    shell.run("remember", "ana", "I like tea", "--key", "drink")
    refused = shell.run("call", "forget", "owner=ana", "about=drink", code=2)
    assert "cannot be undone" in refused and "--yes" in refused
    assert json.loads(shell.run("call", "records.count", "owner=ana")) == 1
    shell.run("call", "forget", "owner=ana", "about=tea", "as_owner=true", "dry_run=true")
    shell.run("call", "forget", "owner=ana", "about=tea", "as_owner=true", "--yes")
    assert json.loads(shell.run("call", "records.count", "owner=ana")) == 0


def test_unknown_names_are_refused_with_the_nearest_right_one(shell: Shell) -> None:
    assert "did you mean items.get" in shell.run("call", "items.gte", code=2)
    said = shell.run("call", "recall", "owner=ana", "query=tea", "limt=2", code=2)
    assert "limt: there is no such argument; did you mean limit" in said
    assert "owner: it is missing" in shell.run("call", "recall", "query=tea", code=2)
    assert "is not ARGUMENT=VALUE" in shell.run("call", "recall", "ana", code=2)
    assert "run memoranda export" in shell.run("call", "admin.export", code=2)


def test_all_operations_are_listed_and_each_shows_its_arguments(shell: Shell) -> None:
    listed = shell.run("call")
    assert "schemas.records" in listed and "Return a page of an owner's memories" in listed
    shown = shell.run("call", "thread.append", "--arguments")
    assert "expect_last" in shown and "Add one message" in shown
