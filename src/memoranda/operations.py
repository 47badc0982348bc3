"""Operations: what is declared beside a function of the book, so that each surface can offer it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Any, Self, TypeVar

from memoranda.errors import InvalidInput

F = TypeVar("F", bound=Callable[..., Any])

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


class No(str):
    """In place of a command: the reason why there is none."""

    __slots__ = ()


PROGRAMS = No("programs do it while they talk with a person")
ITEMS = No("items belong to programs: their values are theirs to read")
DEFINED = No("a program defines it beside its code; agents and schemas are part of an export")
LISTS = No("memoranda list shows them: --types, --agent")
CORRECTS = No("memoranda update corrects a memory")
HISTORY = No("memoranda history shows operations")


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
    #: The command that calls it, or why there is none.
    command: str | No = ""
    #: The arguments that list many at once: with ``each=true`` every one is its own operation.
    batch: tuple[str, ...] = ()
    #: Its name in the OpenAPI document where that is not made of its own words, and the example of a body there.
    title: str = ""
    example: Mapping[str, Any] | None = None
    function: Callable[..., Any] = print

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
    command: str | No,
    safe: str = "",
    batch: tuple[str, ...] = (),
    title: str = "",
    example: Mapping[str, Any] | None = None,
) -> Callable[[F], F]:
    """Declare a function as an operation for callers from outside; ``route`` is ``METHOD /path``, below an owner or below ``/v1``.

    Role, route and command have no default, so neither a right nor an address is given by omission.
    """
    method, _, path = route.partition(" ")
    path = path if path.startswith("/v1/") else _OWNER + path

    def declare(function: F) -> F:
        made = Operation("", role, method, path, safe, command, batch, title, example, function)
        function.declared = made  # type: ignore[attr-defined]
        return function

    return declare


def no_offer(reason: str) -> Callable[[F], F]:
    """Declare that no caller from outside has a function, and why."""

    def declare(function: F) -> F:
        function.declared = reason  # type: ignore[attr-defined]
        return function

    return declare
