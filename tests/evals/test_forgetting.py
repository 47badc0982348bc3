"""The evaluation of forgetting reads everything, and counts what is left, what the receipt names,
and what was damaged.
"""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

import pytest

import memoranda
from evals import forgetting
from evals.forgetting import judge, main, measure, report
from evals.forgetting_books import FilledBook, native_faults
from evals.forgetting_set import HALVES, counts, read
from memoranda.model.messages import Message
from memoranda.model.records import Owner

CASE: dict[str, Any] = next(case for case in read("dev") if case["id"] == "d02")


class Forgetful:
    """A book whose forgetting does what a test says: ids to erase, and a receipt's entries of what
    still tells the fact.
    """

    def __init__(self, book: memoranda.Book, erase: list[UUID], still_tells: list[Any]) -> None:
        self._book, self._erase, self.still_tells = book, erase, still_tells

    def __getattr__(self, name: str) -> Any:
        return getattr(self._book, name)

    async def forget(self, owner: Owner, *_: object, **__: object) -> Forgetful:
        if self._erase:
            await self._book.forget(owner, self._erase, as_owner=True)
        return self


async def filled(book: Any, case: dict[str, Any] = CASE) -> FilledBook:
    found = FilledBook(book, case, Owner(id=case["id"]))
    await found.fill()
    return found


@pytest.mark.parametrize("half", HALVES)
async def test_before_anything_is_forgotten_every_telling_and_neighbour_is_read(half: str):
    async with memoranda.open("memory://", worker=False, embed=None) as book:
        for case in read(half):
            one = await filled(book, case)
            texts = await one.everything_read()
            assert [telling.text for telling in one.tellings if telling.text not in texts] == []
            assert [kept for kept in (*case["keep"], *case["beside"]) if kept not in texts] == []


async def test_what_is_left_counts_as_named_where_an_entry_has_its_record_and_words():
    async with memoranda.open("memory://", worker=False, embed=None) as book:
        one = await filled(book)
        paraphrases = [telling for telling in one.tellings if telling.label == "paraphrase"]
        sentence, summary, memory = (
            next(telling for telling in paraphrases if telling.place == place)
            for place in ("message", "summary", "profile")
        )
        said = await book.records.get(one.owner, sentence.record, as_owner=True)
        assert isinstance(said, Message)
        start = said.content.index(sentence.text)
        one.book = Forgetful(  # type: ignore[assignment]
            book,
            [],
            [
                {"id": str(sentence.record), "start": start, "end": start + len(sentence.text)},
                {"record": summary.record},
                {"id": memory.record, "text": memory.text},
                {"id": sentence.record, "text": "parcel"},
                {"id": memory.record},
            ],
        )
        found = await judge(one)
        assert set(found.named) >= {sentence, summary, memory}
        assert len(found.left) == len(found.tellings)
        assert found.entries == {"fact": 3, "neighbour": 1, "neither": 1}


async def test_a_neighbour_that_went_with_the_fact_is_damaged():
    async with memoranda.open("memory://", worker=False, embed=None) as book:
        one = await filled(book)
        one.book = Forgetful(book, [one.said[1, 2]], [])  # type: ignore[assignment]
        found = await judge(one)
        assert "My shifts change every second week." in found.damaged
        assert "I work as a paediatric nurse at St. Brendan's" not in [
            telling.text for telling in found.left
        ]


async def test_a_call_whose_result_or_arguments_were_cut_is_a_fault():
    async with memoranda.open("memory://", worker=False, embed=None) as book:
        one = await filled(book)
        before = await one.records()
        without_result = {id: record for id, record in before.items() if id != one.said[3, 2]}
        assert [fault.split()[-1] for fault in native_faults(before, without_result)] == ["result"]
        call = before[one.said[3, 1]]
        assert isinstance(call, Message)
        native = json.loads(json.dumps(call.native).replace('\\"}', ""))
        cut = {**before, call.id: call.changed(native=native)}
        assert [fault.split(":")[0] for fault in native_faults(before, cut)] == [
            "arguments are no JSON"
        ]


async def test_figures_count_every_telling_of_the_set():
    outcomes = await measure([CASE])
    figures, expected = report(outcomes), counts([CASE])
    assert {label: figures[label]["told"] for label in ("letter", "paraphrase")} == expected[
        "labels"
    ]
    assert figures["keep"]["texts"] == expected["keep"]


def test_the_script_prints_figures_without_any_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(
        forgetting, "read", lambda half, of: [CASE] if (half, of) == ("dev", "whole") else []
    )
    assert main(["--half", "dev", "--json"]) == 0
    printed = capsys.readouterr().out
    assert json.loads(printed)["facts"] == 1 and "Brendan" not in printed
