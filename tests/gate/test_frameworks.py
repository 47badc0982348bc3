"""Environments of frameworks can be made from what is committed, and the ordinary run leaves them
alone.
"""

from __future__ import annotations

import re
from itertools import chain
from pathlib import Path
from types import ModuleType

import pytest

from tools.gate import selection
from tools.gate.changes import Change
from tools.reference import frameworks

ROOT = Path(__file__).parents[2]
FRAMEWORKS = ROOT / "tests" / "frameworks"
NAMES = sorted(path.stem for path in FRAMEWORKS.glob("*.in"))


def test_there_are_environments() -> None:
    assert {"harness", "pydantic"} <= {*NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_each_environment_has_tests_and_a_lock_with_hashes_and_without_hosts(name: str) -> None:
    assert list((FRAMEWORKS / name).glob("test_*.py"))
    lock = (FRAMEWORKS / f"{name}.lock").read_text("utf-8")
    pinned = re.split(r"\n(?=\S)", lock.strip())
    assert len(pinned) > 10
    assert all(re.match(r"[\w.\[\],-]+==\S+ ", one) and "--hash=sha256:" in one for one in pinned)
    assert "://" not in lock


def test_the_ordinary_run_does_not_collect_tests_of_frameworks(pytestconfig: pytest.Config) -> None:
    assert "frameworks" in pytestconfig.getini("norecursedirs")


def test_without_a_name_every_environment_runs_its_own_tests(
    dev: ModuleType, started: list[list[str]]
) -> None:
    assert dev.frameworks([]) == 0
    assert [Path(command[0]).parts[0] for command in started] == NAMES
    assert all(
        f"tests/frameworks/{name}" in command for name, command in zip(NAMES, started, strict=True)
    )


def test_a_name_and_a_path_choose_what_runs(dev: ModuleType, started: list[list[str]]) -> None:
    path = "tests/frameworks/harness/test_bounds.py"
    dev.frameworks(["harness", "-n", "0", path + "::test_something"])
    assert started == [["harness/bin/python", "-m", "pytest", "-n", "0", path + "::test_something"]]
    dev.frameworks(["-k", "bounds"])
    assert len(started) == 1 + len(NAMES)


def test_only_environments_run_whose_code_changed_and_the_others_are_named(
    dev: ModuleType,
    started: list[list[str]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def environments(*paths: str, base: str = "abc") -> list[str]:
        started.clear()
        monkeypatch.setattr(
            selection, "read_change", lambda: Change(base, "main", frozenset(paths))
        )
        assert dev.frameworks(["--changed"]) == 0
        return [Path(command[0]).parts[0] for command in started]

    assert environments("docs/using.md") == []
    assert (
        "pydantic: left out, no path that it covers changed since main\n" in capsys.readouterr().out
    )
    assert environments("tests/frameworks/pydantic.lock") == ["pydantic"]
    assert environments("tests/frameworks/langgraph/conftest.py") == ["langgraph"]
    assert environments("src/memoranda/client/http.py") == ["service"]
    assert environments("src/memoranda/integrations/tools.py") == NAMES
    assert environments("tests/integrations/test_tools.py") == ["harness"]
    assert environments(base="") == NAMES


def test_the_paths_that_environments_cover_exist() -> None:
    assert selection.FRAMEWORK_COVERS.keys() <= {*NAMES}
    covered = [
        *selection.FRAMEWORKS_COVER,
        *chain(*selection.FRAMEWORK_COVERS.values()),
        *selection.AGAIN_COVERS,
    ]
    assert [path for path in covered if not (ROOT / path).exists()] == []


def test_an_unknown_environment_is_named_with_those_there_are(
    dev: ModuleType, started: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        dev.frameworks(["harnes"])
    said = capsys.readouterr().err
    assert "there is no environment harnes" in said and "harness" in said
    assert started == []


def test_one_failed_environment_does_not_hide_the_others(
    dev: ModuleType,
    started: list[list[str]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(dev, "run_tests", lambda python, _: int("pydantic" in str(python)))
    assert dev.frameworks([]) == 1
    assert "failed: pydantic\n" in capsys.readouterr().out


def test_a_result_without_a_field_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"framework": "X", "passed": 1}', "utf-8")
    with pytest.raises(SystemExit, match="cases, left_out"):
        frameworks.read(tmp_path / "x.json")
