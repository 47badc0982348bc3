"""Jobs as the rows that engines store."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any
from uuid import UUID

from memoranda.model.changes import JobDraft
from memoranda.model.values import due_at, micros, new_id

_spell = json.JSONEncoder(ensure_ascii=False).encode

#: Seconds that are longer than any wait; in microseconds they still fit into a column.
_LONGEST_WAIT = 1e12


def job_columns(draft: JobDraft, at: datetime, id: UUID | None) -> dict[str, Any]:
    """Return the parameters of the statement that adds a job, except its owner and records."""
    wait = draft.max_wait
    return {
        "id": (id or new_id()).bytes,
        "kind": draft.kind,
        "key": draft.key,
        "payload": _spell(draft.payload),
        "at": micros(at),
        "run_at": micros(due_at(at, draft.delay)),
        "max_wait": None if wait is None else int(min(wait, _LONGEST_WAIT) * 1_000_000),
        "insists": draft.insists,
        "keeps": draft.keeps_payload,
    }
