"""A thread takes messages of OpenAI's chat API unchanged, and errors explain a newcomer's
mistakes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import memoranda
from memoranda import InvalidInput
from memoranda.formation.close import tool_calls_of

CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "get_weather", "arguments": '{"city": "Porto"}'},
}
CALLED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
#: A conversation as ``[m.model_dump() for m in …]`` gives it, with the fields that are None.
CHAT: list[dict[str, Any]] = [
    {"role": "developer", "content": "You are a travel agent.", "name": None},
    {
        "role": "user",
        "name": "Ana",
        "content": [
            {"type": "text", "text": "What is the weather here?"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,c2VjcmV0"}},
            {"type": "text", "text": "I live in Porto."},
        ],
    },
    {
        "role": "assistant",
        "content": None,
        "refusal": None,
        "audio": None,
        "annotations": [],
        "function_call": None,
        "tool_calls": [CALL],
    },
    {"role": "tool", "tool_call_id": "call_1", "content": "18 °C"},
    {"role": "assistant", "content": "It is 18 °C.", "refusal": None},
]


async def test_a_conversation_of_openai_s_chat_api_is_stored_as_it_is(book: memoranda.Book) -> None:
    thread = await book.thread("ana", agent="guide")
    await thread.append(CHAT)
    stored = await thread.newest()
    assert [(m.role, m.content) for m in stored] == [
        ("system", "You are a travel agent."),
        ("user", "What is the weather here?\n(image_url)\nI live in Porto."),
        ("assistant", '(get_weather {"city": "Porto"})'),
        ("tool", "18 °C"),
        ("assistant", "It is 18 °C."),
    ]
    assert [m.speaker for m in stored] == [None, "Ana", None, None, None]
    assert [m.trust for m in stored] == ["operator", "user", "assistant", "tool", "assistant"]
    assert "c2VjcmV0" not in "".join(m.model_dump_json() for m in stored)
    # The message goes back to the provider with its call, its id and its empty content.
    again = [{"role": m.role, "content": m.content, **(m.native or {})} for m in stored[2:4]]
    assert again == [CALLED, CHAT[3]]


async def test_a_window_keeps_a_tool_call_of_a_chat_with_its_result(book: memoranda.Book) -> None:
    thread = await book.thread("ana", agent="guide")
    await thread.append(CHAT)
    (call,) = tool_calls_of(await thread.newest())
    assert (call.tool, call.inputs, call.output) == ("get_weather", {"city": "Porto"}, "18 °C")
    for budget in range(1, 120):
        messages = (await thread.window(budget)).messages
        places = [place for place, message in enumerate(messages) if message.role == "tool"]
        assert all(place and messages[place - 1].native == CALLED for place in places)


async def test_one_message_needs_no_list(book: memoranda.Book) -> None:
    thread = await book.thread("ana")
    await thread.append({"role": "user", "content": "I like tea"})
    await thread.append(message for message in CHAT[:1])
    assert [m.content for m in await thread.newest()] == ["I like tea", "You are a travel agent."]


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"role": "assistant", "content": None, "refusal": "I cannot."}, "I cannot."),
        ({"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}, "No."),
        ({"role": "assistant", "audio": {"id": "a", "data": "x", "transcript": "Hello"}}, "Hello"),
        ({"role": "assistant", "audio": {"id": "a", "data": "x"}}, "(audio)"),
        ({"role": "user", "content": [{"type": "input_text", "text": "hi"}, "you"]}, "hi\nyou"),
        ({"role": "tool", "tool_call_id": "call_1", "content": ""}, "(empty)"),
        ({"role": "assistant", "function_call": {"name": "look", "arguments": "{}"}}, "(look {})"),
        (
            {
                "role": "assistant",
                "tool_calls": [{"type": "custom", "custom": {"name": "sh", "input": "ls"}}],
            },
            "(sh ls)",
        ),
    ],
)
async def test_each_form_of_a_chat_message_has_a_text(
    book: memoranda.Book, message: dict[str, Any], text: str
) -> None:
    thread = await book.thread("ana")
    await thread.append(message)
    assert [m.content for m in await thread.newest()] == [text]


@pytest.mark.parametrize(
    ("message", "field", "words"),
    [
        ({"role": "user", "content": [7]}, "content[0]", "not int"),
        ({"role": "user", "content": []}, "content", "empty"),
        ({"role": "user", "content": None}, "content", "give a text, not None"),
        ({"role": "user", "content": b"bytes"}, "content", "give a text, not bytes"),
        ({"role": "assistant", "tool_calls": "look"}, "tool_calls", "list of calls"),
        ({"role": "assistant", "tool_calls": ["look"]}, "tool_calls", "mapping"),
        ({"role": "user", "content": "x", "name": "Ana", "speaker": "Ben"}, "name", "not both"),
        ({"role": "user", "content": "x", "image": "y"}, "image", "no such field; give"),
    ],
)
async def test_a_malformed_chat_message_is_refused_by_the_name_of_its_field(
    book: memoranda.Book, message: dict[str, Any], field: str, words: str
) -> None:
    thread = await book.thread("ana")
    with pytest.raises(InvalidInput, match=words) as refused:
        await thread.append(message)
    assert refused.value.field == f"messages[0].{field}"


@pytest.mark.parametrize("given", [7, b"user", None])
async def test_what_is_no_message_is_refused_in_words(book: memoranda.Book, given: Any) -> None:
    thread = await book.thread("ana")
    with pytest.raises(
        InvalidInput, match="give a role and content, a message or a list of messages"
    ):
        await thread.append(given)


async def test_bytes_are_no_text_anywhere(book: memoranda.Book) -> None:
    with pytest.raises(InvalidInput, match="content: give a text, not bytes"):
        await book.remember("ana", b"likes tea", agent="guide")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="key: give a text, not bytes"):
        await book.remember("ana", "likes tea", key=b"drink", agent="guide")  # type: ignore[arg-type]


async def test_a_book_that_was_not_awaited_says_so(tmp_path: Path) -> None:
    opening: Any = memoranda.open(tmp_path / "book.db")
    with pytest.raises(AttributeError, match=r"remember: .*await memoranda\.open\(…\) first"):
        await opening.remember("ana", "likes tea")
    with pytest.raises(TypeError, match=r"async with memoranda\.open"), opening:
        pass
    assert not hasattr(opening, "remember")
    assert not (tmp_path / "book.db").exists()
