"""The tables of a book as dicts, and the executor of the questions and writes that are data."""

from __future__ import annotations

import itertools
import json
import operator
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, TypeAlias, TypeVar

from memoranda.model.book_rows import SECRET, Readers
from memoranda.model.data_filters import record_data
from memoranda.model.records import Owner, Record
from memoranda.model.values import owner_digest
from memoranda.storage import conditions as c
from memoranda.storage.asked import ASKED, CHANGED
from memoranda.storage.rows import owner_of, record_of
from memoranda.storage.use_case import OwnerBase, Question, Write

#: A row has all columns of its table. It is never changed: a new one takes its place.
Row: TypeAlias = dict[str, Any]
#: The name of a table → the key of a row → the row.
Tables: TypeAlias = dict[str, dict[Any, Row]]

#: The columns by which a row is found again. The comments name the other columns; of a table
#: without one, ``asked`` names them.
KEYS = {
    **c.KEYS,
    # value
    "properties": ("name",),
    # An owner's time between two whole erasures: OWNER, without names once it has ended; digest;
    # position; erased_at
    "eras": ("era",),
    # operation; entry
    "ledger": ("era", "position"),
    # number; mark, the revision of its latest change; renewed, the revision of its last full change
    "shelves": ("era", "readers"),
    # mark, the revision at which a passage left the shelf; one that came back is on the shelf as
    # well
    "gone": ("shelf", "id"),
    # The columns of ``StoredRow``; a thread's seq is the last place that was given to a message.
    # The facets in it, one by one. The fields of ``RecordPiece``, but use is three columns, and
    # vectors are a dict. era; OWNER; links, all sources
    "records": ("id",),
    # The columns of ``JobPiece``, but the answer is in "kept". era; OWNER
    "jobs": ("id",),
    # dimension; active
    "sets": ("name",),
    # piece, a ``SpentPiece``
    "spent": ("era", "tenant", "day", "agent", "task", "model"),
}
OWNER = ("tenant", "owner_kind", "owner_id")
#: Numbers of shelves; none is ever given twice.
_NUMBERS = itertools.count(1)

_KEY_OF: dict[str, Callable[[Row], Any]] = {
    table: itemgetter(*names) for table, names in KEYS.items()
}

#: The functions that answer questions, and those that carry out writes, as far as these are not
#: data.
_FUNCTIONS: dict[type[Question[Any] | Write], Callable[[Session, Any], Any]] = {}
F = TypeVar("F", bound=Callable[..., Any])


def handles(*kinds: type[Question[Any] | Write]) -> Callable[[F], F]:
    """Register a function for these kinds of questions or writes."""

    def register(function: F) -> F:
        _FUNCTIONS.update(dict.fromkeys(kinds, function))
        return function

    return register


def empty_tables(secret: bytes) -> Tables:
    """Return the tables of a new book, whose digests have this key."""
    return {
        **{table: {} for table in KEYS},
        "properties": {SECRET: {"name": SECRET, "value": secret}},
    }


def named(owner: Owner | None) -> Row:
    """Return an owner as columns."""
    return dict(zip(OWNER, (None, None, None) if owner is None else owner.parts, strict=True))


def owner_in(row: Row) -> Owner | None:
    """Return the owner whom a row names; None if it names nobody."""
    return None if row["owner_id"] is None else owner_of(*(row[name] for name in OWNER))


def read_record(row: Row) -> Record:
    """Build the record of a row."""
    owned = (row[name] for name in ("type", "id", *OWNER))
    return record_of([*owned, *row["readers"], row["version"], row["recorded_at"], row["body"]])


def place_of(row: Row) -> tuple[bytes, Readers]:
    """Return the key of the shelf on which a record stands."""
    return row["era"], row["readers"]


# ── conditions ────────────────────────────────────────────────────────────────────────────────────

_SIGNS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
#: Each tells of a row if it meets a condition; the last argument is the era of the owner that the
#: questions are about.
_MEETS: dict[type, Callable[[Row, Any, bytes], bool]] = {
    c.Own: lambda row, _, era: row["era"] == era,
    c.Is: lambda row, part, _: row[part.column] == part.value,
    c.Among: lambda row, part, _: row[part.column] is not None and row[part.column] in part.values,
    c.Than: lambda row, part, _: (
        row[part.column] is not None and _SIGNS[part.sign](row[part.column], part.value)
    ),
    c.Begins: lambda row, part, _: (row[part.column] or "").startswith(part.text),
    c.Shares: lambda row, part, _: not set(part.values).isdisjoint(row[part.column] or ()),
    c.Meets: lambda row, part, _: part.filter.met_by(
        record_data(row["type"], json.loads(row["body"]))
    ),
    c.Past: lambda row, part, _: tuple(row[column] for column in part.columns) > part.place,
    c.Not: lambda row, part, era: not meets(row, part.part, era),
    c.Either: lambda row, part, era: any(meets(row, one, era) for one in part.parts),
    c.Every: lambda row, part, era: all(meets(row, one, era) for one in part.parts),
}


def meets(row: Row, part: Any, era: bytes) -> bool:
    """True if a row meets a condition."""
    return _MEETS[type(part)](row, part, era)


class Session:
    """The tables as one use case reads and writes them, and the owner that its questions are
    about.
    """

    #: What ``Base``, ``FindOwner`` or ``FindEra`` answered last.
    base: OwnerBase
    #: The era of that owner; of no row if the owner has none.
    era = b""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables

    @property
    def properties(self) -> dict[str, bytes]:
        """The named values of the book; the key of its digests is among them."""
        return {name: row["value"] for name, row in self.tables["properties"].items()}

    def find(self, table: str, *where: Any) -> list[Row]:
        """Return the rows that meet all conditions, in the order in which they were first
        stored.
        """
        rows, tests = self.tables[table].values(), [(_MEETS[type(part)], part) for part in where]
        return [row for row in rows if all(test(row, part, self.era) for test, part in tests)]

    def put(self, table: str, row: Row) -> None:
        """Store a row in place of the one with its key."""
        self.tables[table][_KEY_OF[table](row)] = row

    def drop(self, table: str, *where: Any) -> None:
        """Delete the rows that meet all conditions."""
        for row in self.find(table, *where):
            del self.tables[table][_KEY_OF[table](row)]

    def change_record(self, id: bytes, **columns: Any) -> None:
        """Set columns of a record; its links follow its sources."""
        row = {**self.tables["records"][id], **columns}
        self.put(
            "records",
            {**row, "links": {*row["sources"], *(source for _, source in row["unlisted"])}},
        )

    def present_era(self, owner: Owner) -> Row | None:
        """Return the row of an owner's present era; None if there is none."""
        found = self.find("eras", *(c.Is(column, part) for column, part in named(owner).items()))
        return found[0] if found else None

    def shelf(self, era: bytes, readers: Readers) -> Row:
        """Return an owner's shelf; make it if there is none."""
        if (era, readers) not in self.tables["shelves"]:
            made = {
                "era": era,
                "readers": readers,
                "number": next(_NUMBERS),
                "mark": 0,
                "renewed": 0,
            }
            self.put("shelves", made)
        return self.tables["shelves"][era, readers]

    def remark(self, changed: Sequence[Row], left: Sequence[Row] = ()) -> None:
        """Raise the revision of each shelf with passages that changed or left, once, and note it
        with them, for indexes.
        """
        for place in set(map(place_of, [*changed, *left])):
            shelf = self.shelf(*place)
            self.put("shelves", {**shelf, "mark": shelf["mark"] + 1})
        for row in changed:
            self.change_record(row["id"], mark=self.shelf(*place_of(row))["mark"])
        for row in left:
            shelf = self.shelf(*place_of(row))
            self.put("gone", {"shelf": shelf["number"], "id": row["id"], "mark": shelf["mark"]})

    def is_restricted(self, era: bytes | None) -> bool:
        """True if the processing of the data of an era's owner is restricted."""
        return era is not None and self.tables["eras"][era]["digest"] in self.tables["restrictions"]

    def era_of(self, base: OwnerBase) -> bytes:
        """Return the era of an owner to write to; a new one is stored first."""
        assert base.era is not None and base.owner is not None
        era = base.era.bytes
        if era not in self.tables["eras"]:
            digest = owner_digest(base.secret, base.owner.parts)
            begun = {"era": era, "digest": digest, "position": 0, "erased_at": None}
            self.put("eras", {**begun, **named(base.owner)})
        return era

    def answer(self, question: Question[Any]) -> Any:
        """Answer a question by the function for it or, if there is none, as data."""
        if (own := _FUNCTIONS.get(type(question))) is not None:
            return own(self, question)
        asked = ASKED[type(question)]
        return asked.answer(self._answer_rows(asked.of, question))

    def carry_out(self, write: Write) -> None:
        """Carry out a write by the function for it or, if there is none, as data."""
        if (own := _FUNCTIONS.get(type(write))) is not None:
            own(self, write)
            return
        for change in CHANGED[type(write)](write):
            self._change_rows(change)

    def _answer_rows(self, asked: c.Rows | c.Count, question: Question[Any]) -> Any:
        found = self.find(asked.table, *c.settled(asked.where, question))
        if isinstance(asked, c.Count):
            return len(found)
        # ``asked.by`` is for planners, and ``asked.damaged`` for rows that a file may have lost.
        for name in reversed(asked.order):
            found.sort(key=itemgetter(name.lstrip("-")), reverse=name.startswith("-"))
        found = found[: c.value_of(asked.limit, question)]
        if asked.columns:
            return [tuple(row[name] for name in asked.columns) for row in found]
        return [read_record(row) if asked.table == "records" else row["entry"] for row in found]

    def _change_rows(self, change: c.Put | c.Change | c.Delete) -> None:
        table = change.table
        if isinstance(change, c.Delete):
            self.drop(table, *change.where)
        elif isinstance(change, c.Change):
            for row in self.find(table, *change.where):
                self.put(table, {**row, **change.values})
        else:
            for values in change.rows:
                row = dict(zip(change.columns, values, strict=True))
                there = self.tables[table].get(_KEY_OF[table](row))
                if there is not None and change.taken == "max":
                    row = {name: max(row[name], there[name]) for name in row}
                if there is None or change.taken != "keep":
                    self.put(table, row)
