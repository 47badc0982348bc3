"""Anthropic's client runs the memory tool over a book, and each provider's client takes the tools'
schemas.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from anthropic import Anthropic, AsyncAnthropic
from anthropic.lib.tools import ToolError
from google.genai import types
from openai.types.chat import ChatCompletionFunctionToolParam
from openai.types.responses import FunctionToolParam
from pydantic import TypeAdapter

import memoranda
from memoranda.errors import StorageError
from memoranda.integrations.anthropic_memory import (
    MemorandaMemoryTool,
    MemoryFiles,
    Scope,
    SyncMemorandaMemoryTool,
)
from memoranda.integrations.plain_tools import tool_schemas
from tests.fakes.anthropic_server import EXPECTED, PATH, results, serving

WRITER = Scope("ada", "writer")


@pytest.fixture
def provider() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    with serving() as served:
        yield served


async def test_the_runner_of_the_asynchronous_client_edits_items(
    book: memoranda.Book, provider: tuple[str, list[dict[str, Any]]]
) -> None:
    url, asked = provider
    async with AsyncAnthropic(api_key="none", base_url=url) as client:
        messages: Any = [{"role": "user", "content": "Remember that I drink tea and coffee"}]
        tool = MemorandaMemoryTool(MemoryFiles(book, WRITER))
        runner = client.beta.messages.tool_runner(
            model="stub", max_tokens=100, messages=messages, tools=[tool], max_iterations=9
        )
        last = await runner.until_done()
    assert last.content[0].type == "text"
    assert asked[0]["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    assert results(asked) == EXPECTED
    item = await book.items.get("ada", ("memories",), "tea.txt", agent="writer")
    assert item is not None and item.value == "Ada drinks tea\nand coffee\n"
    assert item.version == 2


def test_the_runner_of_the_synchronous_client_edits_items(
    tmp_path: Path, provider: tuple[str, list[dict[str, Any]]]
) -> None:
    url, asked = provider
    with (
        memoranda.open_sync(tmp_path / "book.db") as book,
        Anthropic(api_key="none", base_url=url) as client,
    ):
        tool = SyncMemorandaMemoryTool(book, WRITER)
        messages: Any = [{"role": "user", "content": "Remember that I drink tea and coffee"}]
        client.beta.messages.tool_runner(
            model="stub", max_tokens=100, messages=messages, tools=[tool], max_iterations=9
        ).until_done()
        assert results(asked) == EXPECTED
        assert book.items.count("ada", agent="writer") == 1
        assert tool.clear_all_memory() == "All memory cleared"
        assert book.items.count("ada", agent="writer") == 0


async def test_a_book_that_is_down_is_told_to_the_model(
    book: memoranda.Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def down(*_: object, **__: object) -> None:
        raise StorageError("the disk is gone")

    with monkeypatch.context() as patched:
        patched.setattr(type(book.items), "get", down)
        with pytest.raises(ToolError, match=r"^The memory cannot be reached now\.$"):
            await MemorandaMemoryTool(MemoryFiles(book, WRITER)).call(
                {"command": "view", "path": PATH}
            )


EVERY = ("remember", "recall", "search", "forget", "read_turns")


def test_each_providers_own_types_take_the_schemas_of_the_tools() -> None:
    for declaration in tool_schemas("gemini", tools=EVERY, allow_global=True):
        types.FunctionDeclaration.model_validate(declaration)
    for chat in tool_schemas("openai", tools=EVERY):
        TypeAdapter(ChatCompletionFunctionToolParam).validate_python(chat)
    for one in tool_schemas("openai_responses", tools=EVERY):
        TypeAdapter(FunctionToolParam).validate_python(one)
