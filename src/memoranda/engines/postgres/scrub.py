"""Rewrites the server's tables, so that its files no longer contain erased rows."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import asyncpg

from memoranda.engines.postgres.server.server import Server
from memoranda.engines.postgres.server.session import Session
from memoranda.errors import Busy, StorageError
from memoranda.model.ledger import Scrubbed
from memoranda.model.values import new_id
from memoranda.storage.writes import SetProperty

PENDING = "dead rows: the server's files still contain the removed rows until its tables are rewritten (forget --scrub)"
_HELD = (
    "dead rows: an older transaction may still read the removed rows. It belongs to another program, a prepared transaction, "
    "a replica, or the building of an index. End it or wait for it, and scrub again (forget --scrub)"
)
_BUSY = "dead rows: another transaction locked a table for too long; scrub again (forget --scrub)"
_NO_CHECKPOINT = (
    "a checkpoint: the removed rows are in no table, but old pages may stay in the server's files until its next checkpoint, "
    "within minutes (checkpoint_timeout). This user may not request one: GRANT pg_checkpoint to it, or let an administrator "
    "run CHECKPOINT"
)

#: How often, and with which pause, to check whether older transactions have ended.
_LOOKS, _PAUSE_SECONDS = 40, 0.25

#: The smallest table: rewriting it first shows whether older transactions prevent clearing, before
#: large tables are locked.
_SMALLEST = "book"

_TABLES = """
SELECT c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = ? AND c.relkind IN ('r', 'p') AND NOT c.relispartition ORDER BY c.relname
"""

#: Tables whose rewriting kept dead rows, because a transaction older than the given one may still
#: read them.
_HOLDING = """
SELECT c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = ? AND c.relkind = 'r' AND c.relname = coalesce(?::text, c.relname)
    AND age(c.relfrozenxid) > age(?::text::xid) ORDER BY c.relname
"""


def mark_erasure() -> SetProperty:
    """Return the write that marks an erasure: the mark stays until a complete scrub that began
    after it is noted.
    """
    return SetProperty("erased", new_id().bytes)


async def is_needed(server: Server) -> bool:
    """True if the files may contain erased rows: something was erased since the last complete scrub
    began.
    """
    (row,) = await server.read(lambda s: s.all("needs_scrub"), whole=True)
    return bool(row[0])


async def scrub(server: Server) -> Scrubbed:
    """Rewrite the tables one at a time without erased rows, and request a checkpoint."""
    try:
        erased = await server.read(lambda s: s.value("last_erasure"), whole=True)
        done = await _Scrubbing(server, await server.write(_present)).run()
        if done.complete:
            # The mark as it was at the beginning: another process may have erased more since.
            await server.write(lambda s: s.run("set_property", "scrubbed", erased), guarded=False)
        return done
    except Busy:
        return Scrubbed(_BUSY)


async def _present(session: Session) -> str:
    """Return the id of a new transaction; every earlier erasure has a lower one."""
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
        """Rewrite tables until no old rows are left in them; False if an older transaction prevents
        it for too long.
        """
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
                await self._server.outside(
                    f'VACUUM (FULL, ANALYZE) "{self._server.schema}"."{table}"'
                )
            except StorageError as exc:
                # A worker has dropped the table since it was listed.
                if not isinstance(exc.__cause__, asyncpg.UndefinedTableError):
                    raise

    async def _holding(self, table: str | None) -> list[str]:
        """Return the tables, of all or of the given one, that still contain old dead rows."""
        rows = await self._server.read(lambda s: s.text(_HOLDING, s.schema, table, self._mark))
        return [row[0] for row in rows]
