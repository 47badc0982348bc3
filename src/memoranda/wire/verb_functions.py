"""The function behind each verb of the table, and the class of the part of a book that has it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from memoranda.book import Book, ThreadHandle
from memoranda.book.admin.across_owners import Admin
from memoranda.book.admin.job_verbs import Jobs
from memoranda.book.items.item_verbs import Items
from memoranda.book.schema_verbs import Schemas
from memoranda.book.service_keys import Keys
from memoranda.book.verbs.documents import Agents, Profiles
from memoranda.book.verbs.episodes import Episodes
from memoranda.book.verbs.experience import Experience
from memoranda.worker import Worker

#: The class of each part of a book.
PARTS: dict[str, type] = {
    "admin": Admin,
    "agents": Agents,
    "episodes": Episodes,
    "experience": Experience,
    "items": Items,
    "jobs": Jobs,
    "keys": Keys,
    "profile": Profiles,
    "schemas": Schemas,
    "thread": ThreadHandle,
    "worker": Worker,
}


def function_of(name: str) -> Callable[..., Any]:
    """Return the function behind the verb with this name."""
    part, dot, verb = name.partition(".")
    if dot:
        found = getattr(PARTS[part], verb)
    else:
        found = Episodes.__call__ if part == "episodes" else getattr(Book, part)
    function: Callable[..., Any] = found
    return function
