"""The portion that a run keeps with its job, so that nothing is read or bought twice."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, Self
from uuid import UUID

from pydantic import ValidationError

from memoranda.model.asking import ModelAnswer, Usage
from memoranda.model.forming import Reading
from memoranda.model.jobs import Job
from memoranda.model.ledger import USED
from memoranda.model.values import Moment, Value

#: The version of the stored form; a portion of another version is read again.
_FORM: Final = 1


class Portion(Value):
    """One portion of a thread as it was read, and the answers that were paid for."""

    form: int = _FORM
    #: The thread's watermark when it was read.
    after: int
    reading: Reading
    #: The most tokens of data in the prompt.
    budget: int
    #: In order; later answers correct earlier ones.
    answers: tuple[ModelAnswer, ...] = ()

    @classmethod
    def kept_with(cls, job: Job, after: int) -> Self | None:
        """Return the portion kept with a job for this watermark; None if there is none, or it is outdated."""
        if job.kept is None:
            return None
        try:
            kept = cls.model_validate(job.kept)
        except ValidationError:
            return None
        return kept if (kept.form, kept.after) == (_FORM, after) else None

    @property
    def now(self) -> datetime:
        """The time of reading; all records made from the portion have this time."""
        now: Moment = self.reading.now
        return now

    @property
    def through(self) -> int:
        """The place of its last message."""
        return max(message.seq for message in self.reading.new)

    def record_ids(self) -> tuple[UUID, ...]:
        """Return the ids of all records that the portion contains; erasing one of them deletes the portion."""
        reading = self.reading
        return (
            reading.thread.id,
            *(read.message.id for read in reading.messages),
            *(memory.id for memory in reading.candidates),
            *(document.id for document in reading.profiles),
            *(line.id for line in reading.experience),
        )

    def ledger_note(self) -> Mapping[str, Any]:
        """Return the note for the ledger: the usage of the answers."""
        usage = sum((answer.usage for answer in self.answers), Usage())
        return {USED: usage.model_dump(mode="json")} if usage.calls else {}

    def payload(self) -> Mapping[str, Any]:
        """Return the form in which it is stored."""
        return self.model_dump(mode="json")

    def with_answer(self, answer: ModelAnswer) -> Self:
        """Return the portion with one more answer."""
        return self.model_copy(update={"answers": (*self.answers, answer)})

    def without_answers(self, budget: int | None = None) -> Self:
        """Return the portion without answers, because none of them could be used."""
        return self.model_copy(update={"answers": (), "budget": budget or self.budget})
