"""The checks of the checkout find what they are there to find."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tools import hosts, links, recorded_runs
from tools.checkout import ROOT


def write(root: Path, name: str, text: str) -> None:
    place = root / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path


class TestLinks:
    def test_links_that_lead_somewhere_pass(self, root: Path) -> None:
        write(
            root,
            "docs/b.md",
            "# One Thing, `two`\n\n# Again\n# Again\n\n<a id='own'></a>\n\n[x]: ../a.md\n",
        )
        write(
            root,
            "a.md",
            "[file](docs/b.md) [head](docs/b.md#one-thing-two) [second](docs/b.md#again-1) [id](docs/b.md#own)\n"
            '[folder](docs/ "Docs") ![self](#here) [web](https://example.com/no/such#x) [mail](mailto:a@b.c)\n'
            "# Here\n",
        )
        assert links.problems(root) == []

    @pytest.mark.parametrize(
        ("target", "why"),
        [
            ("missing.md", "there is no such file"),
            ("#nowhere", "there is no such heading"),
            ("b.md#nowhere", "there is no such heading"),
            ("../outside.md", "leads out of the checkout"),
        ],
    )
    def test_links_that_lead_nowhere_are_named_with_their_line(
        self, root: Path, target: str, why: str
    ) -> None:
        write(root, "b.md", "# B\n")
        write(root, "a.md", f"# A\n\n[link]({target})\n")
        assert links.problems(root) == [f"a.md:3: {target}: {why}"]

    def test_a_reference_that_leads_nowhere_is_found(self, root: Path) -> None:
        write(root, "a.md", "[link][it]\n\n[it]: missing.md\n")
        assert links.problems(root) == ["a.md:3: missing.md: there is no such file"]

    def test_code_holds_no_links(self, root: Path) -> None:
        write(
            root,
            "a.md",
            "```\n[a](missing.md)\n# no heading\n```\n`[b](missing.md)` and `` [c](`missing.md) ``\n",
        )
        assert links.problems(root) == []


class TestHosts:
    # Spelt in two halves, or this file would be found.
    @pytest.mark.parametrize(
        "line",
        [
            "see https://" + "pypi" + ".org/simple",
            "url = files." + "pythonhosted" + ".org/a.whl",
            "cd /" + "root/project",
            'path = "/home/' + 'ada/book.db"',
        ],
    )
    def test_registries_and_places_on_a_machine_are_found(self, root: Path, line: str) -> None:
        write(root, "notes.txt", f"first\n{line}\n")
        (said,) = hosts.problems(root)
        assert said.startswith("notes.txt:2: names a ")

    @pytest.mark.parametrize(
        "line", ["get('/work" + "ers/7')", "https://example.com/root", "$HOME/root", "a/home/b"]
    )
    def test_paths_of_no_machine_pass(self, root: Path, line: str) -> None:
        write(root, "notes.txt", f"{line}\n")
        assert hosts.problems(root) == []

    @pytest.mark.parametrize(
        "line", ["a @ https://example.com/a.whl", "--index-url x", "--find-links y"]
    )
    def test_a_lock_names_no_host_at_all(self, root: Path, line: str) -> None:
        write(root, "requirements.lock", f"{line}\n")
        assert len(hosts.problems(root)) == 1

    def test_files_that_are_not_text_are_left_alone(self, root: Path) -> None:
        (root / "image.png").write_bytes(b"\0/" + b"root/x")
        assert hosts.problems(root) == []


class TestRecordedRuns:
    """A page shows what was recorded, and a run is old once what it measures has changed."""

    @pytest.fixture
    def checkout(self, root: Path) -> Path:
        write(root, "src/thing.py", "speed = 1\n")
        write(
            root, "docs/page.md", "Before.\n\n<!-- run: recall -->\n<!-- end of run -->\n\nAfter.\n"
        )
        self.git(root, "init", "-q")
        self.commit(root)
        return root

    def git(self, root: Path, *words: str) -> None:
        who = ["-c", "user.name=a", "-c", "user.email=a@b.example"]
        subprocess.run(["git", "-C", str(root), *who, *words], check=True, capture_output=True)

    def commit(self, root: Path) -> None:
        self.git(root, "add", "-A")
        self.git(root, "commit", "-qm", "change")

    def record(self, root: Path) -> None:
        recorded_runs.record(
            "recall",
            "./measure",
            {"recall": [["", "p50"], ["warm", "1.5 ms"]]},
            covers=["src"],
            machine="a core",
            root=root,
        )

    def test_a_recorded_run_stands_in_its_page_and_nowhere_else(self, checkout: Path) -> None:
        self.record(checkout)
        page = (checkout / "docs/page.md").read_text()
        assert page.startswith("Before.\n\n<!-- run: recall -->\n`./measure` at ")
        assert (
            "; a core:\n\n| recall | p50 |\n|---|--:|\n| warm | 1.5 ms |\n<!-- end of run -->"
            in page
        )
        assert page.endswith("\n\nAfter.\n")

    def test_a_figure_changed_by_hand_is_written_over(self, checkout: Path) -> None:
        self.record(checkout)
        page = checkout / "docs/page.md"
        true = page.read_text()
        page.write_text(true.replace("1.5 ms", "0.5 ms"))
        assert recorded_runs.write_pages(checkout) == [page]
        assert page.read_text() == true

    def test_a_run_is_old_once_what_it_measures_has_changed(self, checkout: Path) -> None:
        self.record(checkout)
        self.commit(checkout)
        assert list(recorded_runs.old(checkout)) == []
        write(checkout, "docs/other.md", "not measured")
        assert list(recorded_runs.old(checkout)) == []
        write(checkout, "src/thing.py", "speed = 2\n")
        (said,) = recorded_runs.old(checkout)
        assert said.startswith("recall: src/thing.py changed since ")

    def test_a_run_on_changed_files_says_so_and_is_old(self, checkout: Path) -> None:
        write(checkout, "src/thing.py", "speed = 2\n")
        self.record(checkout)
        assert recorded_runs.read(checkout)["recall"]["commit"].endswith(" and changes")
        assert len(list(recorded_runs.old(checkout))) == 1

    def test_the_pages_of_this_checkout_show_the_recorded_runs(self, tmp_path: Path) -> None:
        copied = tmp_path / "copy"
        shutil.copytree(ROOT / "docs", copied / "docs")
        assert recorded_runs.write_pages(copied) == []
