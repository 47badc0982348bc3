"""The oracle: answers of language models, each kept before it is used, and asked for only while it may cost something."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from memoranda import telemetry
from memoranda.errors import LimitReached, ModelDown, ModelRefused
from memoranda.formation.by_model import request_after, standing
from memoranda.formation.money import Purse
from memoranda.formation.progress import Progress
from memoranda.formation.prompt import Prompt, compose
from memoranda.formation.summary import answered, question
from memoranda.formation.wishes import FormingSettings
from memoranda.model.asking import ModelAnswer, ModelRequest, Usage
from memoranda.model.forming import Formed
from memoranda.model.jobs import GivenUp, Job, Postponed
from memoranda.model.messages import Message, Thread
from memoranda.model.owner import Owner
from memoranda.model.spending import Spent
from memoranda.model.trust import Limits
from memoranda.ports import Clock, Jobs, Models
from memoranda.text.tokens import estimate

#: After the first failure of a provider, and at most, so many seconds pass before it is asked again.
_FIRST_PAUSE, _LONGEST_PAUSE = 15.0, 600.0
#: Where a person has to act first.
_UNTIL_SOMEONE_ACTS: Final = timedelta(minutes=10)
_NEEDS_A_PERSON: Final = frozenset({"credentials", "model", "quota"})
#: A question is not made shorter than this.
_LEAST_BUDGET: Final = 500
#: So many whole rounds of answers that are of no use; then a person looks.
_ROUNDS: Final = 3
_GROWTH: Final = 8
_MOST_KNOWN: Final = 10_000
#: Under this name a summary that was bought is kept with its job.
SUMMARY: Final = "summary"


class UselessAnswers(Exception):
    """Every answer of a round was of no use."""


@dataclass(slots=True)
class _Outage:
    """What is known of a provider that does not answer: all work waits together, not each on its own."""

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
class Spending:
    """What the questions of one run used so far."""

    usage: Usage = field(default_factory=Usage)


@dataclass(slots=True)
class Oracle:
    """Asks models, and keeps what they answer with the job that it was asked for."""

    models: Models
    jobs: Jobs
    purse: Purse
    limits: Limits
    clock: Clock
    _outage: _Outage = field(default_factory=_Outage)
    #: Thread → how many turns have to wait before a summary is asked for again that was of no use.
    _useless: dict[UUID, int] = field(default_factory=dict)

    async def formed(
        self, job: Job, progress: Progress, settings: FormingSettings, spending: Spending
    ) -> tuple[Progress, Formed]:
        """What the model makes of what was read: of kept answers, and of as many more as it takes."""
        prompt = _prompt(progress)
        while True:
            stands = standing(prompt, progress.answers, self.limits)
            if stands.formed is not None and not stands.faults:
                return progress, stands.formed
            if stands.refused or (progress.answers and not stands.faults):
                await self._give_in(job, progress, refused=stands.refused)
            request = request_after(prompt, progress.answers, stands.faults, settings.answer_tokens)
            try:
                begun, answer = await self._ask(request, progress, spending)
            except ModelRefused as refused:
                if stands.formed is not None and not stands.formed.empty:
                    # What was wrong cannot be put right; what was right is kept.
                    return progress, stands.formed
                if refused.reason != "length" or progress.budget // 2 < _LEAST_BUDGET:
                    raise GivenUp(str(refused)) from refused
                progress = self._shorter(progress)
                prompt = _prompt(progress)
                continue
            progress = progress.with_answer(answer)
            await self._keep(job, progress, begun, answer.usage)

    async def summary(
        self, job: Job, thread: Thread, messages: Sequence[Message], waiting: int, spending: Spending
    ) -> tuple[str, int]:
        """A newer summary of a thread, and the place of the last message that it covers.

        Empty where the model gave none; it is not asked again before twice as much waits.
        """
        through = messages[-1].seq
        kept = _kept_summary(job, thread.summary_through, through)
        if kept is not None:
            return kept
        if waiting < self._useless.get(thread.id, 0):
            return "", through
        try:
            begun, answer = await self._asked(
                thread.owner, thread.agent, question(thread.summary, messages), spending
            )
        except ModelRefused as refused:
            if refused.reason in _NEEDS_A_PERSON:
                raise Postponed(str(refused), until=self.clock() + _UNTIL_SOMEONE_ACTS) from refused
            text = ""
        else:
            text = answered(answer.value)
            payload = {SUMMARY: {"after": thread.summary_through, "through": through, "text": text}}
            records = [thread.id, *(message.id for message in messages)]
            spent = self.purse.answered(begun, answer.usage)
            if not await self.jobs.keep(job, payload, records, spent):
                raise Postponed("something that was summed up is gone", until=self.clock())
        if not text:
            if len(self._useless) >= _MOST_KNOWN:
                self._useless.clear()
            self._useless[thread.id] = 2 * waiting
        else:
            self._useless.pop(thread.id, None)
        return text, through

    async def _give_in(self, job: Job, progress: Progress, *, refused: bool) -> None:
        """Nothing came of what was asked: ask anew another time, unless that would buy the same again."""
        await self.jobs.keep(job, progress.afresh().payload(), progress.records())
        if refused:
            raise GivenUp("the model refuses to answer to this conversation")
        if job.tries >= _ROUNDS:
            raise GivenUp(f"the model's answers were of no use, {_ROUNDS} times over")
        raise UselessAnswers("none of the model's answers could be used")

    def _shorter(self, progress: Progress) -> Progress:
        """The same question about less, for a model that does not read so much."""
        shorter = progress.afresh(progress.budget // 2)
        return shorter.model_copy(update={"reading": _prompt(shorter).reading})

    async def _keep(self, job: Job, progress: Progress, begun: Spent, usage: Usage) -> None:
        spent = self.purse.answered(begun, usage)
        try:
            kept = await self.jobs.keep(job, progress.payload(), progress.records(), spent)
        except LimitReached:
            # Counted it is; it is used at once, and only a kill before that buys it again.
            telemetry.count("models.answers_too_large")
            return
        if not kept:
            raise Postponed(
                "something that was read is gone, or another worker has the work", until=self.clock()
            )

    async def _ask(
        self, request: ModelRequest, progress: Progress, spending: Spending
    ) -> tuple[Spent, ModelAnswer]:
        thread = progress.reading.thread
        try:
            return await self._asked(thread.owner, thread.agent, request, spending)
        except ModelRefused as refused:
            if refused.reason in _NEEDS_A_PERSON:
                raise Postponed(str(refused), until=self.clock() + _UNTIL_SOMEONE_ACTS) from refused
            raise

    async def _asked(
        self, owner: Owner, agent: str | None, request: ModelRequest, spending: Spending
    ) -> tuple[Spent, ModelAnswer]:
        now = self.clock()
        if self._outage.until is not None and now < self._outage.until:
            raise Postponed(self._outage.reason, until=self._outage.until)
        expected = estimate(request.instructions) + estimate(request.content) + request.largest
        await self.purse.allow(owner, expected, spending.usage)
        begun = await self.purse.begin(owner, agent, request.task, self.models.named(request.task))
        try:
            answer = await self.models.ask(request)
        except ModelDown as down:
            telemetry.count("models.down")
            raise Postponed(str(down), until=self._outage.note(now, down)) from down
        self._outage.clear()
        spending.usage += answer.usage
        telemetry.count("models.answers")
        return begun, answer


def _kept_summary(job: Job, after: int, through: int) -> tuple[str, int] | None:
    """The summary that an earlier run bought and did not come to write, and how far it goes: not past a place.

    What was said since is no reason to buy it again; one that came to nothing says so of the same messages only.
    """
    kept = (job.kept or {}).get(SUMMARY)
    if not isinstance(kept, dict) or kept.get("after") != after:
        return None
    text, covered = kept.get("text"), kept.get("through")
    if not isinstance(text, str) or not isinstance(covered, int) or not after < covered <= through:
        return None
    return (text, covered) if text or covered == through else None


def _prompt(progress: Progress) -> Prompt:
    prompt = compose(progress.reading, budget=progress.budget)
    if prompt is None:
        raise GivenUp("there is nothing to read in what was kept")
    return prompt
