"""A summary of a whole thread on demand, in three sections."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memoranda.errors import Conflict, InvalidInput, ModelDown, ModelFailed, NotFound
from memoranda.model.language_models import ModelRequest
from memoranda.testing.clock import HandClock
from memoranda.testing.scripted_models import Said, ScriptedModels
from tests.formation.books import TALK, opened, settle

TOLD = {
    "summary": "Ann lives in New York and likes jazz.",
    "main_points": ["Lives in New York", "Likes jazz"],
    "takeaways": ["The assistant noted both."],
}


async def test_a_thread_is_summarised_in_three_sections_and_not_twice(
    tmp_path: Path, clock: HandClock
) -> None:
    models = ScriptedModels([TOLD])
    async with opened(tmp_path / "book.db", clock, models) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append(TALK)
        made = await thread.summarise()
        assert made.summary == TOLD["summary"] and made.through == 2
        assert (list(made.main_points), list(made.takeaways)) == (
            TOLD["main_points"],
            TOLD["takeaways"],
        )
        assert await thread.summarise() == made == (await thread.get()).task_summary
        (spent,) = await book.admin.usage()
        assert (spent.calls, spent.answers, spent.task, spent.agent) == (1, 1, "summary", "guide")
        await thread.append("user", "And I play the cello.")
        assert (await thread.summarise()).through == 3
        assert len(models.asked) == 2 and "Lives in New York" in models.asked[1].content
        assert "cello" in models.asked[1].content
        assert (await book.admin.verify()).faults == ()
    async with opened(tmp_path / "book.db", clock, None) as book:
        # Another process without a model reads what is stored.
        assert (
            await (await book.thread("ann", id=thread.id, as_owner=True)).summarise()
        ).through == 3


async def test_a_forgotten_message_takes_the_summary_along(clock: HandClock) -> None:
    async with opened("memory://", clock, ScriptedModels([TOLD])) as book:
        thread = await book.thread("ann", agent="guide")
        receipt = await thread.append(TALK)
        await thread.summarise()
        await book.forget("ann", [receipt.items[1].id], as_owner=True)
        assert (await thread.get()).task_summary is None


async def test_a_message_that_is_forgotten_while_the_model_is_asked_is_in_no_summary(
    clock: HandClock,
) -> None:
    async with opened("memory://", clock, ScriptedModels([TOLD])) as book:
        thread = await book.thread("ann", agent="guide")
        receipt = await thread.append(TALK)
        ask = book._models.ask  # type: ignore[union-attr]

        async def slowly(request: ModelRequest) -> Any:
            await book.forget("ann", [receipt.items[0].id], as_owner=True)
            return await ask(request)

        book._models.ask = slowly  # type: ignore[union-attr, method-assign]
        with pytest.raises(Conflict, match="ask for it again"):
            await thread.summarise()
        assert (await thread.get()).task_summary is None


async def test_without_a_model_or_messages_it_is_refused_with_what_to_do(clock: HandClock) -> None:
    async with opened("memory://", clock, None) as book:
        thread = await book.thread("ann", agent="guide")
        with pytest.raises(InvalidInput, match="no messages"):
            await thread.summarise()
        await thread.append(TALK)
        with pytest.raises(Conflict, match="models="):
            await thread.summarise()
        other = await book.thread("ann", id=thread.id, agent="guide")
        await book.forget("ann", [thread.id], as_owner=True)
        with pytest.raises(NotFound):
            await other.summarise()


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ("no json", ModelFailed),
        ({"summary": " "}, ModelFailed),
        ({"main_points": ["x"]}, ModelFailed),
        (ModelDown("away"), ModelFailed),
    ],
)
async def test_an_answer_that_cannot_be_used_raises_and_is_counted(
    clock: HandClock, said: Said, error: type[Exception]
) -> None:
    async with opened("memory://", clock, ScriptedModels([said])) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append(TALK)
        with pytest.raises(error):
            await thread.summarise()
        assert (await thread.get()).task_summary is None
        assert [spent.calls for spent in await book.admin.usage()] == [1]


async def test_a_budget_stops_it(clock: HandClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORANDA_BUDGETS_USER_DAY_TOKENS", "100")
    models = ScriptedModels([TOLD])
    async with opened("memory://", clock, models) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append(TALK)
        with pytest.raises(ModelFailed, match="user_day_tokens"):
            await thread.summarise()
        assert models.asked == [] and await settle(book, clock) >= 0
