"""Run the proofs, each in a process of its own, and print one result line for each.

A proof is a module `proofs/<name>.py` with `ABOUT`, `CI_COUNT`, `FULL_COUNT`, `COVERS` and
`run(count, seed) -> str`; it fails by raising, and the text that it returns becomes part of its
line. A run with the full count is written to `proofs/whole_runs.json`; a later change of the proof,
or of a path of the package that `COVERS` names, asks for a new one.

With `--changed`, proofs run whose own files or covered paths changed since the last landed commit;
of the others, those in `ALWAYS` run at a fifth of their count, with whole controls, and the rest is
left out.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tools.checkout import commit_of, why_old
from tools.gate import import_graph
from tools.gate.changes import Change, read_change

FOLDER = Path(__file__).resolve().parent
WHOLE_RUNS = FOLDER / "whole_runs.json"

#: The seed with `--ci`: always the same, so that a change is judged by what it changed.
CI_SEED = 20_261_121

#: Proofs of promises that any change may break: they run with `--changed`, whatever changed.
ALWAYS = "kill power_cut isolation service_isolation erasure erasure_races server_kill".split()
#: The part of its count that such a proof keeps. Each control has a count of its own, which does
#: not shrink.
KEPT_PART = 5

#: Proofs have process groups of their own, so an interrupted run must kill them itself.
_RUNNING: list[subprocess.Popen[bytes]] = []


@dataclass(frozen=True)
class Wish:
    """Options from the command line, for every proof."""

    seed: int
    #: Instead of the proof's own counts.
    count: int | None
    ci: bool
    #: Seconds after which a proof is stopped and counts as failed.
    limit: float


def names(folder: Path = FOLDER) -> list[str]:
    """Return the names of all proofs."""
    return sorted(path.stem for path in folder.glob("*.py") if not path.stem.startswith("_"))


# --- one proof, in its own process ----------------------------------------------------------------


def carry_out(name: str, wish: Wish, result: Path) -> int:
    """Run one proof in this process; its count is written first, so that a crash can still be
    reported.
    """
    # Proofs need no model; a proof that needs vectors names an embedder of its own.
    os.environ["MEMORANDA_EMBEDDING_USE"] = "none"
    proof = importlib.import_module(f"proofs.{name}")
    count = (
        wish.count if wish.count is not None else proof.CI_COUNT if wish.ci else proof.FULL_COUNT
    )
    result.write_text(json.dumps({"count": count}))
    try:
        detail = proof.run(count, wish.seed)
    except Exception as problem:
        result.write_text(
            json.dumps({"count": count, "problem": f"{type(problem).__name__}: {problem}"[:300]})
        )
        raise
    result.write_text(json.dumps({"count": count, "detail": detail}))
    return 0


# --- all of them ----------------------------------------------------------------------------------


def supervise(name: str, wish: Wish) -> tuple[bool, str]:
    """Run one proof in a process group of its own; return True if it passed, and its result
    line.
    """
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="memoranda-proof-") as folder:
        result = Path(folder, "result.json")
        command = [
            sys.executable,
            "-m",
            "proofs",
            "--seed",
            str(wish.seed),
            "--result",
            str(result),
            name,
        ]
        command += ["--ci"] if wish.ci else []
        command += ["--count", str(wish.count)] if wish.count is not None else []
        # A proof's own output goes to stderr: stdout has the result lines only.
        child = subprocess.Popen(
            command,
            cwd=FOLDER.parent,
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr,
            start_new_session=True,
        )
        _RUNNING.append(child)
        try:
            status: int | None = child.wait(wish.limit)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            end_group(child)
            _RUNNING.remove(child)
        noted: dict[str, Any] = json.loads(result.read_text()) if result.exists() else {}
    holds = status == 0 and "detail" in noted
    detail = noted["detail"] if holds else reason(noted, status, wish.limit)
    line = f"{name}: seed={wish.seed} count={noted.get('count', '?')} {'ok' if holds else 'FAILED'} {detail}"
    line = f"{' '.join(line.split())} ({time.monotonic() - started:.1f} s)"
    return holds, line


# --- the last whole run of each -------------------------------------------------------------------


def read_whole_runs(file: Path = WHOLE_RUNS) -> dict[str, dict[str, str]]:
    """Return the commit and the result line of each proof's last whole run."""
    runs: dict[str, dict[str, str]] = json.loads(file.read_text()) if file.exists() else {}
    return runs


def write_whole_run(name: str, commit: str, line: str, file: Path = WHOLE_RUNS) -> None:
    """Put a whole run in place of the proof's last one."""
    runs = {**read_whole_runs(file), name: {"commit": commit, "result": line}}
    file.write_text(json.dumps(runs, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


def paths(name: str) -> list[str]:
    """Return the paths whose changes ask for a new whole run of a proof."""
    found = re.search(r'^COVERS = \(?\s*"(.*)"', (FOLDER / f"{name}.py").read_text(), re.MULTILINE)
    covered = found[1].split() if found else ["."]
    return [f"proofs/{name}.py", *(f"src/memoranda/{path}" for path in covered)]


def planned(chosen: list[str], wish: Wish, change: Change) -> dict[str, Wish]:
    """Return the proofs that a change may break and those that always run, each with its count; say
    it of all.
    """
    graph = import_graph.read_graph()
    plans = {}
    for name in chosen:
        tools = [
            path
            for path in import_graph.reached(graph, f"proofs/{name}.py")
            if not path.startswith("src/")
        ]
        runner = ["proofs/__main__.py", "proofs/__init__.py", "src/memoranda/testing"]
        why = change.reason([*paths(name), *tools, *runner])
        if why:
            plans[name] = wish
        elif name in ALWAYS:
            count = int(
                re.findall(
                    r"^CI_COUNT = (\d[\d_]*)$", (FOLDER / f"{name}.py").read_text(), re.MULTILINE
                )[0]
            )
            plans[name] = replace(wish, count=-(-count // KEPT_PART))
            why = f"at a fifth of its count, no path that it covers changed since {change.since}"
        else:
            why = f"left out, no path that it covers changed since {change.since}"
        print(f"{name}: {why}", flush=True)
    return plans


def why_due(name: str, run: dict[str, str] | None) -> str | None:
    """Return why a proof must run again at its full count; None if its last whole run still
    counts.
    """
    if run is None or " ok " not in run["result"]:
        return "no whole run has passed"
    return why_old(FOLDER.parent, run["commit"], paths(name)) or None


def end_group(child: subprocess.Popen[bytes]) -> None:
    """Kill the proof and the processes that it left behind."""
    with contextlib.suppress(
        ProcessLookupError, PermissionError
    ):  # what macOS says of a group that is gone
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def reason(noted: dict[str, Any], status: int | None, limit: float) -> str:
    """Return why a proof failed, in a few words; its traceback is on stderr."""
    if status is None:
        return f"not done after {limit:.0f} s"
    if status < 0:
        return f"ended by {signal.Signals(-status).name}"
    return str(noted.get("problem", f"left with status {status}"))


def prove(chosen: dict[str, Wish], jobs: int) -> int:
    """Run the chosen proofs, a few at a time, and print each result when it is ready."""
    # When CI stops this process at its time limit, no proof may keep running.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    passed = 0
    with ThreadPoolExecutor(jobs) as pool:
        running = {pool.submit(supervise, name, wish): name for name, wish in chosen.items()}
        # Whole runs count for this commit.
        commits = {
            name: commit_of(FOLDER.parent, paths(name))
            for name, wish in chosen.items()
            if wish.count is None and not wish.ci
        }
        try:
            for done in as_completed(running):
                name, (holds, line) = running[done], done.result()
                passed += holds
                print(line, flush=True)
                if name in commits:
                    write_whole_run(name, commits[name], line)
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in _RUNNING.copy():
                end_group(child)
            raise
    failed = len(chosen) - passed
    print(f"{passed} passed, {failed} failed", flush=True)
    return 1 if failed else 0


def read_arguments(arguments: list[str] | None) -> argparse.Namespace:
    """Parse the command line; refuse unknown proofs."""
    parser = argparse.ArgumentParser(prog="python -m proofs", description="Run the long proofs.")
    parser.add_argument(
        "names", nargs="*", metavar="name", help="proofs to run; without names, all of them"
    )
    parser.add_argument("--ci", action="store_true", help="use the smaller counts of CI")
    parser.add_argument(
        "--changed",
        action="store_true",
        help="leave out what no change since the last landed commit may break",
    )
    parser.add_argument(
        "--seed",
        type=int,
        help="repeat a run with this seed; default: a fixed one with --ci, else random",
    )
    parser.add_argument("--count", type=int, help="use this count instead of the proofs' own")
    parser.add_argument("--jobs", type=int, help="proofs at a time; default: 2 with --ci, else 1")
    parser.add_argument(
        "--limit",
        type=float,
        help="longest time of a proof in seconds; default: 2000 with --ci, else a day",
    )
    parser.add_argument("--list", action="store_true", help="say what each proof shows")
    parser.add_argument(
        "--due", action="store_true", help="say which need a new run at full count, and why"
    )
    parser.add_argument("--result", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    unknown = sorted(set(given.names) - set(names()))
    if unknown:
        parser.error(
            f"no such proof: {', '.join(unknown)}; there are: {', '.join(names()) or 'none yet'}"
        )
    return given


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen proofs; with `--result`, run one proof in this process."""
    given = read_arguments(arguments)
    chosen = given.names or names()
    if given.list:
        for name in chosen:
            print(f"{name}: {importlib.import_module(f'proofs.{name}').ABOUT}")
        return 0
    if given.due:
        runs = read_whole_runs()
        due = [(name, why) for name in chosen if (why := why_due(name, runs.get(name)))]
        print(
            "\n".join(f"{name}: {why}" for name, why in due)
            or "every proof ran since the last change"
        )
        return 1 if due else 0
    drawn = CI_SEED if given.ci else secrets.randbelow(2**32)
    seed = given.seed if given.seed is not None else drawn
    limit = given.limit if given.limit is not None else 2000.0 if given.ci else 86_400.0
    wish = Wish(seed, given.count, given.ci, limit)
    if given.result is not None:
        return carry_out(chosen[0], wish, given.result)
    jobs = given.jobs if given.jobs is not None else 2 if given.ci else 1
    return prove(
        planned(chosen, wish, read_change()) if given.changed else dict.fromkeys(chosen, wish), jobs
    )


if __name__ == "__main__":
    raise SystemExit(main())
