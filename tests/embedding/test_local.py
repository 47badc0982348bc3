"""The local model gives the published vectors, whatever it is given to read."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memoranda.embedding import LocalEmbedder, local_model, model_files, model_session
from memoranda.embedding.model_weights import Floats, Weights, quantized
from memoranda.errors import EmbeddingFailed, WeightsUnfit
from memoranda.ports import Embedder

#: The first numbers that the model's own page shows for these sentences.
PUBLISHED = {
    "This is an example sentence": [6.7657e-02, 6.3496e-02, 4.8713e-02],
    "Each sentence is converted": [8.6439e-02, 1.0276e-01, 5.3946e-03],
}


async def test_vectors_in_float32_are_the_published_ones(weights_folder: Path) -> None:
    found = await LocalEmbedder(weights_folder, precision="float32").passages(list(PUBLISHED))
    assert found.shape == (2, 384) and found.dtype == np.float32
    np.testing.assert_allclose(found[:, :3], list(PUBLISHED.values()), atol=1e-5)


async def test_vectors_in_int8_are_near_to_those_in_float32_or_not_used(
    weights_folder: Path,
) -> None:
    texts = [
        *PUBLISHED,
        "Where does my sister live now?",
        "Traceback (most recent call last): KeyError: 'id'",
        "Meine Schwester ist im Mai nach Hamburg gezogen.",
        "ok",
        "one more word " * 200,
    ]
    exact = await LocalEmbedder(weights_folder, precision="float32").passages(texts)
    small = await LocalEmbedder(weights_folder, precision="int8").passages(texts)
    if (exact * small).sum(axis=1).min() <= 0.99:
        # Processors without instructions for int8 clip its sums.
        np.testing.assert_array_equal(await LocalEmbedder(weights_folder).passages(texts), exact)


@pytest.mark.parametrize("fault", ["it computes other vectors", "its runtime lacks an operator"])
async def test_a_machine_that_cannot_compute_in_int8_computes_in_float32(
    weights_folder: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    real = quantized

    def altered(given: Weights, ranges: Floats) -> Weights:
        found = real(given, ranges)
        if fault == "its runtime lacks an operator":
            return {name: array for name, array in found.items() if name != "words"}
        found["layer0.outer.int8"] = found["layer0.outer.int8"] // 2
        return found

    monkeypatch.setattr(model_session, "quantized", altered)
    exact = local_model.MiniLM(weights_folder, 1, "float32").one("hello")
    np.testing.assert_array_equal(local_model.MiniLM(weights_folder, 1).one("hello"), exact)
    if fault == "its runtime lacks an operator":
        with pytest.raises(EmbeddingFailed, match="cannot load the model"):
            local_model.MiniLM(weights_folder, 1, "int8").one("hello")


async def test_a_paraphrase_is_nearer_than_another_subject(local: LocalEmbedder) -> None:
    pairs = [
        (
            "My dog is afraid of thunder.",
            "Storms frighten my puppy.",
            "The invoice is due on Friday.",
        ),
        ("Where did Ana move to?", "Ana lives in Lisbon since May.", "The oven must be cleaned."),
        ("I do not eat meat.", "She is a vegetarian.", "The train to Porto was late."),
    ]
    for text, near, far in pairs:
        vectors = await local.passages([text, near, far])
        assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.1


async def test_a_text_has_the_same_vector_alone_and_among_others(local: LocalEmbedder) -> None:
    texts = [
        f"Note {number}: " + "one more word " * (number * 7 % 90) for number in range(0, 60, 3)
    ]
    together = await local.passages(texts)
    alone = np.array([await local.query(text) for text in texts])
    np.testing.assert_allclose(together, alone, atol=1e-5)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t ",
        "half \ud83d of a pair",
        "\x00",
        "a" * 3_000_000,
        "word " * 500_000,
        "\ufffd\u200b",
        "👩‍👩‍👧 家族 عائلة परिवार",
    ],
    ids=["empty", "blank", "surrogate", "null", "one huge word", "huge", "invisible", "scripts"],
)
async def test_any_text_has_a_unit_vector(local: LocalEmbedder, text: str) -> None:
    for vector in (await local.query(text), (await local.passages(["before", text]))[1]):
        assert np.isfinite(vector).all()
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


async def test_two_halves_of_a_pair_are_read_as_their_character(local: LocalEmbedder) -> None:
    np.testing.assert_allclose(
        await local.query("so \ud83d\ude00"), await local.query("so 😀"), atol=1e-6
    )


async def test_a_text_is_read_up_to_256_tokens_and_not_only_128(local: LocalEmbedder) -> None:
    filler = "apple " * 200
    early, late = filler + "submarine warfare", "apple " * 300 + "submarine warfare"
    assert np.linalg.norm(await local.query(early) - await local.query(filler)) > 0.01
    np.testing.assert_allclose(
        await local.query(late), await local.query("apple " * 300), atol=1e-5
    )


async def test_no_texts_have_no_vectors(local: LocalEmbedder) -> None:
    assert (await local.passages([])).shape == (0, 384)


async def test_a_question_overtakes_a_backlog(local: LocalEmbedder) -> None:
    await local.query("load")
    backlog = asyncio.create_task(local.passages(["many words of a long note " * 40] * 60))
    await asyncio.sleep(0)
    await local.query("Is anybody there?")
    assert not backlog.done()
    backlog.cancel()
    with pytest.raises(asyncio.CancelledError):
        await backlog
    assert np.isfinite(await local.query("and on it goes")).all()


async def test_books_of_one_process_share_one_model(weights_folder: Path) -> None:
    one, other = LocalEmbedder(weights_folder, threads=1), LocalEmbedder(weights_folder, threads=1)
    await one.query("hello")
    await other.query("hello")
    assert one._model is other._model
    await one.close()
    await other.close()
    gc.collect()
    assert (local_model.MiniLM, weights_folder, 1, "auto") not in local_model._shared


async def test_it_can_be_used_after_it_was_closed(local: LocalEmbedder) -> None:
    before = await local.query("hello")
    await local.close()
    assert local._model is None
    np.testing.assert_array_equal(await local.query("hello"), before)


async def test_the_runtime_keeps_nothing_of_what_the_weights_were_read_into(
    weights_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: dict[str, Any] = {}
    real = quantized

    def noted(given: Weights, ranges: Floats) -> Weights:
        held.update({name: array.copy() for name, array in real(given, ranges).items()})
        return held

    monkeypatch.setattr(model_session, "quantized", noted)
    model = local_model.MiniLM(weights_folder, 1, "int8")
    before = model.one("hello")
    for array in held.values():
        array.fill(0)
    np.testing.assert_array_equal(model.one("hello"), before)


async def test_files_that_were_altered_are_refused(weights_folder: Path, tmp_path: Path) -> None:
    (tmp_path / model_files.TENSORS.name).symlink_to(weights_folder / model_files.TENSORS.name)
    tokenizer = (weights_folder / model_files.TOKENIZER.name).read_bytes()
    (tmp_path / model_files.TOKENIZER.name).write_bytes(tokenizer.replace(b"dogs", b"cats"))
    altered = LocalEmbedder(tmp_path)
    with pytest.raises(WeightsUnfit, match="weights install"):
        await altered.query("hello")
    # It says so again without reading them again.
    (tmp_path / model_files.TOKENIZER.name).unlink()
    with pytest.raises(EmbeddingFailed, match="weights install"):
        await altered.passages(["hello"])


async def test_a_library_that_cannot_be_imported_is_named(
    weights_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(EmbeddingFailed, match=r"PATH\[embed\]"):
        local_model.MiniLM(weights_folder, 1).one("hello")


async def test_passages_let_questions_go_first(
    local: LocalEmbedder, loaded: local_model.LocalModel
) -> None:
    question = object()
    loaded.questions.add(question)
    try:
        making = asyncio.create_task(local.passages(["a passage"]))
        answered = await local.query("a question")
        assert answered.shape == (384,) and not making.done()
    finally:
        loaded.questions.discard(question)
    assert (await making).shape == (1, 384) and loaded.questions == set()


async def test_passages_do_not_wait_for_questions_without_end(
    local: LocalEmbedder, loaded: local_model.LocalModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_model, "_PATIENCE", 0.0)
    question = object()
    loaded.questions.add(question)
    try:
        assert (await local.passages(["a passage"])).shape == (1, 384)
    finally:
        loaded.questions.discard(question)


_FORKS = """
import asyncio, os, sys
from pathlib import Path
from memoranda.embedding import LocalEmbedder
local = LocalEmbedder(Path(sys.argv[1]), threads=1)
before = asyncio.run(local.query("hello"))
if child := os.fork():
    assert os.waitpid(child, 0)[1] == 0
else:
    os._exit(0 if (asyncio.run(local.query("hello")) == before).all() else 1)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_has_a_model_of_its_own(weights_folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _FORKS, str(weights_folder)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_it_is_an_embedder(weights_folder: Path) -> None:
    embedder: Embedder = LocalEmbedder(weights_folder)
    assert isinstance(embedder, Embedder)
    assert embedder.embedding.name == "local/all-MiniLM-L6-v2/384"
