"""The results of forming threads: parts with their records, parts left out, and the threads that
wait, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from datetime import datetime
from typing import Literal
from uuid import UUID

from memoranda.first_use import dataclass
from memoranda.model.changes import Job, JobState
from memoranda.model.language_models import Usage
from memoranda.model.ledger import LEFT_OUT_BECAUSE, ReceiptItem
from memoranda.model.memories import Memory

#: ``off``: the settings, or those of the thread's agent, say not to form it.
FormingState = Literal["formed", "waiting", "given_up", "off"]


def conversations_wait(count: int) -> str:
    """Return how many conversations wait to be formed, in words; empty if none does."""
    if not count:
        return ""
    return (
        "1 conversation waits to be formed"
        if count == 1
        else f"{count} conversations wait to be formed"
    )


def part_waits(job: Job) -> str:
    """Return in words which part of a thread waits because no answer could be used, until when, and
    the command for it.
    """
    thread, after, through = job.key.split(":")
    until = (
        "was given up"
        if job.state is JobState.DEAD
        else f"is asked about again at {job.run_at:%Y-%m-%d %H:%M} UTC"
    )
    why = job.error or job.payload.get("why", "")
    return (
        f"messages {int(after) + 1} to {through} of thread {thread} are not formed: {why}; the part "
        f"{until}; to ask now: memoranda jobs retry {job.id}"
    )


@dataclass(frozen=True, slots=True)
class LeftOutPart:
    """A part of a model's answer that was not kept."""

    #: Its place in the answer, such as ``notes[3]``; empty if it has none.
    part: str
    #: A stable word for programs.
    code: str

    @property
    def reason(self) -> str:
        """The reason in words; never what anybody said."""
        return LEFT_OUT_BECAUSE.get(self.code, LEFT_OUT_BECAUSE["invalid"])


@dataclass(frozen=True, slots=True)
class FormedPart:
    """A part of a thread that was formed in one operation."""

    #: The operation's place in the ledger.
    position: int
    at: datetime
    #: The number of the last message of the part.
    through: int
    #: The parts of the answer that were not kept.
    left_out: tuple[LeftOutPart, ...] = ()
    #: What was written, without what this view may not read.
    written: tuple[ReceiptItem, ...] = ()
    #: The schemas that a request asked for; empty where those of the thread's agent were filled.
    schemas: tuple[str, ...] = ()
    #: What language models used.
    usage: Usage = field(default_factory=Usage)
    #: Tokens of long turns of the assistant that the model was not shown.
    tokens_cut: int = 0


@dataclass(frozen=True, slots=True)
class FormedThread:
    """The state of a thread in forming, and a sequence of its formed parts."""

    thread: UUID
    state: FormingState
    #: The reason for its state, where something waits or nothing was done.
    because: str = ""
    #: The formed parts, oldest first.
    parts: tuple[FormedPart, ...] = ()
    #: When a waiting thread is formed, or tried again.
    due: datetime | None = None
    #: The job that is left.
    job: UUID | None = None

    def __iter__(self) -> Iterator[FormedPart]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    def __getitem__(self, place: int) -> FormedPart:
        return self.parts[place]

    def __repr__(self) -> str:
        why = f": {self.because}" if self.because else ""
        return f"<FormedThread {self.thread}, {self.state}{why}; parts {len(self)}>"


@dataclass(frozen=True, slots=True)
class FormingReport:
    """The result of forming threads on request."""

    #: Each thread with what was formed of it now.
    threads: tuple[FormedThread, ...]
    #: The memories that were made and that this view sees, oldest first.
    memories: tuple[Memory, ...] = ()

    @property
    def left_out(self) -> tuple[LeftOutPart, ...]:
        """The parts of models' answers that were not kept."""
        return tuple(one for thread in self.threads for part in thread for one in part.left_out)

    def __repr__(self) -> str:
        states = [thread.state for thread in self.threads]
        counts = ", ".join(f"{state} {states.count(state)}" for state in dict.fromkeys(states))
        why = "; ".join(dict.fromkeys(one.because for one in self.threads if one.because))
        told = (
            f"threads {counts or '0'}; memories {len(self.memories)}, left out {len(self.left_out)}"
        )
        return f"<FormingReport {told}{': ' if why else ''}{why}>"

    def __str__(self) -> str:
        left = [f"left out: {one.part} ({one.reason})" for one in self.left_out]
        return "\n".join([repr(self), *(f"- {one.content}" for one in self.memories), *left])
