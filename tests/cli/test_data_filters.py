"""The command line narrows lists, counts and recall by data."""

from __future__ import annotations

from tests.cli.command_line import Shell


def test_lists_counts_and_recall_take_conditions_on_data(shell: Shell) -> None:
    shell.run("remember", "ana", "Her friend Jo is 28", "--data", '{"age": 28}')
    shell.run("remember", "ana", "Her friend Al is 41", "--data", '{"age": 41}')
    trip = '{"schema": "Trip", "document": {"days": 3}}'
    shell.run("remember", "ana", "A trip of three days", "--data", trip)
    older = ("--data", '{"data.age": {"gte": 30}}')
    assert shell.json("list", "ana", *older, "--count") == {"count": 1}
    assert "Al is 41" in shell.run("list", "ana", *older)
    assert "Al is 41" in shell.run("recall", "ana", "which friend?", *older)
    assert "Jo" not in shell.run("recall", "ana", "which friend?", *older)
    assert shell.json("list", "ana", "--schema", "Trip", "--count") == {"count": 1}
    assert shell.json("list", "ana", "--namespace", "notes", "--namespace", "work", "--count") == {
        "count": 0
    }
    for wrong in ("7", "{", '{"age": 3}', "[]"):
        assert "give a JSON object of paths" in shell.run("list", "ana", "--data", wrong, code=2)
    assert "no operator" in shell.run("list", "ana", "--data", '{"data.age": {"above": 3}}', code=2)
