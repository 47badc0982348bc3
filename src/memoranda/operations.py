"""Operations: what is declared beside a function of the book, so that each surface can offer it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from functools import cached_property
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Final,
    Generic,
    ParamSpec,
    Protocol,
    Self,
    TypeVar,
    cast,
    overload,
)

import typing_extensions

from memoranda.errors import InvalidInput

F = TypeVar("F", bound=Callable[..., Any])
P = ParamSpec("P")
R = TypeVar("R", covariant=True)

_OWNER = "/v1/owners/{owner}"

#: The name of each function that is declared → where it is, on a book or a thread.
_PLACES: Final[dict[str, list[str]]] = {}
_MOST_PLACES: Final = 4
#: Names that other libraries give to an operation.
_OTHER_NAMES: Final = {
    **dict.fromkeys(("add", "save", "store", "insert", "create"), "remember"),
    **dict.fromkeys(("search", "query", "find", "retrieve"), "recall"),
    **dict.fromkeys(("delete", "remove", "erase"), "forget"),
    **dict.fromkeys(("get_all", "list_all", "all"), "list"),
    **dict.fromkeys(("edit", "set", "modify"), "update"),
}


class Role(IntEnum):
    """The roles of credentials, least first; each includes the ones before it."""

    VIEWER = 1
    EDITOR = 2
    ADMIN = 3

    @classmethod
    def named(cls, name: str) -> Self:
        """Return the role with this name; raise ``InvalidInput`` if there is none."""
        try:
            return cls[name.upper()]
        except KeyError:
            raise InvalidInput(
                f"role: {name!r} is none; use viewer, editor or admin", field="role"
            ) from None

    def __str__(self) -> str:
        return self.name.lower()


class World:
    """How the operations of a part are called: the type argument of parts."""


class Awaited(World):
    """They are awaited."""


class Blocking(World):
    """They block."""


W = typing_extensions.TypeVar("W", bound=World, covariant=True, default=Awaited)


class Part(Generic[W]):
    """A book or a part of one. ``Part[Blocking]`` has the same operations as calls that block."""

    __slots__ = ()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Say where an operation is that is looked for in another part, or under another
            name.
            """
            told = f"{type(self).__name__!r} object has no attribute {name!r}"
            places = [*_PLACES.get(_OTHER_NAMES.get(name, ""), ())[:1], *_PLACES.get(name, ())]
            if places:
                told += f"; there is {', '.join(places[:_MOST_PLACES])}"
            raise AttributeError(told, name=name, obj=self)


class Offered(Protocol[P, R]):
    """An operation as type checkers see it; when the program runs it is the function itself."""

    @overload
    def __get__(
        self, part: None, of: type
    ) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, R]]: ...
    @overload
    def __get__(self, part: Part[Blocking], of: type) -> Callable[P, R]: ...
    @overload
    def __get__(self, part: Part[Awaited], of: type) -> Callable[P, Coroutine[Any, Any, R]]: ...
    def __get__(self, part: Any, of: type) -> Any:
        """Return the function, or the method of a part."""
        ...


class _Top:
    """An operation of a part, found on the book: the part of this book answers."""

    def __init__(self, part: str, function: Any) -> None:
        self._part = part
        self._function = function

    def __get__(self, book: Any, of: type) -> Any:
        return (
            self._function
            if book is None
            else getattr(getattr(book, self._part), self._function.__name__)
        )


def top(
    part: str, operation: Callable[Concatenate[Any, P], Coroutine[Any, Any, R]]
) -> Offered[P, R]:
    """Offer an operation of a part on the book itself, under the same name."""
    name = operation.__name__
    _PLACES[name] = [
        f"book.{name}",
        *(one for one in _PLACES[name] if one != f"book.{part}.{name}"),
    ]
    return cast(Offered[P, R], _Top(part, operation))


class Offering(Protocol):
    """Declares a function, and gives it back."""

    def __call__(
        self, function: Callable[Concatenate[Any, P], Coroutine[Any, Any, R]], /
    ) -> Offered[P, R]:
        """Declare it."""
        ...


class Keeping(Protocol):
    """Declares a function that may also return at once, and gives it back."""

    @overload
    def __call__(
        self, function: Callable[Concatenate[Any, P], Coroutine[Any, Any, R]], /
    ) -> Offered[P, R]: ...
    @overload
    def __call__(self, function: F, /) -> F: ...
    def __call__(self, function: Any, /) -> Any:
        """Declare it."""
        ...


class Names(Enum):
    """Whom an argument names: the guard checks that a credential may name them."""

    OWNER = "owner"
    AGENT = "agent"
    #: Any users: only a credential that opens all of them may reach such an operation, which is
    #: about no owner.
    USERS = "users"
    #: Nobody, but what it gives serves all users: only a credential that opens all of them may pass
    #: it.
    ALL_USERS = "all users"
    NOBODY = "nobody"


#: Arguments whose meaning is the same in every operation, and that name nobody, or whom the guard
#: checks under these names: ``groups``, ``audience``, ``as_owner`` and messages. What is for
#: administrators alone may name anybody.
_KNOWN = frozenset(
    "about after appends applies_when as_owner ask_model at_least audience backups before body budget by cardinality "
    "content conversation count cursor data deletes dry_run earlier end ended_at episode erase_after_hours everything "
    "expect expect_last expires_at explain external_id feedback field fields first goal groups happened id ids index "
    "keep keep_first key kind kinds last like limit line loser mark_used masked max_depth max_gap message mode name "
    "names namespace native newest_first observed_at offset only operation outcome path pinned pinned_first plan "
    "position prefix puts query rating reason receipt renew replace_all result retired role_or_messages run schema "
    "schemas set since source sources speaker start started_at state statements status subject suffix summary "
    "supersedes tags take text thread time_zone title token_count tool_call_id tool_calls trust ttl types unset until "
    "valid_from valid_from_granularity valid_to valid_to_granularity value vector wait wait_for what winner "
    "with_dependents".split()
)
_NAMING: Mapping[str, Names] = {
    **dict.fromkeys(_KNOWN, Names.NOBODY),
    "owner": Names.OWNER,
    "agent": Names.AGENT,
}


def first_paragraph(documented: object) -> str:
    """Return the first paragraph of something's documentation, on one line."""
    return " ".join((documented.__doc__ or "").partition("\n\n")[0].split())


@dataclass(frozen=True)
class Operation:
    """One operation that a caller from outside may ask for; its arguments and its words are those
    of its function.
    """

    name: str
    #: The least role that may ask for it.
    role: Role
    method: str
    path: str
    #: Why a credential that is no admin's may ask for it without an owner; empty: such a credential
    #: is refused.
    safe: str = ""
    #: The command that calls it and shows the answer to a person; ``memoranda call`` calls every
    #: operation.
    command: str = ""
    #: True if it erases or revokes: a terminal is asked before, and elsewhere ``--yes`` is needed.
    final: bool = False
    #: The arguments that list many at once: with ``each=true`` every one is its own operation.
    batch: tuple[str, ...] = ()
    #: Its name in the OpenAPI document where that is not made of its own words, and the example of
    #: a body there.
    title: str = ""
    example: Mapping[str, Any] | None = None
    function: Callable[..., Any] = print
    #: Whom its arguments name, where that is not what their names say everywhere.
    names: Mapping[str, Names] = field(default_factory=dict)
    #: What of a person it gives or stops, which only they or an administrator may ask for.
    of_the_person: str = ""

    def naming(self, argument: str) -> Names | None:
        """Return whom an argument names; None if nobody has said."""
        return self.names.get(argument) or _NAMING.get(argument)

    @cached_property
    def owner_argument(self) -> str:
        """The name of the argument that is the owner whom it is about."""
        return next((name for name, whom in self.names.items() if whom is Names.OWNER), "owner")

    @cached_property
    def agent_arguments(self) -> tuple[str, ...]:
        """The names of the arguments beside ``agent`` that name an agent."""
        return tuple(name for name, whom in self.names.items() if whom is Names.AGENT)

    @cached_property
    def for_all_users(self) -> tuple[str, ...]:
        """The names of the arguments that give what serves all users."""
        return tuple(name for name, whom in self.names.items() if whom is Names.ALL_USERS)

    @cached_property
    def summary(self) -> str:
        """The first paragraph of its documentation, on one line."""
        return first_paragraph(self.function)

    @cached_property
    def reads(self) -> bool:
        """True if it changes nothing that is stored."""
        return self.role is Role.VIEWER or self.method == "GET"

    @cached_property
    def in_path(self) -> tuple[str, ...]:
        """The names of the arguments in the path, in order."""
        return tuple(part[1:-1] for part in self.path.split("/") if part.startswith("{"))

    @cached_property
    def of_thread(self) -> bool:
        """True if it is an operation of a thread's handle."""
        return self.name.startswith("thread.")


def _note_place(function: Any) -> None:
    of = function.__qualname__.partition(".")[0].lower()
    place = {"threadhandle": "thread", "bookoperations": "book"}.get(of, f"book.{of}")
    places = _PLACES.setdefault(function.__name__, [])
    # Records of every type are what is most often meant.
    places.insert(0 if of == "records" else len(places), f"{place}.{function.__name__}")


def offer(
    role: Role,
    route: str,
    *,
    command: str = "",
    final: bool = False,
    safe: str = "",
    batch: tuple[str, ...] = (),
    title: str = "",
    example: Mapping[str, Any] | None = None,
    names: Mapping[str, Names] | None = None,
    of_the_person: str = "",
) -> Offering:
    """Declare a function as an operation for callers from outside; ``route`` is ``METHOD /path``,
    below an owner or below ``/v1``.

    Role and route have no default, so neither a right nor an address is given by omission.
    ``names`` says whom an argument names that has no meaning everywhere; without it the operation
    is refused when all are collected.
    """
    method, _, path = route.partition(" ")
    path = path if path.startswith("/v1/") else _OWNER + path

    def declare(function: Any) -> Any:
        _note_place(function)
        function.declared = Operation(
            name="",
            role=role,
            method=method,
            path=path,
            safe=safe,
            command=command,
            final=final,
            batch=batch,
            title=title,
            example=example,
            function=function,
            names=names or {},
            of_the_person=of_the_person,
        )
        return function

    return cast(Offering, declare)


def offer_lines(
    role: Role, route: str, *, command: str, title: str = "", of_the_person: str = ""
) -> Callable[[F], F]:
    """Declare a function that yields lines as an operation for callers from outside."""
    made = offer(role, route, command=command, title=title, of_the_person=of_the_person)
    return cast(Callable[[F], F], made)


def no_offer(reason: str) -> Keeping:
    """Declare that no caller from outside has a function, and why."""

    def declare(function: Any) -> Any:
        _note_place(function)
        function.declared = reason
        return function

    return cast(Keeping, declare)
