"""Recomputes what is derived from records: columns, links and counts. Records and the ledger stay
unchanged.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple
from uuid import UUID

from memoranda.model.book_rows import Piece, PieceKind, RecordPiece
from memoranda.storage.rows import StoredRow, audience_of, decode, encode
from memoranda.storage.upkeep_questions import ErasAfter, FindEra, PiecesAfter
from memoranda.storage.use_case import Deciding, OwnerBase, ask
from memoranda.storage.use_cases.verify import PAGE, first_recorded
from memoranda.storage.writes import Derived, RebuildTables, Recount, SetDerived


class Place(NamedTuple):
    """A place in a book: the records after ``record`` in this era, and all eras after it, are still
    to be recomputed.
    """

    era: bytes = b""
    record: bytes = b""


def rebuild_some(place: Place) -> Deciding[tuple[Place | None, Counter[str]]]:
    """Recompute the next records; returns the place that was reached, None at the end, and what was
    recomputed.
    """
    era, after = place
    done: Counter[str] = Counter()
    # Bounded also by eras, because many owners may have no records.
    for _ in range(PAGE):
        base = (yield from ask(FindEra(era))) if era else None
        pieces: list[Piece] = []
        if base is not None and base.owner is not None:
            done.update(owners=0 if after else 1)
            pieces = yield from ask(PiecesAfter(PieceKind.RECORD, era, after, PAGE))
        if base is None or not pieces:
            found = yield from ask(ErasAfter(era, 1))
            if not found:
                return None, done
            era, after = found[0], b""
            continue
        rows = [row for piece in pieces if (row := _derive(base, piece, done)) is not None]
        if rows:
            yield SetDerived(base, rows)
        after = pieces[-1].key
        if done["records"] >= PAGE:
            break
    return Place(era, after), done


def rebuild_tables() -> Deciding[None]:
    """Recompute what concerns whole tables."""
    yield RebuildTables()
    yield Recount(None)


def _derive(base: OwnerBase, piece: Piece, done: Counter[str]) -> Derived | None:
    """Return what is derived from a record, and count it; None if it is stored like that."""
    assert isinstance(piece, RecordPiece)
    row = StoredRow(*piece.row)
    if piece.readers[0] is None or base.owner is None:
        return None  # The record stands on no shelf of its owner.
    readers, id = audience_of(*piece.readers), UUID(bytes=row.id)
    record = decode(row.type, id, base.owner, readers, row.version, row.recorded_at, row.body)
    sources = tuple(sorted({source.bytes for source in record.links()}))
    meant = encode(record, base.secret)
    ended = None if meant.held else row.recorded_at if piece.ended is None else piece.ended
    done.update(records=1, links=len(sources))
    derived = _derived(meant, first_recorded(piece), ended, sources)
    stored = _derived(row, piece.learnt, piece.ended, piece.sources)
    return None if derived == stored else derived


def _derived(row: StoredRow, learnt: int, ended: int | None, sources: tuple[bytes, ...]) -> Derived:
    columns = (row.slot, row.kind, row.status, row.at, row.valid_from, row.valid_to, row.facets)
    return Derived(row.id, *columns, learnt, ended, sources)
