"""Upkeep of a whole book in memory: proof against the ledger, rebuilding, dumps and adoption, facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from memoranda.engines.inmemory import jobs
from memoranda.engines.inmemory.tables import Era, Kept, Tables, Version
from memoranda.errors import Conflict, Erased
from memoranda.model.facts import BookFacts, Findings
from memoranda.model.ledger import Entry
from memoranda.model.owner import Owner
from memoranda.model.records import PASSAGE_TYPES
from memoranda.model.values import micros
from memoranda.ports import TermsOf
from memoranda.settle import dumps, encode
from memoranda.settle.proof import Proof, Written, misplaced
from memoranda.text.terms import RULE

Progress = Callable[[int, int], None]


def verify(tables: Tables, progress: Progress | None) -> Findings:
    """Hold every version against the ledger, and the ledger against the versions."""
    faults: list[str] = []
    total = sum(len(kept.versions) for kept in tables.records.values())
    done = 0
    for era in tables.eras.values():
        faults += _unproven(tables.secret, era.ledger, era.records.values())
        done += sum(len(kept.versions) for kept in era.records.values())
        if progress is not None:
            progress(done, total)
    faults += _check_tables(tables)
    entries = sum(len(era.ledger) for era in tables.eras.values())
    return Findings(len(tables.records), total - len(tables.records), entries, tuple(faults))


def _unproven(secret: bytes, ledger: Iterable[Entry], records: Iterable[Kept]) -> Iterator[str]:
    """What of one owner's records the ledger does not tell of, and the other way round."""
    proof = Proof(secret)
    slots: set[bytes] = set()
    for entry in ledger:
        proof.expect(entry.position, entry.lines)
    for kept in records:
        for version in kept.versions:
            row = version.row
            yield from proof.check(
                Written(
                    kept.id, row.type, row.version, version.position, version.audience, row.body, row.hash
                )
            )
        yield from misplaced(kept.now.row, kept.record(), secret)
        if kept.now.row.slot in slots:
            yield f"{kept.now.row.type} {kept.id}: another record holds the same key or name"
        if kept.now.row.slot is not None:
            slots.add(kept.now.row.slot)
        if (kept.terms is not None) != (kept.now.row.type in PASSAGE_TYPES):
            yield f"{kept.now.row.type} {kept.id}: its terms do not fit what it is"
    yield from proof.missing()


def _check_tables(tables: Tables) -> Iterator[str]:
    for kept in tables.records.values():
        thread = kept.now.row.thread
        if kept.now.row.type == "message" and thread is not None:
            opened = kept.era.records.get(UUID(bytes=thread))
            if opened is not None and opened.tail < kept.now.row.seq:
                yield f"thread {opened.id}: message {kept.id} lies behind its tail"
        if kept.sources != tuple(dict.fromkeys(kept.record().rests_on())):
            yield f"{kept.now.row.type} {kept.id}: its links are not what it rests on"
        for name, vector in kept.vectors.items():
            if name not in tables.sets or kept.terms is None:
                yield f"{kept.now.row.type} {kept.id}: it has a vector of no set, or is no passage"
            elif len(vector) != tables.sets[name].packed_bytes:
                yield f"{kept.now.row.type} {kept.id}: its vector of {name} has another length"
    for source, resting in tables.resting.items():
        for id in resting:
            if id not in tables.records or source not in tables.records[id].sources:
                yield f"record {id}: something is said to rest on {source}, and does not"


def rebuild(tables: Tables) -> Mapping[str, int]:
    """Make rows and links anew from the records' own content."""
    done: Counter[str] = Counter()
    tables.resting.clear()
    for kept in tables.records.values():
        record = kept.record()
        kept.versions[-1] = Version(encode(record, tables.secret), kept.now.audience, kept.now.position)
        kept.sources = ()
        tables.rest(kept, record.rests_on())
        kept.vectors = {
            name: vector
            for name, vector in kept.vectors.items()
            if kept.terms is not None
            and name in tables.sets
            and len(vector) == tables.sets[name].packed_bytes
        }
        done["links"] += len(kept.sources)
        done["records"] += 1
    done["owners"] = len(tables.living)
    return done


def facts(tables: Tables, name: str) -> BookFacts:
    """What the book is and holds."""
    return BookFacts(
        engine=name,
        address="memory",
        format=1,
        owners=sum(1 for era in tables.living.values() if era.ledger),
        records=dict(sorted(Counter(kept.now.row.type for kept in tables.records.values()).items())),
        jobs=dict(sorted(Counter(work.job.state.value for work in tables.jobs.values()).items())),
        bytes=sum(len(version.row.body) for _, version in tables.all_versions()),
        stale_terms=sum(1 for k in tables.records.values() if k.terms is not None and k.rule < RULE),
    )


def dump(era: Era, *, private: bool) -> list[dict[str, Any]]:
    """Everything of an owner: the era, the ledger, versions oldest first, uses, and the count of all these."""
    return list(dumps.ended(_dumped(era, private=private)))


def _dumped(era: Era, *, private: bool) -> Iterator[dict[str, Any]]:
    assert era.owner is not None
    yield dumps.owner_line(era.owner, era.id)
    yield from (dumps.entry_line(entry, private=private) for entry in era.ledger)
    for kept in era.records.values():
        tail = kept.tail if kept.now.row.type == "thread" else None
        for version in (each for each in kept.versions[:-1] if each.row.body):
            yield dumps.version_line(kept.record(version), version.position, current=False)
        yield dumps.version_line(kept.record(), kept.now.position, current=True, tail=tail)
    yield from (dumps.use_line(kept.id, kept.use) for kept in era.records.values() if kept.use is not None)


def adopt(
    tables: Tables, owner: Owner, lines: Sequence[dict[str, Any]], terms: TermsOf
) -> Mapping[str, int] | None:
    """Take in an owner as dumped; None where the owner is here already."""
    if owner in tables.living:
        return None
    dump = dumps.parse(owner, lines)
    if dump.era in tables.eras:
        if tables.eras[dump.era].ended:
            raise Erased(
                f"owner {owner}: exported before the owner was erased here; these records do not come back"
            )
        raise Conflict(f"owner {owner}: these records are in this book already, under another owner")
    era = tables.new_era(owner, dump.era)
    adopted = _adopted(tables, era, dump, terms)
    digests = {
        (kept.id, each.row.version): each.row.hash
        for kept in adopted.values()
        for each in kept.versions
        if each.row.body
    }
    entries = [dumps.with_digests(entry, digests) for entry in dump.entries]
    if any(entry.operation in tables.operations for entry in entries):
        raise Conflict(f"owner {owner}: an operation of theirs was applied in this book already")
    faults = list(_unproven(tables.secret, entries, adopted.values()))
    if faults:
        raise dumps.broken(0, f"the part does not hold against its own ledger: {faults[0]}")
    tables.begin(era)
    for kept in adopted.values():
        _settle_in(tables, kept)
    for entry in entries:
        tables.write(era, entry)
    if any(kept.terms is not None for kept in adopted.values()):
        jobs.make_embedding_due(tables, entries[-1].at)
    done = Counter(kept.now.row.type for kept in adopted.values())
    done.update(
        versions=sum(not version.current for version in dump.versions),
        uses=len(dump.uses),
        entries=len(entries),
    )
    return +done


def _adopted(tables: Tables, era: Era, dump: dumps.OwnerDump, terms: TermsOf) -> dict[UUID, Kept]:
    """The records of a dump, not in the book yet."""
    found: dict[UUID, Kept] = {}
    for record, position, current, _ in dump.versions:
        if tables.buried(record.id):
            raise Erased(f"{record.type.value} {record.id}: it was forgotten here, and does not come back")
        if record.id in tables.records:
            raise Conflict(
                f"id: there is a record {record.id} in this book already, and another owner has it"
            )
        kept = found.setdefault(record.id, Kept(era, [], ()))
        kept.versions.append(Version(encode(record, tables.secret), record.audience, position))
        if current:
            kept.sources, kept.tail = record.rests_on(), dump.tails.get(record.id, 0)
            kept.terms = terms(record) if record.type in PASSAGE_TYPES else None
            kept.use = dump.uses.get(record.id)
    for blank in dump.blanks:
        kept = found[blank.id]
        # What its status was went with its content.
        row = kept.now.row._replace(version=blank.version, recorded_at=micros(blank.at), status=None)
        kept.versions.append(Version(row, kept.now.audience, blank.position).blank())
        kept.versions.sort(key=lambda version: version.row.version)
    return found


def dump_book(tables: Tables) -> dict[str, Any]:
    """What belongs to no owner."""
    ended = tuple(
        dumps.EndedEra(
            era.id,
            era.digest,
            era.ended_at,
            tuple(
                (entry.operation, entry.request)
                for entry in era.ledger
                if entry.operation is not None and entry.request is not None
            ),
        )
        for era in tables.eras.values()
        if era.ended_at is not None
    )
    return dumps.book_line(dumps.BookDump(tables.secret, ended, tuple(sorted(tables.tombstones.items()))))


def adopt_book(tables: Tables, line: Mapping[str, Any]) -> bool:
    """Take in what belongs to no owner, if the book is empty."""
    book = dumps.parse_book(line)
    if tables.eras or tables.tombstones:
        return False
    tables.secret = book.secret
    for ended in book.eras:
        era = Era(len(tables.eras) + 1, ended.era, None, ended.digest, ended.at)
        tables.eras[era.id] = era
        for entry in ended.entries():
            tables.write(era, entry)
    tables.tombstones.update(book.tombstones)
    return True


def _settle_in(tables: Tables, kept: Kept) -> None:
    sources, kept.sources = kept.sources, ()
    tables.add(kept)
    tables.rest(kept, sources)
    shelf = tables.shelf(kept.era, kept.now.audience)
    if kept.terms is not None:
        shelf.mark += 1
        kept.mark = shelf.mark
