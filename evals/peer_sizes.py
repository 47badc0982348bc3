"""A made-up shelf of any size for comparing the speed of memories: seeded text, and vectors as
talks have them.
"""

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
#: So many passages in a row share a topic, which is this share of the square of their vectors.
_TOPIC, _TOPIC_SHARE = 20, 0.3
#: The cosine of a question with the passage that answers it.
_NEARNESS = 0.3


def sized_corpus(passages: int) -> Corpus:
    """Return one owner with so many passages, and questions that each have some words of one
    passage.
    """
    talk = Talk(passages)
    turns = tuple(
        Turn(str(number), number // _A_SESSION, None, None, "user", talk.passage())
        for number in range(passages)
    )
    # A question answers none.
    saying = [number for number, turn in enumerate(turns) if not turn.text.endswith("?")]
    asked = np.random.default_rng(passages).choice(
        saying, min(QUESTIONS, len(saying)), replace=False
    )
    questions = tuple(
        Question(talk.question(turns[one].text), frozenset({turns[one].id}), "made up")
        for one in asked
    )
    return Corpus(f"{passages:,} passages", "", (Conversation("sized", turns, questions),), {})


def sized_vectors(corpus: Corpus, task: Mapping[str, Any]) -> NDArray[np.float32]:
    """Return one unit vector for each text of a task: passages in a row share a part, a question is
    near its passage.
    """
    (conversation,) = corpus.conversations
    passages = {
        turn.text: np.sqrt(_TOPIC_SHARE) * _random(f"topic {int(turn.id) // _TOPIC}")
        + np.sqrt(1 - _TOPIC_SHARE) * _random(turn.text)
        for turn in conversation.turns
    }
    text_of = {turn.id: turn.text for turn in conversation.turns}
    questions = {
        one.text: _NEARNESS * passages[text_of[next(iter(one.gold))]]
        + np.sqrt(1 - _NEARNESS**2) * _random(one.text)
        for one in conversation.questions
    }
    every = questions | passages
    rows = np.array([every[text] for text in task["texts"]], dtype=np.float32)
    unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def _random(text: str) -> NDArray[np.float32]:
    """Return the random unit vector of a text."""
    seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
    found = np.random.default_rng(seed).standard_normal(DIMENSION, dtype=np.float32)
    unit: NDArray[np.float32] = found / np.linalg.norm(found)
    return unit
