"""Operations: what is declared beside a function of the book, so that each surface can offer it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, Self, TypeVar, cast, overload

import typing_extensions

from memoranda.errors import InvalidInput

F = TypeVar("F", bound=Callable[..., Any])
P = ParamSpec("P")
R = TypeVar("R", covariant=True)

_OWNER = "/v1/owners/{owner}"


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
            raise InvalidInput(f"role: {name!r} is none; use viewer, editor or admin", field="role") from None

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


class Offered(Protocol[P, R]):
    """An operation as type checkers see it; when the program runs it is the function itself."""

    @overload
    def __get__(self, part: None, of: type) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, R]]: ...
    @overload
    def __get__(self, part: Part[Blocking], of: type) -> Callable[P, R]: ...
    @overload
    def __get__(self, part: Part[Awaited], of: type) -> Callable[P, Coroutine[Any, Any, R]]: ...
    def __get__(self, part: Any, of: type) -> Any:
        """Return the function, or the method of a part."""
        ...


class Offering(Protocol):
    """Declares a function, and gives it back."""

    def __call__(self, function: Callable[Concatenate[Any, P], Coroutine[Any, Any, R]], /) -> Offered[P, R]:
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


@dataclass(frozen=True)
class Operation:
    """One operation that a caller from outside may ask for; its arguments and its words are those of its function."""

    name: str
    #: The least role that may ask for it.
    role: Role
    method: str
    path: str
    #: Why a credential that is no admin's may ask for it without an owner; empty: such a credential is refused.
    safe: str = ""
    #: The command that calls it and shows the answer to a person; ``memoranda call`` calls every operation.
    command: str = ""
    #: True if it erases or revokes: a terminal is asked before, and elsewhere ``--yes`` is needed.
    final: bool = False
    #: The arguments that list many at once: with ``each=true`` every one is its own operation.
    batch: tuple[str, ...] = ()
    #: Its name in the OpenAPI document where that is not made of its own words, and the example of a body there.
    title: str = ""
    example: Mapping[str, Any] | None = None
    function: Callable[..., Any] = print

    @cached_property
    def summary(self) -> str:
        """The first line of its documentation."""
        return (self.function.__doc__ or "").strip().partition("\n")[0]

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
) -> Offering:
    """Declare a function as an operation for callers from outside; ``route`` is ``METHOD /path``, below an owner or below ``/v1``.

    Role and route have no default, so neither a right nor an address is given by omission.
    """
    method, _, path = route.partition(" ")
    path = path if path.startswith("/v1/") else _OWNER + path

    def declare(function: Any) -> Any:
        made = Operation("", role, method, path, safe, command, final, batch, title, example, function)
        function.declared = made
        return function

    return cast(Offering, declare)


def offer_lines(role: Role, route: str, *, command: str, title: str = "") -> Callable[[F], F]:
    """Declare a function that yields lines as an operation for callers from outside."""
    return cast(Callable[[F], F], offer(role, route, command=command, title=title))


def no_offer(reason: str) -> Keeping:
    """Declare that no caller from outside has a function, and why."""

    def declare(function: Any) -> Any:
        function.declared = reason
        return function

    return cast(Keeping, declare)
