"""Tests of what is past: appointments and ended statements are not current, and what happened or
returns each year is.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from memoranda.testing.clock import HandClock
from tests.formation.books import opened

SAID = datetime(2026, 9, 1, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("content", "fields", "past"),
    [
        ("Has an end of its own", {"valid_to": datetime(2026, 9, 10, tzinfo=UTC)}, True),
        ("Has a dentist appointment on 10 September 2026", {"happened": "2026-09-10"}, True),
        ("Plans to move to Porto in October 2026", {"happened": "2026-10"}, True),
        ("Ran a first 10k on 29 August 2026", {"happened": "2026-08-29"}, False),
        ("Has a birthday on 10 September", {"happened": "2026-09-10"}, False),
        ("Feiert jedes Jahr am 10. September", {"happened": "2026-09-10"}, False),
        ("Goes to the market", {"happened": "2026-09-10", "cardinality": "recurring"}, False),
        ("Plans to move to Porto in 2027", {"happened": "2027"}, False),
    ],
)
async def test_what_is_over_is_recalled_as_past_and_in_no_context(
    clock: HandClock, content: str, fields: dict[str, Any], past: bool
):
    clock.now = SAID
    async with opened("memory://", clock) as book:
        await book.remember("ann", content, agent="guide", observed_at=SAID, **fields)
        for now, over in (
            (datetime(2026, 9, 5, tzinfo=UTC), False),
            (datetime(2026, 11, 2, tzinfo=UTC), past),
        ):
            clock.now = now
            only = {"include_ended": True} if fields.get("valid_to") else {}
            hits = await book.recall("ann", content, agent="guide", only=only or None)
            assert [hit.past for hit in hits] == [over]
            context = await book.context("ann", content, agent="guide")
            assert (content in context.text) is not over
            assert [one.reason for one in context.left_out] == (["expired"] if over else [])
