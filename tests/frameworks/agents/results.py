"""Results of upstream's suites and contracts, for the table of integrations."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parents[1] / "results"


def write_results(name: str, results: Mapping[str, Any]) -> None:
    """Write what was run, if it differs from what is there."""
    text = json.dumps(results, indent=2, ensure_ascii=False) + "\n"
    path = _FOLDER / f"{name}.json"
    _FOLDER.mkdir(exist_ok=True)
    if not path.exists() or path.read_text("utf-8") != text:
        path.write_text(text, "utf-8")
