"""Conversion of PydanticAI's messages into a book's and back; only messages too large to store are
shortened.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from memoranda.integrations.native_threads import clean
from memoranda.model.messages import NO_WORDS, Message
from memoranda.model.values import NAME_LENGTH, Data
from memoranda.text.origins import marked_text

#: Keys of a message's native form: PydanticAI's own form, and the message of the run that it is a
#: part of.
FORM: Final = "pydantic_ai"
_OF: Final = "of"
_ROLES: Final = {"system-prompt": "system", "user-prompt": "user", "speech": "user"}
#: The most characters of a call's arguments in the text of a message that has no other text.
_ARGUMENTS: Final = 2000
#: The most characters kept of a part that is too large to be stored as a whole.
_REDUCED: Final = 10_000
_KEEP_THEIR_KIND: Final = frozenset(
    {"system-prompt", "user-prompt", "tool-return", "text", "thinking"}
)
_data: TypeAdapter[Any] = TypeAdapter(Data)


def drafts_of(
    messages: Sequence[ModelMessage], *, run: str, agent: str, quiet: AbstractSet[str], longest: int
) -> tuple[list[dict[str, Any]], int]:
    """Return messages for ``append``, one for each speaker in a PydanticAI message, and how many
    had to be shortened.

    Arguments and answers of ``quiet`` tools appear in the native form only, because the book has
    them already.
    """
    drafts: list[dict[str, Any]] = []
    reduced = 0
    for place, message in enumerate(messages):
        form, fits = _form(message)
        reduced += not fits
        for start, end, role, speaker in _speakers(message):
            parts = message.parts[start:end]
            text = (
                _text(parts, quiet)
                if isinstance(message, ModelRequest)
                else _answer(message, quiet)
            )
            head = {"kind": form["kind"]} if start else form
            own = {**head, "parts": form["parts"][start:end]}
            drafts.append(
                {
                    "role": role,
                    "content": _clean(text, longest),
                    "speaker": None if speaker in quiet else speaker,
                    "agent": agent,
                    "observed_at": _moment(message, parts),
                    "native": {FORM: own, _OF: f"{run}/{place}"},
                }
            )
    return drafts, reduced


def messages_of(records: Iterable[Message]) -> list[ModelMessage]:
    """Return a thread's messages in PydanticAI's form; from other frameworks only those of users
    and assistants.
    """
    forms: list[dict[str, Any]] = []
    last = None
    for record in records:
        own = native_form(record)
        if own is None:
            plain = _plain(record)
            if plain is not None:
                forms += ModelMessagesTypeAdapter.dump_python([plain], mode="json")
            last = None
            continue
        of = record.native.get(_OF)
        if of is not None and of == last:
            forms[-1] = {**forms[-1], "parts": [*forms[-1]["parts"], *own["parts"]]}
        else:
            forms.append(dict(own))
        last = of
    return ModelMessagesTypeAdapter.validate_python(forms)


def native_form(record: Message) -> Mapping[str, Any] | None:
    """Return the message as PydanticAI wrote it; None if another module stored it."""
    native = record.native
    form = native.get(FORM) if isinstance(native, dict) else None
    return form if isinstance(form, dict) and isinstance(form.get("parts"), list) else None


def content_of(draft: Mapping[str, Any] | None) -> list[tuple[Any, ...]]:
    """Return the content of a message's form without times and ids, to compare two attempts at a
    run.
    """
    parts = [] if draft is None else draft["parts"]
    return [
        tuple(part.get(name) for name in ("part_kind", "tool_name", "content", "args"))
        for part in parts
    ]


def whole(messages: Sequence[ModelMessage], ended: str) -> list[ModelMessage]:
    """Return the messages of a broken run, with an answer for each tool call that got none."""
    calls: dict[str, tuple[str, ModelResponse]] = {}
    for message in messages:
        if isinstance(message, ModelResponse):
            calls |= {call.tool_call_id: (call.tool_name, message) for call in message.tool_calls}
        else:
            for part in message.parts:
                calls.pop(getattr(part, "tool_call_id", ""), None)
    if not calls:
        return list(messages)
    answers = [
        ToolReturnPart(
            tool_name=name,
            content=f"No answer: {ended}.",
            tool_call_id=id,
            outcome="interrupted",
            timestamp=response.timestamp,
        )
        for id, (name, response) in calls.items()
    ]
    last = messages[-1]
    if isinstance(last, ModelRequest):
        return [*messages[:-1], replace(last, parts=[*last.parts, *answers])]
    response = next(iter(calls.values()))[1]
    answer = ModelRequest(
        answers,
        timestamp=response.timestamp,
        run_id=response.run_id,
        conversation_id=response.conversation_id,
        state="interrupted",
    )
    return [*messages, answer]


def placed(messages: list[ModelMessage], context: str, run: str | None) -> list[ModelMessage]:
    """Return the messages of one request with a context before the run's prompt, or else before the
    newest prompt.

    The context has the user's role, never that of instructions, and never separates a tool call
    from its answer.
    """
    own = [place for place, message in enumerate(messages) if message.run_id == run]
    for place in [*own, *reversed(range(own[0] if own else len(messages)))]:
        message = messages[place]
        if isinstance(message, ModelRequest):
            prompts = [
                n for n, part in enumerate(message.parts) if isinstance(part, UserPromptPart)
            ]
            if prompts:
                return _with(messages, place, prompts[0], context)
    last = len(messages) - 1
    if messages and isinstance(messages[last], ModelRequest):
        return _with(messages, last, len(messages[last].parts), context)
    return messages


def _with(messages: list[ModelMessage], place: int, part: int, context: str) -> list[ModelMessage]:
    request = messages[place]
    assert isinstance(request, ModelRequest)
    parts: list[ModelRequestPart] = [*request.parts]
    parts.insert(part, UserPromptPart(context))
    return [*messages[:place], replace(request, parts=parts), *messages[place + 1 :]]


def prompt_text(prompt: Any) -> str:
    """Return the text of a prompt; other content is replaced by its kind in brackets."""
    if prompt is None or isinstance(prompt, str):
        return prompt or ""
    return "\n".join(map(_words, prompt))


def _words(item: object) -> str:
    text = item if isinstance(item, str) else getattr(item, "content", None)
    return text if isinstance(text, str) else f"({getattr(item, 'kind', type(item).__name__)})"


def _speakers(message: ModelMessage) -> Iterable[tuple[int, int, str, str | None]]:
    """Split a PydanticAI message by speaker; each part has its start, end, role and name."""
    if isinstance(message, ModelResponse):
        return [(0, len(message.parts), "assistant", None)]
    found = []
    start = 0
    for (role, speaker, _), parts in groupby(message.parts, _speaker):
        end = start + len(list(parts))
        found.append((start, end, role, speaker))
        start = end
    return found or [(0, 0, "tool", None)]


def _speaker(part: Any) -> tuple[str, str | None, str]:
    role = _ROLES.get(part.part_kind, "tool")
    if role != "tool":
        return role, None, ""
    # Each answer of a tool becomes a message of its own.
    name = "".join(filter(str.isprintable, clean(getattr(part, "tool_name", None) or "")))
    return role, name.strip()[:NAME_LENGTH] or None, getattr(part, "tool_call_id", "")


def _text(parts: Sequence[Any], quiet: AbstractSet[str]) -> str:
    """Return the text of a PydanticAI request."""
    return "\n".join(filter(None, (_part_text(part, quiet) for part in parts)))


def _part_text(part: Any, quiet: AbstractSet[str]) -> str:
    if part.part_kind in _ROLES:
        return prompt_text(getattr(part, "content", None) or getattr(part, "transcript", None))
    if getattr(part, "tool_name", None) in quiet:
        return NO_WORDS
    if isinstance(part, ToolReturnPart):
        return part.model_response_str()
    content = getattr(part, "content", "")
    return content if isinstance(content, str) else _json(content)


def _answer(message: ModelResponse, quiet: AbstractSet[str]) -> str:
    """Return the text of a PydanticAI response, or its tool calls if it has no text."""
    said = "\n".join(
        part.content for part in message.parts if isinstance(part, TextPart) and part.content
    )
    if said.strip():
        return said
    return "\n".join(
        NO_WORDS
        if part.tool_name in quiet
        else f"({part.tool_name} {_json(part.args_as_dict())[:_ARGUMENTS]})"
        for part in message.parts
        if isinstance(part, ToolCallPart)
    )


def _clean(text: str, longest: int) -> str:
    text = clean(text)
    if not text or text.isspace():
        return NO_WORDS
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _moment(message: ModelMessage, parts: Sequence[Any]) -> datetime | None:
    if isinstance(message, ModelResponse):
        return message.timestamp
    times = [part.timestamp for part in parts if getattr(part, "timestamp", None) is not None]
    return max(times) if times else message.timestamp


def _form(message: ModelMessage) -> tuple[dict[str, Any], bool]:
    """Return a PydanticAI message as JSON, and True if nothing had to be shortened."""
    form: dict[str, Any] = ModelMessagesTypeAdapter.dump_python([message], mode="json")[0]
    try:
        _data.validate_python(form)
    except ValidationError:
        parts = [_reduced(part) for part in form["parts"]]
        if isinstance(message, ModelRequest):
            parts = [
                {**part, "part_kind": "user-prompt"} if part["part_kind"] == "text" else part
                for part in parts
            ]
        kept: dict[str, Any] = {
            name: form[name]
            for name in ("kind", "timestamp", "run_id", "state", "model_name")
            if name in form
        }
        return {**kept, "parts": parts}, False
    return form, True


def _reduced(part: dict[str, Any]) -> dict[str, Any]:
    """Shorten a part of a message to what can be stored; the ids that connect calls and answers
    stay.
    """
    kind = part["part_kind"]
    names = ("part_kind", "tool_name", "tool_call_id", "timestamp", "outcome", "retry")
    kept: dict[str, Any] = {name: part[name] for name in names if name in part}
    if kind == "tool-call":
        kept["args"] = {"cut": _short(part.get("args"))}
    elif kind in _KEEP_THEIR_KIND:
        kept["content"] = _short(part.get("content"))
    else:
        kept = {"part_kind": "text", "content": f"({kind})"}
    return {name: clean(value) if isinstance(value, str) else value for name, value in kept.items()}


def _short(value: Any) -> str:
    return clean((value if isinstance(value, str) else _json(value))[:_REDUCED])


def _json(value: object) -> str:
    return json.dumps(value, default=str, ensure_ascii=False)


def _plain(record: Message) -> ModelMessage | None:
    """Convert a message that was not stored by this module; None for a tool's answer, which has no
    call.
    """
    if record.role == "assistant":
        return ModelResponse([TextPart(marked_text(record))], timestamp=record.observed_at)
    if record.role == "user":
        return ModelRequest([UserPromptPart(marked_text(record), timestamp=record.observed_at)])
    return None
