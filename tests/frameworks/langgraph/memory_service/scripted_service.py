"""The two graphs of the template over one book, and a chat model that answers from a script."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Self

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver
from memory_service import books, chat, chatbot, memory_graph

from memoranda.integrations.langgraph import FormedMemories

Script = Callable[[str], Mapping[str, Any] | str]


class ScriptedChat(BaseChatModel):
    """Answers a question of the book by a function of its data, and a user with what the prompt
    says is known.
    """

    script: Any = None
    asked: list[str] = []  # noqa: RUF012 - pydantic copies it

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        system, last = str(messages[0].content), str(messages[-1].content)
        if "<conversation>" not in last:
            known = re.search(r"<memories>\n.*\n</memories>", system, re.DOTALL)
            return _said(f"Known: {known[0]}" if known else "Nothing is known.")
        self.asked.append(last)
        answer = self.script(last) if self.script else {}
        return _said(answer if isinstance(answer, str) else json.dumps(answer))


def _said(text: str) -> ChatResult:
    used = {"input_tokens": 100, "output_tokens": 10, "total_tokens": 110}
    return ChatResult(generations=[ChatGeneration(message=AIMessage(text, usage_metadata=used))])


def handle(prompt: str, text: str) -> str | None:
    """Return the name in the prompt of the first message or memory that has a text."""
    found = re.findall(r"^- \[([mc]\d+)[ ,][^\]]*\] (.*)$", prompt, re.MULTILINE)
    return next((name for name, line in found if text in line), None)


def patch(prompt: str, text: str, **values: Any) -> dict[str, Any]:
    """Return a patch of the user's document that cites the message with a text."""
    source = {"sources": [{"message": handle(prompt, text)}]}
    operations = [
        {"op": "add", "path": f"/{name}", "value": value, **source}
        for name, value in values.items()
    ]
    return {"schema": "User", "operations": operations}


@dataclass
class Service:
    """The graphs, compiled with the service's store."""

    store: FormedMemories
    model: ScriptedChat
    bot: Any = field(init=False)
    memory: Any = field(init=False)

    def __post_init__(self) -> None:
        self.bot = chatbot.builder.compile(store=self.store, checkpointer=InMemorySaver())
        self.memory = memory_graph.builder.compile(store=self.store, checkpointer=InMemorySaver())

    @classmethod
    @asynccontextmanager
    async def opened(cls, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Self]:
        """Open the service; at its end, what is scheduled stays in the book."""
        model = ScriptedChat(asked=[])
        monkeypatch.setitem(chat.OWN, "scripted", model)
        monkeypatch.setenv("MEMORY_MODEL", "scripted")
        async with books.make_store() as store:
            yield cls(store, model)

    async def say(self, text: str, user: str = "ann", thread: str = "first", **chosen: Any) -> str:
        """Say something to the chatbot, and return its answer."""
        context = {"user_id": user, "model": "scripted", "delay_seconds": 0, **chosen}
        run = await self.bot.ainvoke(
            {"messages": [("user", text)]}, {"configurable": {"thread_id": thread}}, context=context
        )
        return str(run["messages"][-1].content)

    async def form(self, user: str = "ann", thread: str = "first", **chosen: Any) -> dict[str, Any]:
        """Run the memory graph on a conversation, and return its state."""
        found: dict[str, Any] = await self.memory.ainvoke(
            {"thread_id": thread},
            {"configurable": {"thread_id": f"memory of {thread}"}},
            context={"user_id": user, **chosen},
        )
        return found

    async def settle(self) -> int:
        """Do what is due in the book, as its worker does."""
        return await (await books.open_book()).jobs.run()

    async def values(self, name: str, user: str = "ann") -> list[dict[str, Any]]:
        """Return the values of one memory type as the store shows them."""
        return [one.value for one in await self.store.asearch(("memories", user, name), limit=100)]
