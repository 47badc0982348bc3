"""The tool calls of a conversation, read from messages of any framework."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError

from memoranda.model.episodes import ToolCall
from memoranda.model.messages import Message
from memoranda.model.native import NativePart, native_parts, sort_of
from memoranda.model.values import NAME_LENGTH

#: Keys under which frameworks store a tool's name, its inputs and its output.
_NAMES: Final = ("tool_name", "toolName", "name")
_INPUTS: Final = ("args", "arguments", "input")
_OUTPUTS: Final = ("content", "output", "result", "response")
_FAILED: Final = "retry-prompt"
_KNOWN: Final = tuple(ToolCall.model_fields)


@dataclass(frozen=True, slots=True)
class _Part:
    """A call or a result, as found in one part of a message."""

    id: str
    tool: str
    inputs: Any = None
    output: str | None = None
    success: bool = True


def tool_calls_of(messages: Iterable[Message]) -> tuple[ToolCall, ...]:
    """Return all calls with their results, in order."""
    made: dict[str, ToolCall] = {}
    for message in messages:
        parts = list(map(_read_part, native_parts(message.native)))
        if message.role == "tool" and not any(part.output is not None for part in parts):
            parts.append(_Part("", message.speaker or "tool", output=message.content))
        for part in parts:
            key = part.id or str(len(made))
            call = made.get(key)
            fields: dict[str, Any] = {"called_at": message.observed_at} if call is None else {}
            if part.output is not None:
                fields |= {"output": part.output, "success": part.success}
            if part.inputs is not None:
                fields["inputs"] = part.inputs
            made[key] = _call(part, call, fields)
    return tuple(made.values())


def _call(part: _Part, call: ToolCall | None, fields: dict[str, Any]) -> ToolCall:
    """Return the call with more fields. Inputs that no record can store become text, with unstorable characters replaced."""
    given = {"tool": part.tool[:NAME_LENGTH]} if call is None else {n: getattr(call, n) for n in _KNOWN}
    for lenient in (fields, {**fields, "inputs": _json_text(fields.get("inputs"))}, {"tool": "tool"}):
        try:
            return ToolCall.model_validate({**given, **lenient})
        except ValidationError:
            continue
    return ToolCall(tool="tool")


def _json_text(inputs: Any) -> str | None:
    if inputs is None:
        return None
    try:
        text = json.dumps(inputs, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return None
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\x00", "\ufffd")


def _read_part(given: NativePart) -> _Part:
    form = given.form
    if given.is_result:
        content = _first(form, _OUTPUTS, "")
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, default=str)
        failed = bool(form.get("is_error")) or form.get("outcome") in ("failed", "denied")
        success = not failed and _FAILED not in sort_of(form)
        return _Part(given.id, _tool_name(form), output=text, success=success)
    inner = form.get("function")
    named = inner if isinstance(inner, dict) else form
    return _Part(given.id, _tool_name(named), inputs=_parsed_inputs(_first(named, _INPUTS, None)))


def _tool_name(form: Mapping[str, Any]) -> str:
    return next((str(form[name]) for name in _NAMES if form.get(name)), "tool")


def _first(form: Mapping[str, Any], names: Iterable[str], otherwise: Any) -> Any:
    return next((form[name] for name in names if name in form), otherwise)


def _parsed_inputs(given: Any) -> Any:
    """Return the inputs; frameworks store them as an object or as JSON text."""
    if not isinstance(given, str):
        return given
    try:
        return json.loads(given)
    except (ValueError, RecursionError):
        return given
