"""LangGraph's store in terms of a book: owners of namespaces, filters, reads."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, product
from math import prod
from typing import Any, Protocol, TypeAlias, TypeVar

from memoranda.book.input import Who, owner_named
from memoranda.errors import InvalidInput, NotAllowed
from memoranda.model.items import ITEM_NAME_LENGTH, PATHS, Item
from memoranda.model.query import Hit
from memoranda.model.records import Audience, Owner
from memoranda.model.values import text_fault
from memoranda.text.terms import query_groups

_OPERATORS = {"$eq": "eq", "$ne": "ne", "$gt": "gt", "$gte": "gte", "$lt": "lt", "$lte": "lte"}
#: A key as a path can name it; dots step into objects.
_KEY = re.compile(r"[^.\[\]'\"()$\s\x00-\x1f]+(?:\.[^.\[\]'\"()$\s\x00-\x1f]+)*")
_CHOICE = re.compile(r"\{([^{}]*)\}")
#: The most characters of all paths of an item, as many as the longest ones that it may have.
_CHARACTERS = PATHS * ITEM_NAME_LENGTH


class NothingMeets(Exception):
    """A filter that no JSON value meets, such as one that asks for a number above infinity."""


def conditions_of(filter: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a filter of LangGraph as the book's conditions on an item's value; raise
    ``NothingMeets`` if nothing can.
    """
    conditions: dict[str, Any] = {}
    for path, compared in _leaves(filter or {}, ""):
        if compared:
            conditions[f"data.{path}"] = compared
    return conditions


def _leaves(filter: Mapping[str, Any], above: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for key, wanted in filter.items():
        if not isinstance(key, str) or _KEY.fullmatch(key) is None:
            raise InvalidInput(
                f"filter: Invalid filter key {key!r}: name a field, with dots between the names of nested ones",
                field="filter",
            )
        path = above + key
        if not isinstance(wanted, Mapping) or not wanted:
            yield path, _compared(path, {"$eq": wanted})
        elif any(str(name).startswith("$") for name in wanted):
            yield path, _compared(path, wanted)
        else:
            yield from _leaves(wanted, f"{path}.")


def _compared(path: str, wanted: Mapping[str, Any]) -> dict[str, Any]:
    compared: dict[str, Any] = {}
    for name, value in wanted.items():
        if name not in _OPERATORS:
            raise InvalidInput(
                f"filter: {path}: {name!r} is unknown; the operators are {', '.join(_OPERATORS)}",
                field="filter",
            )
        operator = _OPERATORS[name]
        if isinstance(value, float) and not math.isfinite(value):
            operator, value = _beyond(operator, value)
            if operator == "":
                continue
        elif isinstance(value, str) and operator in ("eq", "ne") and text_fault(value) is not None:
            # No value has such a text, because the book stores none.
            if operator == "eq":
                raise NothingMeets
            continue
        # The stricter of two comparisons of one kind counts, which only an infinity can bring
        # about.
        compared.setdefault(operator, value)
    return compared


def _beyond(operator: str, value: float) -> tuple[str, float]:
    """Return a comparison with an infinity as one with the largest number; an empty operator where
    everything meets it.
    """
    if operator == "ne":
        return "", value
    if operator in ("lt", "lte") and value > 0:
        return "lte", sys.float_info.max
    if operator in ("gt", "gte") and value < 0:
        return "gte", -sys.float_info.max
    raise NothingMeets


def paths_of(index: Sequence[str]) -> list[str]:
    """Return field paths of LangGraph as the book writes them: ``a.*`` becomes ``a[*]``, and
    ``{a,b.c}`` two paths.
    """
    paths: dict[str, None] = {}
    left = _CHARACTERS
    for given in index:
        if not isinstance(given, str):
            raise InvalidInput(f"index: give the paths as texts, not {given!r}", field="index")
        text = given or "$"
        # Paths are counted before they are made; a text that is too long has too many anyhow.
        options = _options(text[: left + 1])
        left -= len(text) * prod(map(len, options))
        if left < 0:
            raise InvalidInput(
                f"index: it stands for too many paths; give at most {PATHS}", field="index"
            )
        for parts in product(*options):
            paths[re.sub(r"(^|\.)\*(?=$|[.\[])", "[*]", "".join(parts))] = None
    return list(paths)


def _options(path: str) -> list[list[str]]:
    """Return the pieces of a path of LangGraph, and of each the texts that it may be."""
    return [
        [name.strip() for name in piece.split(",")] if number % 2 else [piece]
        for number, piece in enumerate(_CHOICE.split(path))
    ]


Labels: TypeAlias = tuple[str, ...]
#: Returns the owner of a namespace, or the owner and the namespace among that owner's items; None:
#: it has no owner.
OwnerOf: TypeAlias = Callable[[Labels], "str | Owner | tuple[str | Owner, Labels] | None"]
#: Returns the audience of what is stored in a namespace; None: the writer's default.
AudienceOf: TypeAlias = Callable[[Labels], "str | Audience | None"]

#: The label that stands for any label in a prefix of ``list_namespaces``.
ANY = "*"


@dataclass(frozen=True, slots=True)
class Place:
    """A namespace of the store, its owner, and the namespace of the owner's items that it stands
    for.
    """

    owner: Owner
    outer: Labels
    inner: Labels

    @property
    def is_kept(self) -> bool:
        """True if the owner's items have the namespaces of the store."""
        return self.outer == self.inner

    def outside(self, inner: Labels) -> Labels:
        """Return the store's name of a namespace at or below this place."""
        return self.outer + inner[len(self.inner) :]


class NamespaceOwners:
    """Asks the application's function for the owner of each namespace, and refuses what it does not
    answer.
    """

    def __init__(
        self,
        tenant: str,
        all_owners: Callable[[], Awaitable[Sequence[Owner]]],
        owner_of: OwnerOf,
        audience_of: AudienceOf | None,
        across_owners: bool | Collection[str | Owner],
    ) -> None:
        if not callable(owner_of):
            raise InvalidInput(
                "owner_of: give a function that returns the owner of a namespace, such as owner_at(0)",
                field="owner_of",
            )
        self._tenant = tenant
        self._all_owners = all_owners
        self._owner_of = owner_of
        self._audience_of = audience_of
        if isinstance(across_owners, str):
            raise InvalidInput(
                "across_owners: give True, or a list of owners", field="across_owners"
            )
        self._across = (
            across_owners
            if isinstance(across_owners, bool)
            else tuple(owner_named(owner, tenant) for owner in across_owners)
        )

    def of_item(self, namespace: Sequence[str]) -> Place:
        """Return the place of an item's namespace."""
        labels = tuple(namespace)
        place = self._asked(labels)
        if place is None:
            raise InvalidInput(
                f"namespace: {labels!r} has no owner: owner_of knows none for it; use a namespace that names one",
                field="namespace",
            )
        return place

    def of_prefix(self, prefix: Sequence[str], *, listing: bool = False) -> Place | None:
        """Return the place of a prefix; None if it spans owners and the store may read across them.

        In the prefix of a listing of namespaces a ``*`` stands for any label, and so for any owner.
        """
        labels = tuple(prefix)
        known = labels[: labels.index(ANY)] if listing and ANY in labels else labels
        place = self._asked(known)
        if place is not None:
            return Place(place.owner, labels, place.inner + labels[len(known) :])
        if self._across is False:
            raise NotAllowed(
                f"namespace: {labels!r} spans owners: name one in it, or give the store across_owners=True (or a list of "
                "owners), which lets it read them all"
            )
        return None

    def audience_of(self, namespace: Labels) -> str | Audience | None:
        """Return the audience that the application gives what is stored in a namespace."""
        return None if self._audience_of is None else self._audience_of(namespace)

    async def owners(self) -> Sequence[Owner]:
        """Return the owners that are read where a prefix spans owners."""
        if isinstance(self._across, bool):
            return await self._all_owners()
        return self._across

    def belongs(self, owner: Owner, namespace: Labels) -> bool:
        """True if the application's function gives a namespace, as it is, to this owner."""
        place = self._asked(namespace)
        return place is not None and place.owner == owner and place.is_kept

    def _asked(self, labels: Labels) -> Place | None:
        try:
            answer: Any = self._owner_of(labels)
        except LookupError:
            # The namespace is shorter than the function expects, as the prefix of a search may be.
            return None
        if answer is None:
            return None
        owner, inner = answer if isinstance(answer, tuple) else (answer, labels)
        return Place(owner_named(owner, self._tenant), labels, tuple(inner))


def owner_at(position: int) -> OwnerOf:
    """Return a function that takes the label at a position as the owner's id; the namespaces of
    items stay as they are.
    """
    if type(position) is not int or position < 0:
        raise InvalidInput(
            f"position: give a whole number of at least 0, not {position!r}", field="position"
        )

    def owner_of(namespace: Labels) -> str | None:
        return namespace[position] if len(namespace) > position else None

    return owner_of


T = TypeVar("T")
#: The most that the book returns at a time.
PAGE = 1000
#: An item with its score; None: the question did not find it.
Scored: TypeAlias = tuple[Item, float | None]


class ReadableItems(Protocol):
    """The reading verbs of items, as a book has them."""

    @property
    def get_many(self) -> Callable[..., Awaitable[Sequence[Item | None]]]: ...
    @property
    def search(self) -> Callable[..., Awaitable[Sequence[Hit]]]: ...
    @property
    def list(self) -> Callable[..., Awaitable[Sequence[Item]]]: ...
    @property
    def namespaces(self) -> Callable[..., Awaitable[Sequence[Labels]]]: ...


class StoreReads:
    """Reads that LangGraph's stores make; ``compares`` tells if recall compares vectors."""

    def __init__(
        self, items: ReadableItems, owners: NamespaceOwners, who: Who, compares: Callable[[], bool]
    ) -> None:
        self._items = items
        self._owners = owners
        self._who = who
        self._compares = compares

    async def renew(self, owner: Owner, items: Sequence[Item]) -> None:
        """Begin the time of items anew that have one."""
        names = [(item.namespace, item.name) for item in items if item.ttl is not None]
        for at in range(0, len(names), PAGE):
            await self._items.get_many(owner, names[at : at + PAGE], renew=True, **self._who)

    # ── searches ──────────────────────────────────────────────────────────────────────────────────

    async def search(
        self,
        place: Place | None,
        prefix: Labels,
        *,
        query: str | None,
        filter: dict[str, Any] | None,
        limit: int,
        offset: int,
        renews: bool,
    ) -> list[tuple[Item, float | None, Labels]]:
        """Return the best items below a prefix, each with its score and the store's name of its
        namespace.
        """
        end = offset + limit
        if offset < 0 or limit < 1:
            raise InvalidInput(
                "limit: give a limit of at least 1 and an offset of at least 0", field="limit"
            )
        try:
            only = conditions_of(filter)
        except NothingMeets:
            return []
        if place is None:
            chosen = (await self._across(prefix, query, only, end))[offset:end]
        else:
            chosen = (await self._ranked(place.owner, place.inner, query, only, end))[offset:end]
        if renews:
            for owner, items in groupby(chosen, key=lambda one: one[0].owner):
                await self.renew(owner, [item for item, _ in items])
        return [
            (item, score, item.namespace if place is None else place.outside(item.namespace))
            for item, score in chosen
        ]

    async def _across(
        self, prefix: Labels, query: str | None, only: dict[str, Any], end: int
    ) -> list[Scored]:
        """Search the items of all owners that may be read, as far as the application's function
        gives them to these.
        """
        found = list[Scored]()
        for owner in await self._owners.owners():
            count = end
            while True:
                ranked = await self._ranked(owner, prefix, query, only, count)
                own = [one for one in ranked if self._owners.belongs(owner, one[0].namespace)]
                if len(own) >= end or len(ranked) < count:
                    break
                count *= 2
            found += own[:end]
        found.sort(key=lambda one: one[0].updated_at, reverse=True)
        found.sort(key=lambda one: (one[1] is None, -(one[1] or 0.0)))
        return found

    async def _ranked(
        self, owner: Owner, inner: Labels, query: str | None, only: dict[str, Any], end: int
    ) -> list[Scored]:
        """Return the first ``end`` items: the hits of the question, then the other items, the last
        updated first.
        """
        items, who, conditions = self._items, self._who, only or None
        hits: Sequence[Hit] = ()
        words = 0
        if query:
            hits = list(
                await items.search(
                    owner, query, inner, only=conditions, limit=min(end, PAGE), **who
                )
            )
            words = len(query_groups(query))
            if len(hits) == end:
                return [(_item(hit), _score(hit, words)) for hit in hits]
        listed = await _pages(
            lambda limit, offset: items.list(
                owner, inner, only=conditions, limit=limit, offset=offset, **who
            ),
            0,
            end,
        )
        there = {hit.record.id for hit in hits}
        ranked: list[Scored] = [(_item(hit), _score(hit, words)) for hit in hits]
        # Where vectors are compared, an item that is no hit has one that points away from the
        # question's.
        unlike = 0.0 if query and self._compares() else None
        rest = [
            (item, None if item.index == () else unlike) for item in listed if item.id not in there
        ]
        return [*ranked, *rest][:end]

    # ── namespaces ────────────────────────────────────────────────────────────────────────────────

    async def namespaces(
        self,
        place: Place | None,
        begins: Sequence[Labels],
        ends: Sequence[Labels],
        *,
        max_depth: int | None,
        limit: int,
        offset: int,
    ) -> list[Labels]:
        """Return the store's names of the namespaces that begin and end like these, in order."""
        items, who = self._items, self._who
        if place is not None and place.is_kept and len(begins) <= 1 and len(ends) <= 1:
            owner, prefix, suffix = place.owner, place.inner, ends[0] if ends else ()
            return await _pages(
                lambda limit, offset: items.namespaces(
                    owner,
                    prefix=prefix,
                    suffix=suffix,
                    max_depth=max_depth,
                    limit=limit,
                    offset=offset,
                    **who,
                ),
                offset,
                limit,
            )
        found: set[Labels] = set()
        parties = [place.owner] if place is not None else await self._owners.owners()
        prefix = place.inner if place is not None else begins[0] if begins else ()
        for party in parties:

            def page(limit: int, offset: int, party: Owner = party) -> Awaitable[Sequence[Labels]]:
                return items.namespaces(party, prefix=prefix, limit=limit, offset=offset, **who)

            for inner in await _pages(page, 0, None):
                outer = place.outside(inner) if place is not None else inner
                if place is not None or self._owners.belongs(party, inner):
                    found.add(outer)
        fitting = {
            labels[:max_depth]
            for labels in found
            if all(_fits(labels[: len(path)], path) for path in begins)
            and all(_fits(labels[-len(path) :], path) for path in ends)
        }
        return sorted(fitting)[offset : offset + limit]


async def _pages(
    fetch: Callable[[int, int], Awaitable[Sequence[T]]], begin: int, count: int | None
) -> list[T]:
    """Fetch ``count`` of a list from a place on, or all, in as many calls as the book's limit
    needs.
    """
    found: list[T] = []
    while count is None or len(found) < count:
        size = PAGE if count is None else min(PAGE, count - len(found))
        page = await fetch(size, begin + len(found))
        found += page
        if len(page) < size:
            break
    return found


def _fits(labels: Labels, path: Labels) -> bool:
    return len(labels) == len(path) and all(
        wanted in (ANY, label) for label, wanted in zip(labels, path, strict=True)
    )


def _item(hit: Hit) -> Item:
    assert isinstance(hit.record, Item)
    return hit.record


def _score(hit: Hit, words: int) -> float:
    """Return the larger of the cosine and the share of the question's words that the item has: at
    most 1, for any question.
    """
    share = min(1.0, len(hit.words) / words) if words else 0.0
    return share if hit.cosine is None else max(hit.cosine, share) if share else hit.cosine
