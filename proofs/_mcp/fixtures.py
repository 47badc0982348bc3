"""The tools, resources and prompts that the official conformance runner asks a server for, by its
names.
"""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any, Final

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.prompts.base import Prompt, UserMessage
from mcp.shared.exceptions import MCPError
from mcp_types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    AudioContent,
    Completion,
    CompletionArgument,
    CompletionContext,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    PromptReference,
    ResourceTemplateReference,
    TextContent,
    TextResourceContents,
)


def _part(name: bytes, body: bytes) -> bytes:
    """Return one part of a PNG picture."""
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


#: A picture of one red pixel, and a sound of two samples of silence.
_PNG: Final = (
    b"\x89PNG\r\n\x1a\n"
    + _part(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    + _part(b"IDAT", zlib.compress(b"\x00\xff\x00\x00"))
    + _part(b"IEND", b"")
)
_WAV: Final = (
    struct.pack("<4sI4s4sIHHIIHH", b"RIFF", 38, b"WAVE", b"fmt ", 16, 1, 1, 8000, 8000, 1, 8)
    + struct.pack("<4sI", b"data", 2)
    + b"\x80\x80"
)
_IMAGE: Final = ImageContent(data=base64.b64encode(_PNG).decode(), mime_type="image/png")
_AUDIO: Final = AudioContent(data=base64.b64encode(_WAV).decode(), mime_type="audio/wav")


def add_fixtures(server: MCPServer[Any]) -> None:
    """Add what needs no answer of the client."""
    for tool in (
        test_simple_text,
        test_image_content,
        test_audio_content,
        test_embedded_resource,
        test_multiple_content_types,
        test_error_handling,
        test_tool_with_progress,
        test_logging_tool,
        test_missing_capability,
        test_trigger_tool_change,
        test_trigger_prompt_change,
    ):
        server.add_tool(tool, structured_output=False)
    for prompt in (
        test_simple_prompt,
        test_prompt_with_arguments,
        test_prompt_with_embedded_resource,
        test_prompt_with_image,
    ):
        server.add_prompt(Prompt.from_function(prompt))
    server.resource("test://static-text", mime_type="text/plain")(_static_text)
    server.resource("test://static-binary", mime_type="image/png")(_static_binary)
    server.resource("test://template/{id}/data", mime_type="application/json")(_templated)
    server.completion()(_completed)


def test_simple_text() -> str:
    """Return a text."""
    return "This is a simple text response for testing."


def test_image_content() -> list[ContentBlock]:
    """Return a picture."""
    return [_IMAGE]


def test_audio_content() -> list[ContentBlock]:
    """Return a sound."""
    return [_AUDIO]


def test_embedded_resource() -> list[ContentBlock]:
    """Return a resource inside an answer."""
    return [
        _embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    ]


def test_multiple_content_types() -> list[ContentBlock]:
    """Return a text, a picture and a resource."""
    held = _embedded(
        "test://mixed-content-resource", "application/json", '{"test":"data","value":123}'
    )
    return [TextContent(text="Multiple content types test:"), _IMAGE, held]


def test_error_handling() -> str:
    """Fail always."""
    raise ValueError("This tool intentionally returns an error for testing")


async def test_tool_with_progress(ctx: Context) -> str:
    """Report progress three times."""
    for done in (0, 50, 100):
        await ctx.report_progress(done, 100)
    return "done"


async def test_logging_tool(ctx: Context) -> str:
    """Log a line, which only reaches a client that asked for lines."""
    await ctx.info("the tool runs")
    return "done"


async def test_missing_capability(ctx: Context) -> str:
    """Refuse a client that has not declared sampling."""
    declared = ctx.client_capabilities
    if declared is None or declared.sampling is None:
        raise MCPError(
            MISSING_REQUIRED_CLIENT_CAPABILITY,
            "this tool needs a client with sampling",
            {"requiredCapabilities": {"sampling": {}}},
        )
    return "the client has sampling"


async def test_trigger_tool_change(ctx: Context) -> str:
    """Add and remove a tool, and tell the clients that listen."""
    ctx.mcp_server.add_tool(test_simple_text, name="test_short_lived_tool")
    ctx.mcp_server.remove_tool("test_short_lived_tool")
    await ctx.notify_tools_changed()
    return "the list of tools changed"


async def test_trigger_prompt_change(ctx: Context) -> str:
    """Add and remove a prompt, and tell the clients that listen."""
    ctx.mcp_server.add_prompt(
        Prompt.from_function(test_simple_prompt, name="test_short_lived_prompt")
    )
    ctx.mcp_server.remove_prompt("test_short_lived_prompt")
    await ctx.notify_prompts_changed()
    return "the list of prompts changed"


def test_simple_prompt() -> str:
    """Return a message."""
    return "This is a simple prompt for testing."


def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    """Return a message with both arguments."""
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:  # noqa: N803
    """Return a resource, and a message about it."""
    held = _embedded(resourceUri, "text/plain", "Embedded resource content for testing.")
    return [UserMessage(held), UserMessage("Please process the embedded resource above.")]


def test_prompt_with_image() -> list[UserMessage]:
    """Return a picture, and a message about it."""
    return [UserMessage(_IMAGE), UserMessage("Please analyze the image above.")]


def _static_text() -> str:
    return "This is the content of the static text resource."


def _static_binary() -> bytes:
    return _PNG


def _templated(id: str) -> dict[str, object]:
    return {"id": id, "templateTest": True, "data": f"Data for ID: {id}"}


async def _completed(
    ref: PromptReference | ResourceTemplateReference,
    argument: CompletionArgument,
    context: CompletionContext | None,
) -> Completion:
    known = [word for word in ("paris", "park", "party") if word.startswith(argument.value)]
    return Completion(values=known, total=len(known), has_more=False)


def _embedded(uri: str, mime_type: str, text: str) -> EmbeddedResource:
    return EmbeddedResource(resource=TextResourceContents(uri=uri, mime_type=mime_type, text=text))
