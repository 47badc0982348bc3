"""Upkeep of a whole book in memory: proof against the ledger, rebuilding, dumps and adoption, facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from commonplace.engines.inmemory.tables import Era, Kept, Tables, Version
from commonplace.errors import Conflict, Erased
from commonplace.model.ledger import Entry
from commonplace.model.owner import Owner
from commonplace.model.records import PASSAGE_TYPES
from commonplace.model.values import micros
from commonplace.ports import BookFacts, Findings, TermsOf
from commonplace.settle import dumps, encode
from commonplace.settle.proof import Proof, Written
from commonplace.text.terms import RULE

Progress = Callable[[int, int], None]


def verify(tables: Tables, progress: Progress | None) -> Findings:
    """Hold every version against the ledger, and the ledger against the versions."""
    proof = Proof(tables.secret)
    entries = 0
    for era in tables.eras.values():
        for entry in era.ledger:
            proof.expect(era.number, entry.lines)
            entries += 1
    faults: list[str] = []
    versions = list(tables.all_versions())
    for done, (kept, version) in enumerate(versions, 1):
        row = version.row
        if not row.body:
            continue
        written = Written(
            kept.era.number, kept.id, row.type, row.version, version.audience, row.body, row.hash
        )
        faults += proof.check(written)
        if progress is not None:
            progress(done, len(versions))
    faults += proof.missing()
    faults += _check_tables(tables)
    return Findings(len(tables.records), len(versions) - len(tables.records), entries, tuple(faults))


def _check_tables(tables: Tables) -> Iterator[str]:
    for kept in tables.records.values():
        thread = kept.now.row.thread
        if kept.now.row.type == "message" and thread is not None:
            opened = kept.era.records.get(UUID(bytes=thread))
            if opened is not None and opened.tail < kept.now.row.seq:
                yield f"thread {opened.id}: message {kept.id} lies behind its tail"
        if kept.sources != tuple(dict.fromkeys(kept.record().rests_on())):
            yield f"{kept.now.row.type} {kept.id}: its links are not what it rests on"
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
    """Everything of an owner: the era, the ledger, versions oldest first, uses."""
    assert era.owner is not None
    lines = [
        dumps.owner_line(era.owner, era.id),
        *(dumps.entry_line(entry, private=private) for entry in era.ledger),
    ]
    for kept in era.records.values():
        tail = kept.tail if kept.now.row.type == "thread" else None
        for version in (each for each in kept.versions[:-1] if each.row.body):
            lines.append(dumps.version_line(kept.record(version), version.position, current=False))
        lines.append(dumps.version_line(kept.record(), kept.now.position, current=True, tail=tail))
    lines += [dumps.use_line(kept.id, kept.use) for kept in era.records.values() if kept.use is not None]
    return lines


def adopt(
    tables: Tables, owner: Owner, lines: Sequence[dict[str, Any]], terms: TermsOf
) -> Mapping[str, int] | None:
    """Take in an owner as dumped; None where the owner is here already."""
    if owner in tables.living:
        return None
    era = tables.new_era(owner, UUID(lines[0]["era"]))
    if era.id in tables.eras:
        if tables.eras[era.id].ended:
            raise Erased(
                f"owner {owner}: exported before the owner was erased here; these records do not come back"
            )
        raise Conflict(f"owner {owner}: these records are in this book already, under another owner")
    adopted = _adopted(tables, era, owner, lines, terms)
    uses = [dumps.dumped_use(line) for line in lines if line["line"] == "use"]
    hashes = {
        (kept.id, each.row.version): each.row.hash for kept in adopted.values() for each in kept.versions
    }
    entries = [dumps.dumped_entry(line, era.id, hashes) for line in lines if line["line"] == "entry"]
    _fill_in_blanks(adopted, entries)
    tables.begin(era)
    for kept in adopted.values():
        _settle_in(tables, kept)
    for id, use in uses:
        if id in adopted:
            adopted[id].use = use
    for entry in entries:
        tables.write(era, entry)
    done = Counter(kept.now.row.type for kept in adopted.values())
    done.update(
        versions=sum(len(kept.versions) - 1 for kept in adopted.values()),
        uses=len(uses),
        entries=len(entries),
    )
    return +done


def _adopted(
    tables: Tables, era: Era, owner: Owner, lines: Sequence[dict[str, Any]], terms: TermsOf
) -> dict[UUID, Kept]:
    """The records of a dump, not in the book yet."""
    found: dict[UUID, Kept] = {}
    for line in lines:
        if line["line"] not in ("version", "record"):
            continue
        dumped = dumps.dumped_version(line, owner)
        record = dumped.record
        if tables.buried(record.id):
            raise Erased(f"{record.type.value} {record.id}: it was forgotten here, and does not come back")
        if record.id in tables.records:
            raise Conflict(
                f"id: there is a record {record.id} in this book already, and another owner has it"
            )
        kept = found.setdefault(record.id, Kept(era, [], ()))
        kept.versions.append(Version(encode(record, tables.secret), record.audience, dumped.position))
        kept.sources, kept.tail = record.rests_on(), dumped.tail or 0
        kept.terms = terms(record) if record.type in PASSAGE_TYPES else None
    return found


def _fill_in_blanks(adopted: dict[UUID, Kept], entries: list[Entry]) -> None:
    """Let versions be told of whose content went with one of its sources; a dump does not bring them."""
    for entry in entries:
        for line in entry.lines:
            kept = adopted.get(line.id)
            if kept is None or line.erased or any(each.row.version == line.after for each in kept.versions):
                continue
            row = kept.now.row._replace(version=line.after, recorded_at=micros(entry.at))
            kept.versions.append(Version(row, kept.now.audience, entry.position).blank())
            kept.versions.sort(key=lambda version: version.row.version)


def dump_book(tables: Tables) -> dict[str, Any]:
    """What belongs to no owner."""
    ended = [era for era in tables.eras.values() if era.ended]
    return {
        "line": "book",
        "secret": tables.secret.hex(),
        "erased_eras": [[era.id.bytes.hex(), era.digest.hex(), era.ended_at] for era in ended],
        "tombstones": [[digest.hex(), at] for digest, at in sorted(tables.tombstones.items())],
    }


def adopt_book(tables: Tables, line: Mapping[str, Any]) -> bool:
    """Take in what belongs to no owner, if the book is empty."""
    if tables.eras:
        return False
    tables.secret = bytes.fromhex(line["secret"])
    for id, digest, at in line["erased_eras"]:
        era = Era(len(tables.eras) + 1, UUID(hex=id), None, bytes.fromhex(digest), at)
        tables.eras[era.id] = era
    tables.tombstones.update({bytes.fromhex(digest): at for digest, at in line["tombstones"]})
    return True


def _settle_in(tables: Tables, kept: Kept) -> None:
    sources, kept.sources = kept.sources, ()
    tables.add(kept)
    tables.rest(kept, sources)
    shelf = tables.shelf(kept.era, kept.now.audience)
    if kept.terms is not None:
        shelf.mark += 1
        kept.mark = shelf.mark
