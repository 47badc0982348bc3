"""Use cases as generators: they ask an engine questions inside one transaction, and return writes
for it to carry out.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from uuid import UUID

from memoranda.model.records import Owner
from memoranda.model.service_records import Appends

A = TypeVar("A")


class Question(Generic[A]):
    """A question whose answer is an ``A``; it is about the owner of the last ``Base`` unless its
    class says otherwise.
    """

    __slots__ = ()


class Write:
    """A change of stored rows. It is carried out when the use case has ended: no question sees
    it.
    """

    __slots__ = ()


#: A use case in progress: it yields questions and writes, is sent the questions' answers, and
#: returns ``A``. It may be run again from its beginning, with other answers; only the writes of its
#: last run are carried out.
Deciding = Generator[Question[Any] | Write, Any, A]


def ask(question: Question[A]) -> Generator[Question[Any] | Write, A, A]:
    """Ask the engine one question, and return its answer."""
    return (yield question)


def run(deciding: Deciding[A], answer: Callable[[Question[Any]], Any]) -> tuple[A, list[Write]]:
    """Run a use case to its end, answering each question at once; returns its result and its writes
    in order.
    """
    writes: list[Write] = []
    try:
        step = next(deciding)
        while True:
            if isinstance(step, Write):
                writes.append(step)
                step = next(deciding)
            else:
                step = deciding.send(answer(step))
    except StopIteration as done:
        return done.value, writes


@dataclass(slots=True)
class OwnerBase:
    """An owner's present era (time since the last whole erasure) as a use case finds it, and what
    the book counts of it.
    """

    owner: Owner | None
    #: The key of the book's digests.
    secret: bytes
    #: None if the owner has no era; a use case that stores records of the owner sets a new one.
    era: UUID | None
    #: The position of the last ledger entry.
    position: int = 0
    #: The number of active memories.
    held: int = 0
    #: The engine's own number of the owner; None until the row of a new era is stored.
    no: int | None = None
    #: The number of living items.
    items: int = 0
    #: What happens to new content, if the processing of the owner's data is restricted; None if it
    #: is not.
    restricted: Appends | None = None
