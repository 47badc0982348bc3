"""The texts of records, other than messages, that may tell a fact."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from memoranda.model.data.items import Item, named_parts
from memoranda.model.memories import Memory
from memoranda.model.messages import Episode, Overflow, Thread
from memoranda.model.profiles import ProfileDocument
from memoranda.model.records import Record
from memoranda.model.redactions import strings_of
from memoranda.storage.decide.redaction import texts_of as cuttable
from memoranda.text.sentence_spans import sentence_places


def sentences_of(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_places(text)]


def texts_of(record: Record) -> Iterator[str]:
    """Yield the texts of a record that no reader sees as a message: sentences, values, and strings in data."""
    if isinstance(record, Memory):
        yield from (record.content, record.applies_when, *record.tags)
        for text in cuttable(record).values():
            yield from sentences_of(text)
        yield from _numbers_in(record.data)
    elif isinstance(record, Item):
        yield " / ".join((*record.namespace, record.name))
        for text in cuttable(record).values():
            yield from sentences_of(text)
        yield from _numbers_in(record.value)
    elif isinstance(record, ProfileDocument):
        for name, value in record.body.items():
            for item in value if isinstance(value, list) else [value]:
                yield f"{name}: {item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)}"
    elif isinstance(record, Thread):
        task, prepared = record.task_summary, record.prepared
        yield from (record.title, *sentences_of(record.summary))
        if task is not None:
            yield from (*sentences_of(task.summary), *task.main_points, *task.takeaways)
        if prepared is not None:
            yield from (prepared.goal, *sentences_of(prepared.summary))
        yield from _said_in([record.state, record.result])
    elif isinstance(record, Episode):
        yield from (record.goal, *sentences_of(record.summary), *record.tags)
        yield from _said_in([call.model_dump(mode="json") for call in record.tool_calls])
    elif isinstance(record, Overflow):
        yield from _said_in([one.call.model_dump(mode="json") for one in record.calls])


def statements_of(memory: Memory) -> Iterator[str]:
    """Yield the texts that are the statement itself: the content, and the value of a bound field."""
    yield memory.content
    if memory.has_value and isinstance(memory.data["value"], str):
        yield memory.data["value"]


def _numbers_in(data: Any) -> Iterator[str]:
    """Yield each number in JSON with the name of its field."""
    return (f"{name}: {part}" for name, part in named_parts(data) if not isinstance(part, str))


def made_of(record: Record, told: set[UUID], threads: set[UUID]) -> Iterator[str]:
    """Yield the texts of a record that were made from messages that may tell a fact."""
    if isinstance(record, Memory) and not told.isdisjoint(record.sources):
        yield record.content
    elif isinstance(record, ProfileDocument):
        for name, value in record.body.items():
            items = value if isinstance(value, list) and value else [value]
            for item, grounds in zip(items, record.grounds_of(name), strict=False):
                if not told.isdisjoint(grounds):
                    yield f"{name}: {item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)}"
    elif isinstance(record, Thread) and record.id in threads:
        for text in formed_texts(record):
            yield from sentences_of(text)
    elif isinstance(record, Episode) and (record.thread in threads or not told.isdisjoint(record.sources)):
        yield from (record.goal, *sentences_of(record.summary))


def formed_texts(thread: Thread) -> Iterator[str]:
    """Yield the texts that were made from a thread's messages, and are emptied with them."""
    task, prepared = thread.task_summary, thread.prepared
    yield thread.summary
    if thread.title_through:
        yield thread.title
    if task is not None:
        yield from (task.summary, *task.main_points, *task.takeaways)
    if prepared is not None:
        yield from (prepared.goal, prepared.summary)


def _said_in(data: Any) -> Iterator[str]:
    for _, text in strings_of(data):
        yield from sentences_of(text)
