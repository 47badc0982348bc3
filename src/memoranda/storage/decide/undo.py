"""Undo: a new operation reverses an earlier one, on request together with the changes that depend
on it.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from memoranda.errors import Conflict, Erased, HasDependents, InvalidInput, NotAllowed, NotFound
from memoranda.model.changes import Undo
from memoranda.model.ledger import Entry, Line, Verb
from memoranda.model.memories import Memory, MemoryStatus
from memoranda.model.messages import Thread
from memoranda.model.records import Record, RecordType, Trust
from memoranda.storage.decide.protection import check_external_ids, protected_from_act, trust_of_act
from memoranda.storage.decide.source_lists import as_it_was, sources_among
from memoranda.storage.decide.state import BatchState, holders
from memoranda.storage.questions import EntriesAt, InThread, PositionsTouching, RestingOn, VersionOf
from memoranda.storage.use_case import Deciding, ask

#: Operations that cannot be undone; appended messages, whose error names what to do, are refused
#: apart.
_FINAL = {
    Verb.ERASE: "an erasure cannot be undone",
    Verb.AGE: "messages removed by age cannot be restored",
    Verb.UNSOURCE: "an erasure cannot be undone",
    Verb.REDACT: "an erasure cannot be undone",
    Verb.IMPORT: "an import cannot be undone; forget the imported records by their ids",
}


#: Lines of memories that were archived or came back: nothing builds on them, and each is reversed
#: by itself.
_KEEPING = (Verb.ARCHIVE, Verb.RESTORE)


def undo(state: BatchState, change: Undo) -> Deciding[None]:
    """Reverse the operation at a position of the owner's ledger."""
    if len(state.batch.changes) > 1:
        raise InvalidInput(
            "an undo must be the only change of its operation; send it alone", field="changes"
        )
    if change.applied_at is not None:
        yield from _undo_each(state, change)
        return
    entries = yield from _closure(state, change)
    lines = _earliest_lines(entries)
    yield from _refuse_undone(change.position, entries)
    if not lines and any(entry.lines for entry in entries):
        raise InvalidInput(
            f"position {change.position} only advanced formation progress or a summary; such operations cannot be undone",
            field="position",
        )
    for line in lines:
        yield from (_turn_back if line.verb in _KEEPING else _restore)(state, line, change.position)
    yield from _check_slots(state)
    yield from check_external_ids(state)
    state.note["undoes"] = [entry.position for entry in entries]


def _undo_each(state: BatchState, change: Undo) -> Deciding[None]:
    """Reverse what an operation of another owner changed here; what was changed or erased since
    stays, and is named.
    """
    for entry in (yield from ask(EntriesAt((change.position,)))):
        # After an erasure of the owner the positions begin again.
        for line in entry.lines if entry.at == change.applied_at else ():
            yield from state.fetch((line.id,))
            yield from _turn_back(state, line, change.position)
    yield from _check_slots(state)


def _deeds(entry: Entry) -> list[Line]:
    """Return an entry's ledger lines, except lines that only advanced formation progress or a
    summary.

    Formed records can be undone, but the watermark stays: if it moved back, the same messages would
    be formed again.
    """
    return [line for line in entry.lines if line.verb is not Verb.FORM]


def _closure(state: BatchState, change: Undo) -> Deciding[list[Entry]]:
    """Return the operations to reverse: the requested one and, with ``with_dependents``, all that
    depend on it.
    """
    positions = {change.position}
    while True:
        entries = yield from ask(EntriesAt(tuple(sorted(positions))))
        if not entries:
            raise _unknown(change.position)
        yield from _check(state, entries, change.position)
        later = (yield from _later(state, entries)) - positions
        if not later:
            return entries
        if not change.with_dependents:
            yield from _refuse_second_undo(change.position, later)
            raise HasDependents(
                (yield from _dependents(change.position, later)), positions=sorted(later)
            )
        positions |= later


def _dependents(position: int, later: set[int]) -> Deciding[str]:
    """Return the text of the error that later changes depend on a position; it names those that no
    undo removes.
    """
    entries = yield from ask(EntriesAt(tuple(sorted(later))))
    said = [
        str(entry.position)
        for entry in entries
        if any(line.verb is Verb.APPEND for line in entry.lines)
    ]
    if said:
        return (
            f"position {position} cannot be undone: later changes depend on it, and position {', '.join(said)} appended "
            "messages, which no undo removes; forget these messages or their thread instead"
        )
    for entry in entries:
        for line in entry.lines:
            if line.verb in _FINAL:
                return (
                    f"position {position} cannot be undone: position {entry.position} changed the same since, and "
                    f"{_FINAL[line.verb]}; correct the records instead"
                )
    listed = ", ".join(str(each) for each in sorted(later))
    return (
        f"position {position} cannot be undone alone: later changes depend on it ({listed}); undo them first, or all of them "
        "together, with with_dependents=True"
    )


def _unknown(position: int) -> NotFound:
    """Return the error for a position that is not there, or that changed records which the view may
    not see.
    """
    return NotFound(
        f"position: this view may undo no position {position}; check the owner and the position, or use the owner's view"
    )


def _refused(position: int) -> NotAllowed:
    return NotAllowed(
        f"position {position} is the person's or an operator's own: only they undo it; ask with as_owner=True"
    )


def _check(state: BatchState, entries: list[Entry], wanted: int) -> Deciding[None]:
    yield from state.fetch(line.id for entry in entries for line in entry.lines)
    for entry in entries:
        own = state.batch.view.whole or entry.actor == state.batch.actor
        for line in entry.lines:
            record = state.current(line.id)
            # The readers of an erased record are not known any more; its author may learn that it
            # was erased.
            if not own if record is None else not record.audience.readable_by(state.batch.view):
                raise _unknown(wanted)
        if entry.actor.kind == "owner" and not own and trust_of_act(state) is not Trust.OPERATOR:
            raise _refused(entry.position)
    deeds = [(entry.position, line) for entry in entries for line in _deeds(entry)]
    for position, line in deeds:
        if line.verb is Verb.APPEND:
            what = f"position {wanted}"
            if position != wanted:
                what = f"a later change that depends on {what}"
            raise InvalidInput(
                f"position: {what} appended messages, which cannot be undone; forget them by their ids, with what was "
                "concluded from them alone, or use retract_source to keep them and take back only what was concluded",
                field="position",
            )
        if line.verb in _FINAL:
            raise InvalidInput(f"position: {_FINAL[line.verb]}", field="position")
        if line.erased and line.verb not in _KEEPING:
            raise Erased(
                "records of this operation were erased since, so it cannot be undone; retract the remaining ones instead"
            )


def _later(state: BatchState, entries: list[Entry]) -> Deciding[set[int]]:
    """Return later ledger positions that depend on these entries: they changed the same or derived
    records.
    """
    first: dict[UUID, int] = {}
    for entry in entries:
        for line in _deeds(entry):
            if line.verb not in _KEEPING:
                first.setdefault(line.id, entry.position)
    built: set[int] = set()
    for id, position in first.items():
        touching = {each for each in (yield from ask(PositionsTouching((id,)))) if each > position}
        built |= (yield from _but_upkeep(touching, id)) if touching else touching
    for entry in entries:
        for line in (line for line in entry.lines if line.before == 0):
            living = yield from _resting_on(state, line, first)
            built.update(
                each
                for each in (yield from ask(PositionsTouching(living)))
                if each > entry.position
            )
    return built


def _but_upkeep(positions: set[int], id: UUID) -> Deciding[set[int]]:
    """Return those of a record's ledger positions that did more than archive it or advance its
    formation progress.
    """
    entries = yield from ask(EntriesAt(tuple(sorted(positions))))
    return {
        entry.position
        for entry in entries
        if any(line.id == id and line.verb not in _KEEPING for line in _deeds(entry))
    }


def _resting_on(
    state: BatchState, made: Line, known: dict[UUID, int]
) -> Deciding[tuple[UUID, ...]]:
    """Return the records derived from a record that an operation made; for a thread, also the
    records in it.
    """
    resting: list[Record] = []
    for cites in (yield from ask(RestingOn((made.id,)))):
        if (yield from sources_among(state, cites, (made.id,))):
            resting.append(cites)
    if made.type is RecordType.THREAD:
        inside = yield from ask(InThread(made.id))
        yield from state.fetch(inside)
        resting += [record for id in inside if (record := state.current(id)) is not None]
    return tuple(record.id for record in resting if _stands(record) and record.id not in known)


def _stands(record: Record) -> bool:
    return not record.withdrawn and not (
        isinstance(record, Memory) and record.status is MemoryStatus.UNDONE
    )


def _refuse_second_undo(position: int, later: set[int]) -> Deciding[None]:
    for entry in (yield from ask(EntriesAt(tuple(sorted(later))))):
        if position in entry.note.get("undoes", ()):
            raise Conflict(
                f"position {position} was already undone by position {entry.position}; undo that one to restore it"
            )


def _earliest_lines(entries: list[Entry]) -> list[Line]:
    """Return the first line of each record; the version before that line is restored."""
    first: dict[UUID, Line] = {}
    for entry in entries:
        for line in _deeds(entry):
            first.setdefault(line.id, line)
    return list(first.values())


def _restore(state: BatchState, line: Line, position: int) -> Deciding[None]:
    record = state.current(line.id)
    assert record is not None
    if isinstance(record, Memory) and (yield from protected_from_act(state, record)):
        raise _refused(position)
    if line.before == 0:
        restored = _unmade(record)
    else:
        earlier = yield from ask(VersionOf(line.id, line.before))
        if earlier is None:
            raise Erased(
                "the version before this operation was erased since and cannot be restored; change the record instead"
            )
        restored = earlier
        if isinstance(record, Thread) and isinstance(earlier, Thread):
            made = yield from ask(VersionOf(line.id, line.after))
            restored = _with_progress(earlier, made if isinstance(made, Thread) else record, record)
        restored = yield from as_it_was(state, record, restored)
    state.put(restored, Verb.UNDO)


def _turn_back(state: BatchState, line: Line, _: int) -> Deciding[None]:
    """Reverse one change of a record by itself; what was changed or erased since stays, and is
    named.
    """
    memory, earlier = state.current(line.id), None
    if memory is not None and not line.erased:
        earlier = _unmade(memory)
        if line.before:
            earlier = yield from ask(VersionOf(line.id, line.before))
    if memory is None or earlier is None:
        state.ignore("erased", line.id)
    elif memory.version == line.after:
        state.put((yield from as_it_was(state, memory, earlier)), Verb.UNDO)
    elif (
        isinstance(memory, Memory)
        and memory.active
        and memory.archived
        and line.verb is Verb.ARCHIVE
    ):
        state.put(memory.changed(archived=False, reason=""), Verb.UNDO)
    else:
        state.ignore("changed", line.id)


def _refuse_undone(position: int, entries: list[Entry]) -> Deciding[None]:
    """Raise ``Conflict`` if an undo turned back before what these entries archived."""
    kept = tuple(line.id for entry in entries for line in entry.lines if line.verb in _KEEPING)
    touching = (yield from ask(PositionsTouching(kept))) if kept else ()
    if later := {each for each in touching if each > position}:
        yield from _refuse_second_undo(position, later)


#: What formation makes of a thread: fields that belong together.
_FORMED = (
    ("summary", "summary_through"),
    ("task_summary",),
    ("prepared",),
    ("title", "title_through"),
)


def _with_progress(earlier: Thread, made: Thread, now: Thread) -> Thread:
    """Return an earlier version of a thread with the progress of formation since.

    What the undone operation itself changed, as hiding and its undo do, goes back unless it was
    made anew since.
    """
    fields: dict[str, Any] = {"formed_through": now.formed_through}
    for names in _FORMED:
        before, after, held = (
            {name: getattr(one, name) for name in names} for one in (earlier, made, now)
        )
        is_set_by_hand = "title" in names and not now.title_through
        fields |= before if is_set_by_hand or (before != after and held == after) else held
    return earlier.changed(**fields)  # type: ignore[no-any-return]


def _unmade(record: Record) -> Record:
    if isinstance(record, Memory):
        return record.changed(status=MemoryStatus.UNDONE)  # type: ignore[no-any-return]
    return record.changed(withdrawn=True)  # type: ignore[no-any-return]


def _check_slots(state: BatchState) -> Deciding[None]:
    """Raise ``Conflict`` if a restored record's key or name is another's, or two records would be
    restored with one.
    """
    puts = state.puts()
    slots: dict[bytes, Record] = {}
    for put in puts:
        wanted, slot = put.record, put.record.slot()
        if slot is not None and (other := slots.setdefault(slot, wanted)) is not wanted:
            raise Conflict(
                f"position: {wanted.type.value} {other.id} and {wanted.id} would come back with the same "
                f"{_kind_of_slot(wanted)}; undo the operations that replaced them one by one, the last one first"
            )
    held = yield from holders(slots.values())
    moved = {put.record.id for put in puts}
    for slot, holder in held.items():
        if holder.id not in moved:
            what = _kind_of_slot(slots[slot])
            raise Conflict(
                f"position: {holder.type.value} {holder.id} has the same {what} now; change or retract that one first"
            )


def _kind_of_slot(record: Record) -> str:
    return "key" if record.type is RecordType.MEMORY else "name"
