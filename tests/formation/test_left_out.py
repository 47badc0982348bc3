"""Tests that forming reports each part it left out: in the thread, the ledger and counters, and
once to the model.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import memoranda
from memoranda import telemetry
from memoranda.model.language_models import ModelRequest
from memoranda.model.ledger import LEFT_OUT, LEFT_OUT_BECAUSE
from memoranda.model.memories import Memory
from memoranda.testing.clock import HandClock
from memoranda.testing.scripted_models import Said, ScriptedModels, handle
from tests.formation.books import TALK, known, notes, opened, settle

SECRET = "Mallory's favourite"


def careless(request: ModelRequest) -> Said:
    """Return two notes: only the assistant claims the first, and the second has an unknown kind."""
    said = handle(request, "I live in")
    return {
        "notes": [
            {"content": "Lives in New York", "sources": [{"message": said}], "kind": SECRET},
            {"content": "Owns a boat", "sources": [{"message": handle(request, "Noted")}]},
        ],
        SECRET: 1,
    }


async def test_each_part_that_was_left_out_is_in_the_trace_with_code_and_place_and_no_text(
    clock: HandClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    counted: list[str] = []
    monkeypatch.setattr(telemetry, "count", lambda name, amount=1: counted.append(name))
    async with opened(tmp_path / "book.db", clock, ScriptedModels(careless)) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append(TALK)
        await settle(book, clock)
        (part,) = await thread.formed()
        entries = await book.records.ledger("ann", as_owner=True, limit=1_000)

    told = {(one.part, one.code) for one in part.left_out}
    assert {("notes[0]", "kind"), ("notes[1]", "claimed")} <= told
    assert (part.through, all(one.reason for one in part.left_out)) == (2, True)
    (entry,) = [one for one in entries if LEFT_OUT in one.note]
    assert entry.position == part.position
    assert SECRET not in str(entry.note)
    assert {"formation.left_out.kind", "formation.left_out.claimed"} <= set(counted)


async def test_nothing_left_out_leaves_no_note(clock: HandClock):
    async with opened("memory://", clock, ScriptedModels(notes("Likes jazz"))) as book:
        thread = await book.thread("ann", agent="guide")
        assert list(await thread.formed()) == []
        await thread.append(TALK)
        await settle(book, clock)
        (part,) = await thread.formed()
        entries = await book.records.ledger("ann", as_owner=True, limit=1_000)

    assert part.left_out == ()
    assert not any(LEFT_OUT in one.note for one in entries)


async def test_where_no_rule_reads_a_statement_the_reason_says_what_to_do():
    async with memoranda.open("memory://", worker=False, embed=None) as book:
        thread = await book.thread("ann", agent="guide")
        told = []
        for said in (
            ["The meeting ran late."],
            ["Thanks!", "What now?"],
            ["The bus came early.", "I like tea."],
        ):
            for one in said:
                await thread.append("user", one)
            await thread.form(wait=False)
            await book.jobs.run()
            told.append((await thread.formed(limit=1))[0].left_out)
    assert [[(one.part, one.code) for one in parts] for parts in told] == [
        [("message 1", "unread")],
        [],
        [],
    ]
    assert "remember" in told[0][0].reason and "[models]" in told[0][0].reason


def corrected(*answers: str) -> tuple[ScriptedModels, list[tuple[str, ...]]]:
    """Return a model whose first correction is for narrower occasions; its further answers are
    these.
    """
    faults: list[tuple[str, ...]] = []

    def say(request: ModelRequest) -> Said:
        if "Correction" not in request.content:
            return notes("Send reports on Fridays", kind="instruction")(request)
        faults.extend(one.faults for one in request.earlier)
        when = (
            ("on holidays", *answers)[len(request.earlier)] if not request.earlier else answers[0]
        )
        note = {
            "content": "Send reports on Mondays",
            "kind": "instruction",
            "applies_when": when,
            "sources": [{"message": handle(request, "Correction")}],
            "supersedes": [handle(request, "Send reports on Fridays")],
        }
        return {"notes": [note]}

    return ScriptedModels(say), faults


@pytest.mark.parametrize(
    ("answer", "held"),
    [
        ("", ["Send reports on Mondays"]),
        ("on holidays", ["Send reports on Fridays", "Send reports on Mondays"]),
    ],
)
async def test_a_refused_superseding_part_goes_back_once_with_the_reason(
    clock: HandClock, answer: str, held: list[str]
):
    models, faults = corrected(answer)
    async with opened("memory://", clock, models) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append("user", "Send reports on Fridays.")
        await settle(book, clock)
        await thread.append("user", "Correction: send reports on Mondays.")
        await settle(book, clock)
        assert await known(book) == held
        told = [one.code for part in await thread.formed() for one in part.left_out]
        memories = (await book.records.list("ann", types="memory", as_owner=True)).records

    assert faults == [(f"notes[0]: {LEFT_OUT_BECAUSE['partial']}",)]
    assert len(models.asked) == 3
    assert ("partial" in told) is (answer != "")
    assert all(isinstance(one, Memory) for one in memories)


async def test_a_refused_retraction_goes_back_once(clock: HandClock):
    def say(request: ModelRequest) -> Said:
        if "Thanks" not in request.content:
            return notes("Likes jazz")(request)
        back = {
            "memory": handle(request, "Likes jazz"),
            "sources": [{"message": handle(request, "Thanks")}],
        }
        return {"retracts": [back]}

    models = ScriptedModels(say)
    async with opened("memory://", clock, models) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append(TALK)
        await settle(book, clock)
        await thread.append("user", "Is there any jazz tonight?")
        await thread.append("assistant", "There is a concert at eight.")
        await thread.append("user", "Thanks. What a day.")
        await settle(book, clock)
        assert await known(book) == ["Likes jazz"]
        told = [(one.part, one.code) for part in await thread.formed() for one in part.left_out]

    assert told == [("retracts[0]", "claimed")]
    assert len(models.asked) == 3


def test_each_code_that_forming_uses_has_words():
    found = re.compile(r"""(?:report\(|_left_out\((?:at, )?|return )"([a-z_]+)",\s""")
    folder = Path(memoranda.__file__).parent / "formation"
    used = {
        code for path in folder.rglob("*.py") for code in found.findall(path.read_text("utf-8"))
    }

    assert {"time", "older", "partial", "unsourced"} <= used
    assert used <= set(LEFT_OUT_BECAUSE)


async def test_what_a_second_answer_says_nothing_of_stays_told(clock: HandClock):
    def say(request: ModelRequest) -> Said:
        if request.earlier:
            return {}
        return {"memories": [{"no": "content"}], "notes": [{"content": "Lives in Rome"}]}

    models = ScriptedModels(say)
    async with opened("memory://", clock, models) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append(TALK)
        await settle(book, clock)
        told = [one for part in await thread.formed() for one in part.left_out]
        assert len(models.asked) > 1 and await known(book) == []
        assert any(str(one.part).startswith("notes[0]") for one in told)
