"""The checks of the checkout find what they are there to find."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tools import hosts, links, plain_words, ratchet, recorded_runs
from tools.checkout import ROOT


def write(root: Path, name: str, text: str) -> None:
    place = root / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")


def function(lines: int, name: str = "long") -> str:
    return f"def {name}():\n" + "    x = 1\n" * (lines - 1)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path, "tools/ratchet.json", "{}")
    return tmp_path


class TestRatchet:
    def run(self, root: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
        status = ratchet.main([*arguments], root)
        return status, capsys.readouterr().out

    def held(self, root: Path) -> dict[str, int]:
        found: dict[str, int] = json.loads((root / "tools/ratchet.json").read_text())
        return found

    def list(self, root: Path, name: str, size: int) -> None:
        write(root, "tools/ratchet.json", json.dumps({name: size}))

    def test_small_pieces_pass(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        write(root, "src/a.py", function(60) + "\n" * 340)
        assert self.run(root, capsys) == (0, "")

    def test_a_long_file_without_an_entry_fails(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        write(root, "src/a.py", "x = 1\n" * 401)
        status, said = self.run(root, capsys)
        assert status == 1
        assert (
            'src/a.py: 401 lines; the rule is 400: split it, or, where one piece reads better, add "src/'
            in said
        )

    def test_a_long_function_without_an_entry_fails(
        self, root: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write(
            root, "tests/a.py", "class A:\n" + "".join(f"    {line}\n" for line in function(61).splitlines())
        )
        status, said = self.run(root, capsys)
        assert status == 1
        assert said.startswith("tests/a.py::A.long: 61 lines; the rule is 60")

    def test_an_entry_allows_exactly_its_size(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.list(root, "src/a.py", 401)
        write(root, "src/a.py", "x = 1\n" * 401)
        assert self.run(root, capsys) == (0, "")
        write(root, "src/a.py", "x = 1\n" * 402)
        status, said = self.run(root, capsys)
        assert status == 1
        assert said == "src/a.py: 402 lines; its entry allows 401, and entries only shrink\n"

    def test_no_entry_lifts_the_law(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.list(root, "src/a.py", 601)
        write(root, "src/a.py", "x = 1\n" * 601)
        status, said = self.run(root, capsys)
        assert status == 1
        assert said == "src/a.py: 601 lines; the law is 600: split it\n"

    def test_a_file_that_shrank_must_have_its_entry_lowered(
        self, root: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.list(root, "src/a.py", 500)
        write(root, "src/a.py", "x = 1\n" * 450)
        status, said = self.run(root, capsys)
        assert status == 1
        assert said == "src/a.py: now 450 lines and its entry says 500: python -m tools.ratchet --update\n"

    @pytest.mark.parametrize("text", ["x = 1\n" * 400, None], ids=["small again", "gone"])
    def test_an_entry_that_is_not_needed_must_go(
        self, root: Path, capsys: pytest.CaptureFixture[str], text: str | None
    ) -> None:
        self.list(root, "src/a.py", 500)
        if text:
            write(root, "src/a.py", text)
        status, said = self.run(root, capsys)
        assert status == 1
        assert said == "src/a.py: its entry is not needed any more: python -m tools.ratchet --update\n"

    def test_update_lowers_and_drops_but_never_raises_or_adds(
        self, root: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        sizes = {"src/gone.py": 500, "src/grew.py": 410, "src/shrank.py": 500, "src/small.py": 500}
        write(root, "tools/ratchet.json", json.dumps(sizes))
        for name, lines in {"grew": 420, "shrank": 450, "small": 10, "unlisted": 420}.items():
            write(root, f"src/{name}.py", "x = 1\n" * lines)
        status, said = self.run(root, capsys, "--update")
        assert self.held(root) == {"src/grew.py": 410, "src/shrank.py": 450}
        assert status == 1
        assert [line.split(":")[0] for line in said.splitlines()] == ["src/grew.py", "src/unlisted.py"]

    def test_docstrings_comments_and_blank_lines_do_not_count(self) -> None:
        body = ['    """Says', "", '    what it does."""', "    # why", "", "    x = (", "        1", "    )"]
        assert ratchet.functions("def f():\n" + "\n".join(body) + "\n") == [("f", 4)]

    def test_text_that_is_not_a_docstring_counts(self) -> None:
        assert ratchet.functions('def f():\n    x = """a\n\n    b"""\n') == [("f", 4)]

    def test_functions_inside_others_are_found_by_their_path(self) -> None:
        source = (
            "class A:\n    async def f(self):\n        if self:\n            def g():\n                pass\n"
        )
        assert ratchet.functions(source) == [("A.f", 4), ("A.f.g", 2)]

    def test_what_is_not_ours_is_not_weighed(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        for name in ("other/a.py", ".venv/src/a.py", "src/a.sql"):
            write(root, name, "x = 1\n" * 700)
        assert self.run(root, capsys) == (0, "")


class TestPlainWords:
    def run(self, root: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
        status = plain_words.main([*arguments], root)
        return status, capsys.readouterr().out

    def allow(self, root: Path, rule: str, count: int) -> None:
        write(root, "tools/plain_words.json", json.dumps({rule: count}))

    def found(self, root: Path, rule: str) -> list[str]:
        return next(places for name, places in plain_words.findings(root).items() if rule in name)

    @pytest.fixture(autouse=True)
    def _nothing_is_allowed(self, root: Path) -> None:
        write(root, "tools/plain_words.json", "{}")

    @pytest.mark.parametrize(
        "line",
        [
            "What recall holds: the index of each shelf that was read.",
            "Whether a frame has what the other has not.",
            "By what a book finds beside words.",
            "Tell one thing; what comes behind is let go of.",
            "The trust of those in whose texts a statement stands under a heading.",
            "Of an owner, the newest.",
            "A mark that is held by one shelf.",
        ],
    )
    def test_a_riddle_is_found(self, line: str) -> None:
        assert plain_words.is_indirect(line)

    @pytest.mark.parametrize(
        "line",
        [
            "Return the records that the view may see.",
            "True if the stored header has rows that the new one does not have.",
            "LRU cache of shelf indexes, bounded by memory.",
            "State of one batch while it is decided: loaded records, pending writes.",
            "",
        ],
    )
    def test_a_plain_line_passes(self, line: str) -> None:
        assert not plain_words.is_indirect(line)

    def test_first_lines_of_modules_classes_and_functions_count_and_later_lines_do_not(
        self, root: Path
    ) -> None:
        source = (
            '"""Whose book it is."""\n\nclass A:\n    """What it is."""\n\n'
            '    def f(self):\n        """Return it.\n\n        Whether it is told.\n        """\n'
            'async def g():\n    """Where it lies."""\n'
        )
        write(root, "src/memoranda/a.py", source)
        write(root, "tests/a.py", '"""What is not of the package."""\n')
        assert sorted(self.found(root, "docstrings")) == [
            "src/memoranda/a.py:11: Where it lies.",
            "src/memoranda/a.py:1: Whose book it is.",
            "src/memoranda/a.py:3: What it is.",
        ]

    def test_folders_and_names_of_modules_are_counted(self, root: Path) -> None:
        for number in range(plain_words.FOLDER_SIZE + 2):
            write(root, f"src/memoranda/full/m{number:02}.py", "")
        write(root, "src/memoranda/full/__init__.py", "")
        for name in (
            "alone/deep/asking",
            "other/asking",
            "other/deep/b",
            "engines/a/asking",
            "testing/asking",
        ):
            write(root, f"src/memoranda/{name}.py", "")
        write(root, "src/memoranda/alone/__init__.py", "")
        assert self.found(root, "beyond") == [
            f"src/memoranda/full/m{n}.py: one of 18 modules in its folder" for n in (16, 17)
        ]
        assert len(self.found(root, "gerund")) == 4
        assert self.found(root, "share") == [
            "src/memoranda/alone/deep/asking.py",
            "src/memoranda/other/asking.py",
        ]
        assert self.found(root, "nothing but") == ["src/memoranda/alone", "src/memoranda/engines"]

    def test_long_lines_of_pages_are_named(self, root: Path) -> None:
        write(root, "docs/a.md", "é" * 160 + "\n" + "é" * 161 + "\n")
        assert self.found(root, "Markdown") == ["docs/a.md:2: 161 characters"]

    def test_a_count_may_stay_or_shrink_but_not_grow(
        self, root: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        rule = "modules named by a gerund"
        write(root, "src/memoranda/asking.py", "")
        self.allow(root, rule, 1)
        assert self.run(root, capsys) == (0, "")
        write(root, "src/memoranda/telling.py", "")
        status, said = self.run(root, capsys)
        assert status == 1
        assert said.startswith(f"{rule}: 2, and at most 1 are allowed:\n    src/memoranda/asking.py\n")

    def test_update_lowers_a_count_and_never_raises_or_adds_one(
        self, root: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        rule = "modules named by a gerund"
        self.allow(root, rule, 3)
        write(root, "src/memoranda/asking.py", "")
        write(root, "a.md", "x" * 161)
        assert self.run(root, capsys, "--update")[0] == 1
        stored = json.loads((root / "tools/plain_words.json").read_text())
        assert stored[rule] == 1
        assert set(stored.values()) == {0, 1}

    def test_list_prints_every_finding(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        for number in range(plain_words.SHOWN + 5):
            write(root, f"src/memoranda/f{number}/a{number}ing.py", "")
        _, short = self.run(root, capsys)
        assert "and 5 more: python -m tools.plain_words --list" in short
        assert self.run(root, capsys, "--list")[1].count("modules named by a gerund: src/") == 25


class TestLinks:
    def test_links_that_lead_somewhere_pass(self, root: Path) -> None:
        write(
            root, "docs/b.md", "# One Thing, `two`\n\n# Again\n# Again\n\n<a id='own'></a>\n\n[x]: ../a.md\n"
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

    @pytest.mark.parametrize("line", ["a @ https://example.com/a.whl", "--index-url x", "--find-links y"])
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
        write(root, "docs/page.md", "Before.\n\n<!-- run: recall -->\n<!-- end of run -->\n\nAfter.\n")
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
        assert "; a core:\n\n| recall | p50 |\n|---|--:|\n| warm | 1.5 ms |\n<!-- end of run -->" in page
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
        assert said.startswith("recall: 1 files changed since ")
        assert said.endswith("the first is src/thing.py")

    def test_a_run_on_changed_files_says_so_and_is_old(self, checkout: Path) -> None:
        write(checkout, "src/thing.py", "speed = 2\n")
        self.record(checkout)
        assert recorded_runs.read(checkout)["recall"]["commit"].endswith(" and changes")
        assert len(list(recorded_runs.old(checkout))) == 1

    def test_the_pages_of_this_checkout_show_the_recorded_runs(self, tmp_path: Path) -> None:
        copied = tmp_path / "copy"
        shutil.copytree(ROOT / "docs", copied / "docs")
        assert recorded_runs.write_pages(copied) == []
