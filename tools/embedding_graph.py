"""Write the graphs of the local embedding model, without weights: ``python -m tools.embedding_graph --write``.

``--ranges`` runs the float32 graph on ``tools/calibration.txt`` and writes how far the inputs of its matrices reach.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper

from memoranda.embedding.local_model import processors
from memoranda.embedding.model_files import places, tensors
from memoranda.embedding.model_session import graph_session, model_session, tokenizer
from memoranda.embedding.model_weights import EXACT, LOW, MIDDLE, RANGES, initialisers
from tools.checkout import ROOT

FOLDER = ROOT / "src" / "memoranda" / "embedding"
#: The float32 graph, and the int8 graph.
FILE, SMALL_FILE = FOLDER / "minilm.onnx", FOLDER / "minilm_int8.onnx"
TEXTS = ROOT / "tools" / "calibration.txt"

#: The shape of all-MiniLM-L6-v2.
WORDS, POSITIONS, WIDTH, INNER, LAYERS, HEADS = 30522, 512, 384, 1536, 6, 12
EPSILON = 1e-12
#: The runtime's own set of operators, each of which does the work of several standard ones.
FUSED = "com.microsoft"
#: Versions that every runtime with the fused operators can read.
STANDARD_SET, FORMAT = 17, 8


class Drawing:
    """A graph under construction: its operators, in order, and the weights that it needs."""

    def __init__(self) -> None:
        self.nodes: list[NodeProto] = []
        self.weights: list[TensorProto] = []

    def weight(self, name: str, *shape: int, kind: int = TensorProto.FLOAT) -> str:
        """Add a weight that is supplied when the graph is loaded, and return its name."""
        tensor = TensorProto(name=name, data_type=kind, dims=shape, data_location=TensorProto.EXTERNAL)
        # The format demands a location; weights are supplied by name, so this location is never opened.
        tensor.external_data.add(key="location", value="weights")
        self.weights.append(tensor)
        return name

    def constant(self, name: str, kind: int, values: list[int]) -> str:
        """Store numbers in the graph itself, and return their name."""
        shape = [len(values)] if len(values) > 1 else []
        self.weights.append(helper.make_tensor(name, kind, shape, values))
        return name

    def fused(self, operator: str, inputs: list[str], output: str, **settings: Any) -> str:
        """Add an operator of the runtime's own set, and return the name of its output."""
        return self.standard(operator, inputs, output, domain=FUSED, **settings)

    def standard(self, operator: str, inputs: list[str], output: str, **settings: Any) -> str:
        """Add an operator, and return the name of its output."""
        self.nodes.append(helper.make_node(operator, inputs, [output], name=output, **settings))
        return output


def draw() -> ModelProto:
    """Return the model: from token ids and a mask to unit vectors, the mean of the last layer without padding."""
    drawing = Drawing()
    hidden = _embed(drawing)
    for number in range(LAYERS):
        hidden = _layer(drawing, f"layer{number}", hidden)
    return _model(drawing, hidden)


def draw_small() -> ModelProto:
    """Return the model with the matrices of its layers in int8, and steps that are the same for every text."""
    drawing = Drawing()
    drawing.constant("one", TensorProto.FLOAT, [1])
    drawing.constant("middle", TensorProto.UINT8, [MIDDLE])
    drawing.constant("low", TensorProto.UINT8, [LOW])
    hidden = _embed(drawing)
    for number in range(LAYERS):
        hidden = _small_layer(drawing, f"layer{number}", hidden)
    return _model(drawing, hidden)


def _model(drawing: Drawing, hidden: str) -> ModelProto:
    _pool(drawing, hidden)
    graph = helper.make_graph(
        drawing.nodes,
        "all-MiniLM-L6-v2",
        [
            helper.make_tensor_value_info("ids", TensorProto.INT32, ["texts", "tokens"]),
            helper.make_tensor_value_info("mask", TensorProto.INT32, ["texts", "tokens"]),
        ],
        [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["texts", WIDTH])],
        drawing.weights,
    )
    sets = [helper.make_opsetid("", STANDARD_SET), helper.make_opsetid(FUSED, 1)]
    return helper.make_model(graph, opset_imports=sets, ir_version=FORMAT)


def _embed(drawing: Drawing) -> str:
    inputs = [
        "ids",
        "",
        drawing.weight("words", WORDS, WIDTH),
        # A text is one segment, so the segment's vector is already added to the positions.
        drawing.weight("positions", POSITIONS, WIDTH),
        "",
        *_norm(drawing, "embedded"),
        "mask",
    ]
    node = helper.make_node(
        "EmbedLayerNormalization",
        inputs,
        ["embedded", "lengths"],
        name="embedded",
        domain=FUSED,
        epsilon=EPSILON,
    )
    drawing.nodes.append(node)
    return "embedded"


def _layer(drawing: Drawing, name: str, before: str) -> str:
    turned = [
        before,
        drawing.weight(f"{name}.attention.weight", WIDTH, 3 * WIDTH),
        drawing.weight(f"{name}.attention.bias", 3 * WIDTH),
        "lengths",
    ]
    seen = drawing.fused("Attention", turned, f"{name}.seen", num_heads=HEADS)
    seen = drawing.standard(
        "MatMul", [seen, drawing.weight(f"{name}.seen.weight", WIDTH, WIDTH)], f"{name}.joined"
    )
    seen = _add(drawing, f"{name}.attended", seen, before)
    inner = drawing.standard(
        "MatMul", [seen, drawing.weight(f"{name}.inner.weight", WIDTH, INNER)], f"{name}.wide"
    )
    inner = drawing.fused("BiasGelu", [inner, drawing.weight(f"{name}.inner.bias", INNER)], f"{name}.bent")
    outer = drawing.standard(
        "MatMul", [inner, drawing.weight(f"{name}.outer.weight", INNER, WIDTH)], f"{name}.narrow"
    )
    return _add(drawing, f"{name}.done", outer, seen)


def _small_layer(drawing: Drawing, name: str, before: str) -> str:
    codes = _coded(drawing, before, f"{name}.attention", WIDTH)
    inputs = [
        codes,
        drawing.weight(f"{name}.attention.int8", WIDTH, 3 * WIDTH, kind=TensorProto.INT8),
        drawing.weight(f"{name}.attention.bias", 3 * WIDTH),
        "one",
        drawing.weight(f"{name}.attention.scale", 3 * WIDTH),
        "lengths",
        "middle",
    ]
    seen = drawing.fused("QAttention", inputs, f"{name}.seen", num_heads=HEADS)
    # Its steps are taken from the columns of the values before.
    seen = drawing.standard("QuantizeLinear", [seen, "one", "middle"], f"{name}.seen.codes")
    seen = _product(
        drawing, f"{name}.seen", seen, "middle", drawing.weight(f"{name}.attended.bias", WIDTH), WIDTH, WIDTH
    )
    seen = _small_norm(drawing, f"{name}.attended", seen, before)
    codes = _coded(drawing, seen, f"{name}.inner", WIDTH)
    inner = _product(
        drawing, f"{name}.inner", codes, "middle", drawing.weight(f"{name}.inner.bias", INNER), WIDTH, INNER
    )
    inner = drawing.fused("Gelu", [inner], f"{name}.bent")
    codes = _coded(drawing, inner, f"{name}.outer", INNER, zero="low")
    outer = _product(
        drawing, f"{name}.outer", codes, "low", drawing.weight(f"{name}.done.bias", WIDTH), INNER, WIDTH
    )
    largest = drawing.weight(f"{name}.outer.largest", EXACT, kind=TensorProto.INT32)
    exact = drawing.standard("Gather", [inner, largest], f"{name}.outer.few", axis=2)
    exact = drawing.standard(
        "MatMul", [exact, drawing.weight(f"{name}.outer.exact", EXACT, WIDTH)], f"{name}.outer.more"
    )
    outer = drawing.standard("Add", [outer, exact], f"{name}.outer.both")
    return _small_norm(drawing, f"{name}.done", outer, seen)


def _coded(drawing: Drawing, given: str, name: str, width: int, zero: str = "middle") -> str:
    """Divide each channel by its step, and round to bytes."""
    even = drawing.standard("Mul", [given, drawing.weight(f"{name}.inverse", width)], f"{name}.even")
    return drawing.standard("QuantizeLinear", [even, "one", zero], f"{name}.codes")


def _product(drawing: Drawing, name: str, codes: str, zero: str, bias: str, rows: int, columns: int) -> str:
    inputs = [
        codes,
        drawing.weight(f"{name}.int8", rows, columns, kind=TensorProto.INT8),
        "one",
        drawing.weight(f"{name}.scale", columns),
        zero,
        "",
        bias,
    ]
    return drawing.fused("MatMulIntegerToFloat", inputs, f"{name}.product")


def _small_norm(drawing: Drawing, name: str, new: str, before: str) -> str:
    """Add and normalise by single operators, which the runtime computes four times as fast as the fused one."""
    total = drawing.standard("Add", [new, before], f"{name}.sum")
    level = drawing.standard("MeanVarianceNormalization", [total], f"{name}.level", axes=[2])
    weight, bias = _norm(drawing, name)
    return drawing.standard("Add", [drawing.standard("Mul", [level, weight], f"{name}.wide"), bias], name)


def _add(drawing: Drawing, name: str, new: str, before: str) -> str:
    inputs = [new, before, *_norm(drawing, name), drawing.weight(f"{name}.bias", WIDTH)]
    return drawing.fused("SkipLayerNormalization", inputs, name, epsilon=EPSILON)


def _norm(drawing: Drawing, name: str) -> list[str]:
    return [
        drawing.weight(f"{name}.norm.weight", WIDTH),
        drawing.weight(f"{name}.norm.bias", WIDTH),
    ]


def _pool(drawing: Drawing, hidden: str) -> None:
    axis = helper.make_node(
        "Constant",
        [],
        ["axis"],
        name="axis",
        value=helper.make_tensor("axis", TensorProto.INT64, [1], [1]),
    )
    drawing.nodes.append(axis)
    kept = drawing.standard("Cast", ["mask"], "kept", to=TensorProto.FLOAT)
    kept = drawing.standard("Unsqueeze", [kept, "axis"], "kept.row")
    # A sum is enough: dividing by the number of tokens would not change the direction.
    total = drawing.standard("MatMul", [kept, hidden], "total")
    total = drawing.standard("Squeeze", [total, "axis"], "total.row")
    drawing.standard("LpNormalization", [total], "vectors", axis=-1, p=2)


def drawn() -> dict[Path, bytes]:
    """Return the content of each graph's file, the same bytes every time."""
    return {
        path: model.SerializeToString(deterministic=True)
        for path, model in ((FILE, draw()), (SMALL_FILE, draw_small()))
    }


def reached(folder: Path, texts: Sequence[str]) -> NDArray[np.float32]:
    """Return the largest size of each channel that enters a matrix, by layer, over these texts."""
    model, taps = draw(), list[str]()
    for number in range(LAYERS):
        before = f"layer{number - 1}.done" if number else "embedded"
        taps += [before, *(f"layer{number}.{place}" for place in ("seen", "attended", "bent"))]
    values = [
        helper.make_tensor_value_info(tap, TensorProto.FLOAT, ["texts", "tokens", None]) for tap in taps
    ]
    model.graph.output.extend(values)
    session = graph_session(model.SerializeToString(), initialisers(tensors(folder)), processors())
    reader = tokenizer(folder)
    most = [np.zeros(INNER if tap.endswith("bent") else WIDTH, dtype=np.float32) for tap in taps]
    for text in texts:
        ids = np.array([reader.encode(text).ids], dtype=np.int32)
        for place, found in enumerate(session.run(taps, {"ids": ids, "mask": np.ones_like(ids)})):
            # The output of gelu is bounded below, so that only its upper end counts.
            sizes = found if taps[place].endswith("bent") else np.abs(found)
            most[place] = np.maximum(most[place], sizes.max(axis=(0, 1)))
    return np.stack([np.concatenate(most[first : first + 4]) for first in range(0, len(taps), 4)])


def write_ranges() -> None:
    """Write the ranges, and the vector that the int8 graph makes of the last text."""
    folder = next(place.folder for place in places() if place.folder and not place.problem())
    texts = TEXTS.read_text().splitlines()
    ranges = reached(folder, texts).astype(np.float16)
    ids = np.array([tokenizer(folder).encode(texts[-1]).ids], dtype=np.int32)
    np.savez(RANGES, ranges=ranges, ids=ids, vector=np.zeros(WIDTH, dtype=np.float32))
    session = model_session(folder, processors(), "int8")
    vector = session.run(None, {"ids": ids, "mask": np.ones_like(ids)})[0][0]
    np.savez(RANGES, ranges=ranges, ids=ids, vector=vector)


def main() -> int:
    """Check that the graphs are up to date, or write them, or write the ranges."""
    if "--ranges" in sys.argv[1:]:
        write_ranges()
        return 0
    if "--write" in sys.argv[1:]:
        for path, content in drawn().items():
            path.write_bytes(content)
        return 0
    return (
        0 if all(path.exists() and path.read_bytes() == content for path, content in drawn().items()) else 1
    )


if __name__ == "__main__":
    raise SystemExit(main())
