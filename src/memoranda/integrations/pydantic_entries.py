"""Conversion of the entries of PydanticAI's conversations into messages of a thread and back,
without loss.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final
from uuid import UUID

from pydantic import TypeAdapter, ValidationError
from pydantic_ai.conversation_store import ConversationEntry, ConversationRecord
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    UserPromptPart,
)

from memoranda.book import ThreadHandle
from memoranda.integrations.pydantic_messages import drafts_of, messages_of
from memoranda.integrations.tools import TOOLS, TOOLS_BY_NAME, digest
from memoranda.model.messages import NO_WORDS, Message

#: Places of a history's messages in its thread: first and last place of each stretch, in order.
Line = list[list[int]]

#: Fields of a message's native form: the entry that it is a part of (as in ``pydantic_messages``),
#: and a piece of the entry's JSON text, if the form itself cannot be stored.
_OF, _PIECE = "of", "json"
_PIECE_LENGTH: Final = 500_000
#: Fields of the state of such a thread: the records by the digests of their ids; the places of the
#: histories that they name; true while messages wait to be erased; the id of the thread that has a
#: fork's record; and the last place written.
RECORDS, LINES, FREED, FAMILY, LAST = "records", "lines", "freed", "family", "last"
#: The native form of a message that is of no entry, and of no use once it is there.
FILLER: Final = {_OF: "none"}
_record: TypeAdapter[ConversationRecord] = TypeAdapter(ConversationRecord)


@dataclass
class Family:
    """A thread with the messages of a conversation and of those forked from it, as it was read."""

    handle: ThreadHandle
    version: int
    state: dict[str, Any]
    #: The thread that only points to it, for a fork: its id and version.
    pointer: dict[UUID, int] = field(default_factory=dict)

    @property
    def lines(self) -> dict[str, Line]:
        lines: dict[str, Line] = self.state.get(LINES, {})
        return lines

    def record(self, conversation: str) -> ConversationRecord | None:
        text = self.state.get(RECORDS, {}).get(_key(conversation))
        return None if text is None else _record.validate_json(text)

    def records(self) -> list[ConversationRecord]:
        return [_record.validate_json(text) for text in self.state.get(RECORDS, {}).values()]

    @property
    def last(self) -> int:
        """Return the last place in the thread that this module wrote to."""
        last: int = self.state.get(LAST, 0)
        return last

    def tips(self) -> set[str]:
        """Return the last entries of all histories that records name."""
        named = [tip for record in self.records() for tip in (record.head_id, *record.branches)]
        return {tip for tip in named if tip is not None}

    def with_record(self, record: ConversationRecord, line: Line) -> dict[str, Any]:
        """Return the state with a record added or replaced, and the places of its history."""
        records = {**self.state.get(RECORDS, {}), _key(record.conversation_id): _text(record)}
        changed = replace(self, state={RECORDS: records})
        lines = self.lines if record.head_id is None else {**self.lines, record.head_id: line}
        tips = changed.tips()
        last = max(self.last, line[-1][1] if line else 0)
        return {
            **self._state(records, {tip: held for tip, held in lines.items() if tip in tips}),
            LAST: last,
        }

    def without_record(self, conversation: str) -> dict[str, Any]:
        """Return the state without a record, marked so that the messages it alone reached are
        erased.
        """
        records = {
            key: text for key, text in self.state[RECORDS].items() if key != _key(conversation)
        }
        return {**self._state(records, self.lines), FREED: True}

    def freed(self, lines: Mapping[str, Line]) -> dict[str, Any]:
        """Return the state once nothing waits to be erased."""
        return self._state(self.state.get(RECORDS, {}), lines)

    def pointing(self, family: UUID) -> dict[str, Any]:
        """Return the state with the thread where a fork's record is."""
        return {**self.state, FAMILY: str(family)}

    def _state(self, records: Mapping[str, str], lines: Mapping[str, Line]) -> dict[str, Any]:
        kept = {name: self.state[name] for name in (FAMILY, LAST) if name in self.state}
        return {RECORDS: dict(records), LINES: dict(lines), **kept}


def divided(
    entries: Sequence[ConversationEntry], agent: str, longest: int, batch: int
) -> list[tuple[list[ConversationEntry], list[dict[str, Any]]]]:
    """Return the entries with the messages to append, divided so that each part is one
    operation.
    """
    parts: list[tuple[list[ConversationEntry], list[dict[str, Any]]]] = [([], [])]
    for entry in entries:
        drafts = _drafts(entry, agent, longest)
        if parts[-1][1] and len(parts[-1][1]) + len(drafts) > batch:
            parts.append(([], []))
        parts[-1][0].append(entry)
        parts[-1][1].extend(drafts)
    return parts


def _drafts(entry: ConversationEntry, agent: str, longest: int) -> list[dict[str, Any]]:
    """Return the messages that an entry becomes: one for each speaker, with its form, or pieces of
    its JSON text.
    """
    quiet = frozenset((*TOOLS, *TOOLS_BY_NAME))
    drafts, reduced = drafts_of([entry.message], run="", agent=agent, quiet=quiet, longest=longest)
    if not reduced:
        return [{**draft, "native": {**draft["native"], _OF: entry.id}} for draft in drafts]
    text = json.dumps(ModelMessagesTypeAdapter.dump_python([entry.message], mode="json"))
    pieces = [text[start : start + _PIECE_LENGTH] for start in range(0, len(text), _PIECE_LENGTH)]
    spare = {"role": "tool", "content": NO_WORDS, "agent": agent}
    pieces += [""] * (len(drafts) - len(pieces))
    drafts += [spare] * (len(pieces) - len(drafts))
    return [
        {**draft, "native": {_OF: entry.id, _PIECE: piece}}
        for draft, piece in zip(drafts, pieces, strict=True)
    ]


def _message(parts: Sequence[Message]) -> ModelMessage:
    """Return the message that these parts were made from; its words alone if a piece of its text
    was erased.
    """
    pieces = [
        part.native[_PIECE]
        for part in parts
        if isinstance(part.native, dict) and _PIECE in part.native
    ]
    try:
        found = (
            ModelMessagesTypeAdapter.validate_json("".join(pieces))
            if pieces
            else messages_of(parts)
        )
    except ValidationError:
        found = messages_of([part.changed(native=None) for part in parts])
    return found[0] if found else ModelRequest([UserPromptPart(NO_WORDS)])


def entry_of(message: Message) -> str:
    """Return the id of the entry that a message is a part of; empty if it is of none."""
    native = message.native
    own = native.get(_OF) if isinstance(native, dict) else None
    return own if isinstance(own, str) else ""


def entries_of(messages: Sequence[Message]) -> list[ConversationEntry]:
    """Return the entries that a history's messages are parts of, in order."""
    entries: list[ConversationEntry] = []
    for id, parts in _grouped(messages).items():
        parent = entries[-1].id if entries else None
        entries.append(ConversationEntry(id=id, parent_id=parent, message=_message(parts)))
    return entries


def _grouped(messages: Sequence[Message]) -> dict[str, list[Message]]:
    grouped: dict[str, list[Message]] = {}
    for message in messages:
        grouped.setdefault(entry_of(message), []).append(message)
    return grouped


def cut(line: Line, last: int) -> Line:
    """Return the part of a history that ends at a place."""
    return [[first, min(end, last)] for first, end in line if first <= last]


def joined(line: Line, stretch: list[int]) -> Line:
    """Return a history with one more stretch."""
    if line and line[-1][1] + 1 == stretch[0]:
        return [*line[:-1], [line[-1][0], stretch[1]]]
    return [*line, stretch]


def _text(record: ConversationRecord) -> str:
    return json.dumps(_record.dump_python(record, mode="json"))


def _key(conversation: str) -> str:
    return digest("conversation", conversation)
