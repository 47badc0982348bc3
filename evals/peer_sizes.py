"""A made-up shelf of any size for comparing the speed of memories: seeded text, and vectors that belong to it loosely."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.text import Talk
from evals.corpora import Conversation, Corpus, Question, Turn

QUESTIONS = 200
DIMENSION = 384
_A_SESSION = 500
#: The cosine of a question with the passage that answers it. Of 100,000 others about one is as near by chance.
_NEARNESS = 0.2


def sized_corpus(passages: int) -> Corpus:
    """Return one owner with so many passages, and questions that each have some words of one passage."""
    talk = Talk(passages)
    turns = tuple(
        Turn(str(number), number // _A_SESSION, None, None, "user", talk.passage())
        for number in range(passages)
    )
    asked = np.random.default_rng(passages).choice(passages, min(QUESTIONS, passages), replace=False)
    questions = tuple(
        Question(talk.question(turns[one].text), frozenset({turns[one].id}), "made up") for one in asked
    )
    return Corpus(f"{passages:,} passages", "", (Conversation("sized", turns, questions),), {})


def sized_vectors(corpus: Corpus, task: Mapping[str, Any]) -> NDArray[np.float32]:
    """Return one unit vector for each text of a task: random ones, and for a question one near its passage."""
    (conversation,) = corpus.conversations
    text_of = {turn.id: turn.text for turn in conversation.turns}
    passage_of = {one.text: text_of[next(iter(one.gold))] for one in conversation.questions}
    rows = np.empty((len(task["texts"]), DIMENSION), dtype=np.float32)
    for row, text in zip(rows, task["texts"], strict=True):
        row[:] = _random(text)
        if text in passage_of:
            across = row - (row @ (near := _random(passage_of[text]))) * near
            row[:] = _NEARNESS * near + np.sqrt(1 - _NEARNESS**2) * across / np.linalg.norm(across)
    return rows


def _random(text: str) -> NDArray[np.float32]:
    seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
    found = np.random.default_rng(seed).standard_normal(DIMENSION, dtype=np.float32)
    unit: NDArray[np.float32] = found / np.linalg.norm(found)
    return unit
