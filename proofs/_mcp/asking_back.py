"""The fixtures of the official conformance runner that ask the client back before they answer."""

from __future__ import annotations

from typing import Any, Final

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.prompts.base import Prompt
from mcp_types import (
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequest,
    InputRequiredResult,
    ListRootsRequest,
    ListRootsResult,
    SamplingMessage,
    TextContent,
)

_STATE: Final = "the first round is over"


def add_asking_back(server: MCPServer[Any]) -> None:
    """Add the tools and the prompt that ask the client for input."""
    for tool in (
        test_input_required_result_elicitation,
        test_input_required_result_sampling,
        test_input_required_result_list_roots,
        test_input_required_result_request_state,
        test_input_required_result_multiple_inputs,
        test_input_required_result_multi_round,
        test_input_required_result_tampered_state,
        test_input_required_result_capabilities,
        test_streaming_elicitation,
    ):
        server.add_tool(tool, structured_output=False)
    server.add_prompt(Prompt.from_function(test_input_required_result_prompt))


def test_input_required_result_elicitation(ctx: Context) -> str | InputRequiredResult:
    """Ask for a name."""
    name = _filled(ctx, "user_name", "name")
    return f"Hello, {name}!" if name else _asked({"user_name": _form("What is your name?", "name")})


def test_input_required_result_sampling(ctx: Context) -> str | InputRequiredResult:
    """Ask the client's model."""
    told = _given(ctx).get("capital_question")
    if isinstance(told, CreateMessageResult) and isinstance(told.content, TextContent):
        return told.content.text
    return _asked({"capital_question": _sampling("What is the capital of France?", 100)})


def test_input_required_result_list_roots(ctx: Context) -> str | InputRequiredResult:
    """Ask for the client's folders."""
    told = _given(ctx).get("client_roots")
    if isinstance(told, ListRootsResult):
        return ", ".join(str(root.uri) for root in told.roots)
    return _asked({"client_roots": ListRootsRequest()})


def test_input_required_result_request_state(ctx: Context) -> str | InputRequiredResult:
    """Ask for a confirmation, and take the answer with the state of the question."""
    if "confirm" in _given(ctx) and ctx.request_state == _STATE:
        return "state-ok"
    return _asked({"confirm": _form("Please confirm", "ok", "boolean")}, _STATE)


def test_input_required_result_tampered_state(ctx: Context) -> str | InputRequiredResult:
    """Ask for a confirmation; the server refuses a changed state before this is called."""
    return test_input_required_result_request_state(ctx)


def test_input_required_result_multiple_inputs(ctx: Context) -> str | InputRequiredResult:
    """Ask for three things at once."""
    wanted: dict[str, InputRequest] = {
        "user_name": _form("What is your name?", "name"),
        "greeting": _sampling("Generate a greeting", 50),
        "client_roots": ListRootsRequest(),
    }
    is_complete = wanted.keys() <= _given(ctx).keys() and ctx.request_state == _STATE
    return "all three came" if is_complete else _asked(wanted, _STATE)


def test_input_required_result_multi_round(ctx: Context) -> str | InputRequiredResult:
    """Ask for a name, and then for a color."""
    round_, _, name = (ctx.request_state or "").partition(" ")
    if round_ == "2" and (color := _filled(ctx, "step2", "color")):
        return f"{name} likes {color}"
    if round_ == "1" and (told := _filled(ctx, "step1", "name")):
        return _asked(
            {"step2": _form("Step 2: What is your favorite color?", "color")}, f"2 {told}"
        )
    return _asked({"step1": _form("Step 1: What is your name?", "name")}, "1")


def test_input_required_result_capabilities(ctx: Context) -> str | InputRequiredResult:
    """Ask only for what the client has declared."""
    declared = ctx.client_capabilities
    wanted: dict[str, InputRequest] = {}
    if declared is not None and declared.sampling is not None:
        wanted["greeting"] = _sampling("Generate a greeting", 50)
    if declared is not None and declared.elicitation is not None:
        wanted["user_name"] = _form("What is your name?", "name")
    return _asked(wanted, _STATE) if wanted else "the client declared nothing"


def test_streaming_elicitation(ctx: Context) -> str | InputRequiredResult:
    """Ask for a name in an answer, never in a request of the server's own."""
    return test_input_required_result_elicitation(ctx)


def test_input_required_result_prompt(ctx: Context) -> str | InputRequiredResult:
    """Ask for the context of a prompt."""
    context = _filled(ctx, "user_context", "context")
    return context or _asked(
        {"user_context": _form("What context should the prompt use?", "context")}
    )


def _given(ctx: Context) -> dict[str, Any]:
    return dict(ctx.input_responses or {})


def _filled(ctx: Context, key: str, name: str) -> str:
    """Return a field of a form that the client has filled, or an empty text."""
    told = _given(ctx).get(key)
    return (
        str(told.content.get(name, "")) if isinstance(told, ElicitResult) and told.content else ""
    )


def _asked(wanted: dict[str, InputRequest], state: str | None = None) -> InputRequiredResult:
    return InputRequiredResult(input_requests=wanted, request_state=state)


def _form(message: str, field: str, kind: str = "string") -> ElicitRequest:
    schema = {"type": "object", "properties": {field: {"type": kind}}, "required": [field]}
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def _sampling(question: str, most: int) -> CreateMessageRequest:
    message = SamplingMessage(role="user", content=TextContent(text=question))
    return CreateMessageRequest(
        params=CreateMessageRequestParams(messages=[message], max_tokens=most)
    )
