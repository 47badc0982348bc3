"""Write the graph of the local embedding model, without its weights: ``python -m tools.embedding_graph --write``."""

from __future__ import annotations

import sys
from typing import Any

from onnx import ModelProto, NodeProto, TensorProto, helper

from tools.checkout import ROOT

FILE = ROOT / "src" / "memoranda" / "embedding" / "minilm.onnx"

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

    def weight(self, name: str, *shape: int) -> str:
        """Add a weight that is supplied when the graph is loaded, and return its name."""
        tensor = TensorProto(
            name=name, data_type=TensorProto.FLOAT, dims=shape, data_location=TensorProto.EXTERNAL
        )
        # The format demands a location; weights are supplied by name, so this location is never opened.
        tensor.external_data.add(key="location", value="weights")
        self.weights.append(tensor)
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


def drawn() -> bytes:
    """Return the content of the file, the same bytes every time."""
    found: bytes = draw().SerializeToString(deterministic=True)
    return found


def main() -> int:
    """Check that the file is up to date, or write it."""
    if "--write" in sys.argv[1:]:
        FILE.write_bytes(drawn())
        return 0
    return 0 if FILE.exists() and FILE.read_bytes() == drawn() else 1


if __name__ == "__main__":
    raise SystemExit(main())
