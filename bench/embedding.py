"""Speed of the local model: for a backlog, and for a question compared with the bare tokenizer and
session.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import memoranda
from bench.figures import Place, Row, Timed
from bench.shelves import fill
from bench.text import Talk
from memoranda.embedding import CachedEmbedder, NoEmbedder, VectorMaker, find
from memoranda.embedding.local_model import LocalEmbedder, processors
from memoranda.embedding.model_session import model_session, tokenizer

#: A question's vector may take at most this many times as long as the bare tokenizer and session.
LONGER = 1.3
#: Tokens of each question, including those that begin and end a text.
TOKENS = 12

_NAMES = ("drain of the backlog", f"vector of a question of {TOKENS} tokens")


def embedding(place: Place) -> Iterator[Row]:
    """Measure the local model, if it is installed."""
    found = asyncio.run(find())
    if isinstance(found, NoEmbedder):
        for name in _NAMES:
            yield Row(name, None, "", note=found.reason)
        return
    yield from asyncio.run(_measured(place, found))


async def _measured(place: Place, embedder: CachedEmbedder) -> list[Row]:
    assert isinstance(embedder.embedder, LocalEmbedder)
    bare = _Bare(embedder.embedder.folder, processors())
    began = time.perf_counter()
    await embedder.query("what is loaded at the first question?")
    loading = Row("first question: the model is loaded", (time.perf_counter() - began) * 1000, "ms")
    asked = _questions(bare, place)
    ours, theirs = Timed(), Timed()
    for question in asked:
        with theirs.once():
            bare.vector(question)
        with ours.once():
            await embedder.query(question)
    rows = [ours.row(_NAMES[1]), theirs.row("  bare tokenizer and session")]
    ratio = Row("  a multiple of the bare ones", rows[0].times(rows[1]), "x", target=LONGER)
    return [loading, *rows, ratio, await _drain(place, embedder, bare)]


async def _drain(place: Place, embedder: CachedEmbedder, bare: _Bare) -> Row:
    count = place.scale.backlog
    async with memoranda.open(place.book("backlog"), embed=None) as book:
        await fill(book, "ann", count, Talk(place.seed))
        page = await book.records.list("ann", types="message", limit=1000, as_owner=True)
        tokens = sum(len(bare.encode(record.passage_text() or "")) for record in page.records)
        await book.engine.begin_set(embedder.embedding)
        began = time.perf_counter()
        made = await VectorMaker(book.engine, embedder).catch_up()
    note = f"{made:,} passages of {tokens / len(page.records):.0f} tokens"
    return Row(_NAMES[0], made / (time.perf_counter() - began), "passages/s", note=note)


def _questions(bare: _Bare, place: Place) -> list[str]:
    """Return different questions of this many tokens each; a repeated one would come from the
    cache.
    """
    talk = Talk(place.seed)
    found: dict[str, None] = {}
    while len(found) < min(place.scale.samples, 200):
        words = talk.sentence(TOKENS, TOKENS).split()
        fitting = (" ".join(words[:count]) for count in range(1, len(words)))
        found |= dict.fromkeys([text for text in fitting if len(bare.encode(text)) == TOKENS][:1])
    return list(found)


class _Bare:
    """The libraries without our code, with the model's own files."""

    def __init__(self, folder: Path, threads: int) -> None:
        self._session = model_session(folder, threads, "auto")
        self._tokenizer = tokenizer(folder)

    def encode(self, text: str) -> list[int]:
        """Return a text's tokens."""
        ids: list[int] = self._tokenizer.encode(text).ids
        return ids

    def vector(self, text: str) -> Any:
        """Return one text's unit vector."""
        ids = np.array([self.encode(text)], dtype=np.int32)
        return self._session.run(None, {"ids": ids, "mask": np.ones_like(ids)})[0]
