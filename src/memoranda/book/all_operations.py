"""All operations of a book by name, collected from the classes of its parts."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from memoranda.book.book import Book
from memoranda.book.nouns.admin import Admin
from memoranda.book.nouns.agents import Agents
from memoranda.book.nouns.dreams import Dreams
from memoranda.book.nouns.episodes import Episodes
from memoranda.book.nouns.experience import Experience
from memoranda.book.nouns.forgetting import Forgetting
from memoranda.book.nouns.items import Items
from memoranda.book.nouns.jobs import Jobs
from memoranda.book.nouns.keys import Keys
from memoranda.book.nouns.memories import Memories
from memoranda.book.nouns.profiles import Profiles
from memoranda.book.nouns.records import Records
from memoranda.book.nouns.schemas import Schemas
from memoranda.book.nouns.threads import ThreadHandle
from memoranda.operations import Names, Operation, Role
from memoranda.worker import Worker

#: The class of each part of a book.
PARTS: Final[dict[str, type]] = {
    "thread": ThreadHandle,
    "memories": Memories,
    "records": Records,
    "forgetting": Forgetting,
    "profiles": Profiles,
    "episodes": Episodes,
    "dreams": Dreams,
    "items": Items,
    "agents": Agents,
    "experience": Experience,
    "schemas": Schemas,
    "admin": Admin,
    "jobs": Jobs,
    "worker": Worker,
    "keys": Keys,
}


def _declared() -> Iterator[tuple[str, Operation | str]]:
    """Yield the name and the declaration of each function of the book and its parts that has
    one.
    """
    seen = set[object]()
    for part, of in {"": Book, **PARTS}.items():
        for name in dict.fromkeys(name for kind in of.__mro__ for name in vars(kind)):
            function = getattr(of, name, None)
            declared = getattr(function, "declared", None)
            # What is on the book itself has its short name alone.
            if declared is not None and function not in seen:
                seen.add(function)
                yield f"{part}.{name}".strip("."), declared


def named(name: str, declared: Operation) -> Operation:
    """Return an operation under its name; raise TypeError if an argument could name somebody
    without being checked.
    """
    operation = replace(declared, name=name)
    for argument in list(inspect.signature(operation.function).parameters)[1:]:
        if operation.role is not Role.ADMIN and operation.naming(argument) is None:
            raise TypeError(
                f"{name}: say whom the argument {argument!r} names, as in "
                f"@offer(…, names={{{argument!r}: Names.NOBODY}})"
            )
    if Names.USERS in operation.names.values() and ("owner" in operation.in_path or operation.safe):
        raise TypeError(
            f"{name}: it names users, so a credential that is limited to some must not reach it"
        )
    return operation


#: What a caller from outside may ask for. What is not declared is not here, so no surface has it.
OPERATIONS: Final = {
    name: named(name, one) for name, one in _declared() if isinstance(one, Operation)
}

#: Functions that no caller from outside has, each with the reason.
NOT_OFFERED: Final = {name: one for name, one in _declared() if isinstance(one, str)}
