"""Shows what a plan of a forgetting takes, and compares it with a later one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from uuid import UUID

from memoranda.model.beside.quotations import quote
from memoranda.model.messages import Message, Thread
from memoranda.model.profiles import ProfileDocument
from memoranda.model.records import Record
from memoranda.model.redactions import Trace, Traces

#: Why a record goes.
_NAMED: Final = "named"
_SAME: Final = "it says it, too"
_RESTS: Final = "it rests on what goes"


def shown_of(records: Mapping[UUID, Record], ids: Iterable[UUID], found: Traces) -> tuple[Trace, ...]:
    """Return these records as traces, as far as they could be read."""
    named, same = {memory.id for memory in found.memories}, set(found.ids)
    why = {id: _NAMED if id in named else _SAME if id in same else _RESTS for id in ids}
    return tuple(Trace(id, records[id].type, _text_of(records[id]), why[id]) for id in why if id in records)


def _text_of(record: Record) -> str:
    if isinstance(record, Message):
        return quote(record.content)
    if isinstance(record, Thread):
        return quote(record.title)
    if isinstance(record, ProfileDocument):
        return record.schema_name
    return quote(record.passage_text() or "")


def differences_of(shown: Traces, found: Traces) -> list[str]:
    """Return what is not as it was shown, one line for each sort of difference."""
    spans = [{(one.name, one.version, one.text) for one in traces.spans} for traces in (shown, found)]
    records = [{one.message for one in traces.spans} for traces in (shown, found)]
    ids, goes = (
        (set(found.ids) ^ set(shown.ids)),
        ({one.id for one in found.goes} ^ {one.id for one in shown.goes}),
    )
    lines = []
    if new := records[1] - records[0]:
        lines.append(f"these records tell it as well: {', '.join(sorted(map(str, new)))}")
    if spans[0] - spans[1]:
        gone = sorted({str(name).partition(":")[0] for name, _, _ in spans[0] - spans[1]})
        lines.append(f"parts of these records are not as they were: {', '.join(gone)}")
    elif not new and spans[1] - spans[0]:
        lines.append(f"{len(spans[1] - spans[0])} more parts of the same records tell it")
    if ids:
        lines.append(f"these records say the same, or did: {', '.join(sorted(map(str, ids)))}")
    elif goes:
        lines.append(f"these records would go, or would not any more: {', '.join(sorted(map(str, goes)))}")
    return lines


def changed_since(differences: Sequence[str]) -> str:
    return f"plan: what was shown has changed since: {'; '.join(differences)}; nothing was forgotten; look again, then decide"
