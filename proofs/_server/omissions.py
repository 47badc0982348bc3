"""Changes one of the engine's statements, in this process and for a limited time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial

from memoranda.engines.postgres import scrub
from memoranda.engines.postgres.server import session
from memoranda.storage.use_cases import erasure
from proofs._book.mutants import rewritten

Omission = Callable[[], AbstractContextManager[object]]


@contextmanager
def replaced(name: str, text: str) -> Iterator[None]:
    """Replace a statement's text for a while."""
    known = session._texts()
    original = known[name]
    known[name] = text
    session.statement.cache_clear()
    try:
        yield
    finally:
        known[name] = original
        session.statement.cache_clear()


def _never(name: str) -> Omission:
    """Return a statement that finds nothing to do."""
    return lambda: replaced(name, f"{session._texts()[name]} AND false")


#: Steps of an erasure and of what clears its files after it.
OMISSIONS: dict[str, Omission] = {
    "its versions": _never("take_away_versions"),
    "its terms": _never("take_away_terms"),
    "its vectors": lambda: replaced(
        "delete_vectors",
        "DELETE FROM vectors WHERE owner = :owner AND record = ANY(:records::bigint[]) AND false",
    ),
    "what jobs keep about it": _never("delete_kept"),
    "jobs of the owner": _never("delete_jobs_of_owner"),
    "actors in the ledger": partial(
        rewritten, erasure._take_away, "yield ScrubLedger(base)", "pass"
    ),
    "the owner's name": lambda: replaced(
        "end_era", "UPDATE owners SET erased_at = ?, held = 0 WHERE no = ?"
    ),
    "the owner's shelves": _never("delete_shelves_of_owner"),
    "the owner's groups": _never("delete_shelf_groups_of_owner"),
    "agents on what was spent": _never("delete_spent_of_owner"),
    "writing the tables anew": partial(
        rewritten, scrub._Scrubbing._rewrite, "(FULL, ANALYZE)", "(ANALYZE)"
    ),
}
