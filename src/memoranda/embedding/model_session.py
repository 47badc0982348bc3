"""The sessions of the local models, and MiniLM's tokenizer, made from published files."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from memoranda.embedding import model_files
from memoranda.embedding.model_weights import Weights, initialisers, quantized
from memoranda.errors import EmbeddingFailed, installing
from memoranda.first_use import dataclass

#: Most tokens of a text that the model was trained on; the rest is ignored.
LONGEST_TOKENS = 256
#: What a session computes in; ``auto`` is int8 where this machine computes it as expected.
Precision = Literal["auto", "float32", "int8"]
AUTO: Precision = "auto"

#: How near to the known int8 vector a machine must come: some processors overflow in int8.
_NEAR = 0.9995
#: The runtime logs errors only.
_ERRORS_ONLY = 3


@dataclass(frozen=True, slots=True)
class Graphs:
    """The files of a model's graphs in float32 and int8, and of the numbers that the latter
    needs.
    """

    whole: Path
    small: Path
    #: The largest values that reach each matrix, by layer and channel, and a text's tokens with
    #: their int8 vector.
    ranges: Path


MINILM, MULTILINGUAL = (
    Graphs(
        *(Path(__file__).parent / f"{name}{end}" for end in (".onnx", "_int8.onnx", "_ranges.npz"))
    )
    for name in ("minilm", "multilingual")
)

#: Turns tokens and their mask, one text a row, into a graph's inputs.
Feed = Callable[[NDArray[np.int32], NDArray[np.int32]], dict[str, NDArray[Any]]]


def feed_tokens(ids: NDArray[np.int32], mask: NDArray[np.int32]) -> dict[str, NDArray[Any]]:
    """Return the inputs of a graph that has the vectors of words in itself."""
    return {"ids": ids, "mask": mask}


def tokenizer(folder: Path) -> Any:
    """Return the model's tokenizer, which cuts long texts and pads none."""
    text = model_files.content(folder, model_files.TOKENIZER).decode()
    found = _library("tokenizers").Tokenizer.from_str(text)
    # By default the file pads and cuts every text to 128 tokens.
    found.no_padding()
    found.enable_truncation(LONGEST_TOKENS)
    return found


def model_session(folder: Path, threads: int, precision: Precision) -> Any:
    """Return MiniLM's session."""
    return session_of(
        MINILM, initialisers(model_files.tensors(folder)), feed_tokens, threads, precision
    )


def session_of(
    graphs: Graphs, given: Weights, feed: Feed, threads: int, precision: Precision
) -> Any:
    """Return a session that computes vectors; ``auto`` takes float32 where int8 fails or gives
    other vectors.
    """
    if precision != "float32":
        try:
            small, computes_well = _small_session(graphs, given, feed, threads)
        except EmbeddingFailed:
            # An older runtime may lack an operator of this graph.
            if precision == "int8":
                raise
        else:
            if computes_well or precision == "int8":
                return small
    return graph_session(graphs.whole.read_bytes(), given, threads)


def _small_session(graphs: Graphs, given: Weights, feed: Feed, threads: int) -> tuple[Any, bool]:
    """Return a session in int8, and whether it makes the vector of an example that it should."""
    with np.load(graphs.ranges) as known:
        ranges, ids, expected = known["ranges"], known["ids"], known["vector"]
    weights = quantized(given, ranges.astype(np.float32))
    session = graph_session(graphs.small.read_bytes(), weights, threads)
    found = session.run(None, feed(ids, np.ones_like(ids)))[0][0]
    return session, float(found @ expected) >= _NEAR


def graph_session(graph: bytes, given: Weights, threads: int) -> Any:
    """Return a session of a graph with these weights."""
    runtime = _library("onnxruntime")
    options = runtime.SessionOptions()
    # The arena keeps what the longest batch took; without it a process holds half as much, at the
    # same speed.
    options.enable_cpu_mem_arena = False
    options.intra_op_num_threads = threads
    # Threads that wait by spinning take the processor from the application that this memory lives
    # in.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = _ERRORS_ONLY
    values = [runtime.OrtValue.ortvalue_from_numpy(array) for array in given.values()]
    # The runtime copies them, so that they are let go of here.
    options.add_external_initializers(list(given), values)
    try:
        return runtime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    except runtime_faults() as exc:
        raise EmbeddingFailed(
            f"onnxruntime {runtime.__version__} cannot load the model; install another version of it: {exc}"
        ) from exc


def runtime_faults() -> tuple[type[Exception], ...]:
    """Return the runtime's exception classes, which have no common base class."""
    binding = import_module("onnxruntime.capi.onnxruntime_pybind11_state")
    own = [
        kind
        for kind in vars(binding).values()
        if isinstance(kind, type) and issubclass(kind, Exception)
    ]
    return (RuntimeError, *own)


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as exc:
        raise EmbeddingFailed(
            f"{name} cannot be imported ({exc}); install it with: {installing('embed')}"
        ) from exc
