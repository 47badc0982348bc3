"""The engine over plain dicts, an example for people who write one, passes the suite and holds a
book.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import memoranda
from examples.extending.dict_engine import DictEngine
from memoranda.assembly import engine_addresses
from memoranda.errors import NotFound
from memoranda_conformance import StoreSuite
from memoranda_conformance.suites.background.jobs import JobSuite
from memoranda_conformance.suites.copies import MovingSuite
from memoranda_conformance.suites.erasure import ErasureSuite
from memoranda_conformance.suites.memories import MemorySuite
from memoranda_conformance.suites.shelves import ShelfSuite
from memoranda_conformance.suites.vectors import VectorSuite
from tools.checkout import ROOT


class OfDicts:
    async def open_engine(self, folder: Path) -> DictEngine:
        return DictEngine()


@pytest.mark.again
class TestDict(OfDicts, StoreSuite):
    """The whole suite."""


class TestDictInPart(
    OfDicts, MemorySuite, JobSuite, ShelfSuite, VectorSuite, ErasureSuite, MovingSuite
):
    """A part of every module of the example, in every run."""


async def test_a_book_over_dicts_recalls_forms_and_forgets(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(engine_addresses, "_in_memory", lambda: DictEngine)
    async with memoranda.open("memory://", embed=None) as book:
        said = await (await book.thread("ana", name="talk")).append(
            [{"role": "user", "content": "I live in Turin."}]
        )
        await book.form("ana")
        (found,) = (await book.recall("ana", "Where does she live?", types=["memory"]))[:1]
        assert "Turin" in found.text
        await book.forget("ana", ids=[said.id], as_owner=True)
        assert await book.recall("ana", "Turin") == []
        with pytest.raises(NotFound):
            await book.records.get("ana", found.id)


def test_it_stands_without_the_other_engines():
    asked = "import sys, examples.extending.dict_engine; print([n for n in sys.modules if 'memoranda.engines' in n])"
    done = subprocess.run(
        [sys.executable, "-c", asked], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
