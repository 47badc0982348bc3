"""Clears a server's tables of rows that were erased: until then they lie dead in its files."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import asyncpg

from memoranda.engines.postgres.server import Server
from memoranda.engines.postgres.session import Session
from memoranda.errors import Busy, StorageError
from memoranda.model.erasure import Scrubbed

PENDING = (
    "dead rows: the server's files hold what was removed until the tables are rewritten (forget --scrub)"
)
_HELD = (
    "dead rows: a transaction that began before, of another program, a prepared one or a replica's, or the index of a large "
    "shelf that is being made, may still read what was removed; end it, or wait for it, and scrub again (forget --scrub)"
)
_BUSY = "dead rows: somebody holds a table for too long; scrub again (forget --scrub)"
_NO_CHECKPOINT = (
    "a checkpoint: what was removed is in no table any more; pages of before may lie in the server's files until it makes "
    "its next checkpoint by itself, within minutes (checkpoint_timeout). This user may not ask for one: "
    "GRANT pg_checkpoint allows it, or let an administrator say CHECKPOINT"
)

#: How often, and how long apart, it is looked whether older transactions have ended.
_LOOKS, _PAUSE_SECONDS = 40, 0.25

#: The smallest of all tables: by it one sees, before the large ones stand still, how much can be cleared.
_SMALLEST = "properties"

_TABLES = """
SELECT c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = ? AND c.relkind IN ('r', 'p') AND NOT c.relispartition ORDER BY c.relname
"""

#: A table that is written anew notes how old a transaction might still have read its dead rows: these were kept.
_HOLDING = """
SELECT c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = ? AND c.relkind = 'r' AND c.relname = coalesce(?::text, c.relname)
    AND age(c.relfrozenxid) > age(?::text::xid) ORDER BY c.relname
"""


async def scrub(server: Server) -> Scrubbed:
    """Write the tables anew without what was erased before, one at a time, and ask for a checkpoint."""
    try:
        return await _Scrubbing(server, await server.write(_present)).run()
    except Busy:
        return Scrubbed(_BUSY)


async def _present(session: Session) -> str:
    """The number of a transaction that begins now: all that was erased before has a lower one."""
    ((number,),) = await session.text("SELECT (pg_current_xact_id()::xid)::text")
    return str(number)


class _Scrubbing:
    def __init__(self, server: Server, mark: str) -> None:
        self._server = server
        self._mark = mark

    async def run(self) -> Scrubbed:
        if not await self._cleared([_SMALLEST]):
            return Scrubbed(_HELD)
        rows = await self._server.read(lambda s: s.text(_TABLES, s.schema))
        await self._rewrite([row[0] for row in rows if row[0] != _SMALLEST])
        if (left := await self._holding(None)) and not await self._cleared(left):
            return Scrubbed(_HELD)
        try:
            await self._server.outside("CHECKPOINT")
        except StorageError as exc:
            if not isinstance(exc.__cause__, asyncpg.InsufficientPrivilegeError):
                raise
            return Scrubbed(_NO_CHECKPOINT)
        return Scrubbed()

    async def _cleared(self, tables: Sequence[str]) -> bool:
        """Write tables anew until nothing of before is in them, and no transaction of then is waited for too long."""
        left = tables
        for look in range(_LOOKS):
            if look:
                await asyncio.sleep(_PAUSE_SECONDS)
            await self._rewrite(left)
            left = [name for table in left for name in await self._holding(table)]
            if not left:
                return True
        return False

    async def _rewrite(self, tables: Sequence[str]) -> None:
        for table in tables:
            try:
                await self._server.outside(f'VACUUM (FULL, ANALYZE) "{self._server.schema}"."{table}"')
            except StorageError as exc:
                # A worker took it away meanwhile, and its rows with it.
                if not isinstance(exc.__cause__, asyncpg.UndefinedTableError):
                    raise

    async def _holding(self, table: str | None) -> list[str]:
        """Tables, of all or of one, that were written anew with dead rows of before."""
        rows = await self._server.read(lambda s: s.text(_HOLDING, s.schema, table, self._mark))
        return [row[0] for row in rows]
