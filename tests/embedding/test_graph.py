"""The graphs that are shipped are those that the tool draws, and hold no weights."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from memoranda.embedding import model_files
from memoranda.embedding.model_weights import RANGES, initialisers, quantized

onnx = pytest.importorskip("onnx", reason="a tool of this checkout's environment")


def test_the_file_is_as_it_is_drawn() -> None:
    from tools.embedding_graph import drawn  # noqa: PLC0415 - it needs onnx

    for path, content in drawn().items():
        assert path.read_bytes() == content
        assert path.stat().st_size < 100_000


def test_each_graph_waits_for_exactly_the_weights_that_it_is_given(weights_folder: Path) -> None:
    from tools.embedding_graph import draw, draw_small  # noqa: PLC0415 - it needs onnx

    whole = initialisers(model_files.tensors(weights_folder))
    with np.load(RANGES) as known:
        small = quantized(whole, known["ranges"].astype(np.float32))
    for model, given in ((draw(), whole), (draw_small(), small)):
        waited = {one.name: tuple(one.dims) for one in model.graph.initializer if one.external_data}
        assert {name: array.shape for name, array in given.items()} == waited
        assert all(array.flags.c_contiguous for array in given.values())


def test_the_ranges_are_those_of_the_texts_that_stand_beside_the_tool(weights_folder: Path) -> None:
    from tools.embedding_graph import TEXTS, reached  # noqa: PLC0415 - it needs onnx

    with np.load(RANGES) as known:
        found = reached(weights_folder, TEXTS.read_text().splitlines())
        np.testing.assert_allclose(known["ranges"].astype(np.float32), found, rtol=0.01, atol=0.001)
