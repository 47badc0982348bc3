"""Call language models within budgets, and keep each answer with its job before it is used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from memoranda import telemetry
from memoranda.errors import LimitReached, ModelDown, ModelRefused
from memoranda.formation.by_model import evaluate_answers, next_request
from memoranda.formation.money import BudgetCheck
from memoranda.formation.progress import Portion
from memoranda.formation.prompt import Prompt, compose
from memoranda.formation.summary import summary_in, summary_request
from memoranda.model.asking import ModelAnswer, ModelRequest, Usage
from memoranda.model.forming import Formed
from memoranda.model.jobs import GivenUp, Job, Postponed
from memoranda.model.messages import Message, Thread
from memoranda.model.owner import Owner
from memoranda.model.spending import Spent
from memoranda.model.trust import Limits
from memoranda.ports import Clock, Jobs, Models
from memoranda.text.tokens import estimate

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
    """None of the answers of a round could be used."""


@dataclass(slots=True)
class _Outage:
    """The state of a provider that does not answer; all jobs share one pause."""

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
    """Calls models, and keeps their answers with the job."""

    models: Models
    jobs: Jobs
    budget: BudgetCheck
    limits: Limits
    clock: Clock
    _outage: _Outage = field(default_factory=_Outage)
    #: Thread → how many turns must wait before a summary is requested again after a useless one.
    _useless: dict[UUID, int] = field(default_factory=dict)

    async def formed(
        self, job: Job, portion: Portion, answer_tokens: int, run: RunUsage
    ) -> tuple[Portion, Formed]:
        """Return what the model extracts from a portion, from kept answers and as many new ones as needed."""
        prompt = _prompt(portion)
        while True:
            state = evaluate_answers(prompt, portion.answers, self.limits)
            if state.formed is not None and not state.faults:
                return portion, state.formed
            if state.refused or (portion.answers and not state.faults):
                await self._discard_round(job, portion, refused=state.refused)
            request = next_request(prompt, portion.answers, state.faults, answer_tokens)
            try:
                begun, answer = await self._ask(request, portion, run)
            except ModelRefused as refused:
                if state.formed is not None and not state.formed.empty:
                    # The faults cannot be corrected; the valid parts are kept.
                    return portion, state.formed
                if refused.reason != "length" or portion.budget // 2 < _LEAST_BUDGET:
                    raise GivenUp(str(refused)) from refused
                portion = self._shorter(portion)
                prompt = _prompt(portion)
                continue
            portion = portion.with_answer(answer)
            await self._keep(job, portion, begun, answer.usage)

    async def summary(
        self, job: Job, thread: Thread, messages: Sequence[Message], waiting: int, run: RunUsage
    ) -> tuple[str, int]:
        """Return a new summary of a thread and the place of the last message that it covers.

        The summary is empty if the model gave none; then the model is asked again only when twice as many turns wait.
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
                raise Postponed("a message in the summary was erased in the meantime", until=self.clock())
        if not text:
            if len(self._useless) >= _MOST_KNOWN:
                self._useless.clear()
            self._useless[thread.id] = 2 * waiting
        else:
            self._useless.pop(thread.id, None)
        return text, through

    async def _discard_round(self, job: Job, portion: Portion, *, refused: bool) -> None:
        """End a round without a result: drop its answers, and raise so that the job is retried or given up."""
        await self.jobs.keep(job, portion.without_answers().payload(), portion.record_ids())
        if refused:
            raise GivenUp("the model refuses to answer about this conversation")
        if job.tries >= _MOST_ROUNDS:
            raise GivenUp(f"the model's answers were of no use in {_MOST_ROUNDS} rounds")
        raise UselessAnswers("none of the model's answers could be used")

    def _shorter(self, portion: Portion) -> Portion:
        """Return the portion with half the budget, for a model with a smaller input limit."""
        shorter = portion.without_answers(portion.budget // 2)
        return shorter.model_copy(update={"reading": _prompt(shorter).reading})

    async def _keep(self, job: Job, portion: Portion, begun: Spent, usage: Usage) -> None:
        spent = begun.answered(usage)
        try:
            kept = await self.jobs.keep(job, portion.payload(), portion.record_ids(), spent)
        except LimitReached:
            # The cost is counted. The answer is used at once; only a kill before that would buy it again.
            telemetry.count("models.answers_too_large")
            return
        if not kept:
            raise Postponed(
                "something that was read was erased, or another worker has this job", until=self.clock()
            )

    async def _ask(self, request: ModelRequest, portion: Portion, run: RunUsage) -> tuple[Spent, ModelAnswer]:
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
        begun = await self.budget.record_call(owner, agent, request.task, self.models.named(request.task))
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
    """Return a summary that an earlier run paid for and did not write, and the place that it covers.

    Newer messages do not make it invalid. An empty summary is valid for exactly the same messages only.
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
