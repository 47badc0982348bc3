"""Vectors at the command line: made before a command ends, or left and told of; and a change of
model that is killed.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import memoranda
from memoranda import EmbedderDown
from memoranda.assembly import book_setup as assembly
from memoranda.cli import health_checks as health
from memoranda.cli.program import program
from memoranda.embedding import CachedEmbedder, NoEmbedder
from tests.embedding.topics import Down, Larger, Topics, by_meaning, vectors

ROOT = Path(__file__).parent.parent.parent


#: A change of the model that comes to a stand after two steps, and says so.
STANDING_STILL = """
import asyncio
from memoranda.assembly import book_setup as assembly
from memoranda.embedding import CachedEmbedder, maker
from memoranda.cli import main
from tests.embedding.topics import Larger

class Slow(Larger):
    async def passages(self, texts):
        if len(self.asked) == 2:
            print("midway", flush=True)
            await asyncio.Event().wait()
        return await super().passages(texts)

async def found(*_):
    return CachedEmbedder(Slow(), 0)

assembly.find, maker.STEP = found, 2
main()
"""
#: A command that says at its end whether the model's runtime was loaded.
TELLING = """
import sys
from memoranda.cli import main
try:
    main()
finally:
    sys.stderr.write("loaded" if "onnxruntime" in sys.modules else "not loaded")
"""


def begun(code: str, *words: str) -> subprocess.Popen[str]:
    """A process of its own that runs a command."""
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    environment = {**os.environ, "PYTHONPATH": path, "MEMORANDA_EMBEDDING_USE": "auto"}
    return subprocess.Popen(
        [sys.executable, "-c", code, *words],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


class Shell:
    """Runs commands in this process, on one book, with an embedder."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path = path
        self._monkeypatch = monkeypatch
        self.use(Topics())

    def use(self, embedder: Any) -> None:
        """What is installed from here on."""

        async def found(*_: object) -> Any:
            return embedder if isinstance(embedder, NoEmbedder) else CachedEmbedder(embedder, 0)

        self._monkeypatch.setattr(assembly, "find", found)

    def run(self, *words: str, code: int = 0, text: str | None = None) -> Any:
        done = CliRunner().invoke(program, [*words, "--book", str(self.path)], input=text)
        assert done.exit_code == code, (done.output, done.exception)
        return done

    def json(self, *words: str) -> Any:
        return json.loads(self.run(*words, "--json").stdout)

    def meaning(self) -> dict[str, str]:
        """What the doctor says of recall by meaning."""
        checks = self.json("doctor")["checks"]
        found: dict[str, str] = next(check for check in checks if check["name"] == "meaning")
        return found


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    made = Shell(tmp_path / "book.db", monkeypatch)
    made.run("init")
    return made


LACK = "weights are not installed; run: memoranda weights install"


class TestWriting:
    def test_what_was_written_has_its_vectors_when_the_command_ends(self, shell: Shell) -> None:
        told = shell.run("remember", "ana", "Keeps bees")
        assert told.stderr == ""
        assert shell.json("remember", "ana", "Drinks tea")["state"] == "embedded"
        said = shell.json("append", "ana", "user", "I like trains")
        assert said["receipt"]["state"] == "embedded"
        assert shell.meaning()["state"] == "ok"
        assert {job["kind"] for job in shell.json("jobs", "list")["jobs"]} == {"form"}

    def test_a_command_makes_its_own_vectors_and_leaves_those_of_others(self, shell: Shell) -> None:
        shell.run("remember", "ana", "Keeps bees", "--no-wait")
        embedder = Topics()
        shell.use(embedder)
        told = shell.run("remember", "ana", "Drinks tea")
        assert embedder.asked == [["Drinks tea"]] and told.stderr == ""
        assert [job["kind"] for job in shell.json("jobs", "list")["jobs"]] == ["embed"]

    def test_what_is_left_is_told_of_and_made_by_the_jobs(self, shell: Shell) -> None:
        lines = "".join(
            json.dumps({"role": "user", "content": text}) + "\n" for text in ("tea", "bees")
        )
        told = shell.run("append", "ana", "--no-wait", text=lines)
        assert (
            "2 passages wait for their vectors" in told.stderr
            and "memoranda jobs run" in told.stderr
        )
        assert "1 passage waits" in shell.run("remember", "ana", "trains", "--no-wait").stderr
        found = shell.meaning()
        assert found["state"] == "note" and "3 wait" in found["found"]
        shell.run("jobs", "run")
        assert shell.meaning()["state"] == "ok"

    def test_an_import_ends_with_its_vectors_or_tells_how_many_wait(
        self, shell: Shell, tmp_path: Path
    ) -> None:
        for text in ("Keeps bees", "Drinks tea"):
            shell.run("remember", "ana", text)
        dump = shell.run("export").stdout
        for name, flags in (("one.db", []), ("two.db", ["--no-wait"])):
            shell.path = tmp_path / name
            shell.run("init")
            told = shell.run("import", *flags, text=dump)
            assert ("2 passages wait" in told.stderr) is bool(flags)
            assert (shell.meaning()["state"] == "ok") is not bool(flags)

    def test_a_provider_that_is_down_is_told_of_and_the_write_stands(self, shell: Shell) -> None:
        shell.use(Down())
        told = shell.run("remember", "ana", "Keeps bees")
        assert "stored, but found by words alone" in told.stderr and "did not answer" in told.stderr
        assert "Keeps bees" in shell.run("recall", "ana", "bees").stdout

    def test_without_an_embedder_nobody_is_told_at_each_command(
        self, shell: Shell, caplog: pytest.LogCaptureFixture
    ) -> None:
        shell.use(NoEmbedder(LACK))
        for words in (
            ["remember", "ana", "Keeps bees"],
            ["append", "ana", "user", "hello", "--no-wait"],
            ["list", "ana"],
        ):
            assert shell.run(*words).stderr == "" and caplog.text == ""
        assert shell.json("remember", "ana", "Drinks tea")["no_vectors_because"] == LACK


class TestDoctor:
    def test_it_says_why_words_alone_and_what_to_run(self, shell: Shell) -> None:
        shell.run("remember", "ana", "Keeps bees")
        shell.use(NoEmbedder(LACK))
        found = shell.meaning()
        assert found["state"] == "note" and "words alone" in found["found"]
        assert "1 of 1 passages have vectors of test/topics/3" in found["found"]
        assert found["advice"] == "run: memoranda weights install"

    def test_it_says_whose_vectors_recall_reads(self, shell: Shell) -> None:
        shell.use(Larger())
        found = shell.meaning()
        assert "vectors of test/topics/3, not of test/larger/4" in found["found"]
        assert found["advice"] == "run: memoranda reembed"

    def test_vectors_that_nobody_here_can_make_are_no_illness(
        self, shell: Shell, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        shell.use(NoEmbedder(LACK))
        shell.run("remember", "ana", "Keeps bees")
        monkeypatch.setattr(health, "_OVERDUE", timedelta(days=-1))
        assert {check["name"]: check["state"] for check in shell.json("doctor")["checks"]}[
            "jobs"
        ] == "ok"

    def test_facts_hold_the_same_for_programs(self, shell: Shell) -> None:
        shell.run("remember", "ana", "Keeps bees")
        found = shell.json("doctor")["book"]["details"]["vectors"]
        assert (found["reads"], found["have"], found["lack"]) == ("test/topics/3", 1, 0)


class TestReembed:
    def test_recall_reads_the_new_vectors_afterwards(self, shell: Shell) -> None:
        shell.run("remember", "ana", "Keeps bees")
        shell.use(Larger())
        told = shell.json("reembed")
        assert told["made"] == 1 and told["vectors"]["reads"] == "test/larger/4"
        assert shell.meaning()["state"] == "ok"
        assert "1 of 1 passages" in shell.run("reembed").stdout

    def test_it_ends_as_other_commands_do(self, shell: Shell) -> None:
        shell.run("remember", "ana", "Keeps bees")
        shell.use(NoEmbedder(LACK))
        assert "this book has no embedder" in shell.run("reembed", code=15).stderr

        class Failing(Down, Larger):
            embedding = Larger.embedding

        shell.use(Failing(EmbedderDown("the provider did not answer")))
        assert "run it again to continue" in shell.run("reembed", code=15).stderr

    def test_one_that_is_killed_goes_on_where_it_stopped_and_recall_goes_on_meanwhile(
        self, shell: Shell
    ) -> None:
        texts = [
            "Keeps bees",
            "Drinks tea",
            "Builds trains",
            "Has a hive",
            "Likes railway",
            "Tea",
            "Insects",
        ]
        for text in texts:
            shell.run("remember", "ana", text)

        async def asked() -> tuple[list[str], dict[str, int]]:
            async with memoranda.open(shell.path, worker=False) as book:
                return await by_meaning(book, "Drinks"), (await vectors(book))["making"]

        with begun(STANDING_STILL, "reembed", "--book", str(shell.path)) as killed:
            assert killed.stdout is not None and killed.stdout.readline() == "midway\n"
            assert asyncio.run(asked()) == (["Drinks tea"], {"test/larger/4": 4})
            killed.kill()
        assert killed.returncode != 0
        assert asyncio.run(asked()) == (["Drinks tea"], {"test/larger/4": 4})
        checks = shell.json("doctor")["checks"]
        coming = next(check for check in checks if check["name"] == "new vectors")
        assert "4 of 7" in coming["found"] and "memoranda reembed" in coming["advice"]
        shell.use(Larger())
        assert shell.json("reembed")["made"] == 3
        assert asyncio.run(asked()) == (["Drinks tea"], {})


class TestTheModel:
    def test_it_is_loaded_only_where_passages_are_written_or_recalled(
        self, weights_folder: Path, tmp_path: Path
    ) -> None:
        def told(*words: str) -> str:
            with begun(TELLING, *words, "--book", str(tmp_path / "book.db")) as running:
                stderr = running.communicate(timeout=60)[1]
            assert running.returncode == 0, stderr
            return stderr

        assert told("init") == "not loaded"
        assert told("remember", "ana", "Keeps bees", "--no-wait").endswith("\nnot loaded")
        assert told("list", "ana") == "not loaded"
        assert told("doctor") == "not loaded"
        assert told("remember", "ana", "Drinks tea") == "loaded"
        assert told("recall", "ana", "bees") == "loaded"
