"""Finds the records that callers name: by the book's id, by their own id for a memory or an
episode, or by a thread's name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from memoranda.book.input import Conditions, as_id, names_a_record
from memoranda.errors import Conflict, InvalidInput, NotFound
from memoranda.model.memories import Memory, MemoryStatus
from memoranda.model.query import Filter
from memoranda.model.records import Owner, Record, RecordType, View, external_link
from memoranda.model.values import NAME_LENGTH, text_fault
from memoranda.ports import Engine

#: The types of record that a caller can name; a thread is named by its name.
NAMED = frozenset({RecordType.MEMORY, RecordType.EPISODE, RecordType.THREAD})
MEMORIES = frozenset({RecordType.MEMORY})
EPISODES = frozenset({RecordType.EPISODE})
THREADS = frozenset({RecordType.THREAD})
#: The most records that one call names by names of their own: each is looked up.
_NAMES = 1000
#: The most records that an error lists.
_LISTED = 10


async def record_id(
    engine: Engine,
    owner: Owner,
    view: View,
    value: UUID | str,
    field: str = "id",
    types: frozenset[RecordType] = NAMED,
) -> UUID:
    """Return the id of the record that a caller names; raise ``NotFound`` for a name that this view
    sees nowhere.

    Raise ``Conflict`` where the view sees several records with that name.
    """
    if not names_a_record(value):
        return as_id(value, field)
    return (await record_named(engine, owner, view, str(value), field, types)).id


async def record_named(
    engine: Engine, owner: Owner, view: View, name: str, field: str, types: frozenset[RecordType]
) -> Record:
    """Return the record that a caller names by a name; raise ``NotFound`` or ``Conflict`` as
    ``record_id`` does.
    """
    if not name.strip() or len(name) > NAME_LENGTH or text_fault(name):
        raise InvalidInput(f"{field}: {name!r} is not a valid id", field=field)
    found = await _named(engine, owner, view, name, types)
    if not found:
        raise NotFound(
            f"{field}: {name!r} is no id of the book, and no {' or '.join(sorted(types))} that this view may see is called that"
        )
    if len(found) > 1:
        listed = ", ".join(f"{record.type.value} {record.id}" for record in found[:_LISTED])
        raise Conflict(
            f"{field}: several records are called {name!r}; give the UUID of one of them: {listed}"
        )
    return found[0]


async def record_ids(
    engine: Engine,
    owner: Owner,
    view: View,
    values: Iterable[UUID | str] | UUID | str,
    field: str = "ids",
    types: frozenset[RecordType] = NAMED,
) -> tuple[UUID, ...]:
    """Return the ids of the records that a caller names, each once."""
    if isinstance(values, (str, UUID)):
        values = (values,)
    if not isinstance(values, Iterable):
        raise InvalidInput(f"{field}: give ids, not {type(values).__name__}", field=field)
    values = list(values)
    _refuse_many_names(values, field)
    found = [await record_id(engine, owner, view, value, field, types) for value in values]
    return tuple(dict.fromkeys(found))


def _refuse_many_names(values: Sequence[Any], field: str) -> None:
    named = sum(map(names_a_record, values))
    if named > _NAMES:
        raise InvalidInput(
            f"{field}: it has {named} names of records; at most {_NAMES} are allowed, and ids without a limit",
            field=field,
        )


_TYPES = {"sources": NAMED, "supersedes": MEMORIES, "thread": THREADS}


async def with_ids(
    engine: Engine, owner: Owner, view: View, draft: Mapping[str, Any]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the draft of a memory or an episode with ids in place of the callers' names of other
    records.

    What it ``supersedes`` and this view sees nowhere is left out; its places in the draft come
    second.
    """
    found, unknown = dict(draft), list[str]()
    for field, types in _TYPES.items():
        given = draft.get(field)
        if isinstance(given, str) and names_a_record(given):
            found[field] = await record_id(engine, owner, view, given, field, types)
        elif isinstance(given, (list, tuple)):
            found[field] = []
            _refuse_many_names(given, field)
            for place, one in enumerate(given):
                try:
                    id = (
                        await record_id(engine, owner, view, one, field, types)
                        if names_a_record(one)
                        else one
                    )
                except NotFound:
                    if field != "supersedes":
                        raise
                    unknown.append(place_of_superseded(place))
                else:
                    found[field].append(id)
    return found, tuple(unknown)


def place_of_superseded(place: int) -> str:
    """Return the name in receipts of a place among the memories that a statement supersedes."""
    return f"supersedes[{place}]"


async def with_thread_id(engine: Engine, owner: Owner, view: View, only: Conditions) -> Conditions:
    """Return the conditions of a read with the id of the thread that they name."""
    named = only.get("thread") if isinstance(only, Mapping) else None
    if not isinstance(named, str) or not names_a_record(named):
        return only
    return {**only, "thread": await record_id(engine, owner, view, named, "thread", THREADS)}


async def _named(
    engine: Engine, owner: Owner, view: View, name: str, types: frozenset[RecordType]
) -> list[Record]:
    found: list[Record] = []
    linked = types & (MEMORIES | EPISODES)
    if linked:
        links = frozenset(external_link(owner, type_, name) for type_ in linked)
        page = await engine.scan(owner, view, Filter(types=linked, sources=links), None, 1000)
        # What was undone keeps its name only until another record has it.
        found = [record for record in page.records if not _is_undone(record)] or list(page.records)
    if RecordType.THREAD in types:
        found += await engine.threads(owner, view, name)
    return found


def _is_undone(record: Record) -> bool:
    return isinstance(record, Memory) and record.status is MemoryStatus.UNDONE


async def thread_id(
    engine: Engine, owner: Owner, view: View, thread: UUID | str | None, *, needed: bool
) -> UUID | str | None:
    """Return the id of a thread given by its name; of one that the view cannot see, None unless it
    is ``needed``.
    """
    if thread is None or not names_a_record(thread):
        return thread
    try:
        return await record_id(engine, owner, view, thread, "thread", THREADS)
    except NotFound:
        if needed:
            raise
        return None
