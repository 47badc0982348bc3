"""PydanticAI's messages as the book's, and back without loss."""

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

from memoranda.model.messages import Message
from memoranda.model.values import NAME_LENGTH, Data

#: Where in a message's native form PydanticAI's own stands, and which message of a run it is a part of.
FORM: Final = "pydantic_ai"
_OF: Final = "of"
_ROLES: Final = {"system-prompt": "system", "user-prompt": "user", "speech": "user"}
#: The text of a message that has none to be found by.
_UNTOLD: Final = "(…)"
#: Characters of a call's arguments that stand in the text of a message that says nothing else.
_ARGUMENTS: Final = 2000
#: Characters of a part that are kept where the whole of it cannot be.
_REDUCED: Final = 10_000
_KEEP_THEIR_SORT: Final = frozenset({"system-prompt", "user-prompt", "tool-return", "text", "thinking"})
_data: TypeAdapter[Any] = TypeAdapter(Data)


def drafts_of(
    messages: Sequence[ModelMessage], *, run: str, agent: str, quiet: AbstractSet[str], longest: int
) -> tuple[list[dict[str, Any]], int]:
    """Drafts for ``append``, one for each speaker in a message, and how many could not be kept in their whole form.

    What ``quiet`` tools are given and give stands in the native form only: it is in the book already.
    """
    drafts: list[dict[str, Any]] = []
    reduced = 0
    for place, message in enumerate(messages):
        form, fits = _form(message)
        reduced += not fits
        for start, end, role, speaker in _speakers(message):
            parts = message.parts[start:end]
            text = _text(parts, quiet) if isinstance(message, ModelRequest) else _answer(message, quiet)
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
    """A thread's messages in PydanticAI's form; those that came in by other ways, as far as they have one."""
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
    """A message's own form, where it came from here."""
    native = record.native
    form = native.get(FORM) if isinstance(native, dict) else None
    return form if isinstance(form, dict) and isinstance(form.get("parts"), list) else None


def says(draft: Mapping[str, Any] | None) -> list[tuple[Any, ...]]:
    """What is said in a form, without its times and ids."""
    parts = [] if draft is None else draft["parts"]
    return [tuple(part.get(name) for name in ("part_kind", "tool_name", "content", "args")) for part in parts]


def whole(messages: Sequence[ModelMessage], ended: str) -> list[ModelMessage]:
    """The messages of a run that was broken off, with an answer to every call of a tool that got none."""
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
    """The messages of one request with a context before the run's prompt, or else before the newest prompt.

    It stands as data in the user's place, never among instructions, and between no call and its answer.
    """
    own = [place for place, message in enumerate(messages) if message.run_id == run]
    for place in [*own, *reversed(range(own[0] if own else len(messages)))]:
        message = messages[place]
        if isinstance(message, ModelRequest):
            prompts = [n for n, part in enumerate(message.parts) if isinstance(part, UserPromptPart)]
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
    """The words of a prompt; what else is in it is named."""
    if prompt is None or isinstance(prompt, str):
        return prompt or ""
    return "\n".join(map(_words, prompt))


def clean(text: str) -> str:
    """A text without what no book keeps: NUL characters and halves of surrogate pairs."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")


def _words(item: object) -> str:
    text = item if isinstance(item, str) else getattr(item, "content", None)
    return text if isinstance(text, str) else f"({getattr(item, 'kind', type(item).__name__)})"


def _speakers(message: ModelMessage) -> Iterable[tuple[int, int, str, str | None]]:
    """Runs of parts of one speaker: where they begin and end, its role, and its name."""
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
    # Each answer of a tool is a message of its own.
    name = "".join(filter(str.isprintable, clean(getattr(part, "tool_name", None) or "")))
    return role, name.strip()[:NAME_LENGTH] or None, getattr(part, "tool_call_id", "")


def _text(parts: Sequence[Any], quiet: AbstractSet[str]) -> str:
    """What is said in a request."""
    return "\n".join(filter(None, (_part_text(part, quiet) for part in parts)))


def _part_text(part: Any, quiet: AbstractSet[str]) -> str:
    if part.part_kind in _ROLES:
        return prompt_text(getattr(part, "content", None) or getattr(part, "transcript", None))
    if getattr(part, "tool_name", None) in quiet:
        return _UNTOLD
    if isinstance(part, ToolReturnPart):
        return part.model_response_str()
    content = getattr(part, "content", "")
    return content if isinstance(content, str) else _json(content)


def _answer(message: ModelResponse, quiet: AbstractSet[str]) -> str:
    """What is said in a response; where it only calls tools, the calls."""
    said = "\n".join(part.content for part in message.parts if isinstance(part, TextPart) and part.content)
    if said.strip():
        return said
    return "\n".join(
        _UNTOLD
        if part.tool_name in quiet
        else f"({part.tool_name} {_json(part.args_as_dict())[:_ARGUMENTS]})"
        for part in message.parts
        if isinstance(part, ToolCallPart)
    )


def _clean(text: str, longest: int) -> str:
    text = clean(text)
    if not text or text.isspace():
        return _UNTOLD
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _moment(message: ModelMessage, parts: Sequence[Any]) -> datetime | None:
    if isinstance(message, ModelResponse):
        return message.timestamp
    times = [part.timestamp for part in parts if getattr(part, "timestamp", None) is not None]
    return max(times) if times else message.timestamp


def _form(message: ModelMessage) -> tuple[dict[str, Any], bool]:
    """A message as JSON, and whether that is all of it."""
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
    """A part with as much of it as can be kept, and the ids that tie calls to answers."""
    kind = part["part_kind"]
    names = ("part_kind", "tool_name", "tool_call_id", "timestamp", "outcome", "retry")
    kept: dict[str, Any] = {name: part[name] for name in names if name in part}
    if kind == "tool-call":
        kept["args"] = {"cut": _short(part.get("args"))}
    elif kind in _KEEP_THEIR_SORT:
        kept["content"] = _short(part.get("content"))
    else:
        kept = {"part_kind": "text", "content": f"({kind})"}
    return {name: clean(value) if isinstance(value, str) else value for name, value in kept.items()}


def _short(value: Any) -> str:
    return clean((value if isinstance(value, str) else _json(value))[:_REDUCED])


def _json(value: object) -> str:
    return json.dumps(value, default=str, ensure_ascii=False)


def _plain(record: Message) -> ModelMessage | None:
    """A message that came in by another way; a tool's answer has no call to go with, and is left out."""
    if record.role == "assistant":
        return ModelResponse([TextPart(record.content)], timestamp=record.observed_at)
    if record.role == "user":
        return ModelRequest([UserPromptPart(record.content, timestamp=record.observed_at)])
    return None
