"""Reads the documents of another program: from a MongoDB database, or from the files of
``mongoexport``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from memoranda.errors import InvalidInput, NotABook, StorageError, installing

_DATABASES = ("mongodb", "mongodb+srv")
#: The option of an address that says how long the driver looks for a server, in milliseconds.
_WAIT = "serverSelectionTimeoutMS"


class Source:
    """The collections of one place."""

    #: Names the place without a password; two runs over one place have the same.
    name: str

    def documents(self, collection: str) -> Iterator[dict[str, Any]]:
        """Yield the documents of a collection in the order of their ids; none if it is not
        there.
        """
        raise NotImplementedError

    def rename(self, collection: str, name: str) -> None:
        """Give a collection another name."""
        raise InvalidInput(
            "--rename: only a collection in a database has a name to change", field="rename"
        )


class _Files(Source):
    def __init__(self, path: Path) -> None:
        self._path, self.name = path, str(path.resolve())
        if not path.exists():
            raise InvalidInput(f"source: there is no {path}", field="source")

    def documents(self, collection: str) -> Iterator[dict[str, Any]]:
        path = self._path
        if path.is_dir():
            path = next(
                (
                    found
                    for end in (".json", ".jsonl")
                    if (found := path / (collection + end)).exists()
                ),
                path,
            )
        elif path.stem != collection:
            return
        if path.is_dir():
            return
        try:
            text = path.read_text("utf-8-sig")
            # A text in a document may have other ends of lines, such as U+2028.
            docs = (
                json.loads(text)
                if text.lstrip().startswith("[")
                else [json.loads(line) for line in text.split("\n") if line.strip()]
            )
        except ValueError as exc:
            raise InvalidInput(
                f"source: {path} is not JSON in UTF-8 as mongoexport writes it: {exc}",
                field="source",
            ) from exc
        yield from map(plain, docs)


class _Database(Source):
    def __init__(self, client: Any, url: str) -> None:
        self._db = client.get_default_database()
        self.name = f"{urlsplit(url).netloc.rpartition('@')[2]}/{self._db.name}"
        if self._db.book.find_one({"_id": "book"}) is not None:
            raise NotABook(
                f"source: {self.name} is the database of a book: memoranda copy moves books"
            )

    def documents(self, collection: str) -> Iterator[dict[str, Any]]:
        listed = next(iter(self._db.list_collections(filter={"name": collection})), None)
        if listed is not None and listed["type"] != "collection":
            raise InvalidInput(
                f"source: {collection} is a {listed['type']}, and only collections are read",
                field="source",
            )
        # The server ends a cursor of which nothing was read for ten minutes.
        found = self._db[collection].find().sort("_id", 1).batch_size(500)
        return map(plain, found if listed is not None else ())

    def rename(self, collection: str, name: str) -> None:
        self._db[collection].rename(name)


@contextmanager
def source_of(place: str) -> Iterator[Source]:
    """Open a source: a file, a folder with a file for each collection, or
    ``mongodb://…/database``.
    """
    if place.partition("://")[0] not in _DATABASES:
        yield _Files(Path(place))
        return
    client: Any
    try:
        from pymongo import MongoClient  # noqa: PLC0415 - its driver is there for a database alone
        from pymongo.errors import PyMongoError  # noqa: PLC0415
    except ModuleNotFoundError as exc:
        raise InvalidInput(
            f"source: a database needs its driver: {installing('mongodb')}", field="source"
        ) from exc
    try:
        # The driver waits half a minute for a server that is not there.
        soon: Any = {} if _WAIT.lower() in place.lower() else {_WAIT: 5000}
        with MongoClient(place, uuidRepresentation="standard", tz_aware=True, **soon) as client:
            yield _Database(client, place)
    except PyMongoError as exc:
        # The driver's message may contain a password.
        raise StorageError(
            f"source: the database cannot be read: {type(exc).__name__}; check the address, and that its server runs"
        ) from None


_WRITTEN = (
    "$oid",
    "$numberLong",
    "$numberInt",
    "$numberDouble",
    "$numberDecimal",
    "$uuid",
    "$date",
    "$binary",
)


def plain(value: Any) -> Any:
    """Return a value of BSON, or of its extended JSON, as JSON has it; dates are kept, and ids
    become texts.
    """
    if isinstance(value, Mapping):
        named = next((name for name in _WRITTEN if name in value), None)
        return (
            {key: plain(one) for key, one in value.items()}
            if named is None or len(value) > 1
            else _written(named, value[named])
        )
    if isinstance(value, list):
        return [plain(one) for one in value]
    if value is None or isinstance(value, (str, bool, int, float, datetime)):
        return value
    # A reference to another document.
    return (
        {"$id": plain(value.id)}
        if hasattr(value, "collection")
        else str(UUID(bytes=value))
        if _is_uuid(value)
        else str(value)
    )


def _is_uuid(value: Any) -> bool:
    return isinstance(value, bytes) and len(value) == 16


def _written(name: str, value: Any) -> Any:
    """Return a value of extended JSON; its text where it is none, or a date after the year 9999."""
    try:
        match name:
            case "$numberLong" | "$numberInt":
                return int(value)
            case "$numberDouble":
                return float(value)
            case "$numberDecimal":
                return str(Decimal(value))
            case "$date" if isinstance(value, str):
                return moment(value)
            case "$date":
                return datetime.fromtimestamp(int(plain(value)) / 1000, UTC)
            case _:
                return str(value)
    except (TypeError, ValueError, ArithmeticError, OSError):
        return str(value)


def moment(value: Any) -> datetime | None:
    """Return a date, or the text of one, as a moment; a date without a zone is in UTC. None for
    anything else.
    """
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        return None
    if not isinstance(found, datetime):
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)
