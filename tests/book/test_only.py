"""What is read may be narrowed down by whom, about what, with which tags, and at which moment."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

import memoranda
from memoranda.book.input import Only
from memoranda.errors import InvalidInput
from memoranda.model.memories import Memory

NOW = datetime(2025, 3, 1, 9, tzinfo=UTC)


async def test_a_list_meets_every_condition_that_is_given():
    async with memoranda.open("memory://", clock=lambda: NOW) as book:
        tea = await book.remember("ana", "likes tea", key="drink", subject="Ana", tags=["taste"])
        await book.remember("ana", "likes chess", tags=["play"])

        async def listed(**only: Any) -> list[str]:
            page = await book.records.list("ana", only=cast(Only, only))
            return [record.content for record in page.records if isinstance(record, Memory)]

        assert await listed(keys=" drink ") == await listed(subject="Ana") == ["likes tea"]
        assert await listed(tags=["play", "none"]) == ["likes chess"]
        assert await listed(trust="user", tags="taste") == ["likes tea"]
        assert await listed(agent="guide") == []
        assert len(await listed(known_at=NOW)) == 2
        assert await listed(known_at=NOW - timedelta(seconds=1)) == []
        await book.memories.retract("ana", tea.id)
        assert await listed(as_of=NOW) == ["likes chess"]
        assert await book.records.count("ana", only={"known_at": NOW}) == 1


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("keys", 7),
        ("keys", [7]),
        ("subject", 7),
        ("agent", ["a"]),
        ("agent", "\ud800"),
        ("kinds", ["a\x00"]),
        ("keys", ["likes", "\udc00"]),
        ("tags", "a\x00"),
        ("tags", ["a\x00"]),
        ("tags", 7),
        ("trust", "everyone"),
        ("trust", ["user", "nobody"]),
        ("as_of", "yesterday"),
        ("known_at", datetime(2025, 3, 1)),  # noqa: DTZ001 - without a zone on purpose
    ],
)
async def test_a_malformed_condition_is_refused_by_its_name(field: str, value: Any):
    async with memoranda.open("memory://") as book:
        with pytest.raises(InvalidInput, match=f"^{field}"):
            await book.records.list("ana", only=cast(Only, {field: value}))
