"""The way to a provider, driven to its end: PydanticAI, the provider's own client, and a server that says what it is told."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path

import pytest

from commonplace.errors import ModelDown, ModelRefused
from commonplace.model.asking import Earlier
from commonplace.models import RemoteModels
from commonplace.testing import model_replies as replies
from commonplace.testing.model_replies import Reply
from commonplace.testing.model_server import ModelServer, Script
from tests.models.questions import CANARY, GOOD, SCHEMA, question

pytest.importorskip("pydantic_ai", reason="the extra commonplace[models] is not installed")
pytest.importorskip("openai", reason="the client of the provider is not installed")

ROOT = Path(__file__).parents[2]
#: Longer than a good answer takes on a busy machine.
LONG = 30.0


@pytest.fixture(params=["openai-chat:gpt-4o-mini", "openai:gpt-4o-mini"], ids=["chat", "responses"])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    with ModelServer([replies.answer(GOOD)]) as serving:
        for variable, value in serving.environment.items():
            monkeypatch.setenv(variable, value)
        yield serving


@asynccontextmanager
async def asking(
    server: ModelServer, name: str, script: Script, seconds: float = LONG, native: bool = False
) -> AsyncIterator[RemoteModels]:
    server.script = script
    models = RemoteModels(name, seconds=seconds, native=native)
    try:
        yield models
    finally:
        await models.close()


@pytest.mark.parametrize("reply", [replies.answer(GOOD), replies.in_prose(GOOD)], ids=["valid", "prose"])
async def test_a_good_answer_is_found(server: ModelServer, name: str, reply: Reply) -> None:
    async with asking(server, name, [reply]) as models:
        answer = await models.ask(question())
    assert (answer.value, answer.fault) == (GOOD, "")
    assert len(server.asked) == 1


async def test_tokens_and_price_are_those_that_the_provider_counts(server: ModelServer, name: str) -> None:
    async with asking(server, name, [replies.answer(GOOD, tokens=(2_000, 1_500, 20))]) as models:
        usage = (await models.ask(question())).usage
    assert (usage.tokens_in, usage.tokens_cached, usage.tokens_out) == (2_000, 1_500, 20)
    # 500 at 0.15, 1,500 at 0.075 and 20 at 0.60 dollars a million.
    assert usage.price == Decimal("0.0001995")


async def test_tokens_that_nobody_counted_have_no_price(server: ModelServer, name: str) -> None:
    async with asking(server, name, [replies.answer(GOOD, counted=False)]) as models:
        usage = (await models.ask(question())).usage
    assert (usage.calls, usage.tokens_in, usage.price) == (1, 0, None)


async def test_ids_that_were_never_shown_are_for_the_asker_to_see(server: ModelServer, name: str) -> None:
    strange = {"notes": [{"content": "x", "messages": ["m99"]}]}
    async with asking(server, name, [replies.answer(strange)]) as models:
        assert (await models.ask(question())).value == strange


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (replies.invalid_json(), "no valid JSON"),
        (replies.half_json(GOOD), "cut off"),
        (replies.answer(json.dumps(GOOD)[:-3]), "cut off"),
        (replies.huge(), "longer than"),
        (replies.answer("I am afraid that I cannot do that."), "no JSON object"),
        (replies.answer(""), "empty"),
    ],
    ids=["invalid", "half", "half, and says stop", "huge", "declined in words", "empty"],
)
async def test_a_bad_answer_is_a_fault_that_was_paid_for(
    server: ModelServer, name: str, reply: Reply, why: str
) -> None:
    async with asking(server, name, [reply]) as models:
        answer = await models.ask(question())
    assert answer.value is None and not answer.refused
    assert why in answer.fault and len(answer.fault) < 200
    assert len(answer.text) <= 1_000_000
    assert answer.usage.calls == 1 and answer.usage.tokens_in > 0
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "reply", [replies.refusal(), replies.answer("", finish="content_filter")], ids=["refusal", "filter"]
)
async def test_a_refusal_is_told_from_a_bad_answer(server: ModelServer, name: str, reply: Reply) -> None:
    async with asking(server, name, [reply]) as models:
        answer = await models.ask(question())
    assert answer.refused and answer.value is None
    assert answer.usage.calls == 1


@pytest.mark.parametrize(
    ("reply", "wait"),
    [
        (replies.too_many(7), 7.0),
        (replies.too_many(), None),
        (replies.too_many("soon"), None),
        (replies.failing(500), None),
        (replies.failing(503, headers={"Retry-After": "3"}), 3.0),
        (replies.failing(529), None),
        (replies.failing(408), None),
        (replies.closing_half_way(GOOD), None),
        (Reply(raw=b"<html>busy</html>", headers={"Content-Type": "text/html"}), None),
        (Reply(raw=b""), None),
        (Reply(raw=b"null"), None),
        (Reply(raw=b"[]"), None),
        (Reply(raw=b'{"choices": [], "output": null}'), None),
        (Reply(raw=b"\xff\xfe"), None),
    ],
    ids=[
        "429 and when",
        "429",
        "429 and nonsense",
        "500",
        "503",
        "529",
        "408",
        "half way",
        "page",
        "nothing",
        "null",
        "list",
        "no choice",
        "bytes",
    ],
)
async def test_an_outage_is_told_once_and_nothing_is_asked_again_in_secret(
    server: ModelServer, name: str, reply: Reply, wait: float | None
) -> None:
    async with asking(server, name, [reply]) as models:
        with pytest.raises(ModelDown) as caught:
            await models.ask(question())
    assert caught.value.retry_after == wait
    assert_tells_nothing(caught.value)
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (replies.unauthorized(), "credentials"),
        (replies.failing(403), "credentials"),
        (replies.failing(404, "model_not_found"), "model"),
        (replies.failing(402), "quota"),
        (replies.failing(429, "insufficient_quota"), "quota"),
        (replies.failing(400, "context_length_exceeded"), "length"),
        (replies.failing(400, "content_policy_violation"), "content"),
        (replies.failing(400, f"{CANARY} likes blue"), "request"),
        (replies.failing(422), "request"),
    ],
    ids=["401", "403", "404", "402", "429 quota", "too long", "policy", "400", "422"],
)
async def test_a_refused_request_says_who_has_to_act(
    server: ModelServer, name: str, reply: Reply, reason: str
) -> None:
    async with asking(server, name, [reply]) as models:
        with pytest.raises(ModelRefused) as caught:
            await models.ask(question())
    assert caught.value.reason == reason
    assert_tells_nothing(caught.value)
    assert len(server.asked) == 1


@pytest.mark.parametrize("reply", [replies.silent(), replies.dripping(GOOD)], ids=["silent", "drip"])
async def test_a_provider_that_takes_too_long_is_hung_up_on(
    server: ModelServer, name: str, reply: Reply
) -> None:
    async with asking(server, name, [reply], seconds=0.3) as models:
        with pytest.raises(ModelDown, match=r"within 0\.3 s"):
            await models.ask(question())
    assert await asyncio.to_thread(server.until, given_up=1)


async def test_a_provider_that_is_not_there_is_down(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer([replies.answer(GOOD)]) as serving:
        for variable, value in serving.environment.items():
            monkeypatch.setenv(variable, value)
    models = RemoteModels(name, seconds=LONG)
    with pytest.raises(ModelDown):
        await models.ask(question())
    await models.close()


async def test_a_call_that_is_cancelled_hangs_up_and_the_next_one_is_answered(
    server: ModelServer, name: str
) -> None:
    async with asking(server, name, [replies.silent(), replies.answer(GOOD)]) as models:
        before = asyncio.all_tasks()
        task = asyncio.create_task(models.ask(question()))
        assert await asyncio.to_thread(server.until, asked=1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert asyncio.all_tasks() == before
        assert await asyncio.to_thread(server.until, given_up=1)
        assert (await models.ask(question())).value == GOOD


async def test_after_closing_models_may_be_asked_again(server: ModelServer, name: str) -> None:
    async with asking(server, name, [replies.answer(GOOD)]) as models:
        await models.ask(question())
        await models.close()
        assert (await models.ask(question())).value == GOOD
    await models.close()


async def test_a_server_of_an_older_protocol_is_asked_for_text_and_nothing_that_it_may_not_know(
    server: ModelServer,
) -> None:
    async with asking(server, "openai-chat:some-local-model", [replies.answer(GOOD)]) as models:
        await models.ask(question())
    assert set(server.asked[0].json) - {"max_tokens", "max_completion_tokens"} == {
        "model",
        "stream",
        "messages",
    }
    assert [role for role, _ in server.asked[0].said] == ["system", "user"]
    assert server.asked[0].content == question().content


async def test_a_schema_goes_to_the_provider_where_it_shall_hold_the_answer(
    server: ModelServer, name: str
) -> None:
    async with asking(server, name, [replies.answer(GOOD)], native=True) as models:
        assert (await models.ask(question())).value == GOOD
    asked = server.asked[0].json
    assert "json_schema" in json.dumps(asked.get("response_format") or asked["text"])
    assert server.asked[0].said[0] == ("system", question().instructions)


async def test_what_was_wrong_is_handed_back_behind_an_unchanged_beginning(
    server: ModelServer, name: str
) -> None:
    earlier = (Earlier(answer="", faults=("the answer is empty",)), Earlier(answer="{", faults=("a", "b")))
    async with asking(server, name, [replies.answer(GOOD)]) as models:
        await models.ask(question())
        await models.ask(question(earlier=earlier))
    first, second = (asked.said for asked in server.asked)
    assert second[: len(first)] == first
    assert [role for role, _ in second[len(first) :]] == ["assistant", "user"] * 2
    assert "the answer is empty" in second[3][1] and second[-2] == ("assistant", "{")
    assert json.dumps(SCHEMA, separators=(",", ":")) in first[0][1]


@pytest.mark.parametrize(
    "reply",
    [
        replies.answer(GOOD),
        replies.invalid_json(),
        replies.failing(),
        replies.failing(400),
        replies.unauthorized(),
        replies.silent(),
        replies.answer(f"no {CANARY}"),
    ],
    ids=["valid", "invalid", "500", "400", "401", "silent", "quoted"],
)
async def test_the_log_never_holds_what_was_said(
    server: ModelServer, name: str, reply: Reply, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    caplog.set_level(logging.DEBUG, "commonplace")
    async with asking(server, name, [reply], seconds=0.3 if reply == replies.silent() else LONG) as models:
        try:
            assert CANARY not in repr(await models.ask(question()))
        except (ModelDown, ModelRefused):
            logging.getLogger("commonplace.tests").exception("it failed")
    assert CANARY not in caplog.text


def test_another_process_may_ask_the_same_server(server: ModelServer) -> None:
    code = (
        "import asyncio; from commonplace.models import RemoteModels; "
        "from tests.models.questions import question; "
        "print(asyncio.run(RemoteModels('openai-chat:gpt-4o-mini').ask(question())).value)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == str(GOOD)
    assert server.asked[0].headers["authorization"].startswith("Bearer ")


def assert_tells_nothing(error: BaseException) -> None:
    """Neither the error nor what hangs on it says what was sent."""
    assert CANARY not in repr(error)
    assert error.__cause__ is None and error.__context__ is None
