"""The mark that says who said a stored text, for every surface that shows it; and the text quoted
as a source.
"""

from __future__ import annotations

from datetime import datetime
from typing import cast

from memoranda.model.experience_lines import ExperienceLine
from memoranda.model.items import Item
from memoranda.model.memories import Memory
from memoranda.model.messages import Episode, Message, Thread
from memoranda.model.query import Source
from memoranda.model.quotations import quote
from memoranda.model.records import STRANGERS, Record, Trust
from memoranda.text.fence import in_quotes


def stranger(trust: Trust) -> list[str]:
    """Return the mark of what was said by neither user nor operator, "from tool" or "from web";
    none for others.
    """
    return [f"from {trust.value}"] if trust in STRANGERS else []


def origin(record: Record, called: str | None = None) -> list[str]:
    """Return who said a record's text, for a label: of a message the role and speaker, and then the
    mark of a stranger.

    ``called`` stands for the role and speaker.
    """
    said: list[str] = []
    if isinstance(record, Message):
        named = f"{record.role} {in_quotes(record.speaker)}" if record.speaker else record.role
        said.append(called or named)
    return [*said, *stranger(getattr(record, "trust", Trust.USER))]


def needs_mark(message: Message) -> bool:
    """True if a message's role alone does not say who said it: a stranger, or a user who is
    named.
    """
    return message.trust in STRANGERS or (message.role == "user" and message.speaker is not None)


def marked_text(message: Message) -> str:
    """Return the content of a message for a form that has nothing but a role beside it, with the
    mark where it needs one.
    """
    return (
        f"[{', '.join(origin(message))}] {message.content}"
        if needs_mark(message)
        else message.content
    )


def source_of(record: Record, citing: Record, sources: tuple[Source, ...] = ()) -> Source:
    """Return the quotation of a record as a source of another; ``sources`` are the record's own
    sources.

    Of a long text it shows what the other record quotes of it.
    """
    quotes = citing.quotes if isinstance(citing, Memory) else ()
    own = [one.quote for one in quotes if one.message == record.id]
    cited = next(filter(None, own), "")
    # What it quoted was forgotten: the rest of the message is no source of it.
    gone = bool(own) and not cited
    shown = "" if gone else quote(_text(record), around=cited)
    return Source(
        record.id, record.type, ", ".join(said_by(record)), said_at(record), shown, sources, gone
    )


def said_by(record: Record) -> list[str]:
    if isinstance(record, Message):
        is_agent = record.role == "assistant" and not record.speaker
        return origin(record, record.agent if is_agent else None)
    if isinstance(record, (Memory, Episode, Thread, Item)):
        return [record.agent or "application", *origin(record)]
    return [str(record.owner)]


def said_at(record: Record) -> datetime:
    for name in ("observed_at", "started_at", "updated_at"):
        if hasattr(record, name):
            return cast(datetime, getattr(record, name))
    return record.recorded_at


def _text(record: Record) -> str:
    if isinstance(record, Message):
        return record.content
    if isinstance(record, Thread):
        return record.title or record.name or "a conversation"
    if isinstance(record, ExperienceLine):
        return record.line
    return record.passage_text() or record.type.value
