"""Upstream's own tests, run from its source archives with our classes under the names of theirs."""

from __future__ import annotations

import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from importlib.metadata import version
from pathlib import Path

from tests.frameworks.agents.results import write_results

_HERE = Path(__file__).parent
_UPSTREAM = Path(sys.prefix) / "upstream"

_CONNECTIONS = "looks into the connections, locks or rows of SQLiteSession, which a book does not have"
_CORRUPT = "writes broken JSON into the table of SQLiteSession; a book stores no item that it cannot read"
#: The cases of the sessions' tests that cannot pass, and why.
SESSIONS_LEFT_OUT = {
    "test_sqlite_session_close_closes_worker_thread_connections": _CONNECTIONS,
    "test_sqlite_session_reaps_connections_from_exited_worker_threads": _CONNECTIONS,
    "test_sqlite_session_closes_retired_connections_before_the_next_allocation": _CONNECTIONS,
    "test_sqlite_session_keeps_connections_of_live_worker_threads": _CONNECTIONS,
    "test_sqlite_session_closed_rejects_empty_add_items": "a session has no close(): its book is closed",
    "test_sqlite_session_pop_item_skips_corrupt_most_recent": _CORRUPT,
    "test_sqlite_session_pop_item_returns_none_after_dropping_only_corrupt_rows": _CORRUPT,
    "test_sqlite_session_get_items_limit_skips_corrupt_newest_rows": _CORRUPT,
    "test_sqlite_session_get_items_session_settings_limit_skips_corrupt_rows": _CORRUPT,
    "test_sqlite_session_file_lock_is_shared_across_instances": _CONNECTIONS,
    "test_sqlite_session_failed_add_items_releases_write_lock": _CONNECTIONS,
    "test_sqlite_session_failed_clear_session_rolls_back": _CONNECTIONS,
    "test_sqlite_session_failed_pop_item_releases_write_lock": _CONNECTIONS,
    "test_sqlite_session_rollback_failure_evicts_connection": _CONNECTIONS,
    "test_sqlite_session_close_retries_quarantined_connection": _CONNECTIONS,
    "test_sqlite_session_post_commit_cancellation_propagates_after_known_outcome[add]": _CONNECTIONS,
    "test_sqlite_session_post_commit_cancellation_propagates_after_known_outcome[pop]": _CONNECTIONS,
    "test_sqlite_session_post_commit_cancellation_propagates_after_known_outcome[clear]": _CONNECTIONS,
}


def run_upstream(folder: str, plugin: str, report: Path, *files: str) -> dict[str, bool]:
    """Run upstream's tests in a process of their own; return each case, and True if it passed."""
    (place,) = (one for one in _UPSTREAM.glob(folder) if one.is_dir())
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        plugin,
        "-p",
        "no:cacheprovider",
        f"--junitxml={report}",
    ]
    root = _HERE.parents[2]
    around = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (_HERE, root, root / "src")))}
    done = subprocess.run(
        [*command, *files], cwd=place, env=around, capture_output=True, text=True, timeout=300, check=False
    )
    assert report.exists(), done.stdout + done.stderr
    cases = ET.parse(report).getroot().iter("testcase")
    return {
        case.attrib["name"]: case.find("failure") is None and case.find("error") is None for case in cases
    }


def test_the_sessions_tests_of_openai_pass_but_for_a_named_list(tmp_path: Path) -> None:
    files = ("tests/memory/test_session.py", "tests/memory/test_session_limit.py")
    cases = run_upstream("openai_agents-*", "sessions_upstream", tmp_path / "report.xml", *files)
    failed = {case for case, passed in cases.items() if not passed}
    assert failed == set(SESSIONS_LEFT_OUT)
    write_results(
        "openai-agents",
        {
            "framework": "OpenAI Agents SDK",
            "package": "openai-agents",
            "version": version("openai-agents"),
            "run": "test_session.py and test_session_limit.py, SQLite",
            "cases": len(cases),
            "passed": len(cases) - len(failed),
            "left_out": [{"case": case, "why": why} for case, why in SESSIONS_LEFT_OUT.items()],
        },
    )
