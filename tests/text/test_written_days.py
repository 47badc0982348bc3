"""Tests of days in labels: they are as exact as the words that named them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from memoranda.model.memories import DaySpan, Memory
from memoranda.model.records import Owner
from memoranda.model.values import new_id
from memoranda.text.written_days import happened_words, validity_words


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("2023-05-07", "on 7 May 2023"),
        ("2023-05", "in May 2023"),
        ("2025", "in 2025"),
        ("2019/2022", "2019–2022"),
        ("2026-10-12/2026-10-16", "12–16 October 2026"),
        ("2026-04-30/2026-05-02", "30 April–2 May 2026"),
        ("2025-12-30/2026-01-02", "30 December 2025–2 January 2026"),
        ("2026-06/2026-08", "June–August 2026"),
        ("2025-12/2026-02", "December 2025–February 2026"),
        ({"first": "1990-01-01", "after": "2000-01-01", "granularity": "decade"}, "in the 1990s"),
        ({"first": "2024-09-09", "after": "2024-09-10", "granularity": "year"}, "in 2024"),
        (
            {"first": "2026-09-04", "after": "2026-09-05", "granularity": "part_of_day"},
            "on 4 September 2026",
        ),
    ],
)
def test_a_day_is_written_only_where_one_was_said(given: Any, words: str) -> None:
    assert happened_words(DaySpan.model_validate(given)) == words


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (
            {"valid_from": datetime(2022, 9, 9, tzinfo=UTC), "valid_from_granularity": "year"},
            "since 2022",
        ),
        (
            {"valid_from": datetime(2026, 6, 1, tzinfo=UTC), "valid_from_granularity": "month"},
            "since June 2026",
        ),
        ({"valid_from": datetime(2026, 6, 1, tzinfo=UTC)}, "since 2026-06-01"),
        ({"valid_from": datetime(2026, 6, 1, 9, 30, tzinfo=UTC)}, "since 2026-06-01 09:30"),
        (
            {"valid_to": datetime(2027, 4, 1, tzinfo=UTC), "valid_to_granularity": "month"},
            "until the end of March 2027",
        ),
        (
            {"valid_to": datetime(2028, 9, 10, tzinfo=UTC), "valid_to_granularity": "year"},
            "until 2028",
        ),
        ({"valid_to": datetime(2027, 4, 1, tzinfo=UTC)}, "until 2027-04-01"),
    ],
)
def test_a_validity_shows_no_day_that_nobody_named(fields: dict[str, Any], words: str) -> None:
    memory = Memory(
        id=new_id(), owner=Owner(id="ana"), content="x", observed_at=datetime.now(UTC), **fields
    )
    assert validity_words(memory) == [words]
