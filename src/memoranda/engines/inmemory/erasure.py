"""Answers the questions of an erasure from the tables in memory, and carries out its writes."""

from __future__ import annotations

from collections import Counter

from memoranda.engines.inmemory.batches import Storing, era_of
from memoranda.engines.inmemory.tables import Answers, Session, Writes
from memoranda.model.ledger import Erasures
from memoranda.model.records import PASSAGE_TYPES
from memoranda.model.values import micros
from memoranda.storage import upkeep_questions as u
from memoranda.storage import writes as w
from memoranda.storage.use_cases.erasure import erased_by


def _belongings(on: Session, question: u.Belongings) -> Counter[str]:
    found: Counter[str] = Counter()
    for kept in (on.era.records[id] for id in question.ids):
        found["versions"] += len(kept.versions) - 1
        found["terms"] += kept.terms is not None
        found["uses"] += kept.use is not None
        found["vectors"] += len(kept.vectors)
        found["links"] += len(kept.sources) + sum(map(len, kept.groups.values()))
    return found


def _count_filled(on: Session, question: u.CountFilled) -> int:
    earlier = (version for id in question.ids for version in on.era.records[id].versions[:-1])
    return sum(1 for version in earlier if version.row.body)


def _past_erasures(on: Session, _: u.PastErasures) -> Erasures:
    eras = on.tables.eras.values()
    entries = ((entry.lines, entry.note) for era in eras for entry in era.ledger)
    return erased_by([era.id for era in eras if era.owner is None], entries)


def _scrub_digests(on: Session, write: w.ScrubDigests) -> None:
    ledger = era_of(on, write.base).ledger
    erased, stripped = frozenset(write.erased), frozenset(write.stripped)
    for position in write.positions:
        ledger[position - 1] = ledger[position - 1].scrubbed(erased, stripped, write.redacted)


def _scrub_ledger(on: Session, write: w.ScrubLedger) -> None:
    ledger = era_of(on, write.base).ledger
    ledger[:] = [entry.scrubbed(None) for entry in ledger]


def _blank_versions(on: Session, write: w.BlankVersions) -> None:
    for kept in (on.tables.records[id] for id in write.ids):
        kept.versions[:-1] = [version.blank() for version in kept.versions[:-1]]


def _remove_records(on: Session, write: w.RemoveRecords) -> None:
    era = era_of(on, write.base)
    storing = Storing(on.tables, era, 0)
    for leaving in write.records:
        kept = era.records.pop(leaving.id)
        del on.tables.records[leaving.id]
        on.tables.rest(kept, ())
        on.tables.group(kept, {})
        if leaving.type in PASSAGE_TYPES:
            storing.leave(era.shelves[kept.now.audience], leaving.id)


def _end_era(on: Session, write: w.EndEra) -> None:
    era = era_of(on, write.base)
    assert era.owner is not None
    on.tables.jobs = {id: row for id, row in on.tables.jobs.items() if row.era != era.id}
    era.shelves.clear()
    del on.tables.living[era.owner]
    era.owner, era.ended_at = None, micros(write.at)


ANSWERS: Answers = {
    u.Belongings: _belongings,
    u.CountFilled: _count_filled,
    u.PastErasures: _past_erasures,
}

WRITES: Writes = {
    w.ScrubDigests: _scrub_digests,
    w.ScrubLedger: _scrub_ledger,
    w.BlankVersions: _blank_versions,
    w.RemoveRecords: _remove_records,
    w.EndEra: _end_era,
}
