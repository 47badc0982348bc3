"""all-MiniLM-L6-v2 in memory: its tokenizer, one session of the runtime, and the one thread that they run on."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from memoranda.embedding import weights
from memoranda.embedding.texts import wellformed
from memoranda.errors import EmbeddingFailed

#: What must be installed beside the files.
LIBRARIES = ("onnxruntime", "tokenizers")

DIMENSION = 384
#: What the model was trained to read of a text; the rest of it is not seen.
LONGEST_TOKENS = 256
#: No more of a text is cut into tokens: a word takes a few characters, and a huge text would take seconds.
LONGEST_CHARACTERS = 8_192
#: How many tokens, padding among them, go through the model at once. More is hardly faster, and questions wait longer.
BATCH_TOKENS = 512

_LAYERS = 6
_GRAPH = Path(__file__).parent / "minilm.onnx"
#: The runtime's errors and nothing less.
_ERRORS_ONLY = 3

Floats = NDArray[np.float32]


def missing_libraries() -> list[str]:
    """Which of the libraries are not installed; none is imported."""
    return [name for name in LIBRARIES if find_spec(name) is None]


class MiniLM:
    """Loads itself at the first use, on its own thread."""

    def __init__(self, folder: Path, threads: int) -> None:
        self.folder = folder
        self.process = os.getpid()
        #: One call at a time: the runtime has threads of its own for what is inside a call.
        self.thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="memoranda-embedding")
        self._threads = threads
        self._loaded: tuple[Any, Any] | None = None
        self._failed: str | None = None

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Each text's tokens."""
        tokenizer, _ = self._parts()
        return [tokenizer.encode(wellformed(text[:LONGEST_CHARACTERS])).ids for text in texts]

    def vectors(self, encoded: Sequence[list[int]]) -> Floats:
        """One unit vector a row for texts of about the same length."""
        _, session = self._parts()
        lengths = np.array([len(ids) for ids in encoded])
        longest = int(lengths.max())
        mask = (np.arange(longest) < lengths[:, np.newaxis]).astype(np.int32)
        padded = np.array([ids + [0] * (longest - len(ids)) for ids in encoded], dtype=np.int32)
        try:
            found: Floats = session.run(None, {"ids": padded, "mask": mask})[0]
        except _faults() as exc:
            raise EmbeddingFailed(f"the local model failed on {len(encoded)} texts: {exc}") from exc
        return found

    def one(self, text: str) -> Floats:
        """One text's unit vector."""
        found: Floats = self.vectors(self.encode([text]))[0]
        return found

    def _parts(self) -> tuple[Any, Any]:
        if self._failed is not None:
            raise EmbeddingFailed(self._failed)
        if self._loaded is None:
            try:
                self._loaded = _tokenizer(self.folder), _session(self.folder, self._threads)
            except EmbeddingFailed as exc:
                # What is wrong with the files stays wrong: reading them for every question would be slow.
                self._failed = str(exc)
                raise
        return self._loaded


_shared: WeakValueDictionary[tuple[Path, int], MiniLM] = WeakValueDictionary()
_sharing = threading.Lock()


def shared(folder: Path, threads: int) -> MiniLM:
    """The process's one model from this folder, for as long as somebody holds it."""
    with _sharing:
        found = _shared.get((folder, threads))
        if found is None:
            found = _shared[folder, threads] = MiniLM(folder, threads)
        return found


def _begin_anew() -> None:
    """A forked child has the model, but neither its threads nor whoever held the lock."""
    global _shared, _sharing
    _shared, _sharing = WeakValueDictionary(), threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


def batches(encoded: Sequence[list[int]]) -> list[list[int]]:
    """The places of texts that go together: of like length, so that little is padding, and few enough."""
    found: list[list[int]] = []
    for place in sorted(range(len(encoded)), key=lambda place: len(encoded[place])):
        # The newest is the longest, and gives the others their length.
        if found and (len(found[-1]) + 1) * len(encoded[place]) <= BATCH_TOKENS:
            found[-1].append(place)
        else:
            found.append([place])
    return found


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as exc:
        raise EmbeddingFailed(
            f"{name} cannot be imported ({exc}); install it with: pip install 'memoranda[embed]'"
        ) from exc


def _tokenizer(folder: Path) -> Any:
    text = weights.content(folder, weights.TOKENIZER).decode()
    found = _library("tokenizers").Tokenizer.from_str(text)
    # The file pads every text to 128 tokens and cuts it there.
    found.no_padding()
    found.enable_truncation(LONGEST_TOKENS)
    return found


def _session(folder: Path, threads: int) -> Any:
    runtime = _library("onnxruntime")
    given = initialisers(weights.tensors(folder))
    options = runtime.SessionOptions()
    # The arena keeps what the longest batch took; without it a process holds half as much, at the same speed.
    options.enable_cpu_mem_arena = False
    options.intra_op_num_threads = threads
    # Threads that wait by spinning take the processor from the application that this memory lives in.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = _ERRORS_ONLY
    values = [runtime.OrtValue.ortvalue_from_numpy(array) for array in given.values()]
    # The runtime copies them, so that they are let go of here.
    options.add_external_initializers(list(given), values)
    try:
        return runtime.InferenceSession(_GRAPH.read_bytes(), options, providers=["CPUExecutionProvider"])
    except _faults() as exc:
        raise EmbeddingFailed(
            f"this onnxruntime ({runtime.__version__}) does not take the model: {exc}"
        ) from exc


def _faults() -> tuple[type[Exception], ...]:
    """What the runtime raises: classes of its own, which have no root in common."""
    binding = import_module("onnxruntime.capi.onnxruntime_pybind11_state")
    own = [kind for kind in vars(binding).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    return (RuntimeError, *own)


def initialisers(tensors: dict[str, Floats]) -> dict[str, Floats]:
    """What the graph waits for, by the graph's names, from the published tensors."""
    segment = tensors["embeddings.token_type_embeddings.weight"][0]
    found = {
        "words": tensors["embeddings.word_embeddings.weight"],
        # A text is one segment, whose own vector would be added everywhere.
        "positions": tensors["embeddings.position_embeddings.weight"] + segment,
        **_norm("embedded", tensors, "embeddings"),
    }
    for number in range(_LAYERS):
        found |= _layer(f"layer{number}", tensors, f"encoder.layer.{number}")
    # The runtime takes whole blocks in row order only.
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
