"""A plugin of pytest: it stores how long each test took, and leaves out the rest where a run has a
time to end at.
"""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

import pytest

#: In pytest's cache: seconds by test.
KEY = "memoranda/durations"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option for the end of a run."""
    parser.addoption(
        "--stop-at",
        type=float,
        help="skip tests that would start after this time, in seconds since 1970",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Record in the process that sees all reports: with several, it is the one that hands out the
    tests.
    """
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Durations(config))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what would start too late; it is skipped and not stopped, so that fixtures of servers
    end as always.
    """
    stop_at = item.config.getoption("--stop-at")
    if stop_at is not None and time.time() > stop_at:
        pytest.skip("left out: the time of this run is over")


class _Durations:
    def __init__(self, config: pytest.Config) -> None:
        self._cache: Any = config.cache
        self._seconds: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.skipped and "again" not in report.keywords:
            self._seconds[report.nodeid] += report.duration  # type: ignore[assignment] # a counter of seconds

    def pytest_sessionfinish(self) -> None:
        new = {test: round(seconds, 2) for test, seconds in self._seconds.items()}
        self._cache.set(KEY, {**self._cache.get(KEY, {}), **new})
