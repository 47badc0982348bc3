"""CPU time of a new process that imports the package, shows its version or help, or opens a book
and uses it once.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.figures import Place, Row

#: Milliseconds of CPU in user mode, on an idle machine.
IMPORT, SHOW, USE = 50.0, 150.0, 450.0
#: Processes of each sort for each process that `open` starts.
_MORE = 20 / 9

_USE = """
import sys, memoranda
with memoranda.open_sync(sys.argv[1], embed=None, models=None) as book:
    book.remember("ann", "Ann likes tea", agent="helper")
    assert book.recall("ann", "tea", agent="helper")
"""
_SORTS = (
    ("Python alone", ("-c", "pass"), None),
    ("import memoranda", ("-c", "import memoranda"), IMPORT),
    ("memoranda --version", ("-m", "memoranda", "--version"), SHOW),
    ("memoranda --help", ("-m", "memoranda", "--help"), SHOW),
    ("open, remember, recall by words", ("-c", _USE), USE),
)


def start(place: Place) -> Iterator[Row]:
    """Measure the start of each sort of program, in turns, with Python's own bytecode stored
    before.
    """
    samples: dict[str, list[float]] = {name: [] for name, _, _ in _SORTS}
    for turn in range(1 + round(_MORE * place.scale.starts)):
        for name, arguments, _ in _SORTS:
            with tempfile.TemporaryDirectory(dir=place.folder) as folder:
                taken = _user_ms(
                    [*arguments, str(Path(folder, "book.db"))] if "-c" in arguments else arguments
                )
            if turn:  # the first one of each sort stores the bytecode
                samples[name].append(taken)
    for name, _, target in _SORTS:
        yield Row(name, statistics.median(samples[name]), "ms of CPU", target=target)


def _user_ms(arguments: tuple[str, ...] | list[str]) -> float:
    """Return the CPU time in user mode of a Python process, in milliseconds."""
    around = {
        name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    }
    child = subprocess.Popen([sys.executable, *arguments], env=around, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, arguments
    return used.ru_utime * 1000
