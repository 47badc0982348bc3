"""The owner of each namespace of LangGraph's stores: a function of namespaces, and its answers, checked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from memoranda.book.input import owner_named
from memoranda.errors import InvalidInput, NotAllowed
from memoranda.model.records import Audience, Owner

Labels: TypeAlias = tuple[str, ...]
#: Returns the owner of a namespace, or the owner and the namespace among that owner's items; None: it has no owner.
OwnerOf: TypeAlias = Callable[[Labels], "str | Owner | tuple[str | Owner, Labels] | None"]
#: Returns the audience of what is stored in a namespace; None: the writer's default.
AudienceOf: TypeAlias = Callable[[Labels], "str | Audience | None"]

#: The label that stands for any label in a prefix of ``list_namespaces``.
ANY = "*"


@dataclass(frozen=True, slots=True)
class Place:
    """A namespace of the store, its owner, and the namespace of the owner's items that it stands for."""

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
    """Asks the application's function for the owner of each namespace, and refuses what it does not answer."""

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
            raise InvalidInput("across_owners: give True, or a list of owners", field="across_owners")
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
    """Return a function that takes the label at a position as the owner's id; the namespaces of items stay as they are."""
    if type(position) is not int or position < 0:
        raise InvalidInput(f"position: give a whole number of at least 0, not {position!r}", field="position")

    def owner_of(namespace: Labels) -> str | None:
        return namespace[position] if len(namespace) > position else None

    return owner_of
