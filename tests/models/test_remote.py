"""Tests of remote models: each task's model is asked once and within its time limit."""

from __future__ import annotations

import asyncio
import json
from decimal import Decimal
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ThinkingPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.instrumented import InstrumentedModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.usage import RequestUsage

from memoranda.errors import InvalidInput, ModelRefused
from memoranda.model.language_models import Earlier
from memoranda.models import RemoteModels
from memoranda.ports import Models
from tests.models.questions import GOOD, question
from tests.models.scripted import Gate, says


async def test_an_answer_is_read_and_what_it_used_is_told() -> None:
    used = RequestUsage(input_tokens=900, cache_read_tokens=600, output_tokens=30)
    model = says(json.dumps(GOOD), usage=used, model_name="gpt-4o-mini", provider_name="openai")
    models = RemoteModels(model)
    assert isinstance(models, Models)
    answer = await models.ask(question())
    assert (answer.value, answer.fault, answer.refused) == (GOOD, "", False)
    usage = answer.usage
    assert (usage.provider, usage.model, usage.calls) == ("openai", "gpt-4o-mini", 1)
    assert (usage.tokens_in, usage.tokens_cached, usage.tokens_out) == (900, 600, 30)
    assert usage.price is not None and Decimal(0) < usage.price < Decimal("0.01")
    assert usage.currency == "USD"


async def test_test_models_answer_too() -> None:
    answer = await RemoteModels(TestModel(custom_output_text=json.dumps(GOOD))).ask(question())
    assert answer.value == GOOD


@pytest.mark.parametrize(
    "more",
    [
        {"usage": RequestUsage(input_tokens=9, output_tokens=9), "model_name": "nobody-knows-it"},
        {
            "usage": RequestUsage(input_tokens=1, cache_read_tokens=9),
            "model_name": "gpt-4o-mini",
            "provider_name": "openai",
        },
    ],
    ids=["unknown model", "more from the cache than was sent"],
)
async def test_a_price_that_is_not_known_is_not_made_up(more: dict[str, Any]) -> None:
    answer = await RemoteModels(says(json.dumps(GOOD), **more)).ask(question())
    assert answer.value == GOOD
    assert answer.usage.price is None


async def test_a_price_that_the_provider_says_counts_before_the_table() -> None:
    used = RequestUsage(input_tokens=9, output_tokens=9, cost=Decimal("0.5"))
    answer = await RemoteModels(says(json.dumps(GOOD), usage=used)).ask(question())
    assert answer.usage.price == Decimal("0.5")


async def test_a_providers_names_are_kept_as_one_short_line() -> None:
    model = says("{}", model_name="a\x00b\n\ud83d" + "c" * 1_000, provider_name="p\x1b[2J")
    usage = (await RemoteModels(model).ask(question())).usage
    assert usage.provider == "p[2J"
    assert usage.model.startswith("a\ufffdb\ufffdc") and len(usage.model) <= 255


async def test_an_answer_that_no_file_can_hold_is_made_whole_before_it_is_kept() -> None:
    answer = await RemoteModels(says('{"notes": []} \ud83d\x00')).ask(question())
    assert answer.text == '{"notes": []} \ufffd\ufffd'
    assert answer.value == {"notes": []}


async def test_what_is_no_answer_is_a_fault_and_was_paid_for() -> None:
    answer = await RemoteModels(says("I would rather not.")).ask(question())
    assert (answer.value, answer.text) == (None, "I would rather not.")
    assert "no JSON object" in answer.fault
    assert answer.usage.calls == 1


async def test_thoughts_are_no_answer() -> None:
    async def thinks(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[ThinkingPart('{"draft": 1}'), TextPart(json.dumps(GOOD))])

    assert (await RemoteModels(FunctionModel(thinks)).ask(question())).value == GOOD


async def test_an_answer_that_is_cut_off_says_so() -> None:
    answer = await RemoteModels(says('{"notes": [', finish_reason="length")).ask(
        question(largest=7)
    )
    assert answer.value is None
    assert "cut off" in answer.fault and "7 tokens" in answer.fault


async def test_a_refusal_is_an_answer_that_need_not_be_asked_for_again() -> None:
    answer = await RemoteModels(says("", finish_reason="content_filter")).ask(question())
    assert answer.refused and answer.value is None and answer.fault


async def test_every_prompt_of_a_task_begins_with_the_same_letters() -> None:
    seen: list[str] = []

    async def notes(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        assert info.instructions is not None
        seen.append(info.instructions)
        assert not info.output_tools and not info.function_tools
        return ModelResponse(parts=[TextPart("{}")])

    models = RemoteModels(FunctionModel(notes), native=False)
    await models.ask(question(content="talk 1"))
    await models.ask(question(content="talk 2", earlier=(Earlier(answer="{", faults=("no end",)),)))
    assert seen[0] == seen[1]
    assert seen[0].startswith(question().instructions)
    assert seen[0].endswith("{notes: [{…}]}")
    assert "talk 1" not in seen[0]


async def test_another_task_has_another_model_and_its_own_settings_stay() -> None:
    async def tells(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[TextPart(json.dumps(dict(info.model_settings or {})))])

    models = RemoteModels(
        says('{"by": "the first"}'),
        {"summary": FunctionModel(tells, settings={"temperature": 0.5})},
        settings={"seed": 7},
    )
    assert (await models.ask(question())).value == {"by": "the first"}
    settings = (await models.ask(question(task="summary", largest=20))).value
    assert settings is not None
    assert (settings["temperature"], settings["seed"], settings["max_tokens"]) == (0.5, 7, 20)


async def test_no_more_than_so_many_are_asked_at_once() -> None:
    gate = Gate()
    models = RemoteModels(gate.model, at_once=2)
    asking = [asyncio.create_task(models.ask(question())) for _ in range(5)]
    await gate.until(2)
    for _ in range(20):
        await asyncio.sleep(0)
    assert gate.most == 2
    gate.opened.set()
    await asyncio.gather(*asking)
    assert gate.most == 2


async def test_a_call_that_is_cancelled_frees_its_place_and_leaves_nothing_running() -> None:
    gate = Gate()
    models = RemoteModels(gate.model, at_once=1)
    before = asyncio.all_tasks()
    asking = asyncio.create_task(models.ask(question()))
    await gate.until(1)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert gate.inside == 0
    assert asyncio.all_tasks() == before
    gate.opened.set()
    assert (await models.ask(question())).value == {}


@pytest.mark.parametrize("wish", [object(), 7, None, "no-such-provider:model", "no-colon"])
def test_what_is_no_model_is_refused_by_name(wish: Any) -> None:
    with pytest.raises(InvalidInput, match="models: "):
        RemoteModels(wish)


def test_a_model_that_no_provider_holds_to_a_schema_is_not_asked_to_be() -> None:
    loose = FunctionModel(Gate().answers, profile={"supports_json_schema_output": False})
    with pytest.raises(InvalidInput, match="native"):
        RemoteModels(loose, native=True)


async def test_a_provider_may_be_asked_to_hold_the_answer_to_the_schema() -> None:
    async def notes(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        held = info.model_request_parameters.output_object
        assert info.model_request_parameters.output_mode == "native" and held is not None
        assert info.instructions == question().instructions
        return ModelResponse(parts=[TextPart(json.dumps(held.json_schema))])

    model = FunctionModel(notes, profile={"supports_json_schema_output": True})
    answer = await RemoteModels(model, native=True).ask(question())
    assert answer.value is not None and answer.value["required"] == ["notes"]


async def test_a_provider_that_can_holds_the_answer_to_the_schema_unless_it_refuses() -> None:
    modes: list[str] = []

    async def notes(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        modes.append(info.model_request_parameters.output_mode)
        if modes[-1] == "native":
            raise ModelHTTPError(400, "some-local-model")
        return ModelResponse(parts=[TextPart('{"notes": []}')])

    models = RemoteModels(FunctionModel(notes, profile={"supports_json_schema_output": True}))
    for _ in range(2):
        assert (await models.ask(question())).value == {"notes": []}
    # Refused once, it is asked for text from then on.
    assert modes == ["native", "text", "text"]
    with pytest.raises(ModelRefused):
        await RemoteModels(FunctionModel(notes), native=True).ask(question())


async def test_an_application_that_traces_its_agents_does_not_trace_what_was_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def traced(*_: Any, **__: Any) -> ModelResponse:
        raise AssertionError("what was said went into a trace")

    monkeypatch.setattr(InstrumentedModel, "request", traced)
    Agent.instrument_all()
    try:
        assert (await RemoteModels(says(json.dumps(GOOD))).ask(question())).value == GOOD
    finally:
        Agent.instrument_all(False)
