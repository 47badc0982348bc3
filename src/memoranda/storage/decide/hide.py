"""Decides what a forgotten statement takes out of every read, until it is erased or undone; and
plans that erasure.
"""

from __future__ import annotations

from uuid import UUID

from memoranda.errors import Conflict, NotFound
from memoranda.model.changes import Hide
from memoranda.model.items import Item
from memoranda.model.ledger import HIDDEN, Actor, Verb
from memoranda.model.memories import Memory
from memoranda.model.messages import Episode, Message, Overflow, Thread
from memoranda.model.profiles import Grounds, ProfileDocument
from memoranda.model.records import Record, View
from memoranda.model.redactions import as_now, dump_redactions, load_redactions
from memoranda.storage.damaged import Damaged
from memoranda.storage.decide.erasure_plan import ErasurePlan, follow, plan_erasure
from memoranda.storage.decide.redaction import Redactable, Removed, hidden_from, statements_of
from memoranda.storage.decide.source_retraction import FAULTY
from memoranda.storage.decide.state import BatchState, load_erasable
from memoranda.storage.questions import EntriesAt, VersionOf
from memoranda.storage.use_case import Deciding, ask


def hide(state: BatchState, change: Hide) -> Deciding[None]:
    """Hide what an erasure of the same records and parts of records would remove."""
    plan = yield from plan_erasure(
        state.batch.view, state.batch.actor, change.ids, change.redactions, change.emptied
    )
    if plan.unknown:
        named = ", ".join(map(str, plan.unknown))
        raise NotFound(f"ids: this view sees no record {named}, and nothing was forgotten")
    own = [one for one in plan.doomed.values() if one.owner == state.batch.owner]
    whole = [one for one in own if not (one.withdrawn or isinstance(one, Damaged))]
    for record in whole:
        state.loaded[record.id] = record
        state.put(record.changed(withdrawn=True), Verb.HIDE)
    for id, left in plan.stripped.items():
        if left.owner != state.batch.owner:
            continue
        yield from state.fetch((id,))
        earlier = state.current(id)
        taken = plan.removed.get(id)
        shown = None if earlier is None else _as_shown(earlier, left, taken)
        if earlier is not None and shown is not None and shown != earlier:
            state.put(shown.following(earlier), Verb.HIDE)
    ids = [str(record.id) for record in whole]
    parts = dump_redactions(plan.redacted())
    state.note[HIDDEN] = {"records": ids, "named": [str(id) for id in change.ids], "parts": parts}
    # Lines of agents' experience do not count it meanwhile; an undo of the operation restores that,
    # too.
    state.note[FAULTY] = ids


def plan_hidden(view: View, actor: Actor, position: int) -> Deciding[ErasurePlan]:
    """Plan the erasure of what the operation at a position of the ledger has hidden."""
    entry = next(iter((yield from ask(EntriesAt((position,))))), None)
    if entry is None or HIDDEN not in entry.note or not (view.whole or entry.actor == actor):
        raise NotFound(
            f"receipt: no operation at position {position} hid anything that this view may erase; pass the receipt of forget"
        )
    plan = ErasurePlan()
    parts = list(load_redactions(entry.note[HIDDEN]["parts"]))
    records = yield from load_erasable(
        [line.id for line in entry.lines] + [one.message for one in parts]
    )
    whole = {UUID(id) for id in entry.note[HIDDEN]["records"]}
    plan.remade = [one for one in parts if one.of_version is not None]
    now = [
        one
        for one in parts
        if one.of_version is None and not plan.takes_earlier(records.get(one.message), one)
    ]
    spans = {one.message: one.spans for one in now}
    fact = statements_of(
        records[id] for id in map(UUID, entry.note[HIDDEN]["named"]) if id in records
    )
    for line in entry.lines:
        record = records.get(line.id)
        if record is None:
            continue
        left = (
            as_now(spans.get(line.id, ()), record.removed) if isinstance(record, Redactable) else ()
        )
        if left or (line.id in whole and not record.withdrawn):
            raise Conflict(
                f"position {position} was undone, so nothing of it is erased; forget again to take it out"
            )
        if line.id in whole:
            plan.doomed[line.id] = record
            continue
        if line.hash is None:
            # It was done before: the ledger has no digest of it any more.
            continue
        plan.stripped.setdefault(line.id, record)
        if isinstance(record, Episode | Thread):
            plan.looked_through.add(line.id)
        earlier = (yield from ask(VersionOf(line.id, line.before))) if line.id in spans else None
        if isinstance(record, Redactable) and isinstance(earlier, Redactable):
            plan.removed[line.id] = hidden_from(record, earlier, spans[line.id], fact)
    yield from follow(plan, ())
    return plan


def _as_shown(record: Record, left: Record, taken: Removed | None) -> Record | None:
    """Return a record that shows what an erasure would leave of it, but keeps its sources; None for
    one that shows the same.
    """
    if isinstance(left, Memory):
        words = record if taken is None else taken.left
        return words.changed(quotes=left.quotes)  # type: ignore[no-any-return]
    if isinstance(left, ProfileDocument):
        # Its groups of unlisted sources stay, so that an undo finds them.
        assert isinstance(record, ProfileDocument)
        shown = {"body": left.body, "grounds": _listed(record, left), "pinned": left.pinned}
        return record.changed(**shown)  # type: ignore[no-any-return]
    return left if isinstance(left, (Message, Item, Thread, Episode, Overflow)) else None


def _listed(record: ProfileDocument, left: ProfileDocument) -> dict[str, Grounds]:
    """Return the sources of the fields that are left; those of unchanged fields stay as they are
    listed.
    """
    return {
        name: record.grounds[name] if record.body[name] == left.body[name] else entries
        for name, entries in left.grounds.items()
    }
