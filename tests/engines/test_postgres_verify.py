"""Verification finds what was done to a book on a server behind its back, and a rebuild mends what
can be recomputed.
"""

from __future__ import annotations

import pytest

from memoranda.storage.use_cases.rebuild import Place as Reached
from memoranda.storage.use_cases.rebuild import rebuild_some, rebuild_tables
from memoranda.storage.use_cases.verify import TABLE_FAULTS, verify
from tests.engines.planted import PLANTED, Fault, Tried, fill, missed
from tests.engines.postgres_server import Place

asyncpg = pytest.importorskip("asyncpg", reason="the driver is not installed: asyncpg")

from memoranda.engines.postgres.engine import PostgresEngine  # noqa: E402
from memoranda.engines.postgres.server.session import Session, upkeep  # noqa: E402

OWN = {
    "a vector's length": Fault("UPDATE vectors SET packed = '123456789'", "vector_length"),
    "an id of another": Fault("UPDATE ids SET owner = owner + 1", "id_of_another", False),
    "an id of nothing": Fault("INSERT INTO ids VALUES ('x', 1)", "id_without_record", False),
    "a link of nothing": Fault("INSERT INTO links VALUES (1, 'x', 'y')", "links_without_record"),
    "a link more": Fault("INSERT INTO links SELECT owner, id, 'x' FROM records", "its links are not what it rests on"),
    "terms of nothing": Fault("INSERT INTO terms VALUES (1, 999, 1, '')", "terms_without_record"),
    "use of nothing": Fault("INSERT INTO uses VALUES (1, 999, 1, NULL, 1)", "use_without_memory"),
    "a vector of no set": Fault("UPDATE vectors SET set = 9", "vector_astray"),
    "nothing is lacking": Fault("DELETE FROM unmade", "vector_not_lacking"),
    "all is lacking": Fault("INSERT INTO unmade SELECT set, record, owner FROM vectors", "vector_lacking"),
    "lacking in no set": Fault("UPDATE unmade SET set = 9", "vector_lacking"),
    "passages": Fault("UPDATE shelves SET passages = 9", "shelf_count"),
    "no words": Fault("UPDATE shelves SET followed = mark", "words_not_indexed"),
}  # fmt: skip


async def tried(engine: PostgresEngine, statement: str) -> Tried:
    """Plant a fault in a transaction that is rolled back."""

    async def work(session: Session) -> None:
        assert await session.run_text(statement) > 0
        before = (await engine.run(session, verify(None))).faults
        place: Reached | None = Reached()
        while place is not None and "cannot be read" not in str(before):
            place, _ = await engine.run(session, rebuild_some(place))
        await engine.run(session, rebuild_tables())
        raise Tried(before, (await engine.run(session, verify(None))).faults)

    with pytest.raises(Tried) as found:
        await engine.server.write(work, alone=True)
    return found.value


async def test_verify_finds_every_fault_and_a_rebuild_mends_what_it_can(postgres: Place):
    engine = await PostgresEngine.open(postgres.new_book())
    await fill(engine)
    assert (await engine.verify()).faults == ()
    planted = PLANTED | OWN
    results = {name: await tried(engine, fault.statement) for name, fault in planted.items()}
    assert missed(planted, results) == {}
    assert {name for name in upkeep() if name in TABLE_FAULTS} <= {
        fault.told for fault in planted.values()
    }
    await engine.close()
