"""Items beside LangGraph's own stores: get, put and search on a file and on a server, in one run,
as multiples of theirs.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator

from bench.figures import Place, Row
from tools.checkout import ROOT

#: The environment that has LangGraph; ``./dev frameworks langgraph`` makes it.
PYTHON = ROOT / ".venv-frameworks" / "langgraph" / "bin" / "python"
#: A get and a put may take so many times as long as theirs, and a search no longer.
WRITING = 1.2
SEARCHING = 1.0


def items(place: Place) -> Iterator[Row]:
    """Measure both stores in turn, operation by operation, in a process of the environment that has
    LangGraph.
    """
    if not PYTHON.exists():
        yield Row(
            "items beside LangGraph's stores",
            None,
            "ms",
            note="needs ./dev frameworks langgraph first",
        )
        return
    sizes = (place.scale.shelves[0], place.scale.shelves[-1])
    for size in sizes:
        asked = [str(PYTHON), "-m", "bench.beside_langgraph", str(place.folder), str(size)]
        asked += [str(min(place.scale.samples, 300)), place.engine]
        done = subprocess.run(asked, cwd=ROOT, check=True, stdout=subprocess.PIPE)
        for name, figures in json.loads(done.stdout.splitlines()[-1]).items():
            yield from _rows(f"{name}, {size:,} items", figures)


def _rows(name: str, figures: dict[str, float | str]) -> Iterator[Row]:
    ours, theirs = float(figures["ours"]), float(figures["theirs"])
    note = str(figures["note"])
    yield Row(name, ours, "ms", note=note)
    yield Row(
        "  a multiple of theirs",
        ours / theirs,
        "x",
        target=SEARCHING if "search" in name or "list" in name else WRITING,
        note=f"theirs {theirs:.3f} ms",
    )
