"""The graphs that are shipped are those that the tool draws, and hold no weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memoranda.embedding import model_files, model_session
from memoranda.embedding.local_model import MiniLM
from memoranda.embedding.model_weights import Weights, initialisers, quantized
from memoranda.embedding.multilingual_model import Multilingual
from memoranda.embedding.multilingual_weights import read_file

onnx = pytest.importorskip("onnx", reason="a tool of this checkout's environment")


def test_the_file_is_as_it_is_drawn() -> None:
    from tools.embedding_graph import drawn  # noqa: PLC0415 - it needs onnx

    for path, content in drawn().items():
        assert path.read_bytes() == content
        assert path.stat().st_size < 100_000


def test_each_graph_waits_for_exactly_the_weights_that_it_is_given(
    weights_folder: Path, multilingual_folder: Path
) -> None:
    from tools.embedding_graph import MINILM_SHAPE, MULTILINGUAL_SHAPE, draw, draw_small  # noqa: PLC0415 - it needs onnx

    models = [
        (MINILM_SHAPE, initialisers(model_files.tensors(weights_folder))),
        (MULTILINGUAL_SHAPE, read_file(multilingual_folder).weights),
    ]
    for shape, whole in models:
        with np.load(shape.graphs.ranges) as known:
            small = quantized(whole, known["ranges"].astype(np.float32))
        _waits_for(draw(shape), whole)
        _waits_for(draw_small(shape), small)


def _waits_for(model: Any, given: Weights) -> None:
    waited = {one.name: tuple(one.dims) for one in model.graph.initializer if one.external_data}
    assert {name: array.shape for name, array in given.items()} == waited
    assert all(array.flags.c_contiguous for array in given.values())


@pytest.mark.parametrize("kind", ["minilm", "multilingual"])
def test_the_ranges_are_those_of_the_texts_that_stand_beside_the_tool(
    weights_folder: Path, multilingual_folder: Path, kind: str
) -> None:
    from tools import embedding_graph as tool  # noqa: PLC0415 - it needs onnx

    texts = tool.TEXTS.read_text().splitlines()
    if kind == "minilm":
        graphs = model_session.MINILM
        found = tool.minilm_ranges(MiniLM(weights_folder, 2, "float32"), texts)
    else:
        # Some of the texts: none of them reaches further than all.
        graphs = model_session.MULTILINGUAL
        found = tool.multilingual_ranges(
            Multilingual(multilingual_folder, 2, "float32"), texts[::10]
        )
    with np.load(graphs.ranges) as known:
        ranges = known["ranges"].astype(np.float32)
        if kind == "minilm":
            np.testing.assert_allclose(ranges, found, rtol=0.01, atol=0.001)
        else:
            assert (found <= ranges * 1.01 + 0.001).all() and np.median(
                ranges - found
            ) < 0.3 * np.median(ranges)
