"""Progress: what a run keeps with its job, so that nothing is read or bought twice."""

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

#: Kept by another version it says something else, and is read anew.
_FORM: Final = 1


class Progress(Value):
    """One portion of a thread as it was read, and the answers that were bought for it."""

    form: int = _FORM
    #: The watermark on which it builds.
    after: int
    reading: Reading
    #: Tokens of data that the prompt may hold.
    budget: int
    #: In their order; the last ones mend what was wrong with those before.
    answers: tuple[ModelAnswer, ...] = ()

    @classmethod
    def of(cls, job: Job, after: int) -> Self | None:
        """What was kept with a job for what stands behind a watermark; None where nothing was, or it is past."""
        if job.kept is None:
            return None
        try:
            kept = cls.model_validate(job.kept)
        except ValidationError:
            return None
        return kept if (kept.form, kept.after) == (_FORM, after) else None

    @property
    def now(self) -> datetime:
        """When it was read: what is made of it has this time, however late it is made."""
        now: Moment = self.reading.now
        return now

    @property
    def through(self) -> int:
        """The place of its last message."""
        return max(message.seq for message in self.reading.new)

    def records(self) -> tuple[UUID, ...]:
        """All that it tells of: it goes with any of them."""
        reading = self.reading
        return (
            reading.thread.id,
            *(read.message.id for read in reading.messages),
            *(memory.id for memory in reading.candidates),
            *(document.id for document in reading.profiles),
            *(line.id for line in reading.experience),
        )

    def note(self) -> Mapping[str, Any]:
        """What the ledger says of it: what the answers used."""
        usage = sum((answer.usage for answer in self.answers), Usage())
        return {USED: usage.model_dump(mode="json")} if usage.calls else {}

    def payload(self) -> Mapping[str, Any]:
        """As it is kept."""
        return self.model_dump(mode="json")

    def with_answer(self, answer: ModelAnswer) -> Self:
        """The same, with one answer more."""
        return self.model_copy(update={"answers": (*self.answers, answer)})

    def afresh(self, budget: int | None = None) -> Self:
        """The same without answers: none of them was of use."""
        return self.model_copy(update={"answers": (), "budget": budget or self.budget})
