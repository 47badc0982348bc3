"""Omissions: each leaves one step out of erasures for a while, to check that the proof notices."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any
from unittest.mock import patch

from memoranda.book.admin.backup_files import Backups
from memoranda.book.admin.erasure_notes import note_erasure
from memoranda.embedding.maker import CachedEmbedder
from memoranda.engines.sqlite import erasure as sqlite_erasure
from memoranda.engines.sqlite.engine import SqliteEngine
from memoranda.engines.sqlite.file.connections import statements
from memoranda.engines.sqlite.file.sqlite_file import SqliteFile
from memoranda.recall.index import ShelfCache
from memoranda.storage.decide import erasure_plan, redaction
from memoranda.storage.use_cases import erasure
from proofs._book.mutants import replaced, rewritten

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
    "what rests on it": _skipping(erasure_plan.spread, "while wave:", "while False:"),
    "its versions": _never("delete_versions"),
    "its terms": _never("delete_terms"),
    "its use": _never("delete_uses"),
    "its vectors": _never("delete_vectors"),
    "its vectors in the set that is being made": _skipping(
        sqlite_erasure._remove_records, 'on.all("vector_sets")', 'on.all("vector_sets")[:1]'
    ),
    "the count of vectors": _never("shrink_vector_set"),
    "what the embedder remembers": _skipping(CachedEmbedder.clear, "self._entries.clear()"),
    "word to embedders elsewhere": _skipping(ShelfCache._apply, "self._forget_words()"),
    "its links": _never("delete_links_of"),
    "word to indexes elsewhere": _instead("note_gone", "SELECT ?, ?, ?"),
    "the index here": _skipping(ShelfCache.clear, "self._indexes.clear()"),
    "stripping what stays": _skipping(erasure._take_away, "yield from _strip(loss, at)"),
    "quotes of words that are taken out": _skipping(
        erasure_plan._without, "quotes=quotes_left(left, plan.removed)", "quotes=left.quotes"
    ),
    "summaries of words that are taken out": _skipping(
        erasure_plan.follow, "yield from _empty_summaries(plan, aged)"
    ),
    "native forms of words that are taken out": _skipping(
        redaction.removed_from,
        "_in_native(record, redaction.spans) if isinstance(record, Message) else ()",
        "()",
    ),
    "data of words that are taken out": _skipping(
        redaction.without_spans, "**{name: data}, removed=removed", "removed=removed"
    ),
    "earlier values of items": _skipping(
        erasure_plan.ErasurePlan.takes_earlier, "self.stripped.setdefault(record.id, record)"
    ),
    "notes of earlier values of items": _skipping(
        erasure_plan.ErasurePlan.takes_earlier, "self.earlier.append(redaction)"
    ),
    "earlier versions of what stays": _never("blank_versions"),
    "jobs about it": _skipping(erasure._carry_out, "yield from jobs"),
    "what jobs keep about it": _never("delete_kept"),
    "jobs of the owner": _never("delete_jobs_of_owner"),
    "digests in the ledger": _skipping(
        erasure._take_away, "tuple(loss.erased), tuple(loss.stripped)", "(), tuple(loss.stripped)"
    ),
    "digests of what stays in the ledger": _skipping(
        erasure._take_away, "tuple(loss.erased), tuple(loss.stripped)", "tuple(loss.erased), ()"
    ),
    "the count of memories": _never("move_held"),
    "actors in the ledger": _skipping(erasure._take_away, "yield ScrubLedger(base)"),
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
        note_erasure, "await asyncio.to_thread(note_beside, Path(path), job.payload)"
    ),
}
