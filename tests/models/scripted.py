"""Models that say, raise or wait as a test wants, without any provider."""

from __future__ import annotations

import asyncio
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel


def says(text: str, model_name: str | None = None, **more: Any) -> FunctionModel:
    async def answers(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[TextPart(text)], **more)

    return FunctionModel(answers, model_name=model_name)


def raises(error: Exception) -> FunctionModel:
    async def answers(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        raise error

    return FunctionModel(answers)


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
