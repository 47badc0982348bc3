"""The check of a moved book: nothing acknowledged is missing, nothing forgotten is there, both
sides are equal.
"""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import Any
from uuid import UUID

from memoranda import Owner
from memoranda.assembly import open_engine
from memoranda.model.book_rows import PieceKind
from memoranda.model.changes import Import
from memoranda.model.ledger import Entry
from memoranda.model.records import WHOLE
from memoranda.ports import Engine
from memoranda.storage.rows import owner_of
from memoranda_conformance.builders import Pen, a_memory
from memoranda_conformance.suites.maintenance import everything
from proofs._moving.living import GUIDES, OWNERS, told

_PEOPLE = (*OWNERS, *GUIDES.values())
#: Tables of a schema, partitions among them.
_TABLES = "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname = ?"
_ROWS = "SELECT t::text FROM {} AS t"


class Unlike(Exception):
    """The moved book differs from the original."""


async def judge(source: str, target: str, folder: Path) -> str:
    """Compare the target with the source, and both with the processes' receipts; raise if they
    differ.
    """
    engines = [await open_engine(address, create=False) for address in (source, target)]
    try:
        here, there = engines
        records = 0
        for owner in _PEOPLE:
            records += await _same_of(here, there, owner)
        erased, written = told(folder, "eraser"), told(folder, "writer")
        await _acknowledged(there, written, erased)
        gone = {id for line in erased for id in line.get("ids", ())}
        canaries = {line["operation"] for line in written if line["tells"] in gone}
        await _forgotten(there, gone, canaries)
        await _in_no_row(there, canaries)
        faults = (await there.verify()).faults
        if faults:
            raise Unlike(f"the target does not hold against its ledger: {faults[0]}")
    finally:
        for engine in engines:
            await engine.close()
    _not_in_files(target, canaries)
    return f"{len(written)} acknowledged writes, {len(gone)} records forgotten, {records} there"


async def _same_of(here: Engine, there: Engine, owner: Owner) -> int:
    """Compare records, histories, use, shelves and the ledger."""
    one, two = [await everything(engine, owner) for engine in (here, there)]
    for part, mine, theirs in zip(
        ("records", "histories", "uses", "shelves"), one, two, strict=True
    ):
        if mine != theirs:
            raise Unlike(f"{part} of {owner} are not the same: {len(mine)} and {len(theirs)}")
    ledgers = [await _ledger(engine, owner) for engine in (here, there)]
    if ledgers[0] != ledgers[1]:
        raise Unlike(
            f"the ledgers of {owner} are not the same: {len(ledgers[0])} and {len(ledgers[1])} entries"
        )
    return len(one[0])


async def _ledger(engine: Engine, owner: Owner) -> list[Entry]:
    found: list[Entry] = []
    while page := await engine.entries(owner, len(found), 1000):
        found += page
    return found


async def _acknowledged(
    there: Engine, written: list[dict[str, Any]], erased: list[dict[str, Any]]
) -> None:
    """Check that each acknowledged write is there by its operation id, except those possibly before
    their owner's erasure.
    """
    ends = _ends(erased)
    gone = {id for line in erased for id in line.get("ids", ())}
    for line in written:
        owner = owner_of(*line["owner"])
        if line["began"] <= ends.get(owner, -inf):
            continue
        receipt = await there.find_operation(owner, line["operation"])
        if receipt is None or receipt.position != line["position"]:
            raise Unlike(
                f"{line['operation']} was acknowledged at {line['position']} and is {receipt}"
            )
        standing = {UUID(id) for id in line["ids"] if id not in gone}
        missing = standing - set(await there.get(owner, WHOLE, list(standing)))
        # Reads leave out operations that were undone; their history stays.
        if [id for id in missing if not await there.history(owner, WHOLE, id)]:
            raise Unlike(f"what {line['operation']} wrote is not there")


def _ends(erased: list[dict[str, Any]]) -> dict[Owner, float]:
    """Return until when an owner's data may have been forgotten; for ever if that call got no
    answer.
    """
    ends: dict[Owner, float] = {}
    before = -inf
    for line in erased:
        if "ending" in line:
            before = ends.get(owner_of(*line["ending"]), -inf)
            ends[owner_of(*line["ending"])] = inf
        elif "kept" in line:
            ends[owner_of(*line["kept"])] = before
        elif "ended" in line:
            ends[owner_of(*line["ended"])] = line["at"]
    return ends


async def _forgotten(there: Engine, gone: set[str], canaries: set[str]) -> None:
    """Check that no row of the target contains forgotten data, and that it cannot be written
    again.
    """
    for owner in _PEOPLE:
        back = {str(record.id) for record in await Pen(there, owner).scan()} & gone
        if back:
            raise Unlike(f"{len(back)} forgotten records of {owner} are back")
    for era in await there.eras(b"", 10**6):
        text = repr(await there.pieces(PieceKind.RECORD, era, b"", 10**6))
        if found := [canary for canary in canaries if canary in text]:
            raise Unlike(f"{found[0]} was forgotten, and a record tells of it")
    person = Owner(id="somebody else")
    imports = [Import(a_memory(person, "back", id=UUID(id))) for id in sorted(gone)[:200]]
    if imports:
        receipt = await Pen(there, person).write(*imports)
        codes = {part.code for part in receipt.ignored}
        if codes != {"erased"} or len(receipt.ignored) < len(imports):
            raise Unlike(
                f"{len(imports)} forgotten records were imported, and refused with {codes}"
            )


async def _in_no_row(there: Engine, canaries: set[str]) -> None:
    """Check that no row on a server contains forgotten data; another proof checks the server's
    files.
    """
    server = getattr(there, "server", None)
    if server is None:
        return

    async def rows(session: Any) -> list[str]:
        tables = await session.text(_TABLES, session.schema)
        return [text for (table,) in tables for (text,) in await session.text(_ROWS.format(table))]

    text = "\n".join(await server.read(rows, whole=True))
    if found := [canary for canary in canaries if canary in text or canary.encode().hex() in text]:
        raise Unlike(f"{found[0]} was forgotten, and a row of the server's tells of it")


def _not_in_files(target: str, canaries: set[str]) -> None:
    if "://" in target:
        return
    path = Path(target)
    for file in path.parent.glob(f"{path.name}*"):
        data = file.read_bytes()
        if found := [canary for canary in canaries if canary.encode() in data]:
            raise Unlike(f"{found[0]} was forgotten, and its bytes are in {file.name}")
