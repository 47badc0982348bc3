"""A provider's model is asked in batches, and what goes wrong there is told in one way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from pydantic_ai import Embedder as ModelEmbedder
from pydantic_ai.embeddings import EmbeddingModel, EmbeddingResult, TestEmbeddingModel
from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelHTTPError,
    ModelRequestRejectedError,
)

from memoranda.embedding import RemoteEmbedder
from memoranda.errors import EmbedderDown, EmbeddingFailed, InvalidInput
from memoranda.ports import Embedder


class Provider(EmbeddingModel):
    """Answers with as many numbers as are in a text, or as it is told to."""

    model_name = "letters"
    system = "test"

    def __init__(
        self, answer: Callable[[list[str]], Sequence[Sequence[float]]] | None = None
    ) -> None:
        super().__init__()
        self.answer = answer or (lambda texts: [[3.0, 4.0 * len(text), 0.0] for text in texts])
        self.asked: list[tuple[str, list[str]]] = []

    async def embed(
        self, inputs: str | Sequence[str], *, input_type: Any, settings: Any = None
    ) -> EmbeddingResult:
        texts = [inputs] if isinstance(inputs, str) else list(inputs)
        self.asked.append((input_type, texts))
        return EmbeddingResult(
            embeddings=self.answer(texts),
            inputs=texts,
            input_type=input_type,
            model_name=self.model_name,
            provider_name=self.system,
        )


def refuses(when: Callable[[str], bool]) -> Callable[[list[str]], Sequence[Sequence[float]]]:
    def answer(texts: list[str]) -> Sequence[Sequence[float]]:
        if any(map(when, texts)):
            raise ModelRequestRejectedError("letters", "too long")
        return [[float(len(text)), 1.0, 0.0] for text in texts]

    return answer


def raises(error: Exception) -> Callable[[list[str]], Sequence[Sequence[float]]]:
    def answer(texts: list[str]) -> Sequence[Sequence[float]]:
        raise error

    return answer


async def test_vectors_of_any_model_become_unit_vectors() -> None:
    embedder = await RemoteEmbedder.open(TestEmbeddingModel(dimensions=16))
    found = await embedder.passages(["one", "two"])
    assert found.shape == (2, 16) and found.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)
    assert isinstance(embedder, Embedder)
    assert embedder.embedding.name == "test/test/16"


@pytest.mark.parametrize(
    "wish",
    [
        TestEmbeddingModel(settings={"dimensions": 12}),
        ModelEmbedder(TestEmbeddingModel(), settings={"dimensions": 12}),
    ],
    ids=["model", "embedder"],
)
async def test_a_dimension_that_settings_ask_for_is_the_embeddings(wish: Any) -> None:
    embedder = await RemoteEmbedder.open(wish)
    assert embedder.embedding.dimension == 12
    assert (await embedder.query("one")).shape == (12,)


async def test_a_known_dimension_is_not_asked_for() -> None:
    provider = Provider()
    await RemoteEmbedder.open(provider, 3)
    assert provider.asked == []


async def test_questions_and_passages_are_told_apart_and_sent_in_batches() -> None:
    provider = Provider()
    embedder = RemoteEmbedder(provider, 3)
    found = await embedder.passages(["x" * number for number in range(1, 151)])
    await embedder.query("where")
    assert [(purpose, len(texts)) for purpose, texts in provider.asked] == [
        ("document", 64),
        ("document", 64),
        ("document", 22),
        ("query", 1),
    ]
    np.testing.assert_allclose(found[0], [0.6, 0.8, 0], atol=1e-6)
    assert (np.diff(found[:, 1]) > 0).all()
    assert (await embedder.passages([])).shape == (0, 3)


async def test_empty_huge_and_broken_texts_are_sent_as_something_that_can_be_taken() -> None:
    provider = Provider()
    await RemoteEmbedder(provider, 3).passages(["", "  ", "x" * 100_000, "half \ud83d"])
    (_, sent), *_ = provider.asked
    assert sent[:2] == [".", "."]
    assert len(sent[2]) == 8_000
    assert all(text.encode() for text in sent)


async def test_one_text_that_is_refused_is_shortened_and_the_others_are_whole() -> None:
    provider = Provider(refuses(lambda text: len(text) > 1_000))
    found = await RemoteEmbedder(provider, 3).passages(["ab", "x" * 4_000, "abcd"])
    np.testing.assert_allclose(found[:, 0] / found[:, 1], [2, 1_000, 4], rtol=1e-4)


async def test_a_passage_that_is_refused_at_any_length_does_not_stop_the_rest() -> None:
    provider = Provider(refuses(lambda text: "poison" in text))
    found = await RemoteEmbedder(provider, 3).passages(["poison " * 400, "abcd"])
    np.testing.assert_allclose(found[:, 0] / found[:, 1], [1, 4], rtol=1e-4)


async def test_a_provider_that_refuses_everything_is_asked_a_few_times_only() -> None:
    provider = Provider(refuses(lambda text: True))
    with pytest.raises(EmbeddingFailed, match="refuses"):
        await RemoteEmbedder(provider, 3).passages(["x" * 8_000] * 64)
    assert len(provider.asked) < 20


@pytest.mark.parametrize(
    "error",
    [
        ModelConnectionError("letters", "no route"),
        ModelHTTPError(503, "letters"),
        ModelAPIError("letters", "odd"),
        ConnectionResetError("gone"),
        TimeoutError(),
    ],
    ids=["connection", "status", "other", "socket", "timeout"],
)
async def test_a_provider_that_is_down_is_told_as_such(error: Exception) -> None:
    embedder = RemoteEmbedder(Provider(raises(error)), 3)
    with pytest.raises(EmbedderDown, match="did not answer"):
        await embedder.passages(["a"])


async def test_a_key_that_is_not_taken_is_no_outage() -> None:
    embedder = RemoteEmbedder(Provider(raises(ModelAuthenticationError("letters", "bad key"))), 3)
    with pytest.raises(EmbeddingFailed, match="bad key") as caught:
        await embedder.query("a")
    assert not isinstance(caught.value, EmbedderDown)


async def test_a_provider_that_does_not_answer_in_time_is_given_up() -> None:
    class Silent(Provider):
        async def embed(
            self, inputs: str | Sequence[str], *, input_type: Any, settings: Any = None
        ) -> EmbeddingResult:
            await asyncio.Event().wait()
            raise AssertionError

    with pytest.raises(EmbedderDown, match=r"within 0\.01 s"):
        await RemoteEmbedder(Silent(), 3, seconds=0.01).query("a")


async def test_after_an_outage_questions_fail_at_once_for_a_while() -> None:
    provider = Provider(raises(ModelConnectionError("letters", "no route")))
    embedder = RemoteEmbedder(provider, 3, pause=1000)
    for _ in range(3):
        with pytest.raises(EmbedderDown):
            await embedder.query("a")
    assert len(provider.asked) == 1

    recovering = RemoteEmbedder(provider, 3, pause=0)
    with pytest.raises(EmbedderDown):
        await recovering.query("a")
    provider.answer = Provider().answer
    assert (await recovering.query("a")).shape == (3,)


@pytest.mark.parametrize(
    "vectors",
    [
        [[1.0, 2.0]],
        [[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]],
        [],
        [[0.0, 0.0, 0.0]],
        [[1.0, float("nan"), 0.0]],
    ],
    ids=["short", "too many", "none", "zero", "not a number"],
)
async def test_what_is_no_vector_is_refused(vectors: list[list[float]]) -> None:
    with pytest.raises(EmbeddingFailed):
        await RemoteEmbedder(Provider(lambda texts: vectors), 3).query("a")


@pytest.mark.parametrize(
    "wish", [object(), 7, "no-such-provider:model"], ids=["object", "number", "provider"]
)
async def test_what_is_no_model_is_refused_by_name(wish: Any) -> None:
    with pytest.raises(InvalidInput, match="embed: "):
        await RemoteEmbedder.open(wish)
