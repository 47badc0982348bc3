"""Decides who said something: what strangers say follows no common audience."""

from __future__ import annotations

from memoranda.model.messages import Message
from memoranda.model.records import STRANGERS, Record
from memoranda.text.scripts import comparable_text

#: What an application may call the owner of a thread, beside the owner's id.
OWNER_WORDS = frozenset({"user", "the user", "me", "myself", "i"})


def other_speaker(message: Message) -> str | None:
    """Return the speaker of a user message if it is not the owner; what this speaker says is not
    about the owner.
    """
    speaker = message.speaker
    return (
        None
        if speaker is None
        or comparable_text(speaker) in (comparable_text(message.owner.id), *OWNER_WORDS)
        else speaker
    )


def is_from_strangers(record: Record) -> bool:
    """True if a tool, a web page or a speaker other than the owner said it."""
    if isinstance(record, Message) and record.role == "user" and other_speaker(record) is not None:
        return True
    return getattr(record, "trust", None) in STRANGERS
