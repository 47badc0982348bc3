"""Opens the database of a book: refuses servers that cannot keep its promises, and makes its
collections.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any
from uuid import uuid4

import pymongo
from bson import Int64
from bson.binary import UuidRepresentation
from bson.codec_options import CodecOptions
from pymongo import AsyncMongoClient, IndexModel
from pymongo.errors import ConfigurationError, InvalidURI, OperationFailure, PyMongoError

from memoranda.engines.mongo.server.abandoned import APPLICATION
from memoranda.engines.mongo.server.address import Place, parse
from memoranda.engines.mongo.server.faults import from_server
from memoranda.engines.mongo.server.session import Document
from memoranda.engines.mongo.server.transactions import PATIENCE, Transactions
from memoranda.errors import NotABook, StorageError, VersionMismatch

#: The format of the documents.
FORMAT = 1
#: The oldest server, as the number that it says for its protocol.
_OLDEST, _OLDEST_WIRE = "6.0", 17
_EXISTS = 48
#: How the names of documents begin that a probe stores for a moment.
_PROBE = "probe "

_ALONE = (
    "{} is a server of its own, and transactions need a replica set; one member is enough. Start it with --replSet:\n"
    "  mongod --replSet rs0 …\n"
    "and call once: mongosh --eval 'rs.initiate()'"
)

#: A collection → its indexes, and its validator.
Collections = Mapping[str, tuple[Sequence[IndexModel], Mapping[str, Any]]]


async def open_book(
    url: str, collections: Collections, *, create: bool = True, read_only: bool = False
) -> Transactions:
    """Connect, and make what the book lacks; a book that is only read is left as it is."""
    place = parse(url)
    try:
        client = _client(place)
    except (ConfigurationError, InvalidURI, ValueError):
        # The driver's message may contain a password.
        raise StorageError(
            f"{place.name}: the driver cannot read this address: check its hosts and options"
        ) from None
    options: CodecOptions[Document] = CodecOptions(
        uuid_representation=UuidRepresentation.STANDARD, tz_aware=True
    )
    db = client.get_database(place.database, codec_options=options)
    try:
        with pymongo.timeout(PATIENCE):
            server = await _examine(client, place)
            await _prepare(
                db, place, server, collections, create=create and not read_only, read_only=read_only
            )
    except PyMongoError as exc:
        await client.close()
        raise from_server(exc, place.name) from exc
    except BaseException:
        await client.close()
        raise
    return Transactions(client, db, place.name, read_only=read_only)


async def _examine(client: AsyncMongoClient[Document], place: Place) -> str:
    """Return which server this is; refuse one without transactions, or that is too old."""
    hello = await client.admin.command("hello")
    version = str((await client.admin.command("buildInfo"))["version"])
    if int(hello.get("maxWireVersion", 0)) < _OLDEST_WIRE:
        raise StorageError(
            f"{place.name} is MongoDB {version}: Memoranda needs {_OLDEST} or newer, so upgrade it"
        )
    if "setName" not in hello and hello.get("msg") != "isdbgrid":
        raise StorageError(_ALONE.format(place.name))
    return f"{hello.get('setName', 'shards')} {version}"


async def _prepare(
    db: Any, place: Place, server: str, collections: Collections, *, create: bool, read_only: bool
) -> None:
    book = await db.book.find_one({"_id": "book"})
    if book is None:
        if not create:
            raise NotABook(f"{place.name} holds no book: check the name of the database")
        there = await _filled(db, collections)
        # Another process may have made the book meanwhile.
        book = await db.book.find_one({"_id": "book"})
        if there and book is None:
            raise NotABook(
                f"{place.name} has collections of another program ({', '.join(sorted(there))}): give the book a database of its own"
            )
    if book is not None and book.get("format") != FORMAT:
        raise VersionMismatch(
            f"{place.name} has format {book.get('format')}, and this version of Memoranda reads {FORMAT}: use the version that wrote it"
        )
    if read_only:
        return
    if book is None or book.get("server") != server:
        await _probe(place)
    if book is None or not book.get("made"):
        fresh = {"format": FORMAT, "secret": os.urandom(32), "epoch": 0}
        await db.book.update_one({"_id": "book"}, {"$setOnInsert": fresh}, upsert=True)
        present = set(await db.list_collection_names())
        for name, (indexes, validator) in collections.items():
            if name not in present:
                await _unless(
                    _EXISTS, db.create_collection(name, check_exists=False, validator=validator)
                )
            if indexes:
                await db[name].create_indexes(list(indexes))
    if book is None or not book.get("made") or book.get("server") != server:
        await db.book.update_one({"_id": "book"}, {"$set": {"made": True, "server": server}})
    # Of processes that were killed.
    idle = {"$lt": ["$at", {"$subtract": ["$$NOW", 86_400_000]}]}
    await db.gates.delete_many({"at": {"$exists": True}, "$expr": idle})
    await db.gates.delete_many(
        {"session": {"$exists": True}, "$expr": {"$lt": ["$until", "$$NOW"]}}
    )


async def _filled(db: Any, collections: Collections) -> list[str]:
    """Return the collections with a name of ours that have documents, although no book is there."""
    present = set(await db.list_collection_names()) & set(collections)
    content = {"_id": {"$not": {"$regex": f"^{_PROBE}"}}}
    return [name for name in present if await db[name].find_one(content, {"_id": 1}) is not None]


async def _unless(code: int, doing: Awaitable[Any]) -> None:
    try:
        await doing
    except OperationFailure as exc:
        if exc.code != code:
            raise


async def _probe(place: Place) -> None:
    """Refuse a server that speaks MongoDB's protocol, and does not keep what a book relies on.

    A write that is sent twice under one number is carried out once, and an aborted transaction
    leaves nothing.
    """
    one, two, three = probes = [f"{_PROBE}{uuid4().hex}" for _ in range(3)]
    # Its own client: nobody gets a session afterwards whose number is ahead of the driver's.
    async with _client(place) as client:
        gates = client[place.database].gates

        async def store_and_abort(session: Any) -> None:
            for probe in (two, three):
                await gates.insert_one({"_id": probe}, session=session)
            await session.abort_transaction()

        try:
            async with client.start_session() as session:
                # Tried again where another process makes the same collection at this moment.
                await session.with_transaction(store_and_abort)
            async with client.start_session() as session:
                once = [{"q": {"_id": one}, "u": {"$inc": {"n": 1}}, "upsert": True}]
                number = Int64(1000)
                for _ in range(2):
                    await gates.database.command(
                        "update", "gates", updates=once, txnNumber=number, session=session
                    )
            left = {doc["_id"]: doc.get("n") async for doc in gates.find({"_id": {"$in": probes}})}
        finally:
            await gates.delete_many({"_id": {"$in": probes}})
    if left != {one: 1}:
        raise StorageError(
            f"{place.name} answers as MongoDB does, but stored half of a transaction that was aborted, or one write twice: "
            "a book would lose data there; use a replica set of MongoDB"
        )


def _client(place: Place) -> AsyncMongoClient[Document]:
    silence = round(PATIENCE * 1000)
    return AsyncMongoClient(
        place.url, w="majority", journal=True, appname=APPLICATION, serverSelectionTimeoutMS=silence
    )
