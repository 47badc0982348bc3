"""Native forms: the tool calls and results in a message's own form, whatever framework wrote it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

#: Where frameworks keep the id by which a call and its result know each other.
_IDS: Final = ("tool_call_id", "tool_use_id", "toolCallId", "call_id", "id")
#: What frameworks call a result, and a call; a part of the word is enough.
_RESULTS: Final = (
    "tool_result",
    "tool-result",
    "tool-return",
    "tool_response",
    "call_output",
    "retry-prompt",
)
_CALLS: Final = ("tool_use", "tool-call", "tool_call", "function_call")
#: What a message of a tool's says of itself.
_TOOL: Final = "tool"
#: The names of fields that contain calls or a result without saying so.
_CALLS_UNDER: Final = frozenset({"tool_calls", "functionCall", "function_call"})
_RESULT_UNDER: Final = frozenset({"functionResponse", "function_response"})


@dataclass(frozen=True, slots=True)
class NativePart:
    """A tool call or a result."""

    #: Empty where it has none.
    id: str
    is_result: bool
    #: As its framework wrote it.
    form: Mapping[str, Any]


def sort_of(form: Mapping[str, Any]) -> str:
    """Return the type, kind and role of a message part, in lower case."""
    return " ".join(str(form.get(name, "")) for name in ("type", "part_kind", "role")).lower()


def native_parts(native: Any) -> Iterator[NativePart]:
    """Every call and result in a message's own form, in their order."""
    if isinstance(native, list):
        for inner in native:
            yield from native_parts(inner)
    elif isinstance(native, Mapping):
        sort = sort_of(native)
        own = _named(native, sort)
        # Parts without an id, and messages of a tool, may only contain parts that have one.
        holds = own is None or not own.id or _TOOL in sort.split()
        inside = list(_inside(native)) if holds else []
        yield from inside or ([] if own is None else [own])


def _named(form: Mapping[str, Any], sort: str) -> NativePart | None:
    """A call or a result that says what it is."""
    if any(word in sort for word in _RESULTS) or _TOOL in sort.split():
        return _part(form, is_result=True)
    if any(word in sort for word in _CALLS) or _is_function(form):
        return _part(form, is_result=False)
    return None


def _inside(form: Mapping[str, Any]) -> Iterator[NativePart]:
    for name, inner in form.items():
        if name in _CALLS_UNDER:
            calls = inner if isinstance(inner, list) else [inner]
            yield from (_part(call, is_result=False) for call in calls if isinstance(call, Mapping))
        elif name in _RESULT_UNDER and isinstance(inner, Mapping):
            yield _part(inner, is_result=True)
        else:
            yield from native_parts(inner)


def _is_function(form: Mapping[str, Any]) -> bool:
    return form.get("type") == "function" and isinstance(form.get("function"), Mapping)


def _part(form: Mapping[str, Any], *, is_result: bool) -> NativePart:
    return NativePart(next((str(form[name]) for name in _IDS if form.get(name)), ""), is_result, form)
