"""The weights of a local model in the layouts of its two graphs: float32, and int8."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
#: Weights by the names that a graph has for them.
Weights = dict[str, NDArray[Any]]

LAYERS = 6
_WIDTH = 384

#: What is quantized of each layer.
MATRICES = ("attention", "seen", "inner", "outer")
#: Room above the largest value that was seen, as a factor: other texts reach a little further.
_ROOM = 1.1
#: What stands for zero: in the middle; and near the lower end for the output of gelu, which is
#: never below -0.17.
MIDDLE, LOW = 128, 12
_LEAST_GELU = 0.17
#: The channels of gelu's output with the largest values stay in float32: their steps would be too
#: coarse for the others.
EXACT = 16


def initialisers(tensors: dict[str, Floats]) -> dict[str, Floats]:
    """Return the published tensors under the names and in the layout of the graph's inputs."""
    segment = tensors["embeddings.token_type_embeddings.weight"][0]
    found = {
        "words": tensors["embeddings.word_embeddings.weight"],
        # A text is one segment, so the segment's vector is added at every position.
        "positions": tensors["embeddings.position_embeddings.weight"] + segment,
    }
    return found | layer_weights(tensors, LAYERS)


def layer_weights(tensors: dict[str, Floats], layers: int) -> dict[str, Floats]:
    """Return the weights of all layers, and of the norm before the first, as ``initialisers``
    does.
    """
    found = _norm("embedded", tensors, "embeddings")
    for number in range(layers):
        found |= _layer(f"layer{number}", tensors, f"encoder.layer.{number}")
    # The runtime takes only contiguous arrays in row order.
    return {name: np.ascontiguousarray(array, dtype=np.float32) for name, array in found.items()}


def _layer(name: str, tensors: dict[str, Floats], source: str) -> dict[str, Floats]:
    heads = [f"{source}.attention.self.{part}" for part in ("query", "key", "value")]
    return {
        f"{name}.attention.weight": np.concatenate([tensors[f"{head}.weight"] for head in heads]).T,
        f"{name}.attention.bias": np.concatenate([tensors[f"{head}.bias"] for head in heads]),
        f"{name}.seen.weight": tensors[f"{source}.attention.output.dense.weight"].T,
        f"{name}.attended.bias": tensors[f"{source}.attention.output.dense.bias"],
        **_norm(f"{name}.attended", tensors, f"{source}.attention.output"),
        f"{name}.inner.weight": tensors[f"{source}.intermediate.dense.weight"].T,
        f"{name}.inner.bias": tensors[f"{source}.intermediate.dense.bias"],
        f"{name}.outer.weight": tensors[f"{source}.output.dense.weight"].T,
        f"{name}.done.bias": tensors[f"{source}.output.dense.bias"],
        **_norm(f"{name}.done", tensors, f"{source}.output"),
    }


def _norm(name: str, tensors: dict[str, Floats], source: str) -> dict[str, Floats]:
    return {
        f"{name}.norm.weight": tensors[f"{source}.LayerNorm.weight"],
        f"{name}.norm.bias": tensors[f"{source}.LayerNorm.bias"],
    }


def quantized(given: Weights, ranges: Floats) -> Weights:
    """Return the weights of the int8 graph, made from those of the float32 graph and the ranges of
    what meets them.

    Each channel of a matrix's input has its own step, which is folded into the matrix; each column
    has its own scale. The steps are fixed, so a text's vector does not depend on other texts.
    """
    matrices = {
        f"layer{number}.{name}.weight" for number in range(len(ranges)) for name in MATRICES
    }
    found: Weights = {name: array for name, array in given.items() if name not in matrices}
    for number, row in enumerate(ranges):
        name = f"layer{number}"
        before, seen, attended, bent = np.split(row * _ROOM, [_WIDTH, 2 * _WIDTH, 3 * _WIDTH])
        steps = {"attention": before / 127, "seen": seen / 127, "inner": attended / 127}
        steps["outer"] = np.maximum(bent / (255 - LOW), _LEAST_GELU / LOW)
        # What attention returns is a mean of values, so that its steps can be taken from the
        # values' columns.
        columns = np.concatenate([np.ones(2 * _WIDTH, dtype=np.float32), 1 / steps["seen"]])
        found[f"{name}.attention.bias"] = given[f"{name}.attention.bias"] * columns
        for matrix, step in steps.items():
            weight = given[f"{name}.{matrix}.weight"] * step[:, np.newaxis]
            if matrix == "attention":
                weight *= columns
            if matrix == "outer":
                largest = np.sort(np.argsort(-step)[:EXACT]).astype(np.int32)
                found[f"{name}.outer.largest"] = largest
                found[f"{name}.outer.exact"] = given[f"{name}.outer.weight"][largest]
                weight[largest] = 0
            scale = np.abs(weight).max(axis=0) / 127
            found[f"{name}.{matrix}.int8"] = np.rint(weight / scale).astype(np.int8)
            found[f"{name}.{matrix}.scale"] = scale
            if matrix != "seen":
                found[f"{name}.{matrix}.inverse"] = 1 / step
    return found
