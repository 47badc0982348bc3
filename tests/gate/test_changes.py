"""The gate leaves something out only where git shows that nothing it covers has changed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tools.gate.changes import BASE_VARIABLE, PASSED, Change, read_change, read_latest


class Repository:
    """A repository with a landed commit on `main`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.git("init", "-q", "-b", "main")
        self.landed = self.commit("src/door.py")

    def git(self, *words: str) -> str:
        who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
        done = subprocess.run(
            ["git", *who, *words], cwd=self.root, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def write(self, *names: str) -> None:
        for name in names:
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{path.read_text() if path.exists() else ''}x\n")

    def commit(self, *names: str) -> str:
        self.write(*names)
        self.git("add", "--all")
        self.git("commit", "-q", "-m", f"Change {names[0]}")
        return self.git("rev-parse", "HEAD")

    @property
    def change(self) -> Change:
        return read_change(self.root)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    monkeypatch.delenv(BASE_VARIABLE, raising=False)
    root = tmp_path / "checkout"
    root.mkdir()
    return Repository(root)


def test_a_branch_has_changed_what_it_committed_edited_and_added(repository: Repository) -> None:
    repository.git("checkout", "-q", "-b", "topic")
    repository.commit("src/one.py")
    repository.commit("src/two words.py")
    repository.write("src/door.py", "src/new.py")
    assert repository.change.base == repository.landed
    assert repository.change.paths == {
        "src/one.py",
        "src/two words.py",
        "src/door.py",
        "src/new.py",
    }


def test_what_was_moved_has_changed_in_both_places(repository: Repository) -> None:
    repository.git("checkout", "-q", "-b", "topic")
    repository.git("mv", "src/door.py", "src/gate.py")
    repository.commit("src/one.py")
    assert repository.change.paths == {"src/door.py", "src/gate.py", "src/one.py"}


def test_what_landed_meanwhile_is_no_change_of_the_branch(repository: Repository) -> None:
    repository.git("checkout", "-q", "-b", "topic")
    repository.commit("src/mine.py")
    repository.git("checkout", "-q", "main")
    repository.commit("src/theirs.py")
    repository.git("checkout", "-q", "topic")
    assert repository.change.paths == {"src/mine.py"}


def test_on_the_branch_itself_nobody_knows_what_has_landed(repository: Repository) -> None:
    repository.commit("src/one.py")
    assert repository.change.base == "" and repository.change.reason(["docs"])
    repository.write("src/two.py")
    assert repository.change.reason(["docs"])


def test_a_commit_that_passed_the_gate_is_one_to_compare_with(repository: Repository) -> None:
    repository.git("update-ref", PASSED, "HEAD")
    assert repository.change.paths == frozenset()
    repository.commit("src/one.py")
    assert repository.change.paths == {"src/one.py"}


def test_a_commit_of_another_branch_that_passed_is_none(repository: Repository) -> None:
    repository.git("checkout", "-q", "-b", "other")
    repository.commit("src/other.py")
    repository.git("update-ref", PASSED, "HEAD")
    repository.git("checkout", "-q", "main")
    repository.commit("src/one.py")
    assert repository.change.base == ""


def test_a_machine_may_name_the_commit_and_a_wrong_one_is_not_believed(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.commit("src/one.py")
    monkeypatch.setenv(BASE_VARIABLE, repository.landed)
    assert repository.change.paths == {"src/one.py"}
    for wrong in ("0" * 40, "nothing", repository.git("commit-tree", "HEAD^{tree}", "-m", "x")):
        monkeypatch.setenv(BASE_VARIABLE, wrong)
        assert repository.change.base == "" and BASE_VARIABLE in repository.change.reason(["docs"])


def test_a_fresh_clone_and_a_shallow_one_know_no_landed_commit(
    repository: Repository, tmp_path: Path
) -> None:
    repository.commit("src/one.py")
    source = f"file://{repository.root}"
    for name, options in (("whole", ()), ("shallow", ("--depth", "1"))):
        repository.git("clone", "-q", *options, source, str(tmp_path / name))
        change = read_change(tmp_path / name)
        assert change.base == "" and change.reason(["docs"]), name
    assert "shallow" in change.since


def test_the_variable_is_none_that_a_book_refuses() -> None:
    assert not BASE_VARIABLE.startswith("MEMORANDA_")


def test_without_git_and_without_a_commit_everything_has_changed(tmp_path: Path) -> None:
    assert read_change(tmp_path).reason(["docs"])


def test_the_reason_names_a_changed_file_that_is_covered() -> None:
    change = Change("abc", "main", frozenset({"src/door.py", "src/book/book.py", "src/bookish.py"}))
    assert change.reason(["src/door.py"]) == "src/door.py changed"
    assert change.reason(["src/book/"]) == "src/book/book.py changed"
    assert change.reason(["src/."]) == "src/book/book.py and 2 more changed"
    assert change.reason(["src/boo", "docs", "door.py"]) == ""


@pytest.mark.parametrize("name", ["dev", ".ci/run", "pyproject.toml", "requirements-dev.lock"])
def test_what_decides_about_runs_changes_everything(name: str) -> None:
    assert Change("abc", "main", frozenset({name})).reason(["docs"]) == f"{name} changed"


def test_what_is_near_is_near_to_the_latest_change_where_nothing_is_known_to_have_landed(
    repository: Repository,
) -> None:
    repository.commit("src/one.py")
    assert read_latest(repository.root).paths == {"src/one.py"}
    repository.write("src/two.py")
    assert read_latest(repository.root).paths == {"src/two.py"}
