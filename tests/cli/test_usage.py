"""``usage`` shows people and programs the tokens and costs of language models."""

from __future__ import annotations

import asyncio
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import memoranda
from memoranda import InvalidInput, NotAllowed, Owner, open_sync
from memoranda.model.language_models import Spent, Usage
from tests.cli.command_line import Shell

ANA, BO = Owner(id="ana"), Owner(id="bo")


def spent(owner: Owner, **fields: Any) -> Spent:
    given = {
        "tenant": "default",
        "owner": owner,
        "day": date(2025, 3, 1),
        "task": "form",
        "model": "p:m",
        "calls": 1,
    }
    return Spent.model_validate({**given, **fields})  # fmt: skip


def answered(owner: Owner, price: str | None, **fields: Any) -> Spent:
    usage = Usage(
        calls=1,
        tokens_in=1200,
        tokens_cached=200,
        tokens_out=30,
        price=None if price is None else Decimal(price),
    )
    return spent(owner, **fields).answered(usage)


async def fill(path: Path) -> None:
    async with memoranda.open(path, worker=False) as book:
        for owner in (ANA, BO):
            await book.remember(owner, "Likes tea")
        for one in (
            *(spent(ANA, agent="guide"), answered(ANA, "0.000123456789", agent="guide")),
            *(spent(ANA, calls=2, day=date(2025, 3, 2)), answered(ANA, "2", day=date(2025, 3, 2))),
            *(spent(BO, model="own:m"), answered(BO, None, model="own:m")),
        ):
            await book.engine.note_spent(one)


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    asyncio.run(fill(tmp_path / "book.db"))
    return Shell(tmp_path)


def test_people_are_told_what_is_known_and_what_is_not(shell: Shell) -> None:
    told = shell.run("usage", "--by", "owner").splitlines()
    assert [line.split() for line in told[1:4]] == [
        ["ana", "3", "1", "2,400", "400", "60", "2.000123", "USD"],
        ["bo", "1", "0", "1,200", "200", "30", "unknown"],
        ["total", "4", "1", "3,600", "600", "90", "at", "least", "2.000123", "USD"],
    ]
    assert told[4] == "answers with an unknown price: 1 of 3"
    assert shell.run("usage", "bo", "--agent", "guide") == "no language model was called\n"


def test_programs_are_told_to_the_last_decimal(shell: Shell) -> None:
    told = shell.json("usage", "ana", "--by", "day")
    first, second = told["usage"]
    assert (first["day"], first["price"], first["unanswered"]) == (
        "2025-03-01",
        "0.000123456789",
        0,
    )
    assert (second["day"], second["calls"], second["answers"]) == ("2025-03-02", 2, 1)
    assert told["total"]["price"] == "2.000123456789"
    (only,) = shell.json("usage", "--since", "2025-03-01", "--until", "2025-03-02", "--by", "model", "--agent", "guide")[
        "usage"
    ]  # fmt: skip
    assert (only["model"], only["calls"]) == ("p:m", 1)


def test_who_was_forgotten_is_not_named_and_not_subtracted(shell: Shell) -> None:
    before = shell.json("usage")["total"]
    assert "names on spending" in shell.run("forget", "ana", "--everything", "--as-owner", "--yes")
    after = shell.json("usage", "--by", "owner")
    assert after["total"] == before
    assert [each["owner"] and each["owner"]["id"] for each in after["usage"]] == ["bo", None]
    assert "(not named)" in shell.run("usage", "--by", "owner")
    assert shell.json("usage", "ana")["usage"] == []


def test_a_day_is_a_date(shell: Shell) -> None:
    assert "write 2026-03-01" in shell.run("usage", "--since", "2025-03-01T10:00", code=2)
    assert "expected after the owner" in shell.run("usage", "ana", "bo", code=2)


def test_the_synchronous_book_tells_the_same(shell: Shell) -> None:
    with open_sync(shell.folder / "book.db", worker=False) as book:
        found = book.admin.usage("ana", since=date(2025, 3, 2))
        assert found == [answered(ANA, "2", day=date(2025, 3, 2)).model_copy(update={"calls": 2})]
        with pytest.raises(InvalidInput) as refused:
            book.admin.usage(since="2025-03-02")  # type: ignore[arg-type]
        assert refused.value.field == "since"
        with pytest.raises(InvalidInput):
            book.admin.usage(agent="")
        with pytest.raises(NotAllowed):
            book.admin.usage(Owner(tenant="other", id="ana"))
