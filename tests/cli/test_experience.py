"""What agents learnt, looked after at the command line; and a faulty source taken back there."""

from __future__ import annotations

from pathlib import Path

import memoranda
from tests.cli.command_line import Shell


def test_a_line_is_read_approved_guarded_and_retired_at_the_command_line(tmp_path: Path) -> None:
    with memoranda.open_sync(tmp_path / "book.db", embed=None) as book:
        home = book.remember("ana", "Lives in Ullapool").id
        line = str(
            book.experience.add(
                "guide", "heuristics", "Ullapool is far", evidence={"ana": [home]}
            ).id
        )
    shell = Shell(tmp_path)
    assert "not passed" in shell.run("experience", "list", "guide")
    assert shell.json("experience", "list", "guide", "--for-user", "ben") == {"lines": []}
    shell.run("experience", "approve", "guide", line)
    assert "approved" in shell.run("experience", "list", "guide", "--for-user", "ben")
    shell.run("experience", "approve", "guide", line, "--revoke")
    assert shell.json("experience", "list", "guide", "--for-user", "ben") == {"lines": []}
    shell.run("experience", "check-privacy", "guide", line)
    shell.run("experience", "retire", "guide", line, "--reason", "no use")
    assert "this agent has learnt nothing" in shell.run("experience", "list", "guide")
    assert "retired" in shell.run("experience", "list", "guide", "--retired")


def test_what_rests_on_a_faulty_message_is_retracted_at_the_command_line(tmp_path: Path) -> None:
    with memoranda.open_sync(tmp_path / "book.db", embed=None) as book:
        said = str(book.thread("ana").append("tool", "Ana moved to Oslo").id)
        memory = book.remember("ana", "Lives in Oslo", sources=[said]).id
    shell = Shell(tmp_path)
    receipt = shell.json("retract", "ana", said, "--source")
    assert [item["id"] for item in receipt.get("receipt", receipt)["items"]] == [str(memory)]


def test_a_line_without_evidence_and_approval_is_named_by_the_list_and_by_the_doctor(
    tmp_path: Path,
) -> None:
    with memoranda.open_sync(tmp_path / "book.db", embed=None) as book:
        line = str(book.experience.add("guide", "heuristics", "Be kind").id)
    shell = Shell(tmp_path)
    assert line not in shell.run("doctor")
    shell.run("experience", "approve", "guide", line, "--revoke")
    assert "waits for approval" in shell.run("experience", "list", "guide")
    assert f"1 line serves nobody, without evidence and approval: {line} of guide" in " ".join(
        shell.run("doctor").split()
    )
    shell.run("experience", "retire", "guide", line)
    assert line not in shell.run("doctor")
