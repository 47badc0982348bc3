"""The tests of LangGraph's own stores, run against a book on each engine; nothing of them is kept
here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
UPSTREAM = Path(sys.prefix, "upstream")
RESULTS = HERE.parent / "results"
#: For each suite: the package with its version, its folder, and the files whose tests make a store.
SUITES = {
    "checkpoint": ("langgraph-checkpoint", "4.3.2", ["test_store.py"]),
    "sqlite": (
        "langgraph-checkpoint-sqlite",
        "3.1.2",
        ["test_store.py", "test_async_store.py", "test_ttl.py"],
    ),
    "postgres": (
        "langgraph-checkpoint-postgres",
        "3.2.0",
        ["test_store.py", "test_async_store.py"],
    ),
}
ENGINES = {"sqlite": "SQLite", "postgres": "PostgreSQL", "memory": "in memory"}
_INI = """[pytest]
asyncio_mode = auto
asyncio_default_fixture_loop_scope = function
addopts = -p no:cacheprovider -p no:xdist --import-mode=prepend
filterwarnings = ignore
"""


def left_out(suite: str) -> list[dict[str, Any]]:
    """Return the listed tests of a suite that a book does not pass."""
    listed = tomllib.loads((HERE / "left_out.toml").read_text())["left_out"]
    return [one for one in listed if one["suite"] == suite]


def listing(case: str, listed: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the entry of the list that a case belongs to."""
    name, _, parameters = case.removeprefix("tests/").partition("[")
    for one in listed:
        wanted = one.get("only")
        if one["case"] == name and (
            wanted is None or set(wanted) & set(parameters.rstrip("]").split("-"))
        ):
            return one
    return None


def outcomes(suite: str, engine: str, folder: Path) -> dict[str, str]:
    """Run a suite in a process of its own and return the outcome of each case."""
    package, version, files = SUITES[suite]
    place, results, ini = (
        UPSTREAM / f"{package.replace('-', '_')}-{version}",
        folder / "results",
        folder / "pytest.ini",
    )
    ini.write_text(_INI)
    around = {**os.environ, "UPSTREAM_ENGINE": engine, "UPSTREAM_RESULTS": str(results)}
    around |= {
        "PYTHONPATH": os.pathsep.join([str(HERE), str(place)]),
        "MEMORANDA_EMBEDDING_USE": "none",
    }
    around.pop("PYTEST_XDIST_WORKER", None)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-c",
        str(ini),
        f"--rootdir={place}",
        "-p",
        "upstream_plugin",
    ]
    done = subprocess.run(
        [*command, *(f"tests/{name}" for name in files)],
        cwd=place,
        env=around,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert results.exists(), done.stdout[-4000:]
    found: dict[str, str] = json.loads(results.read_text())
    return found


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("suite", SUITES)
def test_a_book_passes_the_tests_of_langgraphs_own_store_but_for_the_listed_ones(
    suite: str, engine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    address = request.getfixturevalue("postgres").url if engine == "postgres" else engine
    found = outcomes(suite, address, tmp_path)
    package, version, files = SUITES[suite]
    listed = left_out(suite)
    failed = {case for case, outcome in found.items() if outcome != "passed"}
    unexpected = sorted(case for case in failed if listing(case, listed) is None)
    passing = sorted(
        case for case in found if case not in failed and listing(case, listed) is not None
    )
    absent = [one["case"] for one in listed if not any(listing(case, [one]) for case in found)]
    record = {
        "framework": "LangGraph",
        "package": package,
        "version": version,
        "run": f"{', '.join(files)} on {ENGINES[engine]}"
        if engine != "memory"
        else f"{', '.join(files)} in memory",
        "cases": len(found),
        "passed": len(found) - len(failed),
        "left_out": [{"case": one["case"], "why": one["why"]} for one in listed],
    }
    assert (unexpected, passing, absent) == ([], [], [])
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps(record, indent=2, ensure_ascii=False) + "\n"
    (RESULTS / f"langgraph-{suite}-{engine}.json").write_text(text)


def test_at_most_twelve_tests_of_langgraphs_own_stores_are_left_out() -> None:
    assert sum(len(left_out(suite)) for suite in SUITES) <= 12
