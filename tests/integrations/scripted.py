"""A scripted model that keeps the requests it receives, and an agent that uses it with a memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel

import memoranda
from memoranda.integrations.pydantic_ai import Memoranda, Scope
from memoranda.model.messages import Message

COACH = Scope("ana", "coach")


def call(tool: str, **arguments: Any) -> ToolCallPart:
    return ToolCallPart(tool, arguments)


class Script:
    """One answer after the other; at the end, and where there are none, it says "Well." """

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.sent: list[list[ModelMessage]] = []
        self.instructions: list[str | None] = []
        self.offered: list[str] = []
        #: Each tool's description and arguments, as the model is told.
        self.described: dict[str, str] = {}
        self.model = FunctionModel(self.answer, stream_function=self.stream)

    def _next(self, messages: list[ModelMessage], info: AgentInfo) -> list[Any]:
        self.sent.append(list(messages))
        self.instructions.append(info.instructions)
        self.offered = [tool.name for tool in info.function_tools]
        self.described = {
            tool.name: f"{tool.description} {tool.parameters_json_schema}"
            for tool in info.function_tools
        }
        answer = self.answers.pop(0) if self.answers else "Well."
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, list) else [answer]

    async def answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        parts = [
            TextPart(one) if isinstance(one, str) else one for one in self._next(messages, info)
        ]
        return ModelResponse(parts=parts)

    async def stream(
        self, messages: list[ModelMessage], info: AgentInfo
    ) -> AsyncIterator[str | DeltaToolCalls]:
        for place, one in enumerate(self._next(messages, info)):
            if isinstance(one, str):
                for word in one.split(" "):
                    yield f"{word} "
            else:
                yield {place: DeltaToolCall(one.tool_name, one.args_as_json_str())}

    @property
    def told(self) -> str:
        """Return the user prompt of the last request."""
        return "\n".join(prompts(self.sent[-1]))

    @property
    def answered(self) -> list[str]:
        """Return the tool results in the last request."""
        return [
            str(part.content)
            for part in self.sent[-1][-1].parts
            if isinstance(part, ToolReturnPart)
        ]


def prompts(messages: Sequence[ModelMessage]) -> list[str]:
    return [
        str(part.content)
        for message in messages
        if isinstance(message, ModelRequest)
        for part in message.parts
        if isinstance(part, UserPromptPart)
    ]


def agent_of(
    script: Script, book: memoranda.Book, scope: Any = COACH, **settings: Any
) -> Agent[Any, str]:
    return Agent(script.model, deps_type=object, capabilities=[Memoranda(book, scope, **settings)])


async def asked(book: memoranda.Book, tool: str, scope: Scope = COACH, **arguments: Any) -> str:
    """Return the answer of a tool to an agent's model."""
    script = Script(call(tool, **arguments))
    await agent_of(script, book, scope, allow_global=True).run("Go on.")
    return script.answered[0]


async def said(book: memoranda.Book, owner: str = "ana", agent: str = "coach") -> list[Message]:
    page = await book.records.list(owner, types="message", agent=agent, limit=1000)
    return [record for record in page.records if isinstance(record, Message)]
