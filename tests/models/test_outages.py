"""What goes wrong at a provider is told once, in our own words, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import logging

import pytest
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from memoranda.errors import ModelDown, ModelRefused
from memoranda.models import RemoteModels
from tests.fakes import model_replies as replies
from tests.fakes.model_replies import Reply
from tests.fakes.model_server import ModelServer
from tests.models.questions import CANARY, GOOD, LONG, asking, assert_tells_nothing, question


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


@pytest.mark.parametrize(
    "reply", [replies.silent(), replies.dripping(GOOD)], ids=["silent", "drip"]
)
async def test_a_provider_that_takes_too_long_is_hung_up_on(
    server: ModelServer, name: str, reply: Reply
) -> None:
    async with asking(server, name, [reply], seconds=0.3) as models:
        with pytest.raises(ModelDown, match=r"within 0\.3 s"):
            await models.ask(question())
    assert await asyncio.to_thread(server.until, given_up=1)


async def test_a_provider_that_is_not_there_is_down(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    caplog.set_level(logging.DEBUG, "memoranda")
    async with asking(
        server, name, [reply], seconds=0.3 if reply == replies.silent() else LONG
    ) as models:
        try:
            assert CANARY not in repr(await models.ask(question()))
        except (ModelDown, ModelRefused):
            logging.getLogger("memoranda.tests").exception("it failed")
    assert CANARY not in caplog.text


async def test_a_model_that_was_given_keeps_its_own_retries_and_stays_open(
    server: ModelServer,
) -> None:
    server.script = [replies.failing(), replies.answer(GOOD)]
    provider = OpenAIProvider(base_url=server.base_url, api_key="not-a-key")
    async with OpenAIChatModel("m", provider=provider, settings={"max_retries": 1}) as model:
        models = RemoteModels(model)
        assert (await models.ask(question())).value == GOOD
        await models.close()
        assert (await models.ask(question())).value == GOOD
    assert len(server.asked) == 3
