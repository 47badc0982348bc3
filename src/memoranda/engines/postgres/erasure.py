"""Answers the questions of an erasure from the PostgreSQL tables, and carries out its writes, many
rows in each statement.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import TypeVar
from uuid import UUID

from memoranda.engines.postgres.batches import number_of
from memoranda.engines.postgres.server.session import Answers, Session, Writes, upkeep
from memoranda.model.ledger import Entry, Erasures
from memoranda.model.records import PASSAGE_TYPES, Owner, Record
from memoranda.model.values import micros
from memoranda.storage import upkeep_questions as u
from memoranda.storage import writes as w
from memoranda.storage.damaged import erasable_entry, erasable_of
from memoranda.storage.rows import dump_entry, entry_of, load_entry_body, owner_of
from memoranda.storage.use_cases.erasure import erased_by

#: Records or entries in one statement; this bounds the memory of the server and of this process.
AT_ONCE = 500

_BELONGINGS = ("versions", "terms", "uses", "vectors", "links")

_T = TypeVar("_T")


def batches(things: Iterable[_T]) -> Iterator[list[_T]]:
    """Yield all items in lists of bounded length."""
    every = list(things)
    for start in range(0, len(every), AT_ONCE):
        yield every[start : start + AT_ONCE]


async def _all_records(on: Session, _: u.AllRecords) -> list[Record]:
    return [erasable_of(row) for row in await on.all("all_of_owner", on.no)]


async def _belongings(on: Session, question: u.Belongings) -> Counter[str]:
    found: Counter[str] = Counter()
    for ids in batches(_raw(question.ids)):
        counts = await on.one("belongings", owner=on.no, ids=ids)
        found.update(dict(zip(_BELONGINGS, counts or (), strict=True)))
    return found


async def _count_filled(on: Session, question: u.CountFilled) -> int:
    return sum(
        [
            await on.value("count_filled", owner=on.no, ids=ids)
            for ids in batches(_raw(question.ids))
        ]
    )


async def _own_jobs(on: Session, _: u.OwnJobs) -> list[bytes]:
    return [row[0] for row in await on.all("own_jobs", on.no)]


async def _owners_of(on: Session, question: u.OwnersOfRecords) -> dict[UUID, Owner]:
    rows = [row for ids in batches(_raw(question.ids)) for row in await on.all("owners_of", ids)]
    return {UUID(bytes=row[0]): owner_of(*row[1:]) for row in rows}


async def _past_erasures(on: Session, _: u.PastErasures) -> Erasures:
    eras, entries = [await on.text(upkeep()[name]) for name in ("erased_eras", "erase_entries")]
    bodies = (load_entry_body(row[0]) for row in entries)
    return erased_by(
        [UUID(bytes=row[0]) for row in eras], ((lines, note) for lines, _, note in bodies)
    )


async def _scrub_digests(on: Session, write: w.ScrubDigests) -> None:
    no = await number_of(on, write.base)
    erased, stripped = frozenset(write.erased), frozenset(write.stripped)
    for positions in batches(write.positions):
        rows = await on.all("entries_at", no, positions)
        await _rewrite(
            on, no, [entry_of(row, None).scrubbed(erased, stripped, write.redacted) for row in rows]
        )


async def _scrub_ledger(on: Session, write: w.ScrubLedger) -> None:
    no, through = await number_of(on, write.base), 0
    while rows := await on.all("entries_after", no, through, AT_ONCE):
        await _rewrite(on, no, [erasable_entry(row).scrubbed(None) for row in rows])
        through = rows[-1][1]


async def _rewrite(on: Session, owner: int, entries: list[Entry]) -> None:
    await on.run(
        "rewrite_entries",
        owner=owner,
        positions=[entry.position for entry in entries],
        actors=[entry.actor.id for entry in entries],
        bodies=[dump_entry(entry) for entry in entries],
    )


async def _blank_versions(on: Session, write: w.BlankVersions) -> None:
    no = await number_of(on, write.base)
    for ids in batches(_raw(write.ids)):
        await on.run("blank_versions", owner=no, ids=ids)


async def _remove_records(on: Session, write: w.RemoveRecords) -> None:
    no = await number_of(on, write.base)
    marks: dict[int, int] = {}
    for part in batches(write.records):
        ids = _raw(leaving.id for leaving in part)
        where = {row[0]: (row[1], row[2]) for row in await on.all("where_are", no, ids)}
        numbers = [number for number, _ in where.values()]
        for table in ("versions", "terms", "uses"):
            await on.run(f"take_away_{table}", no, numbers)
        await on.run("delete_vectors", owner=no, records=numbers)
        for table in ("links", "records"):
            await on.run(f"take_away_{table}", no, ids)
        await on.run("take_away_ids", ids)
        left: defaultdict[int, list[bytes]] = defaultdict(list)
        for leaving in part:
            if leaving.type in PASSAGE_TYPES:
                left[where[leaving.id.bytes][1]].append(leaving.id.bytes)
        for shelf, gone in left.items():
            marks[shelf] = marks.get(shelf) or await on.value("move_mark", no, shelf)
            await on.run("note_gone", no, shelf, marks[shelf], gone)
            await on.run("passages_left", len(gone), no, shelf)
    if write.gain or write.items:
        await on.run("move_held", write.gain, write.items, no)


async def _bury(on: Session, write: w.Bury) -> None:
    for digests in batches(write.digests):
        await on.run("bury_all", digests, micros(write.at))


async def _end_era(on: Session, write: w.EndEra) -> None:
    no = await number_of(on, write.base)
    for kind in ("jobs", "gone", "shelf_groups", "shelves"):
        await on.run(f"delete_{kind}_of_owner", no)
    await on.run("end_era", micros(write.at), no)


def _raw(ids: Iterable[UUID]) -> list[bytes]:
    return [id.bytes for id in ids]


ANSWERS: Answers = {
    u.AllRecords: _all_records,
    u.Belongings: _belongings,
    u.CountFilled: _count_filled,
    u.OwnJobs: _own_jobs,
    u.OwnersOfRecords: _owners_of,
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
