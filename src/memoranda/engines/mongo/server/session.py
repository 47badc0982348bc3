"""One transaction or snapshot of a use case, with the commands that its questions and writes
send.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from pymongo import ReturnDocument
from pymongo.asynchronous.database import AsyncDatabase
from pymongo.errors import BulkWriteError, DuplicateKeyError

from memoranda.engines.mongo.server.faults import DUPLICATE, code_of, key_of
from memoranda.storage.use_case import OwnerBase, Question, Write

Document = dict[str, Any]
#: The functions that answer questions, and those that carry out writes.
Answers = dict[type[Question[Any]], Callable[["Session", Any], Any]]
Writes = dict[type[Write], Callable[["Session", Any], Any]]

#: The fields that name a document's owner: each filter on an owner's documents begins with them,
#: and so does each index.
NAMES = ("owner_id", "owner_kind", "tenant")


#: The condition that a document belongs to nobody; it names a field that no caller adds, so that
#: none can replace it.
_NOBODYS: Document = {"era": {"$in": []}}


def _is_nobodys(filter: Mapping[str, Any]) -> bool:
    """True if no document can meet a filter, because it asks about an owner who has none."""
    return filter.get("era") == _NOBODYS["era"] or any(map(_is_nobodys, filter.get("$and", ())))


class Taken(Exception):
    """A unique index refused a document; the transaction has ended."""

    def __init__(self, collection: str, key: Mapping[str, object]) -> None:
        super().__init__(collection)
        self.collection, self.key = collection, key


class Standing(NamedTuple):
    """What belongs to the whole book, and changes only when a write is alone."""

    #: The number of writes that were alone so far.
    epoch: int
    #: The book's key and marks.
    book: Document
    #: The digest of an owner whose processing is restricted → the text of ``Appends``.
    restricted: dict[bytes, str]
    #: The sets of vectors, the active one first.
    sets: list[Document]


class Session:
    """One transaction or snapshot, and what the questions of its use case have in common."""

    def __init__(
        self,
        db: AsyncDatabase[Document],
        session: Any,
        standing: Standing | None,
        *,
        writes: bool,
        renewed: Callable[[], Any] | None = None,
    ) -> None:
        self.db = db
        self.writes = writes
        self.base: OwnerBase | None = None
        #: The document of the present era of the owner that the questions are about.
        self.head: Document | None = None
        #: The documents of owners that this transaction has written and holds, by era; they are
        #: stored again at its end.
        self.heads: dict[UUID, Document] = {}
        #: The eras that the writes of this transaction end: nothing is kept about their shelves.
        self.ending: frozenset[UUID | None] = frozenset()
        self._session = session
        self._standing = standing
        self._renewed = renewed

    async def end(self) -> None:
        """End a snapshot."""
        await self._session.end_session()

    async def renew(self) -> None:
        """Take a new moment, if this snapshot may."""
        if self._renewed is not None:
            await self.begin_anew(self._renewed())

    async def begin_anew(self, session: Any) -> None:
        """Go on in another snapshot."""
        await self._session.end_session()
        self._session = session

    async def standing(self) -> Standing:
        """Return what belongs to the whole book."""
        if self._standing is None:
            (book,) = await self.find("book", {"_id": "book"})
            modes = {doc["_id"]: doc["mode"] for doc in await self.find("restrictions", {})}
            sets = await self.find("vector_sets", {}, [("active", -1), ("no", 1)])
            self._standing = Standing(book.get("epoch", 0), book, modes, sets)
        return self._standing

    async def book(self) -> Document:
        """Return the document with the book's key and marks."""
        if self._standing is not None:
            return self._standing.book
        return (await self.find("book", {"_id": "book"}))[0]

    def own(self, table: str) -> Document:
        """Return the condition that a document belongs to the owner that the questions are
        about.
        """
        if self.head is None:
            return dict(_NOBODYS)
        names = {name: self.head[name] for name in NAMES if name in self.head}
        return names if names and table == "records" else {**names, "era": self.head["_id"]}

    async def find(
        self,
        name: str,
        filter: Mapping[str, Any],
        sort: Any = None,
        limit: int = 0,
        fields: Any = None,
        skip: int = 0,
    ) -> list[Document]:
        """Return documents."""
        if _is_nobodys(filter):
            return []
        cursor = self.db[name].find(
            filter, fields, sort=sort or None, limit=limit, skip=skip, session=self._session
        )
        return await cursor.to_list()

    async def first(
        self, name: str, filter: Mapping[str, Any], sort: Any = None, fields: Any = None
    ) -> Document | None:
        """Return the first document; None if there is none."""
        return next(iter(await self.find(name, filter, sort, 1, fields)), None)

    async def count(self, name: str, filter: Mapping[str, Any]) -> int:
        """Return the number of documents."""
        if _is_nobodys(filter):
            return 0
        return await self.db[name].count_documents(filter, session=self._session)

    async def group(self, name: str, stages: Sequence[Mapping[str, Any]]) -> list[Document]:
        """Return the results of an aggregation."""
        return await (await self.db[name].aggregate(stages, session=self._session)).to_list()

    async def lock(self, name: str, filter: Mapping[str, Any]) -> Document | None:
        """Return a document that nobody else changes before this transaction ends: it is written,
        so that others collide.
        """
        if not self.writes:
            return await self.first(name, filter)
        return await self.db[name].find_one_and_update(
            filter,
            {"$inc": {"locks": 1}},
            return_document=ReturnDocument.AFTER,
            session=self._session,
        )

    async def bulk(self, name: str, operations: Sequence[Any]) -> int:
        """Carry out writes in one collection, in order; return how many documents they found, or
        made.
        """
        if not operations:
            return 0
        try:
            done = await self.db[name].bulk_write(
                list(operations), ordered=True, session=self._session
            )
        except (BulkWriteError, DuplicateKeyError) as exc:
            if code_of(exc) != DUPLICATE:
                raise
            raise Taken(name, key_of(exc)) from exc
        return done.matched_count + done.upserted_count + done.inserted_count
