"""Restrictions, uses of keys and lines about reads, of a book in memory."""

from __future__ import annotations

from memoranda.engines.inmemory.tables import Answers, Session, Writes
from memoranda.model.book_rows import KeyUseRow, ReadPiece, RestrictionRow
from memoranda.model.service_records import RESTRICTING
from memoranda.storage import service_questions as s


def _restrictions(on: Session, question: s.RestrictionRows) -> list[RestrictionRow]:
    wanted = question.digests
    found = on.tables.restrictions.items()
    return sorted((digest, *row) for digest, row in found if wanted is None or digest in wanted)


def _key_uses(on: Session, question: s.KeyUseRows) -> list[KeyUseRow]:
    return sorted(row for row in on.tables.key_uses.items() if question.ids is None or row[0] in question.ids)


def _reads(on: Session, question: s.ReadPieces) -> list[ReadPiece]:
    found = (
        piece
        for piece in on.tables.reads.values()
        if piece.tenant == question.tenant
        and question.owner in (None, piece.owner)
        and (piece.at, piece.id) > (question.at, question.id)
    )
    return sorted(found)[: question.limit]


def _erasures(on: Session, question: s.ErasuresOf) -> list[int]:
    ended = (era for era in on.tables.eras.values() if era.digest == question.digest)
    return sorted(era.ended_at for era in ended if era.ended_at is not None)


def _put_restrictions(on: Session, write: s.PutRestrictions) -> None:
    on.tables.restrictions.update((digest, (at, mode)) for digest, at, mode in write.rows)


def _lift_restriction(on: Session, write: s.LiftRestriction) -> None:
    on.tables.restrictions.pop(write.digest, None)


def _put_key_uses(on: Session, write: s.PutKeyUses) -> None:
    for id, at in write.rows:
        on.tables.key_uses[id] = max(at, on.tables.key_uses.get(id, at))


def _put_reads(on: Session, write: s.PutReads) -> None:
    on.tables.reads.update((piece.key, piece) for piece in write.pieces)


def _drop_reads(on: Session, write: s.DropReads) -> None:
    reads = (p for p in on.tables.reads.values() if p.tenant == write.tenant and p.verb not in RESTRICTING)
    for key in [p.key for p in reads if p.at < write.before]:
        del on.tables.reads[key]


ANSWERS: Answers = {
    s.RestrictionRows: _restrictions,
    s.KeyUseRows: _key_uses,
    s.ReadPieces: _reads,
    s.ErasuresOf: _erasures,
}
WRITES: Writes = {
    s.PutRestrictions: _put_restrictions,
    s.LiftRestriction: _lift_restriction,
    s.PutKeyUses: _put_key_uses,
    s.PutReads: _put_reads,
    s.DropReads: _drop_reads,
}
