"""The memory's tools for any client of a model: their JSON schemas in the providers' forms, and
calls by name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from memoranda.errors import InvalidInput
from memoranda.integrations.tools import AUDIENCES, TOOLS, TOOLS_BY_NAME, Call, MemoryTools, Scope

__all__ = ["Call", "Form", "MemoryTools", "Scope", "ToolAnswer", "run_tool", "tool_schemas"]

#: The forms of schemas: OpenAI's chat completions and responses, Anthropic's messages, Gemini's
#: function declarations.
Form = Literal["openai", "openai_responses", "anthropic", "gemini"]


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The text for the model, and True if the call was refused or failed."""

    text: str
    failed: bool


@dataclass(frozen=True, slots=True)
class _Tool:
    description: str
    #: Each argument's type and description.
    arguments: Mapping[str, tuple[type, str]]
    required: tuple[str, ...]
    #: The first words of an answer that refuses.
    refusal: str


_TOOLS: Final[Mapping[str, _Tool]] = {
    "remember": _Tool(
        "Keep one statement about the user that will matter in later conversations.",
        {
            "content": (str, "The statement, short and complete in itself."),
            "kind": (
                str,
                "What sort it is: preference, fact (unless you say otherwise), instruction, context, experience or note.",
            ),
            "key": (
                str,
                "A name for what holds once at a time, such as favorite_color; a later statement takes its place.",
            ),
            "audience": (
                str,
                "Who may read it: self (you alone), group (your group's agents)_GLOBAL_.",
            ),
            "applies_when": (str, "When it applies, where it does not always."),
            "replaces": (
                str,
                "The id of a statement of yours that this one corrects; what you leave out stays as it was.",
            ),
        },
        ("content",),
        "Not remembered.",
    ),
    "recall": _Tool("Show what is remembered of the user.", {}, (), "Nothing recalled."),
    "search": _Tool(
        "Search what is remembered of the user, and what was done for them before.",
        {"query": (str, "What to look for, in a few words.")},
        ("query",),
        "Not searched.",
    ),
    "forget": _Tool(
        "Take a statement out of the memory, because the user asks for it.",
        {"key": (str, "The statement's key, or its id where it has none.")},
        ("key",),
        "Not forgotten.",
    ),
    "read_turns": _Tool(
        "Read earlier turns of this conversation word for word, where only a summary of them is shown.",
        {
            "first": (int, "The number of the first turn to read; the conversation begins with 1."),
            "last": (int, "The number of the last turn to read, at most 20 in one call."),
        },
        ("first", "last"),
        "Nothing read.",
    ),
}
_TYPES: Final = {str: ("string", "text"), int: ("integer", "a whole number")}


def tool_schemas(
    form: Form, *, tools: Sequence[str] = TOOLS, allow_global: bool = False
) -> list[dict[str, Any]]:
    """Return the tools as a provider's API takes them; ``read_turns`` only if it is named.

    ``allow_global`` says what ``MemoryTools`` allows, so that the model is told of the widest
    audience only then.
    """
    if form not in get_args(Form):
        raise InvalidInput(f"form: {form!r} is none of {', '.join(get_args(Form))}", field="form")
    unknown = sorted(set(tools) - set(_TOOLS))
    if unknown:
        known = ", ".join((*TOOLS, *TOOLS_BY_NAME))
        raise InvalidInput(
            f"tools: {unknown[0]!r} is not a tool; choose from {known}", field="tools"
        )
    return [_formed(form, name, allow_global=allow_global) for name in tools]


async def run_tool(
    memory: MemoryTools,
    call: Call,
    name: str,
    arguments: Mapping[str, Any] | str | None = None,
    *,
    tools: Sequence[str] = TOOLS,
) -> ToolAnswer:
    """Carry out a model's call, with its arguments as a mapping or as JSON; only ``tools`` can be
    called.

    Nothing that a model sends raises: what is malformed is answered with a text that says what to
    do.
    """
    if name not in tools or name not in _TOOLS:
        return ToolAnswer(
            f"There is no tool {str(name)[:60]!r}. The tools are {', '.join(tools)}.", True
        )
    tool = _TOOLS[name]
    try:
        given = _read(tool, arguments)
    except InvalidInput as error:
        return ToolAnswer(f"{tool.refusal} {error}", True)
    if name == "remember":
        text = await memory.remember(
            call,
            given["content"],
            given.get("kind", ""),
            given.get("key"),
            given.get("audience", "self"),
            given.get("applies_when", ""),
            given.get("replaces"),
        )
    elif name == "recall":
        text = await memory.recall()
    elif name == "search":
        text = await memory.search(given["query"])
    elif name == "forget":
        text = await memory.forget(call, given["key"])
    else:
        text = await memory.read_turns(call, given["first"], given["last"])
    return ToolAnswer(text, text.startswith(tool.refusal))


def _formed(form: Form, name: str, *, allow_global: bool) -> dict[str, Any]:
    tool = _TOOLS[name]
    properties: dict[str, dict[str, Any]] = {}
    for argument, (kind, description) in tool.arguments.items():
        told = description.replace("_GLOBAL_", ", global (all agents)" if allow_global else "")
        properties[argument] = {"type": _TYPES[kind][0], "description": told}
    if "audience" in properties:
        properties["audience"]["enum"] = [
            one for one in AUDIENCES if allow_global or one != "global"
        ]
    schema: dict[str, Any] = {
        "type": "object",
        "properties": properties,
        "required": list(tool.required),
    }
    named = {"name": name, "description": tool.description}
    if form == "gemini":
        # Gemini takes a function without arguments only without a schema of them.
        return {**named, "parameters": schema} if properties else named
    schema["additionalProperties"] = False
    if form == "anthropic":
        return {**named, "input_schema": schema}
    if form == "openai":
        return {"type": "function", "function": {**named, "parameters": schema}}
    # Strict schemas would require every argument.
    return {"type": "function", **named, "parameters": schema, "strict": False}


def _read(tool: _Tool, arguments: Mapping[str, Any] | str | None) -> dict[str, Any]:
    """Return a call's arguments, checked; those that are null are left out."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments) if arguments.strip() else {}
        except ValueError:
            raise InvalidInput("The arguments are not JSON; send an object.") from None
    if arguments is None:
        arguments = {}
    if not isinstance(arguments, Mapping):
        raise InvalidInput("The arguments are no JSON object; send one.")
    given = {name: value for name, value in arguments.items() if value is not None}
    unknown = sorted(str(name) for name in given if name not in tool.arguments)
    if unknown:
        known = ", ".join(tool.arguments) or "none"
        raise InvalidInput(f"There is no argument {unknown[0][:60]!r}. The arguments are: {known}.")
    for name in tool.required:
        if name not in given:
            raise InvalidInput(f"The argument {name} is missing.")
    for name, value in given.items():
        kind = tool.arguments[name][0]
        if type(value) is float and kind is int and value.is_integer():
            # Some models write every number with a point.
            given[name] = int(value)
        elif type(value) is not kind:
            raise InvalidInput(f"The argument {name} must be {_TYPES[kind][1]}.")
    return given
