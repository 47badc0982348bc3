"""Each program loads what it uses: importing the library, the help of a command and opening a file
load nothing else.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

#: Formation by rules and models, the privacy check, the other engines, the client, exports, and
#: everything of the extras.
LATER = (
    "memoranda.formation.run memoranda.formation.rules memoranda.formation.close memoranda.formation.privacy.line_checks "
    "memoranda.language.times.time_reader memoranda.engines.inmemory memoranda.engines.postgres.engine memoranda.client "
    "memoranda.wire memoranda.access memoranda.service memoranda.storage.export.forms "
    "memoranda.models.providers pydantic_ai asyncpg onnxruntime opentelemetry httpx2 fastapi mcp click tomllib difflib numpy.ma"
).split()
#: What an open book needs, and the import of the package does not.
OPENED = "memoranda.assembly memoranda.book memoranda.model memoranda.recall memoranda.text numpy pydantic asyncio".split()


def run(code: str, *arguments: str) -> str:
    """Run a program, and return what it prints."""
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_the_package_loads_none_of_its_rooms() -> None:
    code = f"import sys, memoranda; print([name for name in {[*LATER, *OPENED]} if name in sys.modules])"
    assert run(code) == "[]"


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_the_help_of_the_command_line_opens_nothing(option: str) -> None:
    heavy = [name for name in (*LATER, *OPENED) if name not in ("click", "difflib")]
    code = f"""
import atexit, sys
atexit.register(lambda: print([name for name in {heavy} if name in sys.modules]))
from memoranda.cli import main
sys.argv = ["memoranda", {option!r}]
main()
"""
    printed, _, early = run(code).rpartition("\n")
    assert early == "[]" and printed


def test_what_only_some_programs_need_is_loaded_when_it_is_needed(tmp_path: Path) -> None:
    code = f"""
import sys, memoranda
early = []
with memoranda.open_sync(sys.argv[1], embed=None, models=None) as book:
    book.remember("ana", "Likes tea", agent="guide")
    book.recall("ana", "tea", agent="guide")
    early += [name for name in {LATER} if name in sys.modules]
    book.thread("ana", agent="guide").append("user", "I live in Porto")
    book.form("ana", wait=False, agent="guide")
    assert book.jobs.run() == 1
    assert "memoranda.formation.run" in sys.modules
    assert len(book.records.list("ana", types="memory", agent="guide")) == 2
print(early)
"""
    assert run(code, str(tmp_path / "book.db")) == "[]"


def test_threads_may_use_different_names_first_at_the_same_time(tmp_path: Path) -> None:
    code = """
import sys, threading, memoranda
from concurrent.futures import ThreadPoolExecutor
together = threading.Barrier(len(memoranda.__all__) + 2)

def first(name):
    together.wait()
    return getattr(memoranda, name).__name__

def opened(path):
    together.wait()
    with memoranda.open_sync(path, embed=None, models=None) as book:
        book.remember("ana", "Likes tea", agent="guide")
        return book.recall("ana", "tea", agent="guide")[0].text

with ThreadPoolExecutor(len(memoranda.__all__) + 2) as pool:
    books = [pool.submit(opened, f"{sys.argv[1]}/{number}.db") for number in range(2)]
    names = [pool.submit(first, name) for name in memoranda.__all__]
    print([name.result() for name in names] == memoranda.__all__, [book.result() for book in books])
"""
    assert run(code, str(tmp_path)) == "True ['Likes tea', 'Likes tea']"


#: Prints which modules of the package, and which models, a book completes after it was opened.
_FIRST_CALLS = """
import asyncio, sys, threading, memoranda
threads = {}

class Finder:  # notes the thread that imports a module
    def find_spec(self, name, path=None, target=None):
        threads[name] = threading.current_thread()

sys.meta_path.insert(0, Finder())

def loaded():
    from memoranda.model.values import Value
    kinds = [Value]
    for kind in kinds:
        kinds += kind.__subclasses__()
    built = {kind.__name__ for kind in kinds if kind.__pydantic_complete__}
    return built | {name for name in sys.modules if name.startswith("memoranda")}

async def main():
    book = await memoranda.open(sys.argv[1], embed=None, models=None, worker=False)
    known = loaded()
    thread = await book.thread("ana", agent="guide")
    await thread.append("user", "I live in Porto")
    await book.remember("ana", "Likes tea", agent="guide")
    await book.recall("ana", "tea", agent="guide")
    await book.context("ana", "tea", agent="guide")
    heavy = [threads["memoranda.assembly.book_setup"], threads["numpy"]]
    print(threading.main_thread() in heavy, sorted(loaded() - known))
    await book.close()

asyncio.run(main())
"""


def test_open_loads_what_the_first_calls_need_while_the_loop_goes_on(tmp_path: Path) -> None:
    assert run(_FIRST_CALLS, str(tmp_path / "book.db")) == "False []"


def test_a_service_has_loaded_everything_before_it_listens(tmp_path: Path) -> None:
    code = """
import sys
from memoranda.cli import main
from memoranda.cli.service_commands import serve_commands

async def serve(book, *_, **__):
    from memoranda.model.values import Value
    kinds = [Value]
    for kind in kinds:
        kinds += kind.__subclasses__()
    print([kind.__name__ for kind in kinds if not kind.__pydantic_complete__])
    print("memoranda.formation.run" in sys.modules, "memoranda.storage.export.forms" in sys.modules)

serve_commands.serve = serve
main()
"""
    done = subprocess.run(
        [sys.executable, "-c", code, "--book", str(tmp_path / "book.db"), "serve", "--no-worker"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout.split("\n")[:2] == ["[]", "True True"], done.stderr
