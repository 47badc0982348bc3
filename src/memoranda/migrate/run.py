"""Carries out a migration: each document is one operation of the book, so that it may be repeated,
or go on after a kill.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from memoranda.book import Book, ThreadHandle
from memoranda.errors import (
    Erased,
    HasDependents,
    InvalidInput,
    MemorandaError,
    OperationReused,
    Restricted,
    StorageError,
)
from memoranda.migrate.formats import FORMATS, Left, Move
from memoranda.migrate.sources import Source
from memoranda.model.ledger import Receipt

#: Messages that are appended at once.
_AT_ONCE = 100
#: Characters of a document's name in the id of its operation.
_LONGEST_KEY = 200
#: What takes the trust of its source.
_TRUSTED = ("memories.remember", "episodes.record", "items.put")


@dataclass
class Migration:
    """The result of a run. What is left out is named by its document's id, without its content."""

    run: str
    source: str
    #: Verb of the book → how many writes; those that were done before are counted in ``before``.
    written: Counter[str] = field(default_factory=Counter)
    before: int = 0
    left_out: list[Left] = field(default_factory=list)
    #: Owners whose processing is restricted: nothing of theirs was written.
    restricted: set[str] = field(default_factory=set)
    #: ``collection.field`` → in how many documents it is, and not taken over.
    not_taken: Counter[str] = field(default_factory=Counter)
    renamed: str = ""


async def migrate(
    book: Book, format: str, source: Source, *, trust: str = "assistant", owner_at: int = 1, rename: bool = False,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> Migration:  # fmt: skip
    """Write the documents of a source into a book."""
    found = Migration(_run_of(format, source), source.name)
    of = FORMATS[format]
    for number, move in enumerate(_moves(format, source, owner_at, found)):
        if isinstance(move, Left):
            found.left_out.append(move)
            continue
        try:
            repeated = await _write(book, move, _operation(found.run, move), trust)
            found.before += repeated
            found.written[move.verb] += not repeated
        except Restricted:
            found.restricted.add(move.whose)
        except StorageError:
            raise
        except OperationReused:
            found.left_out.append(Left(move.key, "it changed since it was migrated"))
        except MemorandaError as exc:
            found.left_out.append(Left(move.key, f"{exc.code}: {exc}"))
        progress(number + 1, number + 1)
    arrived = not found.restricted and all(one.why == "it has no userId" for one in found.left_out)
    if rename and of.renamed and arrived and (found.written or found.before):
        for collection in of.collections:
            source.rename(collection, of.renamed)
        found.renamed = of.renamed
    return found


async def undo(
    book: Book, format: str, source: Source, run: str, *, owner_at: int = 1
) -> Migration:
    """Take out what a run wrote, except what was changed or built upon since; that is named."""
    found = Migration(_run_of(format, source), source.name)
    if run != found.run:
        raise InvalidInput(
            f"--undo: the run over this source is {found.run}, not {run}", field="undo"
        )
    #: Owner → the positions of what the run wrote, and of what was undone of it.
    own: dict[str, set[int]] = {}
    for move in reversed(
        [one for one in _moves(format, source, owner_at, found) if isinstance(one, Move)]
    ):
        try:
            found.written[move.verb] += await _take_out(
                book, move, _operation(run, move), own.setdefault(move.whose, set())
            )
        except StorageError:
            raise
        except (MemorandaError, LookupError) as exc:
            why = (
                "it was changed, or others build on it"
                if isinstance(exc, HasDependents)
                else str(exc)
            )
            found.left_out.append(Left(move.key, why))
    return found


def _run_of(format: str, source: Source) -> str:
    return hashlib.sha256(f"{format} {source.name}".encode()).hexdigest()[:12]


def _operation(run: str, move: Move) -> str:
    """Return the operation id of a move; a key that leaves no room for the id is written as its
    digest.
    """
    named = move.key
    if len(named) > _LONGEST_KEY:
        named = hashlib.sha256(named.encode()).hexdigest()
    # Documents of several collections may have the same id.
    return f"migrate {run} {move.verb} {named}"


def _moves(format: str, source: Source, owner_at: int, found: Migration) -> Iterator[Move | Left]:
    of, known = FORMATS[format], {"owner_at": owner_at}
    for collection, understood in of.collections.items():
        for number, doc in enumerate(source.documents(collection), 1):
            named = doc.get("_id") if isinstance(doc, dict) else None
            try:
                if understood != "*":
                    found.not_taken.update(
                        f"{collection}.{name}" for name in doc if name not in understood.split()
                    )
                yield from of.moves(collection, doc, known)
            except (AttributeError, KeyError, TypeError, ValueError) as exc:
                # Another program's document may have any form.
                why = f"it has not the form of this collection ({type(exc).__name__})"
                yield Left(str(named or f"{collection}, document {number}"), why)


async def _write(book: Book, move: Move, operation: str, trust: str) -> bool:
    """Write a move; return True if that was done before."""
    if move.verb == "thread":
        return await _write_thread(book, move, operation)
    trusted = {"trust": trust} if move.verb in _TRUSTED else {}
    receipt: Receipt = await attrgetter(move.verb)(book)(
        move.whose, **move.fields, **trusted, operation=operation
    )
    return receipt.repeated


async def _write_thread(book: Book, move: Move, operation: str) -> bool:
    ends = move.fields.get("expires_at")
    if (
        ends is not None
        and ends <= book.door.clock()
        # One that was written before stays as it is.
        and await book.records.operation(move.whose, operation, as_owner=True) is None
    ):
        raise InvalidInput("it has expired; to keep it, take expires_at out of the document")
    status = move.fields.get("status")
    fields = {name: value for name, value in move.fields.items() if name != "status"}
    thread = await book.thread(move.whose, **fields, operation=operation)
    for start in range(0, len(move.messages), _AT_ONCE):
        await thread.append(
            move.messages[start : start + _AT_ONCE], operation=f"{operation} {start}"
        )
    # Its last operation says that it is whole.
    whole = await thread.set(
        tags=["migrated"],
        **({"status": status} if status in ("paused", "completed", "failed") else {}),
        operation=f"{operation} whole",
    )
    return whole.repeated


async def _take_out(book: Book, move: Move, operation: str, own: set[int]) -> bool:
    """Undo a move; a thread, whose messages no undo reverses, is erased. Return False if there is
    nothing to take out.
    """
    if move.verb in ("agents.put", "experience.add"):
        raise InvalidInput("agents and their experience stay: change the agent, or retire the line")
    receipt = await book.records.operation(move.whose, operation, as_owner=True)
    if receipt is None or not receipt.items or all(item.erased for item in receipt.items):
        return False
    if move.verb == "thread":
        thread: ThreadHandle = await book.thread(move.whose, id=receipt.items[0].id, as_owner=True)
        if any(one.seq > len(move.messages) for one in await thread.newest(1)):
            raise InvalidInput("messages were added since")
        await book.forget(move.whose, ids=[thread.id], as_owner=True)
        return True
    how: dict[str, Any] = {"operation": f"{operation} undone", "as_owner": True}
    own.add(receipt.position)
    try:
        done = await book.undo(move.whose, receipt.position, **how)
    except HasDependents as exc:
        if not own.issuperset(exc.positions):
            raise
        # What builds on it is of this run, and was taken out just now.
        done = await book.undo(move.whose, receipt.position, with_dependents=True, **how)
    except Erased:
        return False
    own.add(done.position)
    return not done.repeated
