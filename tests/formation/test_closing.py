"""A long thread keeps its summary if a newer one fails; tool calls are read in the form of any
framework.
"""

from __future__ import annotations

import pytest

from memoranda.errors import ModelDown
from memoranda.formation.close import tool_calls_of
from memoranda.formation.extract.summary import TASK, TOKENS, summary_by_rules, summary_in
from memoranda.model.language_models import ModelRequest
from memoranda.model.messages import SummariseThread
from memoranda.testing.clock import HandClock
from memoranda.testing.scripted_models import Said, ScriptedModels
from memoranda.text.token_count import estimate
from memoranda_conformance.builders import ANN, START, a_message
from tests.formation.books import jobs, opened, settle
from tests.formation.readings import THREAD

LONG = "I like jazz. " + "And then we talked about this and that for a while. " * 12


async def talk_on(thread, turns: int) -> None:
    for _ in range(turns):
        await thread.append(
            [{"role": "user", "content": LONG}, {"role": "assistant", "content": "Fine."}]
        )


@pytest.mark.parametrize("by_model", [False, True])
async def test_what_leaves_a_window_is_summed_up_from_the_summary_before(
    clock: HandClock, by_model: bool
):
    told: list[ModelRequest] = []

    def say(request: ModelRequest) -> Said:
        if request.task != TASK:
            return {}
        told.append(request)
        return {"summary": f"Summary {len(told)}."}

    async with opened("memory://", clock, ScriptedModels(say) if by_model else None) as book:
        thread = await book.thread("ann", agent="guide")
        await talk_on(thread, 3)
        await settle(book, clock)
        assert (await thread.get()).summary == "" and (await thread.window()).summary == ""
        await talk_on(thread, 20)
        await settle(book, clock)
        first = await thread.get()
        assert 0 < first.summary_through < 46
        await talk_on(thread, 20)
        await settle(book, clock)
        second = await thread.get()
        assert second.summary_through > first.summary_through
        window = await thread.window(budget=2000)
        assert window.summary == second.summary
        assert window.messages[0].seq <= second.summary_through + 1
        if by_model:
            assert first.summary == "Summary 1." and "Summary 1." in told[1].content
        else:
            assert "Likes jazz" in second.summary and estimate(second.summary) <= TOKENS


@pytest.mark.parametrize("wrong", [{"summary": ""}, {"summary": 7}, {}, "no json"])
async def test_the_old_summary_stays_when_a_newer_one_fails_and_nothing_waits_for_it(
    clock: HandClock, wrong: Said
):
    failing = False

    def say(request: ModelRequest) -> Said:
        if request.task == TASK:
            return wrong if failing else {"summary": "They spoke of jazz."}
        return {}

    async with opened("memory://", clock, ScriptedModels(say)) as book:
        thread = await book.thread("ann", agent="guide")
        await talk_on(thread, 20)
        await settle(book, clock)
        before = await thread.get()
        failing = True
        await talk_on(thread, 20)
        await settle(book, clock)
        after = await thread.get()
        assert (after.summary, after.summary_through) == (
            "They spoke of jazz.",
            before.summary_through,
        )
        assert after.formed_through == 80 and await jobs(book) == []


async def test_a_summary_that_is_of_no_use_is_not_bought_at_every_word(clock: HandClock):
    models = ScriptedModels(lambda request: {})
    async with opened("memory://", clock, models) as book:
        thread = await book.thread("ann", agent="guide")
        await talk_on(thread, 20)
        await settle(book, clock)
        for _ in range(5):
            await thread.append("user", "ok")
            await settle(book, clock)
    assert [request.task for request in models.asked].count(TASK) == 1
    assert max(estimate(request.content) for request in models.asked) < 10_000


async def test_a_summary_waits_for_its_provider_and_says_so(clock: HandClock):
    away = True

    def say(request: ModelRequest) -> Said:
        if request.task != TASK:
            return {}
        return ModelDown("the provider is away") if away else {"summary": "They spoke of jazz."}

    async with opened("memory://", clock, ScriptedModels(say)) as book:
        thread = await book.thread("ann", agent="guide")
        await talk_on(thread, 20)
        await settle(book, clock)
        (job,) = await jobs(book)
        assert "the provider is away" in job.error and (await thread.get()).formed_through == 40
        away = False
        await settle(book, clock, 700)
        assert (await thread.get()).summary == "They spoke of jazz."
        assert await jobs(book) == []


@pytest.mark.parametrize("since", [0, 1])
async def test_a_summary_that_was_bought_is_used_after_a_crash(
    clock: HandClock, monkeypatch: pytest.MonkeyPatch, since: int
):
    models = ScriptedModels(lambda request: {"summary": "Jazz."} if request.task == TASK else {})
    async with opened("memory://", clock, models) as book:
        thread = await book.thread("ann", agent="guide")
        await talk_on(thread, 20)
        apply = book.engine.apply

        async def crash(batch):
            if any(isinstance(change, SummariseThread) for change in batch.changes):
                monkeypatch.undo()
                raise OSError("the power is gone")
            return await apply(batch)

        monkeypatch.setattr(book.engine, "apply", crash)
        await settle(book, clock)
        assert (await thread.get()).summary == ""
        await talk_on(thread, since)
        await settle(book, clock, 60)
        told = await thread.get()
        assert (told.summary, told.formed_through) == ("Jazz.", 40 + 2 * since)
        (asked,) = [request for request in models.asked if request.task == TASK]
        assert asked.content.count("- [") == told.summary_through
    assert [request.task for request in models.asked].count(TASK) == 1


async def test_forgetting_a_turn_takes_the_summary_that_covers_it(clock: HandClock):
    async with opened("memory://", clock) as book:
        thread = await book.thread("ann", agent="guide")
        said = await thread.append("user", "Remember that my locker is number 4471.")
        await talk_on(thread, 20)
        await settle(book, clock)
        assert "4471" in (await thread.get()).summary
        await book.forget("ann", said.id, as_owner=True)
        assert (await thread.get()).summary == ""
        assert (await book.admin.verify()).faults == ()


def test_a_summary_without_a_model_stays_within_its_tokens_and_keeps_what_was_stated():
    asked = a_message(ANN, THREAD.id, "What is the time? " * 30, START, seq=1)
    stated = a_message(ANN, THREAD.id, "I live in Graz.", START, seq=2)
    text = summary_by_rules(
        "", [stated, *([asked] * 1), *(asked.changed(content=f"Q{n}? {LONG}") for n in range(99))]
    )
    assert "Lives in Graz" in text and estimate(text) <= TOKENS
    assert summary_by_rules(text, []) == text


def test_an_answer_that_is_no_summary_is_none():
    assert (
        summary_in({"summary": "x " * 20_000}) == ""
        and summary_in([1]) == ""
        and summary_in(None) == ""
    )
    assert summary_in({"summary": " Tea.\x00 "}) == "Tea."


@pytest.mark.parametrize(
    "native",
    [
        [
            {
                "part_kind": "tool-call",
                "tool_name": "look",
                "tool_call_id": "1",
                "args": '{"id": 7}',
            },
            {
                "part_kind": "tool-return",
                "tool_name": "look",
                "tool_call_id": "1",
                "content": "found",
            },
        ],
        {
            "tool_calls": [
                {
                    "id": "1",
                    "type": "function",
                    "function": {"name": "look", "arguments": '{"id": 7}'},
                }
            ],
            "then": {"type": "function_call_output", "call_id": "1", "output": "found"},
        },
        {
            "content": [
                {"type": "tool_use", "id": "1", "name": "look", "input": {"id": 7}},
                {"type": "tool_result", "tool_use_id": "1", "content": "found"},
            ]
        },
        [
            {
                "role": "model",
                "parts": [{"functionCall": {"id": "1", "name": "look", "args": {"id": 7}}}],
            },
            {
                "role": "user",
                "parts": [{"functionResponse": {"id": "1", "name": "look", "response": "found"}}],
            },
        ],
        [
            {
                "type": "ai",
                "tool_calls": [{"type": "tool_call", "id": "1", "name": "look", "args": {"id": 7}}],
            },
            {"type": "tool", "tool_call_id": "1", "content": "found"},
        ],
        [
            {"type": "tool-call", "toolCallId": "1", "toolName": "look", "input": {"id": 7}},
            {
                "role": "tool",
                "content": [{"type": "tool-result", "toolCallId": "1", "result": "found"}],
            },
        ],
    ],
    ids=["pydantic-ai", "openai", "anthropic", "function parts", "graph", "camel case"],
)
def test_calls_are_read_in_the_forms_of_those_who_made_them(native: object):
    message = a_message(ANN, THREAD.id, "…", START, seq=1, role="assistant", native=native)
    (call,) = tool_calls_of([message])
    assert (call.tool, call.inputs, call.output, call.success) == ("look", {"id": 7}, "found", True)


def test_a_result_in_a_message_of_its_own_belongs_to_its_call():
    asked = {
        "role": "assistant",
        "tool_calls": [{"id": "1", "type": "function", "function": {"name": "look"}}],
    }
    forms = [
        ("assistant", asked),
        ("tool", {"role": "tool", "tool_call_id": "1", "content": "found"}),
    ]
    said = [
        a_message(ANN, THREAD.id, "…", START, seq=1, role=role, native=form) for role, form in forms
    ]
    assert [(call.tool, call.output) for call in tool_calls_of(said)] == [("look", "found")]


def test_calls_of_hostile_forms_are_read_or_left():
    deep: object = "x"
    for _ in range(30):
        deep = [deep]
    forms = [
        deep,
        {"part_kind": "tool-call"},
        {"type": "tool_result", "content": None},
        {"type": 3, "id": []},
    ]
    messages = [
        a_message(ANN, THREAD.id, "…", START, seq=1, role="tool", native=form) for form in forms
    ]
    assert all(call.tool for call in tool_calls_of(messages))
