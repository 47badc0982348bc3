"""Decides what a forgotten statement takes out of every read, until it is erased or the operation is undone."""

from __future__ import annotations

from memoranda.errors import NotFound
from memoranda.model.changes import Hide
from memoranda.model.ledger import HIDDEN, Verb
from memoranda.model.memories import Memory
from memoranda.model.messages import Message, Thread
from memoranda.model.profiles import Grounds, ProfileDocument
from memoranda.model.records import Record
from memoranda.model.redactions import dump_redactions
from memoranda.storage.damaged import Damaged
from memoranda.storage.decide.erasure_plan import plan_erasure
from memoranda.storage.decide.redaction import Removed
from memoranda.storage.decide.source_retraction import FAULTY
from memoranda.storage.decide.state import BatchState
from memoranda.storage.use_case import Deciding


def hide(state: BatchState, change: Hide) -> Deciding[None]:
    """Hide what an erasure of the same records and parts of records would remove."""
    plan = yield from plan_erasure(state.batch.view, change.ids, change.redactions, change.emptied)
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
    state.note[HIDDEN] = {"records": ids, "parts": dump_redactions(plan.redacted())}
    # Lines of agents' experience do not count it meanwhile; an undo of the operation restores that, too.
    state.note[FAULTY] = ids


def _as_shown(record: Record, left: Record, taken: Removed | None) -> Record | None:
    """Return a record that shows what an erasure would leave of it, but keeps its sources; None for one that shows the same."""
    if isinstance(left, Memory):
        words = record if taken is None else taken.left
        return words.changed(quotes=left.quotes)  # type: ignore[no-any-return]
    if isinstance(left, ProfileDocument):
        # Its groups of unlisted sources stay, so that an undo finds them.
        assert isinstance(record, ProfileDocument)
        shown = {"body": left.body, "grounds": _listed(record, left), "pinned": left.pinned}
        return record.changed(**shown)  # type: ignore[no-any-return]
    return left if isinstance(left, (Message, Thread)) else None


def _listed(record: ProfileDocument, left: ProfileDocument) -> dict[str, Grounds]:
    """Return the sources of the fields that are left; those of unchanged fields stay as they are listed."""
    return {
        name: record.grounds[name] if record.body[name] == left.body[name] else entries
        for name, entries in left.grounds.items()
    }
