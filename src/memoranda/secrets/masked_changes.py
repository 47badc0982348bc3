"""Changes with masks in place of secrets, as they are stored where secrets are masked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from memoranda.model import changes as c
from memoranda.model.items import PutItem
from memoranda.model.messages import KeepTaskSummary, SummariseThread
from memoranda.secrets.masks import (
    masked,
    masked_data,
    masked_quotes,
    masked_record,
    masked_summary,
)

_Field = Callable[[Any], Any]


def _record(record: Any) -> Any:
    return None if record is None else masked_record(record)


#: The fields of each change that hold text. Names of agents, schemas and keys are an operator's,
#: and stay.
_FIELDS: Final[Mapping[type[Any], Mapping[str, _Field]]] = {
    c.OpenThread: {"thread": _record},
    c.Append: {"messages": lambda messages: tuple(map(masked_record, messages))},
    c.SetThread: {"fields": masked_data},
    c.CloseThread: {"result": masked_data, "episode": _record},
    c.MarkFormed: {"title": masked},
    SummariseThread: {"summary": masked},
    KeepTaskSummary: {"summary": masked_summary},
    c.RecordEpisode: {"episode": _record},
    c.Remember: {"memory": _record},
    c.Confirm: {"quotes": masked_quotes},
    c.Retract: {"reason": masked},
    c.RetractSource: {"reason": masked},
    c.RetireExperience: {"reason": masked},
    c.Amend: {"fields": masked_data},
    c.PatchProfile: {"set": masked_data, "again": masked_data},
    c.AddExperience: {"line": _record},
    c.Import: {"record": _record},
    PutItem: {"item": _record},
}


def masked_change(change: c.Change) -> c.Change:
    """Return a change with masks in place of the secrets that it would store."""
    fields = _FIELDS.get(type(change), {})
    return (
        replace(
            change, **{name: masking(getattr(change, name)) for name, masking in fields.items()}
        )
        if fields
        else change
    )
