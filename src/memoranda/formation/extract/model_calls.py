"""Calls language models within budgets; each answer is stored with its job before it is used, to be
paid only once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, Self
from uuid import UUID

from pydantic import ValidationError

from memoranda import telemetry
from memoranda.errors import LimitReached, ModelDown, ModelRefused
from memoranda.formation.budget import BudgetCheck
from memoranda.formation.extract.by_model import evaluate_answers, next_request
from memoranda.formation.extract.instructions import PROMPT_VERSION
from memoranda.formation.extract.prompt import Prompt, compose
from memoranda.formation.extract.summary import summary_in, summary_request
from memoranda.formation.prompts.turn_lines import tokens_cut
from memoranda.formation.schemas.bound_fields import UNSTORED
from memoranda.formation.schemas.definitions import schema_of
from memoranda.model.changes import GivenUp, Job, Postponed, UnusableReply
from memoranda.model.drafts import Formed, Reading
from memoranda.model.language_models import ModelAnswer, ModelRequest, Spent, Usage
from memoranda.model.ledger import PROMPT, TOKENS_CUT, USED
from memoranda.model.messages import Message, Thread
from memoranda.model.profiles import ProfileDocument, all_of
from memoranda.model.records import Limits, Owner
from memoranda.model.values import Moment, Value
from memoranda.ports import Clock, Jobs, Models, Spending
from memoranda.text.token_count import estimate


class Portion(Value):
    """A portion (the part of a thread that one prompt covers) as it was read, and the model's
    answers so far.
    """

    #: The version of the prompt that the answers were given to; for another version they are not
    #: used.
    form: int = PROMPT_VERSION
    #: The thread's watermark when it was read.
    after: int
    reading: Reading
    #: The most tokens of data in the prompt.
    budget: int
    #: In order; later answers correct earlier ones.
    answers: tuple[ModelAnswer, ...] = ()

    @classmethod
    def kept_with(cls, job: Job, after: int) -> Self | None:
        """Return the portion stored with a job; None unless it begins after message ``after`` in
        the current format.
        """
        if job.kept is None:
            return None
        try:
            kept = cls.model_validate(job.kept)
        except ValidationError:
            return None
        return kept if (kept.form, kept.after) == (PROMPT_VERSION, after) else None

    @property
    def now(self) -> datetime:
        """The time at which the portion was read; all records made from it have this time."""
        now: Moment = self.reading.now
        return now

    @property
    def through(self) -> int:
        """The number, in the thread, of the portion's last message."""
        return max(message.seq for message in self.reading.new)

    def record_ids(self) -> tuple[UUID, ...]:
        """Return the ids of all records that the portion contains; erasing one of them deletes the
        portion.
        """
        reading = self.reading
        return (
            reading.thread.id,
            *(read.message.id for read in reading.messages),
            *(memory.id for memory in reading.candidates),
            *(id for document in reading.profiles for id in self._ids_of(document)),
            *(line.id for line in reading.experience),
        )

    def _ids_of(self, document: ProfileDocument) -> Iterator[UUID]:
        """Yield the ids of what a document shows: its own where it is stored, and the memories of
        its bound fields.
        """
        if document.version != UNSTORED:
            yield document.id
        schema = next(
            (one for one in self.reading.schemas if one.name == document.schema_name), None
        )
        for name in () if schema is None else schema_of(schema).keys:
            yield from all_of({name: document.grounds.get(name, ())})

    def ledger_note(self) -> Mapping[str, Any]:
        """Return the note for the ledger (the log of all changes): what the model's answers
        used.
        """
        usage = sum((answer.usage for answer in self.answers), Usage())
        if not usage.calls:
            return {}
        cut = tokens_cut([read.message for read in self.reading.messages])
        told = {TOKENS_CUT: cut} if cut else {}
        return {USED: usage.model_dump(mode="json"), PROMPT: self.form, **told}

    def payload(self) -> Mapping[str, Any]:
        """Return the portion as it is stored with the job."""
        return self.model_dump(mode="json")

    def with_answer(self, answer: ModelAnswer) -> Self:
        """Return the portion with one more answer of the model."""
        return self.model_copy(update={"answers": (*self.answers, answer)})

    def without_answers(self, budget: int | None = None) -> Self:
        """Return the portion without answers, because none of them could be used."""
        return self.model_copy(update={"answers": (), "budget": budget or self.budget})


#: Seconds before a provider that failed is asked again: the first pause, and the longest.
_FIRST_PAUSE, _LONGEST_PAUSE = 15.0, 600.0
#: The pause if a person has to act first.
_UNTIL_SOMEONE_ACTS: Final = timedelta(minutes=10)
_NEEDS_A_PERSON: Final = frozenset({"credentials", "model", "quota"})
#: The smallest budget of a prompt, in tokens.
_LEAST_BUDGET: Final = 500
#: After this many rounds of useless answers the job is given up.
_MOST_ROUNDS: Final = 3
_GROWTH: Final = 8
_MOST_KNOWN: Final = 10_000
#: The key under which a paid summary is kept with its job.
SUMMARY: Final = "summary"


class UselessAnswers(Exception):
    """None of the model's answers in one round of corrections could be used."""


@dataclass(slots=True)
class _Outage:
    """The pause while a model's provider does not answer; all jobs share it."""

    failures: int = 0
    until: datetime | None = None
    reason: str = ""

    def note(self, now: datetime, failed: ModelDown) -> datetime:
        pause = min(_FIRST_PAUSE * 2.0 ** min(self.failures, _GROWTH), _LONGEST_PAUSE)
        self.failures += 1
        self.reason = str(failed)
        self.until = now + timedelta(seconds=max(pause, failed.retry_after or 0.0))
        return self.until

    def clear(self) -> None:
        self.failures, self.until, self.reason = 0, None, ""


@dataclass(slots=True)
class RunUsage:
    """The usage of all model calls of one run so far."""

    usage: Usage = field(default_factory=Usage)


@dataclass(slots=True)
class ModelCalls:
    """Calls models, and stores their answers with the job."""

    models: Models
    jobs: Jobs
    budget: BudgetCheck
    clock: Clock
    spending: Spending
    _outage: _Outage = field(default_factory=_Outage)
    #: Thread → how many turns must wait before a summary is requested again after a useless one.
    _useless: dict[UUID, int] = field(default_factory=dict)

    async def formed(
        self, job: Job, portion: Portion, answer_tokens: int, run: RunUsage, limits: Limits
    ) -> tuple[Portion, Formed]:
        """Return what the model extracts from a portion; stored answers are used before the model
        is asked again.
        """
        prompt = _prompt(portion)
        while True:
            state = await asyncio.to_thread(evaluate_answers, prompt, portion.answers, limits)
            if state.formed is not None and not state.faults:
                return portion, state.formed
            if state.refused or (portion.answers and not state.faults):
                await self._discard_round(job, portion, refused=state.refused)
            request = next_request(prompt, portion.answers, state.faults, answer_tokens)
            try:
                begun, answer = await self._ask(request, portion, run)
            except ModelRefused as refused:
                if state.formed is not None and not state.formed.empty:
                    # The faults cannot be corrected; the valid parts are used. That is kept, so
                    # that a job which waits and is tried again does not ask for the correction
                    # again.
                    portion = portion.with_answer(
                        ModelAnswer(text="", fault=str(refused), refused=True)
                    )
                    await self._keep(job, portion)
                    return portion, state.formed
                if refused.reason != "length" or portion.budget // 2 < _LEAST_BUDGET:
                    raise UnusableReply(str(refused)) from refused
                portion = self._shorter(portion)
                prompt = _prompt(portion)
                continue
            portion = portion.with_answer(answer)
            await self._keep(job, portion, begun.answered(answer.usage))

    async def summary(
        self, job: Job, thread: Thread, messages: Sequence[Message], waiting: int, run: RunUsage
    ) -> tuple[str, int]:
        """Return a new summary of a thread and the number of the last message that it covers.

        The summary is empty if the model gave none; then the model is asked again only when twice
        as many turns wait.
        """
        through = messages[-1].seq
        kept = _kept_summary(job, thread.summary_through, through)
        if kept is not None:
            return kept
        if waiting < self._useless.get(thread.id, 0):
            return "", through
        try:
            begun, answer = await self._send(
                thread.owner, thread.agent, summary_request(thread.summary, messages), run
            )
        except ModelRefused as refused:
            if refused.reason in _NEEDS_A_PERSON:
                raise Postponed(str(refused), until=self.clock() + _UNTIL_SOMEONE_ACTS) from refused
            text = ""
        else:
            text = summary_in(answer.value)
            payload = {SUMMARY: {"after": thread.summary_through, "through": through, "text": text}}
            records = [thread.id, *(message.id for message in messages)]
            spent = begun.answered(answer.usage)
            if not await self.jobs.keep(job, payload, records, spent):
                raise Postponed(
                    "a summarised message was just erased; the summary will be made again",
                    until=self.clock(),
                )
        if not text:
            if len(self._useless) >= _MOST_KNOWN:
                self._useless.clear()
            self._useless[thread.id] = 2 * waiting
        else:
            self._useless.pop(thread.id, None)
        return text, through

    async def direct(self, owner: Owner, agent: str | None, request: ModelRequest) -> ModelAnswer:
        """Ask a model for a caller who waits; counted and within budgets like any call. Raise
        ``ModelFailed`` if none answers.
        """
        try:
            begun, answer = await self._send(owner, agent, request, RunUsage())
        except Postponed as exc:
            raise ModelDown(str(exc)) from exc
        await self.spending.note_spent(begun.answered(answer.usage))
        return answer

    async def _discard_round(self, job: Job, portion: Portion, *, refused: bool) -> None:
        """End a round of corrections without a result: drop the answers, and raise to retry or give
        up the job.
        """
        await self.jobs.keep(job, portion.without_answers().payload(), portion.record_ids())
        if refused:
            raise UnusableReply(
                "the model refuses to answer about this conversation; try another model"
            )
        if job.tries >= _MOST_ROUNDS:
            raise UnusableReply(
                f"no answer of the model could be used in {_MOST_ROUNDS} rounds; try another model"
            )
        raise UselessAnswers("none of the model's answers could be used")

    def _shorter(self, portion: Portion) -> Portion:
        """Return the portion with half the budget, for a model with a smaller input limit."""
        shorter = portion.without_answers(portion.budget // 2)
        return shorter.model_copy(update={"reading": _prompt(shorter).reading})

    async def _keep(self, job: Job, portion: Portion, spent: Spent | None = None) -> None:
        try:
            kept = await self.jobs.keep(job, portion.payload(), portion.record_ids(), spent)
        except LimitReached:
            # The cost is counted. The answer is used at once; only a kill before that would buy it
            # again.
            telemetry.count("models.answers_too_large")
            return
        if not kept:
            raise Postponed(
                "a record read by this job was erased, or another worker has taken the job; it will run again",
                until=self.clock(),
            )

    async def _ask(
        self, request: ModelRequest, portion: Portion, run: RunUsage
    ) -> tuple[Spent, ModelAnswer]:
        thread = portion.reading.thread
        try:
            return await self._send(thread.owner, thread.agent, request, run)
        except ModelRefused as refused:
            if refused.reason in _NEEDS_A_PERSON:
                raise Postponed(str(refused), until=self.clock() + _UNTIL_SOMEONE_ACTS) from refused
            raise

    async def _send(
        self, owner: Owner, agent: str | None, request: ModelRequest, run: RunUsage
    ) -> tuple[Spent, ModelAnswer]:
        now = self.clock()
        if self._outage.until is not None and now < self._outage.until:
            raise Postponed(self._outage.reason, until=self._outage.until)
        expected = estimate(request.instructions) + estimate(request.content) + request.largest
        await self.budget.check(owner, expected, run.usage)
        begun = await self.budget.record_call(
            owner, agent, request.task, self.models.named(request.task)
        )
        try:
            answer = await self.models.ask(request)
        except ModelDown as down:
            telemetry.count("models.down")
            raise Postponed(str(down), until=self._outage.note(now, down)) from down
        self._outage.clear()
        run.usage += answer.usage
        telemetry.count("models.answers")
        return begun, answer


def _kept_summary(job: Job, after: int, through: int) -> tuple[str, int] | None:
    """Return a summary that an earlier run paid for but did not write, and the number of the last
    message it covers.

    Newer messages do not make it invalid. An empty summary is valid for exactly the same messages
    only.
    """
    kept = (job.kept or {}).get(SUMMARY)
    if not isinstance(kept, dict) or kept.get("after") != after:
        return None
    text, covered = kept.get("text"), kept.get("through")
    if not isinstance(text, str) or not isinstance(covered, int) or not after < covered <= through:
        return None
    return (text, covered) if text or covered == through else None


def _prompt(portion: Portion) -> Prompt:
    prompt = compose(portion.reading, budget=portion.budget)
    if prompt is None:
        raise GivenUp("the kept portion has no new messages")
    return prompt


def reform_start(job: Job) -> int:
    """Return the message number after which an interrupted reform continues."""
    found = (job.kept or {}).get("after")
    return found if isinstance(found, int) else 0
