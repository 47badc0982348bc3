"""Run everything at full counts with fresh seeds, part by part; a part that failed comes first when
it is started again.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tools import recorded_runs
from tools.checkout import ROOT

#: Beside the caches of other tools: the result of each part in this round, and its output.
FOLDER = ROOT / ".nightly_cache"

#: The state of a round: by part, how it ended, and on which commit.
State = dict[str, dict[str, Any]]


def parts(root: Path = ROOT) -> dict[str, list[str]]:
    """Return the arguments of `./dev` for each part, the quickest first."""
    environments = sorted(path.stem for path in (root / "tests/frameworks").glob("*.lock"))
    proofs = sorted(
        path.stem for path in (root / "proofs").glob("*.py") if not path.stem.startswith("_")
    )
    return {
        "check": ["check"],
        "docs": ["docs", "build"],
        "test": ["test", "--all"],
        **{f"frameworks/{name}": ["frameworks", name] for name in environments},
        **{f"proofs/{name}": ["prove", name] for name in proofs},
    }


def due(known: Mapping[str, object], state: State) -> list[str]:
    """Return the parts that are left in this round: first those that failed, then those that have
    not run.
    """
    failed = [name for name in known if name in state and not state[name]["passed"]]
    return failed + [name for name in known if name not in state]


def read(folder: Path) -> State:
    """Return what is stored of this round."""
    file = folder / "state.json"
    found: State = json.loads(file.read_text("utf-8")) if file.exists() else {}
    return found


def write(folder: Path, state: State) -> None:
    """Store the round at once and whole: it may be stopped at any time."""
    folder.mkdir(exist_ok=True)
    new = folder / "state.json.new"
    new.write_text(json.dumps(state, indent=1) + "\n", "utf-8")
    new.replace(folder / "state.json")


def run_part(arguments: list[str], log: Path) -> bool:
    """Run one part with its output in a file; return True if it passed."""
    # With this variable, tests would try the same examples each time.
    around = {name: value for name, value in os.environ.items() if name != "CI"}
    with log.open("wb") as output:
        command = [sys.executable, str(ROOT / "dev"), *arguments]
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=around,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            check=False,
        )
    return done.returncode == 0


def go_on(
    chosen: list[str],
    known: Mapping[str, list[str]],
    folder: Path,
    run: Callable[[list[str], Path], bool] = run_part,
) -> int:
    """Run parts and store each result; without chosen ones, all that are due, and a new round if
    none is.
    """
    state = {name: result for name, result in read(folder).items() if name in known}
    if not chosen and not due(known, state):
        state = {}
        print("every part has passed: a new round")
    for name in chosen or due(known, state):
        write(folder, state)
        started = time.monotonic()
        log = folder / f"{name.replace('/', '-')}.log"
        passed = run(known[name], log)
        state[name] = {
            "passed": passed,
            "commit": _commit(),
            "seconds": round(time.monotonic() - started),
        }
        write(folder, state)
        print(
            f"{name}: {_told(state[name])}{'' if passed else f'; its output is in {log}'}",
            flush=True,
        )
    failed = [name for name in known if name in state and not state[name]["passed"]]
    print(
        f"{len(state) - len(failed)} of {len(known)} parts of this round passed; failed: {', '.join(failed) or 'none'}"
    )
    return 1 if failed else 0


def _told(result: dict[str, Any]) -> str:
    word = "passed" if result["passed"] else "FAILED"
    return f"{word} after {result['seconds']} s on {result['commit']}"


def _commit() -> str:
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "no commit"


def main(arguments: list[str] | None = None) -> int:
    """Go on with the round; with `--list`, say what has run in it."""
    known = parts()
    parser = argparse.ArgumentParser(
        prog="./dev nightly", description="Run everything at full counts."
    )
    parser.add_argument(
        "parts",
        nargs="*",
        metavar="part",
        help="run these instead of what is due, as in proofs/kill",
    )
    parser.add_argument("--list", action="store_true", help="say how each part of this round ended")
    given = parser.parse_args(arguments)
    if unknown := sorted(set(given.parts) - known.keys()):
        parser.error(f"no such part: {', '.join(unknown)}; there are: {', '.join(known)}")
    if given.list:
        state = read(FOLDER)
        for name in known:
            print(f"{name}: {_told(state[name]) if name in state else 'has not run'}")
        return _name_old_tables()
    return go_on(given.parts, known, FOLDER) + _name_old_tables()


def _name_old_tables() -> int:
    """Name each table of the documentation that is older than the code it measures; that fails
    nothing.
    """
    for old in recorded_runs.old():
        print(f"a table is older than what it measures: {old}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
