"""The texts of records, other than messages, that may tell a fact."""

from __future__ import annotations

import json
from collections.abc import Iterator

from memoranda.book.forgetting.cuts import tells_value
from memoranda.book.forgetting.facts import Fact
from memoranda.model.memories import Memory
from memoranda.model.messages import Thread
from memoranda.model.profiles import ProfileDocument
from memoranda.model.records import Record
from memoranda.model.redactions import VALUE, Telling, escaped
from memoranda.model.values import Span
from memoranda.storage.decide.redaction import texts_of


def statements_of(memory: Memory) -> Iterator[str]:
    """Yield the texts that are the statement itself: the content, and the value of a bound field."""
    yield memory.content
    if memory.has_value and isinstance(memory.data["value"], str):
        yield memory.data["value"]


def made_texts(record: Record) -> Iterator[tuple[str, str]]:
    """Yield the texts that were made from messages, with their JSON pointers: of a thread not the title that somebody gave it."""
    for pointer, text in texts_of(record).items():
        if pointer is not None and not (
            pointer == "/title" and isinstance(record, Thread) and not record.title_through
        ):
            yield pointer, text


def profile_values(profile: ProfileDocument, fact: Fact) -> Iterator[Telling]:
    """Yield the values and items of a profile to forget; each goes whole."""
    for name, value in profile.body.items():
        about = name.replace("_", " ")
        items = list(enumerate(value)) if isinstance(value, list) else [(None, value)]
        for place, item in items:
            text = item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)
            if not fact.is_of_owner(f"{about} {text}") and tells_value(fact, text, about):
                path = f"/body/{escaped(name)}" + ("" if place is None else f"/{place}")
                span = Span(start=0, end=max(len(text), 1), path=path)
                yield Telling(profile.id, profile.version, span, text, VALUE, profile.type)
