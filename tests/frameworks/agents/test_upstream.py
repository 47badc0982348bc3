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

_CONNECTIONS = (
    "looks into the connections, locks or rows of SQLiteSession, which a book does not have"
)
_LINKS = "about symbolic links, and a book has none: a path never leaves its namespace"
_MODES = "about the modes of folders on a disk"
_LARGE = "creates a file of 5 MB; an item takes at most 1 MiB, so it is refused when it is created"
_ON_DISK = (
    "puts a file into the folder without the tool; the same case passes for the synchronous tool"
)
_CORRUPT = (
    "writes broken JSON into the table of SQLiteSession; a book stores no item that it cannot read"
)
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


_OF_BOTH = {
    "test_mkdir_parents_not_world_writable_under_permissive_umask": _MODES,
    "test_view_error_for_files_with_too_many_lines": _LARGE,
    "test_view_rejects_directory_symlink_created_after_validation": _LINKS,
    "test_symlink_validation_reject_symlink_pointing_outside_memories": _LINKS,
    "test_view_lists_symlinks_only_when_they_stay_inside_memories": _LINKS,
    "test_symlink_validation_reject_creating_files_through_symlink_pointing_outside": _LINKS,
    "test_symlink_validation_reject_parent_directory_that_is_symlink_pointing_outside": _LINKS,
    **{
        f"test_read_rejects_{how}[{command}]": _LINKS
        for how in ("symlink_created_after_validation", "file_replaced_with_symlink_before_open")
        for command in ("view", "str_replace", "insert")
    },
}
#: The cases of the memory tool's tests that cannot pass, and why.
FILES_LEFT_OUT = {
    **{f"TestBetaLocalFilesystemMemoryTool.{case}": why for case, why in _OF_BOTH.items()},
    **{
        f"TestBetaAsyncLocalFilesystemMemoryTool.{case}": why
        for case, why in {
            **_OF_BOTH,
            "test_validate_path_returns_resolved_path_not_symlink_target": _LINKS,
            "test_view_preserves_crlf_line_endings": _ON_DISK,
            "test_str_replace_preserves_crlf_line_endings": _ON_DISK,
            "test_insert_preserves_crlf_line_endings": _ON_DISK,
        }.items()
    },
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
        [*command, *files],
        cwd=place,
        env=around,
        capture_output=True,
        text=True,
        timeout=570,
        check=False,
    )
    assert report.exists(), done.stdout + done.stderr
    cases = ET.parse(report).getroot().iter("testcase")
    return {
        _name_of(case): case.find("failure") is None and case.find("error") is None
        for case in cases
    }


def _name_of(case: ET.Element) -> str:
    """Return a case's name, including its class."""
    owner = case.attrib["classname"].rpartition(".")[2]
    return f"{owner}.{case.attrib['name']}" if owner.startswith("Test") else case.attrib["name"]


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


def test_the_memory_tools_tests_of_anthropic_pass_but_for_a_named_list(tmp_path: Path) -> None:
    # Their conftest needs packages for recorded requests, which these tests do not use.
    files = (
        "tests/lib/tools/memory_tools/test_filesystem.py",
        "--noconftest",
        "-o",
        "asyncio_mode=auto",
    )
    cases = run_upstream("anthropic-*", "memory_tool_upstream", tmp_path / "report.xml", *files)
    failed = {case for case, passed in cases.items() if not passed}
    assert failed == set(FILES_LEFT_OUT)
    write_results(
        "anthropic-memory-tool",
        {
            "framework": "Anthropic's memory tool",
            "package": "anthropic",
            "version": version("anthropic"),
            "run": "test_filesystem.py, SQLite",
            "cases": len(cases),
            "passed": len(cases) - len(failed),
            "left_out": [{"case": case, "why": why} for case, why in FILES_LEFT_OUT.items()],
        },
    )
