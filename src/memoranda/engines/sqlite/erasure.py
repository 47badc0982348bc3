"""Answers the questions of an erasure from the SQLite tables, and carries out its writes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from memoranda.engines.sqlite.batches import number_of
from memoranda.engines.sqlite.file.connections import Answers, Session, Writes
from memoranda.model.changes import JobDraft
from memoranda.model.ledger import Entry, Erasures
from memoranda.model.records import PASSAGE_TYPES, Owner, Record
from memoranda.model.redactions import dump_redactions
from memoranda.model.values import micros, new_id
from memoranda.storage import upkeep_questions as u
from memoranda.storage import writes as w
from memoranda.storage.damaged import erasable_entry, erasable_of
from memoranda.storage.rows import dump_entry, entry_of, load_entry_body, owner_of
from memoranda.storage.use_case import Write
from memoranda.storage.use_cases.erasure import erased_by

#: The job that clears the file of erased content; it is added in the commit of the erasure.
SCRUB = JobDraft(kind="scrub", key="file")


def upkeep_of(erasures: Erasures, at: datetime) -> list[Write]:
    """Return the jobs of an erasure; one notes it beside the book's backups, so that a restored one
    is erased too.
    """
    payload: dict[str, object] = {"records": [str(id) for id in erasures.records]}
    if erasures.redactions:
        payload["redactions"] = dump_redactions(erasures.redactions)
    if erasures.eras:
        payload = {"era": str(erasures.eras[0])}
    noted = erasures.eras or erasures.records or erasures.redactions
    drafts = [SCRUB, JobDraft(kind="note", key=new_id().hex, payload=payload)] if noted else [SCRUB]
    return [w.PutJob(None, draft, at) for draft in drafts]


_BELONGINGS = ("versions", "terms", "uses", "vectors", "links")


def _all_records(on: Session, _: u.AllRecords) -> list[Record]:
    return [erasable_of(row) for row in on.all("all_of_owner", on.no)]


def _belongings(on: Session, question: u.Belongings) -> Counter[str]:
    numbers = [row[1] for row in on.many("where_are", _raw(question.ids))]
    places = [place for row in on.all("vector_sets") for place in _places(row[0], numbers)]
    counts = on.one("belongings", numbers=json.dumps(numbers), places=json.dumps(places))
    return Counter(dict(zip(_BELONGINGS, counts or (), strict=True)))


def _count_filled(on: Session, question: u.CountFilled) -> int:
    return sum(row[0] for row in on.many("count_filled", _raw(question.ids)))


def _own_jobs(on: Session, _: u.OwnJobs) -> list[bytes]:
    return [row[0] for row in on.all("own_jobs", on.no)]


def _owners_of(on: Session, question: u.OwnersOfRecords) -> dict[UUID, Owner]:
    return {
        UUID(bytes=row[0]): owner_of(*row[1:]) for row in on.many("owners_of", _raw(question.ids))
    }


def _owners_of_eras(on: Session, question: u.OwnersOfEras) -> list[Owner]:
    rows = (on.one("owner_of_era", era.bytes) for era in question.eras)
    return [owner_of(*row) for row in rows if row is not None]


def _past_erasures(on: Session, _: u.PastErasures) -> Erasures:
    eras = [UUID(bytes=row[0]) for row in on.all("erased_eras")]
    entries = (load_entry_body(row[0]) for row in on.all("erase_entries"))
    return erased_by(eras, ((lines, note) for lines, _, note in entries))


def _scrub_digests(on: Session, write: w.ScrubDigests) -> None:
    no = number_of(on, write.base)
    erased, stripped = frozenset(write.erased), frozenset(write.stripped)
    for position in write.positions:
        row = on.one("entry_at", no, position)
        assert row is not None
        _rewrite(on, no, entry_of(row, None).scrubbed(erased, stripped, write.redacted))


def _scrub_ledger(on: Session, write: w.ScrubLedger) -> None:
    no = number_of(on, write.base)
    for row in on.all("entries_after", no, 0, -1):
        _rewrite(on, no, erasable_entry(row).scrubbed(None))


def _rewrite(on: Session, owner_no: int, entry: Entry) -> None:
    on.run("rewrite_entry", entry.actor.id, dump_entry(entry), owner_no, entry.position)


def _blank_versions(on: Session, write: w.BlankVersions) -> None:
    on.run_many("blank_versions", _raw(write.ids))


def _remove_records(on: Session, write: w.RemoveRecords) -> None:
    ids = _raw(leaving.id for leaving in write.records)
    where = {row[0]: (row[1], row[2]) for row in on.many("where_are", ids)}
    numbers = [no for no, _ in where.values()]
    for name in ("delete_versions", "delete_terms", "delete_uses"):
        on.run_many(name, numbers)
    for number, *_ in on.all("vector_sets"):
        gone = on.run_many("delete_vectors", _places(number, numbers))
        on.run("shrink_vector_set", gone, number)
    on.run_many("delete_links_of", ids)
    on.run_many("delete_records", ids)
    marks: dict[int, int] = {}
    for leaving in write.records:
        if leaving.type in PASSAGE_TYPES:
            shelf = where[leaving.id.bytes][1]
            marks[shelf] = marks.get(shelf) or on.value("move_mark", shelf)
            on.run("note_gone", shelf, marks[shelf], leaving.id.bytes)
    if write.gain or write.items:
        on.run("move_held", write.gain, write.items, number_of(on, write.base))


def _bury(on: Session, write: w.Bury) -> None:
    for digest in write.digests:
        on.run("bury", digest, micros(write.at))


def _end_era(on: Session, write: w.EndEra) -> None:
    no = number_of(on, write.base)
    for kind in ("jobs", "gone", "shelf_groups", "shelves"):
        on.run(f"delete_{kind}_of_owner", no)
    on.run("end_era", micros(write.at), no)


def _places(set: int, numbers: list[int]) -> list[int]:
    """Return the keys of the records' vectors in a set."""
    return [(set << 40) + number for number in numbers]


def _raw(ids: Iterable[UUID]) -> list[bytes]:
    return [id.bytes for id in ids]


ANSWERS: Answers = {
    u.AllRecords: _all_records,
    u.Belongings: _belongings,
    u.CountFilled: _count_filled,
    u.OwnJobs: _own_jobs,
    u.OwnersOfRecords: _owners_of,
    u.OwnersOfEras: _owners_of_eras,
    u.PastErasures: _past_erasures,
}

WRITES: Writes = {
    w.ScrubDigests: _scrub_digests,
    w.ScrubLedger: _scrub_ledger,
    w.BlankVersions: _blank_versions,
    w.RemoveRecords: _remove_records,
    w.Bury: _bury,
    w.EndEra: _end_era,
}
