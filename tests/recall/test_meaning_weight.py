"""The weight of meaning: it depends on the embedding, because cosines of different models lie differently."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

import memoranda
from memoranda import Embedding
from memoranda.recall.scoring.scorers import blend_of, meaning_weight


class Letters:
    """An embedder whose vectors count letters, under any name."""

    def __init__(self, model: str) -> None:
        self.embedding = Embedding("local", model, 26)

    async def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        counts = [[1 + text.lower().count(chr(97 + letter)) for letter in range(26)] for text in texts]
        found = np.array(counts, dtype=np.float32)
        return found / np.linalg.norm(found, axis=1, keepdims=True)  # type: ignore[no-any-return]

    async def query(self, text: str) -> NDArray[np.float32]:
        return (await self.passages([text]))[0]  # type: ignore[no-any-return]

    async def close(self) -> None:
        return None


async def _weight_of_meaning(model: str) -> float:
    async with memoranda.open("memory://", embed=Letters(model)) as book:
        thread = await book.thread("ana")
        for text in ("The kite flew over the pier", "Bring bread and jam", "Oslo was cold in May"):
            await thread.append("user", text)
        await book.embed()
        hit = (await book.recall("ana", "Who flew a kite over the sea?"))[0]
        return sum(one.weight for one in hit.scores if one.scorer.startswith("meaning"))


async def test_the_multilingual_models_meaning_weighs_more_than_anothers() -> None:
    usual = await _weight_of_meaning("all-MiniLM-L6-v2")
    assert usual == await _weight_of_meaning("a-model-of-ones-own")
    assert 1 > await _weight_of_meaning("multilingual-e5-small") > usual > 0


@pytest.mark.parametrize("vectors", ["", "local/all-MiniLM-L6-v2/384", "openai:multilingual-e5-small/384"])
def test_other_sets_of_vectors_have_the_usual_weight(vectors: str) -> None:
    assert meaning_weight(0.5, 0.1, 0.0, blend_of(vectors)) == meaning_weight(0.5, 0.1, 0.0)
