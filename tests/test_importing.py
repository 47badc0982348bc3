"""Importing the library and opening a file load nothing that only some programs need."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

#: Formation by rules and models, the privacy check, the other engines, and everything of the extras.
LATER = (
    "memoranda.formation.run memoranda.formation.rules memoranda.formation.close memoranda.formation.privacy.line_checks "
    "memoranda.formation.times.time_reader "
    "memoranda.engines.inmemory memoranda.engines.postgres.engine pydantic_ai asyncpg onnxruntime click"
).split()
#: Loaded with the first record that is shown.
FIRST_SHOWN = "memoranda.secrets.detection"


def test_what_only_some_programs_need_is_loaded_when_it_is_needed(tmp_path: Path) -> None:
    code = f"""
import sys, memoranda
early = [name for name in {[*LATER, FIRST_SHOWN]} if name in sys.modules]
with memoranda.open_sync({str(tmp_path / "book.db")!r}, embed=None, models=None) as book:
    book.remember("ana", "Likes tea", agent="guide")
    book.recall("ana", "tea", agent="guide")
    early += [name for name in {LATER} if name in sys.modules]
    book.thread("ana", agent="guide").append("user", "I live in Porto")
    book.form("ana", wait=False, agent="guide")
    assert book.drain() == 1
    assert "memoranda.formation.run" in sys.modules
    assert len(book.list("ana", types="memory", agent="guide")) == 2
print(early)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr
