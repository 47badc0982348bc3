"""Episodes: did I already try this, and what did the tools say that was too long to keep at
hand.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import memoranda
from memoranda.errors import InvalidInput, NotFound
from memoranda.model.records import Limits

SMALL = Limits(tool_output_length=10, tool_calls=2, overflow_length=400)


async def tried(book, goal, outcome="succeeded", tags=(), agent="guide", **fields):
    return (
        await book.episodes.record(
            "ana", goal=goal, outcome=outcome, tags=list(tags), agent=agent, **fields
        )
    ).id


async def test_a_closed_threads_episode_has_the_outcome_of_its_status(book: memoranda.Book) -> None:
    for status, outcome in (("completed", "succeeded"), ("failed", "failed")):
        thread = await book.thread("ana", agent="guide")
        await thread.append("user", "Book a train")
        await thread.close(status, episode={"goal": status})
        (episode,) = await book.episodes.list("ana", agent="guide", limit=1)
        assert (episode.goal, episode.outcome) == (status, outcome)
    given = await book.thread("ana", agent="guide")
    await given.close("completed", episode={"goal": "given", "outcome": "abandoned"})
    (episode,) = await book.episodes.list("ana", agent="guide", limit=1)
    assert episode.outcome == "abandoned"


async def test_an_episode_as_other_stores_write_it_is_taken_and_comes_back(
    book: memoranda.Book,
) -> None:
    thread = await book.thread("user_9921", agent="guide")
    status = {"status": "refund_processing", "eta_days": 5}
    at = datetime(2026, 4, 29, 14, 1, tzinfo=UTC)
    fields: memoranda.EpisodeFields = {
        "thread": thread.id,
        "summary": "Looked up refund status for order #8842. Confirmed refund is processing, ETA 3-5 business days.",
        "tool_calls": [
            {
                "tool": "lookup_order",
                "inputs": {"order_id": "8842"},
                "output": status,
                "called_at": at,
            }
        ],
        "outcome": "succeeded",
        "tags": ["refund", "order-lookup"],
        "started_at": at,
        "ended_at": at + timedelta(seconds=8),
    }
    await book.episodes.record("user_9921", agent="guide", **fields)
    (episode,) = await book.episodes.list("user_9921", tags=["refund"], agent="guide")
    assert (episode.goal, episode.tool_calls[0].output, episode.tool_calls[0].cut) == (
        "",
        status,
        0,
    )
    (hit,) = await book.episodes.search("user_9921", like="order 8842 refund", agent="guide")
    assert hit.text.startswith("Looked up refund status")
    context = await book.context("user_9921", "refund of the order", agent="guide")
    assert "succeeded] Looked up refund status for order #8842." in context.text


async def test_an_output_of_a_tool_may_be_any_json_and_is_cut_as_its_text(tmp_path: Path) -> None:
    async with memoranda.open(tmp_path / "book.db", limits=SMALL) as book:
        for output in (None, 5, [1, "two"], {"a": 1}, ""):
            receipt = await book.episodes.record(
                "ana", goal="Try", outcome="succeeded", tool_calls=[{"tool": "t", "output": output}]
            )
            episode = await book.records.get("ana", receipt.items[0].id)
            assert episode.tool_calls[0].output == output and not episode.tool_calls[0].cut  # type: ignore[attr-defined]
        long = {"rows": list(range(20))}
        receipt = await book.episodes.record(
            "ana", goal="Try", outcome="succeeded", tool_calls=[{"tool": "t", "output": long}]
        )
        short = await book.records.get("ana", receipt.items[0].id)
        written = json.dumps(long)
        call = short.tool_calls[0]  # type: ignore[attr-defined]
        assert (call.output, call.cut) == (written[:10], len(written) - 10)
        whole = await book.episodes.overflow("ana", short.id)
        assert whole is not None and whole.calls[0].call.output == long


async def test_an_episode_without_a_goal_and_a_summary_is_refused(book: memoranda.Book) -> None:
    given: list[dict[str, Any]] = [{}, {"goal": " "}, {"goal": "", "summary": "\n"}]
    for nothing in given:
        with pytest.raises(InvalidInput, match="goal or a summary"):
            await book.episodes.record("ana", outcome="succeeded", **nothing)
    with pytest.raises(InvalidInput, match="output"):
        await book.episodes.record(
            "ana", goal="Try", outcome="succeeded", tool_calls=[{"tool": "t", "output": object()}]
        )


async def test_it_answers_whether_this_was_tried_before(tmp_path: Path):
    async with memoranda.open(tmp_path / "book.db", embed=None) as book:
        refund = await tried(book, "Refund order 8842", "failed", ["refund", "orders"])
        again = await tried(book, "Refund order 8842 by the other card", "succeeded", ["refund"])
        await tried(book, "Book a table", "succeeded", ["dinner"])
        found = await book.episodes.search("ana", like="was order 8842 refunded?", agent="guide")
        assert {hit.id for hit in found} == {refund, again}
        assert found[0].score >= found[1].score > 0 and found[0].words
        failed = await book.episodes.search("ana", like="refund", outcome="failed", agent="guide")
        assert [hit.id for hit in failed] == [refund]
        tagged = await book.episodes.search(
            "ana", like="order", tags=["refund", "orders"], agent="guide"
        )
        assert [hit.id for hit in tagged] == [refund]
        assert [
            hit.id for hit in await book.episodes.search("ana", like="fly to Mars", agent="guide")
        ] == []
        newest = await book.episodes.search("ana", outcome="succeeded", agent="guide", limit=1)
        assert [hit.text.splitlines()[0] for hit in newest] == ["Book a table"]


async def test_only_what_the_view_may_see_was_tried():
    async with memoranda.open("memory://", embed=None) as book:
        await tried(book, "Refund order 8842")
        assert await book.episodes.search("ana", like="refund order", agent="other") == []
        assert len(await book.episodes.search("ana", like="refund order", as_owner=True)) == 1
        assert await book.episodes.search("ben", like="refund order", as_owner=True) == []
        with pytest.raises(InvalidInput, match="outcome"):
            await book.episodes.search("ana", outcome="great")


@pytest.mark.parametrize(
    ("wrong", "field"),
    [({"outcome": "great"}, "outcome"), ({"tags": "refund"}, "tags"), ({"tags": [7]}, "tags")],
)
async def test_a_list_of_episodes_refuses_what_no_episode_has(wrong: dict[str, Any], field: str):
    async with memoranda.open("memory://", embed=None) as book:
        await tried(book, "Refund order 8842", "failed", ["refund", "orders"])
        with pytest.raises(InvalidInput) as refused:
            await book.episodes.list("ana", as_owner=True, **wrong)
        assert refused.value.field == field
        failed = await book.episodes.list("ana", outcome="failed", tags=["refund"], as_owner=True)
        assert [episode.goal for episode in failed] == ["Refund order 8842"]


async def call_much(book):
    calls = [
        {"tool": "search", "inputs": {"for": "x" * 20}, "output": "y" * 30},
        {"tool": "short", "output": "done"},
        {"tool": "third", "output": "z" * 12},
    ]
    return await tried(book, "Look it up", tool_calls=calls)


async def test_what_an_episode_cuts_off_is_kept_beside_it(book_of_small: memoranda.Book):
    book = book_of_small
    id = await call_much(book)
    episode = await book.records.get("ana", id, agent="guide")
    assert isinstance(episode, memoranda.model.messages.Episode)
    assert [len(call.output) for call in episode.tool_calls] == [
        10,
        4,
    ] and episode.calls_omitted == 1
    overflow = await book.episodes.overflow("ana", id, agent="guide")
    assert overflow is not None and overflow.calls_omitted == 0
    assert [(one.place, one.call.tool, one.call.output) for one in overflow.calls] == [
        (0, "search", "y" * 30),
        (2, "third", "z" * 12),
    ]
    assert overflow.calls[0].call.inputs == {"for": "x" * 20}
    with pytest.raises(NotFound):
        await book.episodes.overflow("ana", id, agent="other")
    short = await tried(book, "Look again", tool_calls=[{"tool": "short", "output": "done"}])
    assert await book.episodes.overflow("ana", short, agent="guide") is None
    hit = (await book.episodes.search("ana", like="look it up", agent="guide"))[0]
    assert "z" * 12 not in repr(hit)


async def test_what_was_cut_off_goes_and_comes_with_its_episode(book_of_small: memoranda.Book):
    book = book_of_small
    id = await call_much(book)
    lines = [line async for line in book.admin.export("ana")]
    async with memoranda.open("memory://", embed=None) as other:
        await other.admin.import_(lines)
        assert await other.episodes.overflow(
            "ana", id, as_owner=True
        ) == await book.episodes.overflow("ana", id, as_owner=True)
    receipt = await book.forget("ana", id, as_owner=True)
    assert len(receipt.ids) == 2
    assert await book.records.count("ana", as_owner=True) == 0
    assert (await book.admin.verify()).faults == ()


async def test_an_episode_that_is_undone_takes_what_was_cut_off_along(
    book_of_small: memoranda.Book,
):
    book = book_of_small
    id = await call_much(book)
    undone = await book.undo(
        "ana", (await book.records.history("ana", id, as_owner=True))[0].position, as_owner=True
    )
    assert await book.records.count("ana", as_owner=True) == 0
    await book.undo("ana", undone.position, as_owner=True)
    assert await book.episodes.overflow("ana", id, as_owner=True) is not None


async def test_what_is_kept_beside_an_episode_has_an_end_too():
    limits = Limits(tool_output_length=10, tool_calls=1, overflow_length=106)
    async with memoranda.open("memory://", embed=None, limits=limits) as book:
        calls = [{"tool": "search", "output": letter * 60} for letter in "abcd"]
        id = await tried(book, "Look it up", tool_calls=calls)
        overflow = await book.episodes.overflow("ana", id, agent="guide")
        assert overflow is not None
        assert [len(one.call.output) for one in overflow.calls] == [60, 17]
        assert (overflow.calls[1].call.cut, overflow.calls_omitted) == (43, 2)
    async with memoranda.open(
        "memory://", embed=None, limits=Limits(tool_calls=0, overflow_length=0)
    ) as book:
        id = await tried(book, "Look it up", tool_calls=calls)
        assert await book.episodes.overflow("ana", id, agent="guide") is None


@pytest.fixture(params=["memory://", "file"])
async def book_of_small(request: pytest.FixtureRequest, tmp_path: Path):
    address = tmp_path / "book.db" if request.param == "file" else request.param
    async with memoranda.open(address, embed=None, limits=SMALL) as book:
        yield book
