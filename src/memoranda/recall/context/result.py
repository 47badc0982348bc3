"""A finished context: its text, its blocks and entries, and what was left out; as messages and as
JSON.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import dropwhile, groupby
from operator import itemgetter
from typing import Any, Final, Literal
from uuid import UUID

from memoranda.first_use import dataclass
from memoranda.model.messages import NO_WORDS
from memoranda.model.records import RecordType
from memoranda.recall.context.blocks import frame
from memoranda.recall.context.echoes import Echo
from memoranda.recall.context.passage_parts import PartReason
from memoranda.text.fence import BLOCKS, PREAMBLE

#: The block of the thread's newest turns.
CONVERSATION: Final = BLOCKS[-1]

Counted = Literal["exact", "estimated"]
#: The reason why something was left out.
Reason = (
    Literal["budget", "beyond_a_quarter", "in_conversation", "told_twice", "expired", "disputed"]
    | PartReason
    | Echo
)


@dataclass(frozen=True, slots=True)
class Placed:
    """A record that is in a context."""

    #: The record's id; for a field of a profile, the document's.
    id: UUID
    type: RecordType
    tokens: int
    #: True if its text was too long and was cut.
    cut: bool
    #: Its label and its text as the context shows them: escaped.
    label: str = ""
    text: str = ""
    #: ``user`` or ``assistant`` for a turn that a chat may repeat as a message of its own; empty
    #: for everything else.
    role: str = ""


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a context."""

    name: str
    text: str
    tokens: int
    placed: tuple[Placed, ...]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A record that was found for a context and is not in it."""

    id: UUID
    type: RecordType
    block: str
    reason: Reason


@dataclass(frozen=True, slots=True)
class Context:
    """The text for an agent, and the records that it is made of."""

    text: str
    blocks: tuple[Block, ...]
    left_out: tuple[LeftOut, ...]
    tokens: int
    #: ``exact`` by the caller's counter; ``estimated`` by an estimate that errs towards more
    #: tokens.
    counted: Counted
    #: The last line, which tells the time; empty without a time zone.
    now: str = ""

    def __repr__(self) -> str:
        placed = ", ".join(f"{block.name} {len(block.placed)}" for block in self.blocks) or "empty"
        return f"<Context of {self.tokens} tokens ({self.counted}): {placed}; {len(self.left_out)} left out>"

    @property
    def memories(self) -> tuple[UUID, ...]:
        """The ids of the memories in the context."""
        return tuple(
            one.id for block in self.blocks for one in block.placed if one.type is RecordType.MEMORY
        )

    def as_messages(self) -> list[dict[str, str]]:
        """Return the context as messages with ``role`` and ``content``, as chat APIs take them;
        roles alternate.

        The first has the user's role and holds every block but the conversation. Turns of the user
        and the assistant follow in their own roles. Turns that need their label (a tool's, a named
        speaker's, a stranger's) and the summary stay in the block ``conversation``, in the user's
        role. Nothing has the role of instructions.
        """
        said: list[tuple[str, str]] = []
        parts = [block.text for block in self.blocks if block.name != CONVERSATION]
        turns = [one for block in self.blocks if block.name == CONVERSATION for one in block.placed]
        labelled = [one for one in turns if not one.role]
        first = turns[: len(turns) - len([*dropwhile(lambda one: not one.role, turns)])]
        if first:
            parts.append(_framed(first))
        if parts or labelled:
            parts.insert(0, PREAMBLE)
        if self.now:
            parts.append(self.now)
        if parts:
            said.append(("user", "\n\n".join(parts)))
        for role, run in groupby(turns[len(first) :], key=lambda one: one.role):
            group = list(run)
            text = (
                "\n\n".join(one.text for one in group if one.text != NO_WORDS)
                if role
                else _framed(group)
            )
            said.append((role or "user", text))
        return [
            {"role": role, "content": "\n\n".join(text for _, text in run)}
            for role, run in groupby([one for one in said if one[1]], key=itemgetter(0))
        ]

    def as_json(self) -> dict[str, Any]:
        """Return the context as plain values for JSON: its blocks with the id, type, label, text
        and tokens of each entry.
        """
        return {
            "text": self.text,
            "blocks": [
                {
                    "name": block.name,
                    "text": block.text,
                    "tokens": block.tokens,
                    "placed": [_plain(one) for one in block.placed],
                }
                for block in self.blocks
            ],
            "left_out": [_plain(one) for one in self.left_out],
            "tokens": self.tokens,
            "counted": self.counted,
            "now": self.now,
        }


def _framed(turns: Sequence[Placed]) -> str:
    return frame(CONVERSATION, [f"- [{one.label}] {one.text}" for one in turns])


def _plain(one: Placed | LeftOut) -> dict[str, Any]:
    """Return an entry as plain values."""
    return {
        name: value.value
        if isinstance(value, RecordType)
        else str(value)
        if isinstance(value, UUID)
        else value
        for name, value in asdict(one).items()
    }
