"""Topics and values of stored memories, read again from the user's words that they were formed
from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final
from uuid import UUID

from memoranda.formation.rules import TOPICS, Known, Statement, extract, read_stored
from memoranda.model.memories import Memory
from memoranda.text.scripts import comparable_text

#: Topics that a key alone names.
_BY_KEY: Final = {
    topic.key: about for about, topic in reversed([*TOPICS.items()]) if topic.key is not None
}


def said_before(memories: Iterable[Memory], texts: Mapping[UUID, str]) -> list[Known]:
    """Return the topic and the value of each memory, from its source messages, its
    quotes, or itself.

    A memory that the rules do not find there has no topic, and its content as its value.
    """
    return [_known(memory, texts) for memory in memories]


def _known(memory: Memory, texts: Mapping[UUID, str]) -> Known:
    wanted = comparable_text(memory.content)
    for stated in _stated(memory, texts):
        if comparable_text(stated.content) == wanted:
            return Known(memory.id, stated.about, stated.value)
    return Known(memory.id, _BY_KEY.get(memory.key or "", ""), memory.content)


def _stated(memory: Memory, texts: Mapping[UUID, str]) -> Iterator[Statement]:
    for source in memory.sources[:3]:
        if source in texts:
            yield from _read(texts[source])
    for quote in memory.quotes[:3]:
        yield from _read(quote.quote)
    # An answer or a correction names its topic only with the turn before it.
    yield from read_stored(memory.content)


@lru_cache(maxsize=64)
def _read(text: str) -> tuple[Statement, ...]:
    return tuple(extract(text))
