"""Clears a server's tables of rows that were erased: until then they lie dead in its files."""

from __future__ import annotations

from commonplace.engines.postgres.server import Server
from commonplace.errors import Busy

PENDING = (
    "dead rows: the server's files hold what was removed until the tables are rewritten (forget --scrub)"
)

#: Every table that an erasure removes rows from, or writes rows anew in.
_TABLES = (
    "records",
    "versions",
    "links",
    "gone",
    "terms",
    "findable",
    "uses",
    "vectors",
    "ledger",
    "jobs",
    "kept",
    "spent",
    "ids",
    "shelves",
    "shelf_groups",
    "owners",
)


async def scrub(server: Server) -> bool:
    """Rewrite the tables without what was erased, one at a time; False while somebody holds one for too long."""
    try:
        nearness = await server.read(lambda s: s.all("nearness_tables"), whole=True)
        for table in (*_TABLES, *(row[0] for row in nearness)):
            await server.outside(f'VACUUM (FULL, ANALYZE) "{server.schema}"."{table}"')
    except Busy:
        return False
    return True
