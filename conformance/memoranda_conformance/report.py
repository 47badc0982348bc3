"""Runs all conformance tests of an engine, and reports them suite by suite."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from memoranda.ports import Engine
from memoranda_conformance.store_suite import StoreSuite

OpenEngine = Callable[[Path], Awaitable[Engine]]


@dataclass
class Report:
    """The results of the conformance tests of an engine."""

    passed: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    #: What went wrong, by the name of the test, or of the step before all tests.
    failures: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        failed = Counter(name.partition(".")[0] for name in self.failures)
        counts = {"passed": self.passed, "skipped": self.skipped, "failed": failed}
        suites = sorted({suite for count in counts.values() for suite in count})
        lines = [
            f"{suite}: {', '.join(f'{count[suite]} {name}' for name, count in counts.items() if count[suite])}"
            for suite in suites
        ]
        lines += [f"\n{name}\n{text}" for name, text in self.failures.items()]
        total = ", ".join(f"{count.total()} {name}" for name, count in counts.items() if count)
        return "\n".join([*lines, f"\nin all: {total or 'no tests'}"])


def validate(open_engine: OpenEngine, *arguments: str) -> Report:
    """Run the conformance tests of an engine, print a report and return it; ``arguments`` go to
    pytest.

    ``open_engine`` returns an engine with an empty book, which may store its files in the given
    folder.
    """
    run = _Run(open_engine)
    with tempfile.TemporaryDirectory() as folder:
        # Neither options nor plug-ins of the caller's project take part.
        settings = Path(folder, "pytest.ini")
        settings.write_text("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
        options = ["-c", str(settings), "-p", "no:cacheprovider", "-p", "no:terminal"]
        options += ["--import-mode=importlib", "--basetemp", str(Path(folder, "books"))]
        code = pytest.main(
            [*options, *arguments, str(Path(__file__).with_name("validated.py"))], [run]
        )
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) and not run.report.failures:
        run.report.failures["pytest"] = f"it ended with {code!r}"
    print(run.report)
    return run.report


class _Run:
    """The plug-in that gives the tests an engine, and collects their results."""

    def __init__(self, open_engine: OpenEngine) -> None:
        self._open_engine = open_engine
        self.report = Report()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            assert isinstance(item, pytest.Function) and issubclass(item.cls, StoreSuite)
            item.cls.open_engine = staticmethod(self._open_engine)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.report.failures[report.nodeid] = report.longreprtext

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name = report.nodeid.rpartition("::")[2]
        suite = _suite_of(name)
        if report.failed:
            self.report.failures[f"{suite}.{name}"] = report.longreprtext
        elif report.skipped:
            self.report.skipped[suite] += 1
        elif report.when == "call":
            self.report.passed[suite] += 1


def _suite_of(test: str) -> str:
    """Return the suite that has a test of this name, which may have parameters."""
    name = test.partition("[")[0]
    return next(suite.__name__ for suite in StoreSuite.__mro__ if name in vars(suite))
