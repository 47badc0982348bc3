"""Tests of requests to a provider through PydanticAI and the provider's client, to a scripted
server.
"""

from __future__ import annotations

import json
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest

from memoranda.model.language_models import Earlier
from memoranda.models.json_answer import answer_outline
from tests.fakes import model_replies as replies
from tests.fakes.model_replies import Reply
from tests.fakes.model_server import ModelServer
from tests.models.questions import GOOD, SCHEMA, asking, question

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "reply", [replies.answer(GOOD), replies.in_prose(GOOD)], ids=["valid", "prose"]
)
async def test_a_good_answer_is_found(server: ModelServer, name: str, reply: Reply) -> None:
    async with asking(server, name, [reply]) as models:
        answer = await models.ask(question())
    assert (answer.value, answer.fault) == (GOOD, "")
    assert len(server.asked) == 1


async def test_tokens_and_price_are_those_that_the_provider_counts(
    server: ModelServer, name: str
) -> None:
    async with asking(server, name, [replies.answer(GOOD, tokens=(2_000, 1_500, 20))]) as models:
        usage = (await models.ask(question())).usage
    assert (usage.tokens_in, usage.tokens_cached, usage.tokens_out) == (2_000, 1_500, 20)
    # 500 at 0.15, 1,500 at 0.075 and 20 at 0.60 dollars a million.
    assert usage.price == Decimal("0.0001995")


@pytest.mark.parametrize(
    "reply",
    [replies.answer(GOOD, counted=False), replies.answer(GOOD, tokens=(0, 0, 0))],
    ids=["not told", "none"],
)
async def test_tokens_that_nobody_counted_have_no_price(
    server: ModelServer, name: str, reply: Reply
) -> None:
    async with asking(server, name, [reply]) as models:
        usage = (await models.ask(question())).usage
    assert (usage.calls, usage.tokens_in, usage.price) == (1, 0, None)


async def test_ids_that_were_never_shown_are_for_the_asker_to_see(
    server: ModelServer, name: str
) -> None:
    strange = {"notes": [{"content": "x", "messages": ["m99"]}]}
    async with asking(server, name, [replies.answer(strange)]) as models:
        assert (await models.ask(question())).value == strange


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (replies.invalid_json(), "not valid JSON"),
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
    "reply",
    [replies.refusal(), replies.answer("", finish="content_filter")],
    ids=["refusal", "filter"],
)
async def test_a_refusal_is_told_from_a_bad_answer(
    server: ModelServer, name: str, reply: Reply
) -> None:
    async with asking(server, name, [reply]) as models:
        answer = await models.ask(question())
    assert answer.refused and answer.value is None
    assert answer.usage.calls == 1


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
    earlier = (
        Earlier(answer="", faults=("the answer is empty",)),
        Earlier(answer="{", faults=("a", "b")),
    )
    async with asking(server, name, [replies.answer(GOOD)]) as models:
        await models.ask(question())
        await models.ask(question(earlier=earlier))
    first, second = (asked.said for asked in server.asked)
    assert second[: len(first)] == first
    assert [role for role, _ in second[len(first) :]] == ["assistant", "user"] * 2
    assert "the answer is empty" in second[3][1] and second[-2] == ("assistant", "{")
    assert answer_outline(SCHEMA) in first[0][1]


def test_another_process_may_ask_the_same_server(server: ModelServer) -> None:
    code = (
        "import asyncio; from memoranda.models import RemoteModels; "
        "from tests.models.questions import question; "
        "print(asyncio.run(RemoteModels('openai-chat:gpt-4o-mini').ask(question())).value)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.strip() == str(GOOD)
    assert server.asked[0].headers["authorization"].startswith("Bearer ")
