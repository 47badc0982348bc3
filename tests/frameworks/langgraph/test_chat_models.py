"""A chat model of LangChain forms a book: its answers are read, counted and asked again like those
of any model.
"""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler

import memoranda
from memoranda.errors import ModelDown
from memoranda.integrations.langgraph import ChatModels
from memoranda.model.changes import JobState
from memoranda.model.language_models import ModelRequest
from memoranda.model.memories import Memory
from memoranda.testing.clock import HandClock

NOTE = {"notes": [{"content": "Likes jazz", "sources": [{"message": "m1"}]}]}
ASKED = ModelRequest(
    task="t", instructions="i", content="c", answer_schema={"type": "object"}, largest=10
)


class Chat(BaseChatModel):
    """Says what it is given, in its order, and keeps what it was asked."""

    replies: list[Any]
    asked: list[list[BaseMessage]] = []  # noqa: RUF012 - pydantic copies it
    model_name: str = "small"

    @property
    def _llm_type(self) -> str:
        return "chat"

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        self.asked.append(messages)
        reply = self.replies[min(len(self.asked), len(self.replies)) - 1]
        if isinstance(reply, Exception):
            raise reply
        used = {
            "input_tokens": 90,
            "output_tokens": 9,
            "total_tokens": 99,
            "input_token_details": {"cache_read": 30},
        }
        made = reply if isinstance(reply, AIMessage) else AIMessage(reply, usage_metadata=used)
        return ChatResult(generations=[ChatGeneration(message=made)])


class Refusal(Exception):
    """An error of a provider's client with a status."""

    def __init__(self, status: int) -> None:
        super().__init__("she said that she likes jazz")
        self.status_code = status


async def test_a_thread_is_formed_by_a_chat_model_and_its_tokens_are_counted(clock: HandClock):
    chat = Chat(replies=["I think:\n```json\n" + json.dumps(NOTE) + "\n```"], asked=[])
    async with memoranda.open(
        "memory://", clock=clock, models=ChatModels(chat), worker=False
    ) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append("user", "I like jazz.")
        clock.advance(seconds=31)
        await book.jobs.run()
        page = await book.records.list("ann", types="memory", agent="guide")
        assert [one.content for one in page if isinstance(one, Memory)] == ["Likes jazz"]
        (spent,) = await book.admin.usage("ann")
        assert (spent.model, spent.tokens_in, spent.tokens_cached, spent.tokens_out) == (
            "Chat:small",
            90,
            30,
            9,
        )
        assert await book.jobs.who_forms() == "Chat:small"
    system, asked = chat.asked[0]
    assert (
        system.type == "system"
        and '"notes"' in str(system.content)
        and "I like jazz." in str(asked.content)
    )


async def test_an_answer_with_faults_is_asked_for_again_with_them(clock: HandClock):
    chat = Chat(replies=["no JSON here", json.dumps(NOTE)], asked=[])
    async with memoranda.open(
        "memory://", clock=clock, models=ChatModels(chat), worker=False
    ) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append("user", "I like jazz.")
        clock.advance(seconds=31)
        await book.jobs.run()
        assert len(await book.records.list("ann", types="memory", agent="guide")) == 1
    assert [one.type for one in chat.asked[1]] == ["system", "human", "ai", "human"]


@pytest.mark.parametrize("error", [TimeoutError(), ConnectionError(), Refusal(429), Refusal(503)])
async def test_a_provider_that_is_down_is_asked_later_and_its_words_are_not_kept(error: Exception):
    with pytest.raises(ModelDown) as down:
        await ChatModels(Chat(replies=[error], asked=[])).ask(ASKED)
    assert "jazz" not in str(down.value)


async def test_another_error_fails_the_job_without_its_words(clock: HandClock):
    models = ChatModels(Chat(replies=[Refusal(400)], asked=[]))
    async with memoranda.open("memory://", clock=clock, models=models, worker=False) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append("user", "I like jazz.")
        clock.advance(seconds=31)
        await book.jobs.run()
        found = await thread.scheduled()
        assert (
            found is not None
            and found.state is JobState.WAITING
            and found.at > clock.now - timedelta(days=1)
        )
        assert found.because == "ModelFailed: Chat:small raised Refusal"


async def test_a_refusal_of_the_provider_is_one():
    reply = AIMessage("", response_metadata={"finish_reason": "content_filter"})
    answer = await ChatModels(Chat(replies=[reply], asked=[])).ask(ASKED)
    assert answer.refused and answer.fault


async def test_its_calls_are_runs_of_langchain_with_a_name():
    collected = RunCollectorCallbackHandler()
    chat = Chat(replies=["{}"], asked=[], callbacks=[collected])
    assert (await ChatModels(chat, name="mine:one").ask(ASKED)).usage.model == "one"
    assert [run.name for run in collected.traced_runs] == ["memoranda t"]
