"""The job that each hidden forgetting leaves: it erases when it is due, or waits until somebody
decides.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Final
from uuid import UUID

from memoranda.model.book_rows import JobPiece
from memoranda.model.changes import FINISH_FORGETTING, Batch, Hide, JobDraft
from memoranda.model.ledger import HIDDEN, Entry
from memoranda.storage.decide.state import Decision
from memoranda.storage.questions import EntriesAt, ErasedAmong
from memoranda.storage.upkeep_questions import JobsAbout
from memoranda.storage.use_case import Deciding, ask

#: Longer than any clock goes: the job is due at the last moment that a book can store.
_NEVER: Final = 1e15
#: Undone, and the undoing undone, and so on: as far as that is followed back.
_MOST_TURNS: Final = 100


def hidden_jobs(
    batch: Batch, decision: Decision, position: int
) -> Deciding[tuple[list[JobDraft], list[bytes]]]:
    """Return the jobs that a batch adds because it hides something, and those that it ends because
    it undoes that.
    """
    hides = [change for change in batch.changes if isinstance(change, Hide)]
    if hides:
        ids = [put.record.id for put in decision.puts]
        return ([_draft(position, ids, hides[-1].finish_after)] if ids else []), []
    drafts: list[JobDraft] = []
    ended: list[bytes] = []
    waiting = [(position, True) for position in _undone(decision.note)]
    for _ in range(_MOST_TURNS):
        if not waiting:
            break
        position, is_back = waiting.pop()
        for entry in (yield from ask(EntriesAt((position,)))):
            if HIDDEN in entry.note and is_back:
                ended += yield from _jobs_of(entry)
            elif HIDDEN in entry.note:
                drafts.append(
                    _draft(position, [line.id for line in entry.lines if not line.erased], None)
                )
            waiting += [(before, not is_back) for before in _undone(entry.note)]
    return drafts, ended


def ended_jobs(
    about: Iterable[JobPiece], erased: Collection[bytes], finished: int
) -> Deciding[set[bytes]]:
    """Return those of these jobs that an erasure ends: of the operation it finishes, and of those
    of which nothing is left.
    """
    ended = set()
    for job in about:
        if job.kind != FINISH_FORGETTING:
            continue
        left = tuple(UUID(bytes=id) for id in job.records if id not in erased)
        if (
            job.key == str(finished)
            or not left
            or set((yield from ask(ErasedAmong(left)))) >= set(left)
        ):
            ended.add(job.id)
    return ended


def _draft(position: int, ids: Iterable[UUID], seconds: float | None) -> JobDraft:
    return JobDraft(
        FINISH_FORGETTING,
        str(position),
        payload={"decided": seconds is not None},
        records=tuple(ids),
        delay=_NEVER if seconds is None else seconds,
    )


def _undone(note: Any) -> list[int]:
    """Return the positions that an operation undid; an import may bring a note that no book
    wrote.
    """
    found = note.get("undoes", ())
    return [one for one in found if type(one) is int] if isinstance(found, (list, tuple)) else []


def _jobs_of(entry: Entry) -> Deciding[list[bytes]]:
    about = yield from ask(JobsAbout(tuple(line.id for line in entry.lines)))
    return [
        job.id for job in about if (job.kind, job.key) == (FINISH_FORGETTING, str(entry.position))
    ]
