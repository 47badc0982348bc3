"""The recorded process: it calls one workload by its name, with the folder and the arguments."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path


def perform(target: str, folder: str, arguments: list[str]) -> None:
    module, _, function = target.partition(":")
    getattr(importlib.import_module(module), function)(Path(folder), *arguments)


if __name__ == "__main__":
    perform(sys.argv[1], sys.argv[2], sys.argv[3:])
