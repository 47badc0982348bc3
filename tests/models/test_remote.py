"""Any model of PydanticAI is asked once and within its time, another one for another task."""

from __future__ import annotations

import asyncio
import json
import pickle
from collections.abc import Awaitable, Callable
from decimal import Decimal
from typing import Any

import pytest

from commonplace.errors import InvalidInput, ModelDown, ModelFailed, ModelRefused
from commonplace.model.asking import Earlier
from commonplace.models import RemoteModels
from commonplace.ports import Models
from tests.models.questions import CANARY, GOOD, question

pytest.importorskip("pydantic_ai", reason="the extra commonplace[models] is not installed")

from pydantic_ai.exceptions import (
    FallbackExceptionGroup,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelHTTPError,
    ModelRateLimitError,
    UnexpectedModelBehavior,
    UserError,
)
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ThinkingPart
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.usage import RequestUsage

Answers = Callable[[list[ModelMessage], AgentInfo], Awaitable[ModelResponse]]


def says(text: str, model_name: str | None = None, **more: Any) -> FunctionModel:
    async def answers(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[TextPart(text)], **more)

    return FunctionModel(answers, model_name=model_name)


def raises(error: Exception) -> FunctionModel:
    async def answers(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        raise error

    return FunctionModel(answers)


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
    answer = await RemoteModels(says('{"notes": [', finish_reason="length")).ask(question(largest=7))
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

    models = RemoteModels(FunctionModel(notes))
    await models.ask(question(content="talk 1"))
    await models.ask(question(content="talk 2", earlier=(Earlier(answer="{", faults=("no end",)),)))
    assert seen[0] == seen[1]
    assert seen[0].startswith(question().instructions)
    assert seen[0].endswith('"required":["notes"]}')
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


@pytest.mark.parametrize(
    ("error", "wait"),
    [
        (ModelConnectionError("letters", f"no route to {CANARY}"), None),
        (ModelHTTPError(503, "letters", body=CANARY, headers={"Retry-After": "4"}), 4.0),
        (ModelRateLimitError("letters", CANARY, retry_after=1e12), 86_400.0),
        (ModelRateLimitError("letters", CANARY, retry_after=float("nan")), None),
        (UnexpectedModelBehavior("odd", body=CANARY), None),
        (ConnectionResetError(CANARY), None),
        (TimeoutError(CANARY), None),
        (TypeError(CANARY), None),
        (FallbackExceptionGroup(CANARY, [UserError(CANARY), ModelConnectionError("b", CANARY)]), None),
    ],
    ids=["connection", "status", "long wait", "no wait", "odd", "socket", "timeout", "client", "fallback"],
)
async def test_a_provider_that_is_down_may_be_asked_later(error: Exception, wait: float | None) -> None:
    with pytest.raises(ModelDown) as caught:
        await RemoteModels(raises(error)).ask(question())
    assert caught.value.retry_after == wait
    assert_tells_nothing(caught.value)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ModelAuthenticationError("letters", f"bad key for {CANARY}"), "credentials"),
        (ModelHTTPError(418, "letters", body=CANARY), "request"),
        (UserError(CANARY), "request"),
        (FallbackExceptionGroup(CANARY, [ModelAuthenticationError("a", CANARY)]), "credentials"),
    ],
    ids=["key", "status", "use", "fallback"],
)
async def test_a_provider_that_refuses_is_no_outage(error: Exception, reason: str) -> None:
    with pytest.raises(ModelRefused) as caught:
        await RemoteModels(raises(error)).ask(question())
    assert caught.value.reason == reason
    assert_tells_nothing(caught.value)


async def test_several_models_in_one_are_down_when_all_of_them_are() -> None:
    both = FallbackModel(raises(ModelConnectionError("a", CANARY)), raises(ModelHTTPError(500, "b", CANARY)))
    with pytest.raises(ModelDown) as caught:
        await RemoteModels(both).ask(question())
    assert_tells_nothing(caught.value)
    either = FallbackModel(raises(ModelConnectionError("a", CANARY)), says(json.dumps(GOOD)))
    assert (await RemoteModels(either).ask(question())).value == GOOD


def test_errors_survive_the_way_between_processes() -> None:
    down = pickle.loads(pickle.dumps(ModelDown("busy", retry_after=3)))
    refused = pickle.loads(pickle.dumps(ModelRefused("no", reason="quota")))
    assert (down.retry_after, refused.reason) == (3, "quota")
    assert isinstance(down, ModelFailed) and down.code == refused.code == "model"


async def test_a_model_that_does_not_answer_in_time_is_given_up() -> None:
    with pytest.raises(ModelDown, match=r"within 0\.01 s"):
        await RemoteModels(Gate().model, seconds=0.01).ask(question())


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


def assert_tells_nothing(error: BaseException) -> None:
    """Neither the error nor what hangs on it says what was sent."""
    assert CANARY not in repr(error)
    assert error.__cause__ is None and error.__context__ is None


class Gate:
    """A model that answers only once it is opened, and counts who is waiting."""

    def __init__(self) -> None:
        self.opened = asyncio.Event()
        self.came = asyncio.Semaphore(0)
        self.inside = self.most = 0
        self.model = FunctionModel(self.answers)

    async def answers(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.inside += 1
        self.most = max(self.most, self.inside)
        self.came.release()
        try:
            await self.opened.wait()
        finally:
            self.inside -= 1
        return ModelResponse(parts=[TextPart("{}")])

    async def until(self, count: int) -> None:
        for _ in range(count):
            await self.came.acquire()
