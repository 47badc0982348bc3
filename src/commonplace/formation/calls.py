"""Calls: the tool calls of a conversation, read from its messages, whatever framework wrote them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError

from commonplace.model.episodes import ToolCall
from commonplace.model.messages import Message
from commonplace.model.values import NAME_LENGTH

_IDS: Final = ("tool_call_id", "tool_use_id", "call_id", "id")
_CALLED: Final = frozenset({"tool-call", "tool_use", "function", "function_call", "tool_call"})
_RETURNED: Final = frozenset(
    {"tool-return", "tool_result", "function_call_output", "retry-prompt", "builtin-tool-return"}
)
_FAILED: Final = frozenset({"retry-prompt"})
_KNOWN: Final = tuple(ToolCall.model_fields)
#: As deep as a message's own form is looked into.
_DEEPEST: Final = 12


@dataclass(frozen=True, slots=True)
class _Part:
    """A call or a result, as one part of a message tells it."""

    id: str
    tool: str
    inputs: Any = None
    output: str | None = None
    success: bool = True


def calls_of(messages: Iterable[Message]) -> tuple[ToolCall, ...]:
    """Every call with what came of it, in their order."""
    made: dict[str, ToolCall] = {}
    for message in messages:
        parts = list(_parts(message.native, 0))
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
    """A call with more of it; inputs that no record can hold are kept as their text, and that without what no file holds."""
    given = {"tool": part.tool[:NAME_LENGTH]} if call is None else {n: getattr(call, n) for n in _KNOWN}
    for lenient in (fields, {**fields, "inputs": _written(fields.get("inputs"))}, {"tool": "tool"}):
        try:
            return ToolCall.model_validate({**given, **lenient})
        except ValidationError:
            continue
    return ToolCall(tool="tool")


def _written(inputs: Any) -> str | None:
    if inputs is None:
        return None
    try:
        text = json.dumps(inputs, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return None
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\x00", "\ufffd")


def _parts(native: Any, depth: int) -> Iterator[_Part]:
    if depth > _DEEPEST:
        return
    if isinstance(native, list):
        for inner in native:
            yield from _parts(inner, depth + 1)
    elif isinstance(native, dict):
        part = _part(native)
        if part is not None:
            yield part
            return
        for inner in native.values():
            if isinstance(inner, (list, dict)):
                yield from _parts(inner, depth + 1)


def _part(form: dict[str, Any]) -> _Part | None:
    sort = str(form.get("part_kind") or form.get("type") or "")
    id = next((str(form[name]) for name in _IDS if form.get(name)), "")
    if sort in _RETURNED:
        content = form.get("content", form.get("output", ""))
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, default=str)
        failed = sort in _FAILED or bool(form.get("is_error")) or form.get("outcome") in ("failed", "denied")
        return _Part(id, str(form.get("tool_name") or "tool"), output=text, success=not failed)
    if sort in _CALLED:
        inner = form.get("function")
        named = inner if isinstance(inner, dict) else form
        given = named.get("args", named.get("arguments", named.get("input")))
        return _Part(id, str(named.get("tool_name") or named.get("name") or "tool"), inputs=_read(given))
    return None


def _read(given: Any) -> Any:
    """What went in; frameworks give it as an object, or as its JSON."""
    if not isinstance(given, str):
        return given
    try:
        return json.loads(given)
    except (ValueError, RecursionError):
        return given
