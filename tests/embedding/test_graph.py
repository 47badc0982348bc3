"""The graph that is shipped is the one that the tool draws, and holds no weights."""

from __future__ import annotations

from pathlib import Path

import pytest

from memoranda.embedding import local_model, model_files

onnx = pytest.importorskip("onnx", reason="a tool of this checkout's environment")


def test_the_file_is_as_it_is_drawn() -> None:
    from tools.embedding_graph import FILE, drawn  # noqa: PLC0415 - it needs onnx

    assert FILE.read_bytes() == drawn()
    assert FILE.stat().st_size < 100_000


def test_it_waits_for_exactly_the_weights_that_it_is_given(weights_folder: Path) -> None:
    from tools.embedding_graph import draw  # noqa: PLC0415 - it needs onnx

    given = local_model.initialisers(model_files.tensors(weights_folder))
    waited = {one.name: tuple(one.dims) for one in draw().graph.initializer}
    assert {name: array.shape for name, array in given.items()} == waited
    assert all(array.flags.c_contiguous for array in given.values())
