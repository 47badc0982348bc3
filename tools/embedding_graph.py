"""Write the graphs of the local embedding models, without weights: ``python -m
tools.embedding_graph --write``.

``--ranges`` runs the float32 graphs on ``tools/calibration.txt`` and writes how far the inputs of
their matrices reach, and for the multilingual model the average vector of the texts.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper

from memoranda.embedding.local_model import LocalModel, MiniLM, processors
from memoranda.embedding.model_files import places, tensors
from memoranda.embedding.model_session import (
    MINILM,
    MULTILINGUAL,
    Feed,
    Graphs,
    feed_tokens,
    graph_session,
)
from memoranda.embedding.model_weights import EXACT, LOW, MIDDLE, Floats, Weights, initialisers
from memoranda.embedding.multilingual_model import PASSAGE, QUESTION, Multilingual
from memoranda.embedding.multilingual_weights import read_file, weights_place
from tools.checkout import ROOT

TEXTS = ROOT / "tools" / "calibration.txt"

#: The shape of both models' layers.
WIDTH, INNER, HEADS = 384, 1536, 12
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
        tensor = TensorProto(
            name=name, data_type=kind, dims=shape, data_location=TensorProto.EXTERNAL
        )
        # The format demands a location; weights are supplied by name, so this location is never
        # opened.
        tensor.external_data.add(key="location", value="weights")
        self.weights.append(tensor)
        return name

    def constant(self, name: str, kind: int, values: list[int], *, flat: bool = True) -> str:
        """Store numbers in the graph itself, and return their name; one number alone is no list if
        ``flat``.
        """
        shape = [] if flat and len(values) == 1 else [len(values)]
        self.weights.append(helper.make_tensor(name, kind, shape, values))
        return name

    def fused(self, operator: str, inputs: list[str], output: str, **settings: Any) -> str:
        """Add an operator of the runtime's own set, and return the name of its output."""
        return self.standard(operator, inputs, output, domain=FUSED, **settings)

    def standard(self, operator: str, inputs: list[str], output: str, **settings: Any) -> str:
        """Add an operator, and return the name of its output."""
        self.nodes.append(helper.make_node(operator, inputs, [output], name=output, **settings))
        return output


@dataclass(frozen=True, slots=True)
class Shape:
    """What differs between the models; without words, the sums of words' and positions' vectors are
    the input.
    """

    name: str
    graphs: Graphs
    layers: int
    words: int = 0
    positions: int = 512


MINILM_SHAPE = Shape("all-MiniLM-L6-v2", MINILM, 6, words=30522)
MULTILINGUAL_SHAPE = Shape("multilingual-e5-small", MULTILINGUAL, 12)
SHAPES = (MINILM_SHAPE, MULTILINGUAL_SHAPE)


def draw(shape: Shape = MINILM_SHAPE) -> ModelProto:
    """Return the model: from token ids and a mask to unit vectors, the mean of the last layer
    without padding.
    """
    drawing = Drawing()
    hidden = _embed(drawing, shape)
    for number in range(shape.layers):
        hidden = _layer(drawing, f"layer{number}", hidden)
    return _model(drawing, shape, hidden)


def draw_small(shape: Shape = MINILM_SHAPE) -> ModelProto:
    """Return the model with the matrices of its layers in int8, and steps that are the same for
    every text.
    """
    drawing = Drawing()
    drawing.constant("one", TensorProto.FLOAT, [1])
    drawing.constant("middle", TensorProto.UINT8, [MIDDLE])
    drawing.constant("low", TensorProto.UINT8, [LOW])
    hidden = _embed(drawing, shape)
    for number in range(shape.layers):
        hidden = _small_layer(drawing, f"layer{number}", hidden)
    return _model(drawing, shape, hidden)


def _model(drawing: Drawing, shape: Shape, hidden: str) -> ModelProto:
    _pool(drawing, hidden)
    tokens = ["texts", "tokens"]
    first = (
        helper.make_tensor_value_info("ids", TensorProto.INT32, tokens)
        if shape.words
        else helper.make_tensor_value_info("words", TensorProto.FLOAT, [*tokens, WIDTH])
    )
    graph = helper.make_graph(
        drawing.nodes,
        shape.name,
        [first, helper.make_tensor_value_info("mask", TensorProto.INT32, tokens)],
        [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["texts", WIDTH])],
        drawing.weights,
    )
    sets = [helper.make_opsetid("", STANDARD_SET), helper.make_opsetid(FUSED, 1)]
    return helper.make_model(graph, opset_imports=sets, ir_version=FORMAT)


def _embed(drawing: Drawing, shape: Shape) -> str:
    if not shape.words:
        axis = drawing.constant("tokens", TensorProto.INT64, [1], flat=False)
        drawing.standard("ReduceSum", ["mask", axis], "lengths", keepdims=0)
        inputs = ["words", *_norm(drawing, "embedded")]
        return drawing.standard("LayerNormalization", inputs, "embedded", axis=-1, epsilon=EPSILON)
    inputs = [
        "ids",
        "",
        drawing.weight("words", shape.words, WIDTH),
        # A text is one segment, so the segment's vector is already added to the positions.
        drawing.weight("positions", shape.positions, WIDTH),
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
    inner = drawing.fused(
        "BiasGelu", [inner, drawing.weight(f"{name}.inner.bias", INNER)], f"{name}.bent"
    )
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
        drawing,
        f"{name}.seen",
        seen,
        "middle",
        drawing.weight(f"{name}.attended.bias", WIDTH),
        WIDTH,
        WIDTH,
    )
    seen = _small_norm(drawing, f"{name}.attended", seen, before)
    codes = _coded(drawing, seen, f"{name}.inner", WIDTH)
    inner = _product(
        drawing,
        f"{name}.inner",
        codes,
        "middle",
        drawing.weight(f"{name}.inner.bias", INNER),
        WIDTH,
        INNER,
    )
    inner = drawing.fused("Gelu", [inner], f"{name}.bent")
    codes = _coded(drawing, inner, f"{name}.outer", INNER, zero="low")
    outer = _product(
        drawing,
        f"{name}.outer",
        codes,
        "low",
        drawing.weight(f"{name}.done.bias", WIDTH),
        INNER,
        WIDTH,
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
    even = drawing.standard(
        "Mul", [given, drawing.weight(f"{name}.inverse", width)], f"{name}.even"
    )
    return drawing.standard("QuantizeLinear", [even, "one", zero], f"{name}.codes")


def _product(
    drawing: Drawing, name: str, codes: str, zero: str, bias: str, rows: int, columns: int
) -> str:
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
    """Add and normalise by single operators, which the runtime computes four times as fast as the
    fused one.
    """
    total = drawing.standard("Add", [new, before], f"{name}.sum")
    level = drawing.standard("MeanVarianceNormalization", [total], f"{name}.level", axes=[2])
    weight, bias = _norm(drawing, name)
    return drawing.standard(
        "Add", [drawing.standard("Mul", [level, weight], f"{name}.wide"), bias], name
    )


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
        for shape in SHAPES
        for path, model in (
            (shape.graphs.whole, draw(shape)),
            (shape.graphs.small, draw_small(shape)),
        )
    }


def reached(
    shape: Shape, given: Weights, feed: Feed, encoded: Sequence[list[int]]
) -> NDArray[np.float32]:
    """Return the largest size of each channel that enters a matrix, by layer, over these texts."""
    model, taps = draw(shape), list[str]()
    for number in range(shape.layers):
        before = f"layer{number - 1}.done" if number else "embedded"
        taps += [before, *(f"layer{number}.{place}" for place in ("seen", "attended", "bent"))]
    values = [
        helper.make_tensor_value_info(tap, TensorProto.FLOAT, ["texts", "tokens", None])
        for tap in taps
    ]
    model.graph.output.extend(values)
    session = graph_session(model.SerializeToString(), given, processors())
    most = [np.zeros(INNER if tap.endswith("bent") else WIDTH, dtype=np.float32) for tap in taps]
    for tokens in encoded:
        ids = np.array([tokens], dtype=np.int32)
        for place, found in enumerate(session.run(taps, feed(ids, np.ones_like(ids)))):
            # The output of gelu is bounded below, so that only its upper end counts.
            sizes = found if taps[place].endswith("bent") else np.abs(found)
            most[place] = np.maximum(most[place], sizes.max(axis=(0, 1)))
    return np.stack([np.concatenate(most[first : first + 4]) for first in range(0, len(taps), 4)])


def minilm_ranges(model: MiniLM, texts: Sequence[str]) -> Floats:
    """Return the ranges of MiniLM over these texts."""
    return reached(
        MINILM_SHAPE, initialisers(tensors(model.folder)), feed_tokens, model.encode(texts)
    )


def multilingual_ranges(model: Multilingual, texts: Sequence[str]) -> Floats:
    """Return the ranges of the multilingual model over these texts, each as a question and as a
    passage.
    """
    both = [kind + text for text in texts for kind in (QUESTION, PASSAGE)]
    weights, feed = read_file(model.folder).weights, model.parts().feed
    return reached(MULTILINGUAL_SHAPE, weights, feed, LocalModel.encode(model, both))


def average(model: Multilingual, texts: Sequence[str]) -> Floats:
    """Return the average of the passages' vectors as the graph makes them."""
    found: Floats = np.mean(
        [LocalModel.vectors(model, [ids])[0] for ids in model.encode(texts)], axis=0
    )
    return found


def write_ranges() -> None:
    """Write the ranges of both models, the average of one, and the vector that each int8 graph
    makes of the last text.
    """
    texts = TEXTS.read_text().splitlines()
    folder = next(place.folder for place in places() if place.folder and not place.problem())
    one = MiniLM(folder, processors(), "float32")
    _store(one, MINILM, texts[-1], ranges=minilm_ranges(one, texts))
    place = weights_place()
    if place.folder is None:
        raise SystemExit("the multilingual model is not installed; run: ./dev setup")
    other = Multilingual(place.folder, processors(), "float32")
    ranges = multilingual_ranges(other, texts)
    _store(other, MULTILINGUAL, PASSAGE + texts[-1], ranges=ranges, average=average(other, texts))


def _store(
    model: LocalModel, graphs: Graphs, example: str, *, ranges: Floats, **average: Floats
) -> None:
    ids = LocalModel.encode(model, [example])
    known: dict[str, Any] = {
        "ranges": ranges.astype(np.float16),
        "ids": np.array(ids, dtype=np.int32),
    }
    known |= average
    np.savez(graphs.ranges, vector=np.zeros(WIDTH, dtype=np.float32), **known)
    small = type(model)(model.folder, processors(), "int8")
    np.savez(graphs.ranges, vector=LocalModel.vectors(small, ids)[0], **known)


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
        0
        if all(path.exists() and path.read_bytes() == content for path, content in drawn().items())
        else 1
    )


if __name__ == "__main__":
    raise SystemExit(main())
