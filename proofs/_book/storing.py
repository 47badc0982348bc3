"""Attempts to read, replace, delete and find another owner's items, by every verb of items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from uuid import UUID

from memoranda.errors import Conflict, InvalidInput, MemorandaError, NotAllowed, NotFound, Stale
from memoranda.model.items import item_link, namespace_of, namespace_text
from memoranda.model.query import Filter
from memoranda.model.records import EVERYONE, Audience, Owner, RecordType, View
from proofs._book.oracle import Known, Leak, may_read
from proofs._book.session import Session, who

#: Namespaces and names that look alike.
_SPACES = (("a",), ("a", "b"), ("ab",), ("a%",), ("A", "*"), ("a\x1fb",))
_ITEM = frozenset({RecordType.ITEM})
_NAMES = ("x", "x%", "X")


def _space(known: Known) -> tuple[str, ...]:
    return namespace_of(known.kind or "")


def _items(s: Session, party: Owner, view: View, below: Sequence[str] = ()) -> list[Known]:
    """Return the items that a view sees in a namespace and below it."""
    return [
        known
        for known in s.oracle.visible(party, view)
        if known.type == "item" and _space(known)[: len(below)] == tuple(below)
    ]


def _named(s: Session, party: Owner, view: View, space: Sequence[str], name: str) -> list[UUID]:
    found = _items(s, party, view, space)
    return [known.id for known in found if _space(known) == tuple(space) and known.name == name]


async def put(s: Session) -> None:
    """Store an item, for readers among whom the writer may not be, over one that others may
    have.
    """
    party, view = s.someone()
    space, name = s.rng.choice(_SPACES), s.rng.choice(_NAMES)
    readers = s.audience(view) if s.rng.random() < 0.7 else None
    born = readers or (EVERYONE if view.agent is None else Audience.of_agent(view.agent))
    expect = s.rng.choice((None, None, 0, 1))
    value = {"text": f"kept {s.word(party, born)}"}
    answer = await s.told(
        s.book(party).items.put(party, space, name, value, audience=readers, expect=expect, **who(view)),
        party, view, "put of an item",
    )  # fmt: skip
    allowed = may_read(born, view)
    there = [
        known
        for known in s.oracle.of.get(party, {}).values()
        if known.type == "item" and known.status != "withdrawn" and known.audience == born
        and (_space(known), known.name) == (space, name)
    ]  # fmt: skip
    versions = [known.version for known in there] or [0]
    if isinstance(answer, MemorandaError):
        refusals = (NotFound, InvalidInput, NotAllowed) if not allowed else (Conflict, Stale)
        if not isinstance(answer, refusals) or (allowed and expect in (None, *versions)):
            raise Leak(f"put of {party.parts} as {view} for {born}: {answer!r}")
        return
    if not allowed or expect not in (None, *versions):
        raise Leak(
            f"put of {party.parts} as {view} for {born} passed over {versions}, expecting {expect}"
        )
    if there and answer.id != there[0].id:
        raise Leak(f"put of {party.parts} as {view} made a second item of one name")
    s.absorb(answer, party, view, born=born, asked=[known.id for known in there])


async def delete(s: Session) -> None:
    party, view = s.someone()
    space, name = s.rng.choice(_SPACES), s.rng.choice(_NAMES)
    seen = _named(s, party, view, space, name)
    receipt = await s.only_if(
        bool(seen),
        s.book(party).items.delete(party, space, name, **who(view)),
        party, view, "deletion of an item",
    )  # fmt: skip
    if receipt is not None:
        s.absorb(receipt, party, view, asked=seen)


async def get(s: Session) -> None:
    party, view = s.someone()
    asked = [(s.rng.choice(_SPACES), s.rng.choice(_NAMES)) for _ in range(3)]
    found = await s.book(party).items.get_many(party, list(dict.fromkeys(asked)), **who(view))
    s.oracle.judge(found, party, view, "items")
    for (space, name), item in zip(dict.fromkeys(asked), found, strict=True):
        seen = _named(s, party, view, space, name)
        if (item is None) is bool(seen) or (item is not None and item.id not in seen):
            raise Leak(f"the item {space} {name!r} of {party.parts} as {view} is {item!r:.200}")
        links = Filter(
            types=_ITEM, sources=frozenset({item_link(party, space, name)}), newest_first=True
        )
        page = await s.book(party).engine.scan(party, view, links, None, 1000)
        if {record.id for record in page.records} != set(seen):
            raise Leak(f"the items {space} {name!r} of {party.parts} as {view} are {page!r:.300}")


async def list_(s: Session) -> None:
    """List, count and search items and their namespaces; a beginning of a label is no label."""
    party, view = s.someone()
    below = s.rng.choice([(), *_SPACES])
    book, expected = s.book(party), _items(s, party, view, below)
    listed = await book.items.list(party, below, limit=1000, **who(view))
    s.oracle.judge(listed, party, view, "list of items")
    if {item.id for item in listed} != {known.id for known in expected}:
        raise Leak(f"items of {party.parts} as {view} below {below} are {listed!r:.300}")
    if await book.items.count(party, below, **who(view)) != len(expected):
        raise Leak(
            f"the count of items of {party.parts} as {view} below {below} is not {len(expected)}"
        )
    spaces = await book.items.namespaces(party, prefix=below, **who(view))
    if set(spaces) != {_space(known) for known in expected}:
        raise Leak(f"namespaces of {party.parts} as {view} below {below} are {spaces}")
    # As where a shelf is too large for an index in memory.
    asked = Filter(types=_ITEM, kind_prefix=namespace_text(below) or None)
    newest = await book.engine.newest(party, view, asked, 1000)
    kinds = await book.engine.kinds(party, view, asked)
    if {item.id for item in newest} != {known.id for known in expected} or kinds != Counter(
        known.kind for known in expected
    ):
        raise Leak(
            f"the engine lists {newest!r:.300} and {kinds} for {party.parts} as {view} below {below}"
        )
    hits = await book.items.search(party, "kept", below, limit=1000, mode="words", **who(view))
    s.oracle.judge([(hit.record, hit.words) for hit in hits], party, view, "search of items")
    if {hit.id for hit in hits} != {known.id for known in expected}:
        raise Leak(
            f"a search of items of {party.parts} as {view} below {below} finds others: {hits!r:.300}"
        )


STORING = {put: 12, delete: 2, get: 5, list_: 2}
