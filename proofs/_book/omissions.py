"""Steps of an erasure, each of which can be left out for a while to check that the proof notices."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any
from unittest.mock import patch

from memoranda.book.admin.backup_files import Backups, note_erasure
from memoranda.embedding.maker import CachedEmbedder
from memoranda.engines.sqlite.engine import SqliteEngine
from memoranda.engines.sqlite.erasure import _Erasing
from memoranda.engines.sqlite.file.connections import statements
from memoranda.engines.sqlite.file.sqlite_file import SqliteFile
from memoranda.engines.sqlite.vector_sets import Shrinking
from memoranda.recall.index import ShelfCache
from memoranda.storage import erasure_plan
from proofs._book.mutants import both, replaced, rewritten

Omission = Callable[[], AbstractContextManager[Any]]


def _never(statement: str) -> Omission:
    """Return a statement that finds nothing to do."""
    return lambda: replaced(statement, f"{statements()[statement]} AND 0")


def _instead(statement: str, text: str) -> Omission:
    return partial(replaced, statement, text)


def _skipping(function: Any, step: str, instead: str = "pass") -> Omission:
    return partial(rewritten, function, step, instead)


async def _not_at_all(file: SqliteFile) -> bool:
    return True


OMISSIONS: dict[str, Omission] = {
    "what rests on it": _skipping(erasure_plan._spread, "while wave:", "while False:"),
    "its versions": _never("delete_versions"),
    "its terms": _never("delete_terms"),
    "its use": _never("delete_use"),
    "its vectors": _never("delete_vector"),
    "its vectors in the set that is being made": _skipping(
        Shrinking.__init__,
        'connection.execute(sql("vector_sets"))',
        'connection.execute(sql("vector_sets")).fetchmany(1)',
    ),
    "the count of vectors": _never("shrink_vector_set"),
    "what the embedder remembers": _skipping(CachedEmbedder.clear, "self._entries.clear()"),
    "word to embedders elsewhere": _skipping(ShelfCache._apply, "self._forget_words()"),
    "its links": _never("delete_links_of"),
    # Whatever rests on it has its own links taken away, so this step is missed only together with that one.
    "its links and those to it": lambda: both(_never("delete_links_of"), _never("delete_links_to")),
    "word to indexes elsewhere": _instead("note_gone", "SELECT ?, ?, ?"),
    "the index here": _skipping(ShelfCache.clear, "self._indexes.clear()"),
    "stripping what stays": _skipping(_Erasing._carry_out, "self._strip(plan.stripped)"),
    "earlier versions of what stays": _never("blank_versions"),
    "jobs about it": _skipping(_Erasing._carry_out, "self._let_go_of_jobs(plan)"),
    "what jobs keep about it": _never("delete_kept"),
    "jobs of the owner": _never("delete_jobs_of_owner"),
    "digests in the ledger": _skipping(
        _Erasing._carry_out, "self._scrub_lines(plan.doomed, every_version=True)"
    ),
    "actors in the ledger": _skipping(_Erasing.everything, "self._scrub_ledger()"),
    "the owner's name": _instead(
        "end_era", "UPDATE owners SET id = id || '', erased_at = ?, held = 0 WHERE no = ?"
    ),
    "the owner's shelves": _never("delete_shelves_of_owner"),
    "the owner's groups": _never("delete_shelf_groups_of_owner"),
    "agents on what was spent": _never("delete_spent_of_owner"),
    "tombstones": _instead("bury", "SELECT ?, ?"),
    "the mark that an era ended": _instead("ended_era", "SELECT 1 WHERE ? IS NULL"),
    "rewriting the file": _skipping(SqliteEngine.scrub, "await self._file.rewrite()"),
    "emptying the log": lambda: patch.object(SqliteFile, "checkpoint", _not_at_all),
    "rewriting backups": _skipping(
        Backups.forget, "await self._rewrite(Path(path), target, receipt)", "True"
    ),
    "what a killed forgetting left": _skipping(Backups.forget, "await _clear_leftover(Path(path))"),
    "notes beside backups": _skipping(
        note_erasure, "await asyncio.to_thread(_note_beside, Path(path), job.payload)"
    ),
}
