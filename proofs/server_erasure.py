"""Erasure on a server: forgotten and cleared data is in no byte of its files, and each step is
needed.
"""

from __future__ import annotations

import asyncio
import random
from unittest.mock import patch

import asyncpg

from memoranda import Book
from memoranda.engines.postgres import scrub
from memoranda.errors import NotFound
from memoranda.model.ledger import Scrubbed
from proofs._book.person import PARTS
from proofs._book.remains import Remains
from proofs._server.forgetting import Life
from proofs._server.omissions import OMISSIONS
from proofs._server.own import ROLE, OwnServer

ABOUT = (
    "on a server, forgotten and cleared data is in no byte of its files except the log of changes"
)
#: Books, every other one in partitions.
CI_COUNT = 2
FULL_COUNT = 40
COVERS = "model storage paging.py door.py engines/postgres book"

_PARTITIONS = 4
#: Every statement is in the server's log, without its parameters; nothing is written to disk but
#: when it is asked for.
_SETTINGS = {
    "fsync": "off",
    "autovacuum": "off",
    "checkpoint_timeout": "'1h'",
    "log_statement": "'all'",
    "log_parameter_max_length": "0",
    "log_checkpoints": "off",
}


_UNSAMPLED = "columns that are not sampled"
CONTROLS = (_UNSAMPLED, *OMISSIONS)


class Undetected(Exception):
    """A step was left out, or something prevented the clearing, and no check noticed it."""


def run(count: int, seed: int) -> str:
    found = dead = 0
    with OwnServer(**_SETTINGS) as server:
        server.say(f"GRANT pg_checkpoint TO {ROLE}")
        for number in range(count):
            life = _life(server, f"{seed} {number}", partitions=number % 2 * _PARTITIONS)
            asyncio.run(life.lived_and_forgotten())
            found, dead = found + life.found, dead + life.dead
        server.say("ALTER SYSTEM RESET log_statement", "SELECT pg_reload_conf()")
        with patch.object(scrub, "_LOOKS", 2):
            asyncio.run(_older_transaction(server, _life(server, f"{seed} older")))
            asyncio.run(_no_checkpoint(server, _life(server, f"{seed} no checkpoint")))
            missed = [
                name for name in CONTROLS if not _noticed(_life(server, f"{seed} {name}"), name)
            ]
    if missed:
        raise Undetected(f"left out, and nothing was noticed: {', '.join(missed)}")
    return (
        f"{count} books, {len(PARTS)} erasures each; {found} canaries found before, {dead} dead in the files until these "
        f"were cleared, 0 after; an older transaction and a missing right were said; "
        f"each of {len(CONTROLS)} steps left out was noticed"
    )


def _life(server: OwnServer, seed: str, *, partitions: int = 0) -> Life:
    how = {"partitions": partitions} if partitions else {}
    return Life(server, server.new_book(**how), random.Random(seed))


async def _older_transaction(server: OwnServer, life: Life) -> None:
    """Check that an older transaction keeps removed data in the files, that this is reported, and
    that it ends with the transaction.
    """
    reader = await asyncpg.connect(server.administrator)
    await reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    await reader.fetch("SELECT 1")

    async def clearing(book: Book) -> Scrubbed:
        done = await book.admin.scrub()
        if "transaction" not in done.pending_because or not life.labels(("owner",)):
            raise Undetected(f"somebody may still read what was removed, and it is said: {done}")
        await reader.execute("COMMIT")
        return await book.admin.scrub()

    await life.lived_and_forgotten(("owner",), clearing=clearing)
    await reader.close()


async def _no_checkpoint(server: OwnServer, life: Life) -> None:
    """Check that a role that may not request a checkpoint reports it, and that after one the files
    are clear.
    """

    async def clearing(book: Book) -> Scrubbed:
        await server.said(f"REVOKE pg_checkpoint FROM {ROLE}")
        done = await book.admin.scrub()
        if "checkpoint" not in done.pending_because:
            raise Undetected(f"this role may not ask for a checkpoint, and it is said: {done}")
        await server.said("CHECKPOINT", f"GRANT pg_checkpoint TO {ROLE}")
        return Scrubbed()

    await life.lived_and_forgotten(("memory", "owner"), clearing=clearing)


def _noticed(life: Life, left_out: str) -> bool:
    omission = OMISSIONS.get(left_out)
    forgetting = None if omission is None else omission()
    try:
        asyncio.run(
            life.lived_and_forgotten(
                ("memory", "owner"), forgetting=forgetting, sampled=left_out == _UNSAMPLED
            )
        )
    except (Remains, NotFound):
        return True
    return False
