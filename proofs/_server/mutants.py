"""Mutants of the engine: one condition that limits a statement to an owner or a shelf is left out
for a while.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass

import asyncpg

from memoranda.engines.postgres.server import session
from proofs._server.omissions import replaced

_VALUE = (
    r"(?P<value>\?|:\w+|'\w+'|\w+\.\w+|NULL|ANY\((?P<list>(?:\?|:\w+)::\w+\[\])\))(?P<cast>::\w+)?"
)
_CONDITION = re.compile(
    r"(?<![\w.'])(?P<column>(?:\w+\.)?(?:owner|shelf|tenant|kind|id|audience|agent|groups|name|erased_at))"
    rf"\s+(?P<how>=|<>|IS NOT|IS)\s+{_VALUE}(?![\w(])"
)
_BOUNDS = frozenset({"owner", "shelf"})
#: Here every condition says whose; elsewhere an id, a kind or a name is what is looked for.
_WHOSE = frozenset({"find_owner", "lock_owner", "visible_shelves", "shelf"})
#: A row that is bounded already looks up what is its own.
_JOINS = re.compile(r"(?:\w+\.)?\w+\s+=\s+\w+\.(?:owner|shelf)|r\.owner\s+=\s+o\.no")


@dataclass(frozen=True)
class Mutant:
    """A statement without some of its conditions."""

    statement: str
    #: Their places in it.
    places: tuple[int, ...]
    name: str

    def apply(self) -> AbstractContextManager[object]:
        stack = ExitStack()
        text = session._texts()[self.statement]
        found = conditions(self.statement)
        for place in sorted(self.places, reverse=True):
            text = text[: found[place].start()] + _always(found[place]) + text[found[place].end() :]
        stack.enter_context(replaced(self.statement, text))
        return stack

    def with_all_others(self) -> Mutant:
        """Return the same statement without any limiting condition."""
        return Mutant(
            self.statement, tuple(range(len(conditions(self.statement)))), f"{self.statement}: all"
        )


def conditions(statement: str) -> list[re.Match[str]]:
    """Return the conditions of a statement that limit its rows to an owner."""
    text = session._texts()[statement]
    begin = re.search(r"\b(?:WHERE|ON)\b", text)
    found = _CONDITION.finditer(text, begin.end() if begin else len(text))
    return [one for one in found if _bounds(statement, one) and not _JOINS.fullmatch(one.group())]


def _bounds(statement: str, found: re.Match[str]) -> bool:
    column = found["column"].rpartition(".")[2]
    return statement in _WHOSE or column in _BOUNDS


def of_statements() -> Iterator[Mutant]:
    """Yield a mutant for each such condition, in the order of the file."""
    for statement in session._texts():
        for place, found in enumerate(conditions(statement)):
            yield Mutant(statement, (place,), f"{statement}: {found.group()}")


async def check_all(mutants: Iterable[Mutant], address: str, schema: str) -> None:
    """Raise if the server cannot plan a mutant: any call would notice it."""
    connection = await asyncpg.connect(address, server_settings={"search_path": schema})
    try:
        for mutant in mutants:
            with mutant.apply():
                text = session.statement(mutant.statement, "true").text
            try:
                await connection.prepare(text)
            except asyncpg.PostgresError as error:
                raise LookupError(
                    f"{mutant.name}: what is left is no statement: {error}"
                ) from error
    finally:
        await connection.close()


def _always(found: re.Match[str]) -> str:
    """Return a condition that is always true and takes the same parameter."""
    value, column = found["list"] or found["value"], found["column"].rpartition(".")[2]
    if value[0] not in "?:":
        return "true"
    cast = "" if found["list"] else found["cast"] or ("::bigint" if column in _BOUNDS else "::text")
    return f"({value}{cast} IS NOT NULL)"
