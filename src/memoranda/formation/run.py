"""The run: forms a thread, portion by portion, each exactly once, whoever is killed meanwhile."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field, replace
from typing import Final
from uuid import UUID

from memoranda import telemetry
from memoranda.door import Door
from memoranda.errors import InvalidInput, LimitReached, NotFound, Stale
from memoranda.formation.by_rules import formed_by_rules
from memoranda.formation.closing import Closer
from memoranda.formation.gathering import (
    Gatherer,
    Talk,
    behind,
    fitting_newest,
    shortened,
    with_due,
)
from memoranda.formation.guard import Guard
from memoranda.formation.oracle import Oracle, Spending
from memoranda.formation.progress import Progress
from memoranda.formation.prompt import compose
from memoranda.formation.reconcile import Held, Reconciled, reconcile
from memoranda.formation.schemas import EPISODE
from memoranda.formation.viewing import ACTOR, view_of
from memoranda.formation.wishes import FormingSettings
from memoranda.model.changes import Change, Expect, MarkFormed, Remember
from memoranda.model.forming import Formed, Reading
from memoranda.model.jobs import Job, Postponed
from memoranda.model.messages import Thread
from memoranda.model.owner import WHOLE, Owner, OwnerKind
from memoranda.model.profiles import Trigger
from memoranda.ports import Clock

#: So many messages are read at a time; no question shows more.
_AT_A_TIME: Final = 60
#: So often it is decided anew where somebody else changes the same records meanwhile.
_TRIES: Final = 8

_log = logging.getLogger("memoranda.formation")


@dataclass(frozen=True, slots=True)
class _Work:
    """What one run is about."""

    job: Job
    settings: FormingSettings
    #: Begins every operation of this run.
    name: str
    #: Nothing is marked: what was formed is formed again.
    again: bool = False
    #: What this run's questions used.
    spending: Spending = field(default_factory=Spending)

    def operation(self, progress: Progress, part: str = "") -> str:
        """The same for the same portion, so that it is applied once."""
        return f"{self.name}:{progress.after}:{progress.through}{part}"


class Former:
    """Forms threads."""

    def __init__(
        self,
        door: Door,
        gatherer: Gatherer,
        oracle: Oracle | None,
        closer: Closer,
        guard: Guard,
        settings: FormingSettings,
        clock: Clock,
    ) -> None:
        self._door = door
        self._gatherer = gatherer
        #: None: rules alone.
        self._oracle = oracle
        self._closer = closer
        self._guard = guard
        self._settings = settings
        self._clock = clock

    async def form(self, job: Job) -> None:
        """Form what was said in a thread since it was formed last."""
        thread = await self._thread(job)
        if thread is None:
            return
        settings = self._settings.of(await self._gatherer.agent(thread.agent))
        if not settings.enabled:
            return
        work = _Work(job, settings, f"form:{thread.id}")
        whole = await self._portions(work, thread, thread.formed_through)
        formed = await self._thread(job)
        if formed is None:
            return
        if self._oracle is not None and not whole and not await self._closer.is_closed_off(formed):
            await self._close(work, formed)
        await self._closer.finish(job, formed, settings, work.spending)

    async def reform(self, job: Job) -> None:
        """Form a thread again from its beginning; what is held already is not written twice."""
        thread = await self._thread(job)
        if thread is None:
            return
        settings = self._settings.of(await self._gatherer.agent(thread.agent))
        if not settings.enabled:
            return
        name = f"reform:{thread.id}:{job.first_at.isoformat()}"
        await self._portions(_Work(job, settings, name, again=True), thread, kept_after(job))

    async def _thread(self, job: Job) -> Thread | None:
        return None if job.owner is None else await self._gatherer.thread(job.owner, UUID(job.key))

    async def _portions(self, work: _Work, thread: Thread, after: int) -> bool:
        """Form portion after portion, up to what is the last message now; whether one of them was the whole thread."""
        kept = Progress.of(work.job, after)
        talk = await self._gatherer.talk(thread, after)
        whole = False
        while talk.new:
            part = await self._gatherer.portion(talk, _AT_A_TIME)
            if not part.new and kept is None:
                talk = behind(talk, talk.new[:_AT_A_TIME][-1].seq)
                continue
            if kept is None:
                waits = len(talk.new) > len(part.new)
                progress = await self._read(work, part, after, ends=talk.closed and after == 0 and not waits)
            else:
                progress, kept = kept, None
            progress, formed = await self._formed(work, progress)
            await self._apply(work, progress, formed)
            telemetry.count("formation.portions")
            whole = after == 0 and _closes(progress.reading)
            after = progress.through
            current = await self._thread(work.job)
            if current is None:
                return whole
            talk = replace(behind(talk, after), thread=current)
        return whole

    async def _read(self, work: _Work, talk: Talk, after: int, *, ends: bool) -> Progress:
        """As much of a talk as is formed at a time, with what is known beside it; ``ends``: as a finished thread is."""
        settings, budget, now = work.settings, work.settings.prompt_tokens, self._clock()
        occasions: set[Trigger] = {"silence", "request"} if work.again else {"silence"}
        schemas = await self._gatherer.schemas(talk.thread.agent, occasions)
        bare = await self._gatherer.reading(talk, schemas, now, settings.language)
        if self._oracle is None:
            return Progress(after=after, reading=bare, budget=budget)
        fitting = compose(bare, budget=budget)
        assert fitting is not None
        reading = await self._gatherer.with_candidates(bare, shortened(talk, fitting.through))
        prompt = compose(reading, budget=budget)
        assert prompt is not None
        if ends and not work.again and not prompt.waiting:
            closing = await self._closing(reading)
            asked = compose(closing, budget=budget)
            if asked is not None and not asked.waiting:
                prompt = asked
        return Progress(after=after, reading=prompt.reading, budget=budget)

    async def _close(self, work: _Work, thread: Thread) -> None:
        """Ask what is due when a thread closes, of its newest messages, where its last portion could not be asked."""
        talk = await self._gatherer.talk(thread, 0)
        if not talk.closed or not talk.new:
            return
        quiet = await self._gatherer.schemas(thread.agent, set())
        newest = fitting_newest(talk, work.settings.prompt_tokens)
        bare = await self._gatherer.reading(newest, quiet, self._clock(), work.settings.language)
        reading = await self._closing(bare)
        prompt = compose(reading, budget=work.settings.prompt_tokens)
        if prompt is None or not any(schema.due for schema in reading.schemas):
            return
        closing = replace(work, name=f"close:{thread.id}:{thread.version}", again=True)
        # A place that no portion begins at: what is kept for the close is told apart from what is kept for them.
        after = -talk.new[-1].seq
        progress = Progress.of(work.job, after) or Progress(
            after=after, reading=prompt.reading, budget=work.settings.prompt_tokens
        )
        progress, formed = await self._formed(closing, progress)
        await self._apply(closing, progress, formed)

    async def _closing(self, reading: Reading) -> Reading:
        """The same reading with what is formed when a thread closes; not an episode where there is one."""
        for schema in await self._gatherer.schemas(reading.thread.agent, {"close"}):
            if schema.due and (
                schema.name != EPISODE.name or await self._closer.lacks_episode(reading.thread)
            ):
                reading = with_due(reading, schema.name)
        return reading

    async def _formed(self, work: _Work, progress: Progress) -> tuple[Progress, Formed]:
        if self._oracle is None:
            return progress, await asyncio.to_thread(formed_by_rules, progress.reading, self._door.limits)
        return await self._oracle.formed(work.job, progress, work.settings, work.spending)

    async def _apply(self, work: _Work, progress: Progress, formed: Formed) -> None:
        """Write what is new, and how far the thread is formed, in one commit; what the agent learnt before it."""
        reading = progress.reading
        for _ in range(_TRIES):
            held = await self._gatherer.held(reading, formed)
            made = reconcile(formed, reading, held, limits=self._door.limits, run=work.operation(progress))
            try:
                await self._learn(work, progress, made, held)
                await self._write(work, progress, made)
            except Stale as exc:
                stands = await self._gatherer.thread(reading.thread.owner, reading.thread.id)
                if not work.again and (stands is None or stands.formed_through != progress.after):
                    # Another worker was faster.
                    return
                _log.info("formed anew, for %s", exc)
            except NotFound as exc:
                raise Postponed(
                    f"something that was read is gone, so it is read again: {exc}", until=self._clock()
                ) from exc
            else:
                return
        raise Postponed("others change the same records all the time", until=self._clock())

    async def _learn(self, work: _Work, progress: Progress, made: Reconciled, held: Held) -> None:
        """Before the watermark: whoever is killed in between does it again, and nothing is written twice."""
        thread = progress.reading.thread
        if not made.experience or thread.agent is None:
            return
        agent = Owner(tenant=thread.owner.tenant, kind=OwnerKind.AGENT, id=thread.agent)
        operation = work.operation(progress, f":{progress.now.isoformat()}:experience")
        learnt = await self._guard.checked(made.experience, held.experience, progress.now)
        await self._door.write(agent, WHOLE, ACTOR, learnt, request=[operation], operation=operation)

    async def _write(self, work: _Work, progress: Progress, made: Reconciled) -> None:
        """All that holds at the door; what is refused there is left out and told, the rest is kept."""
        reading = progress.reading
        changes = [await self._closer.with_calls(reading.thread, change) for change in made.changes]
        if not work.again:
            changes.append(MarkFormed(reading.thread.id, progress.through, progress.after))
        operation = work.operation(progress)
        while changes:
            try:
                await self._door.write(
                    reading.thread.owner,
                    view_of(reading.thread),
                    ACTOR,
                    changes,
                    request=[operation],
                    operation=operation,
                    expect=Expect(versions=made.versions),
                    era=work.job.era,
                    note=progress.note(),
                )
            except InvalidInput as exc:
                place = _refused(changes, exc)
                if place is None:
                    raise
                _log.warning("left out of what was formed: %s", exc.field or type(exc).__name__)
                telemetry.count("formation.refused")
                changes.pop(place)
            else:
                return


def _closes(reading: Reading) -> bool:
    """Whether a reading was asked for what is formed when a thread closes."""
    return reading.due(EPISODE.name) is not None


def _refused(changes: list[Change], exc: InvalidInput) -> int | None:
    """Which change to go on without; the last statement where only all of them together are too many."""
    if exc.item is not None and exc.item < len(changes) and not isinstance(changes[exc.item], MarkFormed):
        return exc.item
    if not isinstance(exc, LimitReached):
        return None
    return max((place for place, one in enumerate(changes) if isinstance(one, Remember)), default=None)


def kept_after(job: Job) -> int:
    """How far a thread was formed again before the work was broken off."""
    found = (job.kept or {}).get("after")
    return found if isinstance(found, int) else 0
