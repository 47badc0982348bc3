"""Builds messages from mappings: in the book's own fields, or in the form of OpenAI's chat API."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from memoranda.book.input import check_fields
from memoranda.errors import InvalidInput
from memoranda.model.messages import Message
from memoranda.model.records import TRUST_OF_ROLE, Owner, Trust
from memoranda.model.service_records import CALLER
from memoranda.model.values import new_id

_FIELDS: Final = frozenset(
    "role content speaker agent observed_at trust native token_count feedback".split()
)
#: Fields that only messages of OpenAI's chat API have; those of an answer may all be there, and be
#: None.
_CHAT: Final = frozenset(
    {"name", "tool_calls", "tool_call_id", "function_call", "refusal", "audio", "annotations"}
)
#: Fields of a chat message by which a call and its result are found; they are kept in ``native``.
_CALLS: Final = ("tool_calls", "tool_call_id", "function_call")
#: The text of a tool's answer that is empty.
_EMPTY: Final = "(empty)"
#: The most characters of a call's arguments in the text of a message that has no other text.
_ARGUMENTS: Final = 2000
_KIND_LENGTH: Final = 50
_ROLES: Final = frozenset({*TRUST_OF_ROLE, "developer"})


def drafts_in(role_or_messages: Any, content: str | None, fields: Mapping[str, Any]) -> list[Any]:
    """Return the messages that ``append`` was given: a role with content, one mapping, or
    several.
    """
    if isinstance(role_or_messages, str):
        if content is None and role_or_messages not in _ROLES:
            raise InvalidInput(
                "content: it is missing; give a role and a text, such as append('user', 'I like tea')",
                field="content",
            )
        return [{"role": role_or_messages, "content": content, **fields}]
    if content is not None or fields:
        raise InvalidInput(
            "messages: with a list of messages, give fields inside each message", field="messages"
        )
    if isinstance(role_or_messages, Mapping):
        return [role_or_messages]
    if not isinstance(role_or_messages, Iterable) or isinstance(
        role_or_messages, (bytes, bytearray)
    ):
        raise InvalidInput(
            f"messages: give a role and content, a message or a list of messages, not {type(role_or_messages).__name__}",
            field="messages",
        )
    drafts = list(role_or_messages)
    if not drafts:
        raise InvalidInput("messages: none given; give at least one", field="messages")
    return drafts


def message_of(draft: Mapping[str, Any], owner: Owner, thread: UUID, received: datetime) -> Message:
    """Build a message from an unchecked mapping. Without ``observed_at``, the time of receipt is
    used.
    """
    check_fields(draft, _FIELDS | _CHAT)
    fields = _plain(draft)
    if fields.get("observed_at") is None:
        fields["observed_at"] = received
        fields["observed_assumed"] = True
    if fields.get("trust") is None:
        role = fields.get("role")
        said = TRUST_OF_ROLE.get(role, Trust.USER) if isinstance(role, str) else Trust.USER
        # A credential that is no administrator's does not speak for the operator.
        fields["trust"] = CALLER.get().trust if said is Trust.OPERATOR else said
    return Message.model_validate({**fields, "id": new_id(), "owner": owner, "thread": thread})


def _plain(draft: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message in the book's own fields; one that is in them already stays as it is."""
    fields = {name: value for name, value in draft.items() if name in _FIELDS}
    if fields.get("role") == "developer":
        fields["role"] = "system"
    name = draft.get("name")
    if name is not None:
        if fields.get("speaker") not in (None, name):
            raise InvalidInput(
                "name: it is the speaker; give name or speaker, not both", field="name"
            )
        fields["speaker"] = name
    calls = {key: draft[key] for key in _CALLS if draft.get(key)}
    text = _text(draft)
    if text in (None, "") and (calls or fields.get("role") == "tool"):
        fields["content"] = "\n".join(_told(calls)) or _EMPTY
    else:
        fields["content"] = text
    if calls and fields.get("native") is None:
        without_text = {} if text else {"content": text}
        fields["native"] = {"role": draft.get("role"), **without_text, **calls}
    return fields


def _text(draft: Mapping[str, Any]) -> Any:
    """Return a message's text. A list of parts becomes their texts; a part without text is named in
    brackets.
    """
    content = draft.get("content")
    if isinstance(content, (list, tuple)):
        content = "\n".join(
            filter(None, (_part_text(part, place) for place, part in enumerate(content)))
        )
    if content in (None, ""):
        audio = draft.get("audio")
        spoken = audio.get("transcript") if isinstance(audio, Mapping) else None
        content = draft.get("refusal") or spoken or ("(audio)" if audio else content)
    return content


def _part_text(part: Any, place: int) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping):
        raise InvalidInput(
            f"content[{place}]: give a text or a part of a message, not {type(part).__name__}",
            field=f"content[{place}]",
        )
    kind = str(part.get("type") or "part")
    text = part.get("refusal" if kind == "refusal" else "text")
    return text if isinstance(text, str) else f"({kind[:_KIND_LENGTH]})"


def _told(calls: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each tool call of a message that has no text."""
    made = [*_listed(calls.get("tool_calls", ())), calls.get("function_call")]
    for call in made:
        if call is None:
            continue
        if not isinstance(call, Mapping):
            raise InvalidInput(
                f"tool_calls: give each call as a mapping, not {type(call).__name__}",
                field="tool_calls",
            )
        inner = call.get("function") or call.get("custom") or call
        named = inner if isinstance(inner, Mapping) else call
        given = named.get("arguments", named.get("input", ""))
        yield f"({named.get('name') or 'tool'} {given})"[:_ARGUMENTS]


def _listed(calls: Any) -> Sequence[Any]:
    if not isinstance(calls, (list, tuple)):
        raise InvalidInput(
            f"tool_calls: give a list of calls, not {type(calls).__name__}", field="tool_calls"
        )
    return calls
