"""Forms a thread (turns its messages into memories) part by part, each exactly once even if workers
are killed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Final

from memoranda import telemetry
from memoranda.door import Door
from memoranda.errors import InvalidInput, NotFound, Stale
from memoranda.formation.agent_limits import limits_for_agent
from memoranda.formation.close import Closer
from memoranda.formation.extract.by_rules import formed_by_rules, wanted_memories, with_ended
from memoranda.formation.extract.model_calls import (
    ModelCalls,
    Portion,
    RunUsage,
    UselessAnswers,
    reform_start,
)
from memoranda.formation.extract.prompt import compose
from memoranda.formation.extract.summary import title_by_rules
from memoranda.formation.formation_settings import QUIET, FormingSettings
from memoranda.formation.gather import (
    ACTOR,
    BY_RULES,
    Excerpt,
    ThreadReader,
    newest_within,
    remaining_after,
    up_to,
    with_schema_due,
    writing_view,
)
from memoranda.formation.left_out import (
    REFUSED,
    UNUSABLE,
    count_left_out,
    note_of,
    with_unread,
    without_newer,
)
from memoranda.formation.privacy.line_checks import PrivacyGuard
from memoranda.formation.quiet_threads import (
    QuietThreads,
    after_summary,
    is_unanswered,
    mark_of,
    prepared_for,
)
from memoranda.formation.reconcile.bound_notes import with_bound_notes
from memoranda.formation.reconcile.reconciler import (
    CurrentRecords,
    Reconciled,
    reconcile,
    refused_change,
)
from memoranda.formation.schemas.definitions import EPISODE
from memoranda.formation.schemas.request_schemas import request_note
from memoranda.formation.who_forms import WhoForms
from memoranda.model.changes import (
    FORM_LATE,
    NO_ROOM,
    Expect,
    Job,
    JobDraft,
    MarkFormed,
    Postponed,
    Retract,
    Supersede,
    UnusableReply,
    storable_reason,
    thread_of,
)
from memoranda.model.drafts import Formed, Reading, WantedSchema
from memoranda.model.messages import EpisodeDraft, Outcome, SummariseThread, Thread, ThreadStatus
from memoranda.model.profiles import Agent, Trigger
from memoranda.model.records import CAPS, WHOLE, Owner, OwnerKind
from memoranda.ports import Clock
from memoranda.secrets.masks import formed_data
from memoranda.text.similarity import same_statement

#: The most messages in one portion, and the most without a statement that are read again by rules
#: after a kill.
_AT_A_TIME, _MOST_UNMARKED = 60, 3_000
#: How often the changes are computed again if others change the same records in the meantime.
_TRIES: Final = 8
#: The pause before a thread whose memories have no room is tried again. Only a refused write is
#: repeated.
_UNTIL_ROOM: Final = timedelta(minutes=15)
#: The pauses before a model is asked again about a part whose answers could not be used.
_AGAIN: Final = (timedelta(hours=1), timedelta(hours=6), timedelta(hours=24))
_log = logging.getLogger("memoranda.formation")


@dataclass(frozen=True, slots=True)
class _Run:
    """The job and the settings of one run."""

    job: Job
    settings: FormingSettings
    #: The door with the limits of the thread's agent.
    door: Door
    #: The prefix of all operation ids of this run.
    name: str
    #: True if the watermark does not move: the thread is formed again, or closed.
    again: bool = False
    #: True if newer messages have been formed before: nothing of them may end.
    late: bool = False
    #: The place of the last message that an earlier episode covers.
    reported: int = 0
    #: The usage of this run's model calls.
    usage: RunUsage = field(default_factory=RunUsage)

    def operation(self, portion: Portion, part: str = "") -> str:
        """Return the operation id of a portion (a part of the thread); the id never changes, so it
        is applied once.
        """
        return f"{self.name}:{portion.after}:{portion.through}{part}"


class FormationRunner:
    """Runs the jobs that form threads (turn their messages into memories)."""

    def __init__(
        self,
        door: Door,
        reader: ThreadReader,
        model_calls: ModelCalls | None,
        closer: Closer,
        quiet: QuietThreads,
        guard: PrivacyGuard,
        who_forms: WhoForms,
        settings: FormingSettings,
        clock: Clock,
    ) -> None:
        self._door = door
        self._reader = reader
        #: None to use rules only.
        self._model_calls = model_calls
        self._closer = closer
        self._quiet = quiet
        self._guard = guard
        self._who_forms = who_forms
        self._settings = settings
        self._clock = clock

    async def form(self, job: Job) -> None:
        """Extract and write what the thread's messages say, for those not processed yet."""
        started = await self._start(job)
        if started is None:
            return
        thread, settings, door = started
        run = _Run(job, settings, door, f"form:{thread.id}")
        whole = await self._form_portions(run, thread, thread.formed_through)
        formed = await self._thread(job)
        if formed is None:
            return
        if self._model_calls is not None and not whole and not await self._closer.is_closed(formed):
            await self._close(run, formed)
        await self._closer.finish(job, formed, settings, run.usage)

    async def reform(self, job: Job) -> None:
        """Process a thread again from its first message; results that are already stored are not
        written twice.
        """
        started = await self._start(job)
        if started is None:
            return
        thread, settings, door = started
        name = f"reform:{thread.id}:{job.first_at.isoformat()}"
        run = _Run(job, settings, door, name, again=True)
        await self._form_portions(run, thread, reform_start(job))

    async def form_late(self, job: Job) -> None:
        """Form a part of a thread that was set aside because no answer of the model could be
        used.
        """
        started = await self._start(job)
        if started is None:
            return
        thread, settings, door = started
        after, through = map(int, job.key.split(":")[1:])
        run = _Run(job, settings, door, f"late:{thread.id}", again=True, late=True)
        try:
            await self._form_portions(run, thread, after, through)
        except (UselessAnswers, UnusableReply) as exc:
            asked = accumulate(_AGAIN)
            due = next(
                (job.first_at + pause for pause in asked if job.first_at + pause > self._clock()),
                None,
            )
            if due is None:
                raise UnusableReply(str(exc)) from exc
            raise Postponed(str(exc), until=due) from exc

    async def _set_aside(self, run: _Run, portion: Portion, why: UnusableReply) -> None:
        """Mark a part as read whose answers cannot be used, so that what is newer is formed; it is
        asked about again later.
        """
        thread = portion.reading.thread
        key = f"{thread.id}:{portion.after}:{portion.through}"
        pause = _AGAIN[0].total_seconds()
        # What an application's own model says may quote the conversation.
        reason = str(why) if why.__cause__ is None else "the model refuses this question"
        later = JobDraft(
            FORM_LATE, key, {"why": storable_reason(reason)}, (thread.id,), delay=pause
        )
        _log.warning(
            "messages %d to %d of thread %s wait: %s; to ask at once: memoranda jobs retry ID, with the id that "
            "thread.formed() and doctor name",
            *(portion.after + 1, portion.through, thread.id, reason),
        )
        formed = Formed()
        if run.settings.fallback == "rules":
            portion, formed = await self._by_rules(run, portion)
            marked = (
                one.model_copy(update={"tags": (*one.tags, BY_RULES)}) for one in formed.notes
            )
            formed = formed.model_copy(update={"notes": tuple(marked)})
        formed = formed.model_copy(update={"left_out": (*formed.left_out, UNUSABLE)})
        await self._apply(run, portion, formed, later)

    async def _by_rules(self, run: _Run, portion: Portion) -> tuple[Portion, Formed]:
        """Return what rules form of a portion that was read for a model."""
        bare = portion.reading.model_copy(
            update={"candidates": (), "summarises": 0, "prepares_episode": False}
        )
        wanted = await asyncio.to_thread(wanted_memories, bare)
        reading = await self._reader.with_statements(bare, wanted)
        texts = await self._reader.source_texts(reading)
        formed = await asyncio.to_thread(formed_by_rules, reading, run.door.limits, texts)
        ended = with_ended(reading, formed)
        return Portion(after=portion.after, reading=ended, budget=portion.budget), formed

    async def _replaced(
        self, run: _Run, portion: Portion, formed: Formed, made: Reconciled
    ) -> list[Retract]:
        """Return the retractions of what rules formed of a late portion meanwhile, and nobody
        touched or said again since.
        """
        if not run.late:
            return []
        said = {message.id for message in portion.reading.new}
        ended = {one.loser for one in made.changes if isinstance(one, Supersede)}
        return [
            Retract(one.id, "the language model has read its messages since")
            for one in await self._reader.formed_by_rules(portion.reading.thread)
            if one.version == 1
            and one.id not in ended
            and said.issuperset(one.sources)
            and not any(same_statement(one.content, note.content) for note in formed.notes)
        ]

    async def report_quiet(self, job: Job) -> None:
        """Record the episode of a running thread that nobody closed and that has been quiet for
        long.
        """
        started = await self._start(job)
        if started is None:
            return
        thread, settings, door = started
        if not settings.episode_after_hours:
            return
        hours = settings.episode_after_hours
        for part in (parts := await self._quiet.topics(thread, hours)):
            due = part.new[-1].recorded_at + timedelta(hours=hours)
            if part is parts[-1] and due > self._clock():
                raise Postponed("the thread is not quiet any more; its episode waits", until=due)
            await self._report(_Run(job, settings, door, ""), part)

    async def _report(self, run: _Run, part: Excerpt) -> None:
        """Record the episode of a part of a thread: the prepared one, a model's, or one by
        rules.
        """
        place, before = part.new[-1].seq, part.new[0].seq - 1
        if self._model_calls is not None:
            quiet = replace(
                run, name=f"quiet:{part.thread.id}:{place}", again=True, reported=before
            )
            await self._ask_about(quiet, part, self._wanting_episode, prepared_for(part))
            left = await self._quiet.unreported(part.thread)
            if left is None or left.new[0].seq > place:
                return
        await self._quiet.report(part, run.job.era)

    async def _end_topics(self, run: _Run, excerpt: Excerpt) -> Excerpt:
        """Record the episodes of the topics before the last one, if the new messages begin one; its
        own begins anew.
        """
        hours = run.settings.episode_after_hours
        if run.again or not self._quiet.begins_topic(excerpt, hours):
            return excerpt
        for part in (await self._quiet.topics(excerpt.thread, hours))[:-1]:
            await self._report(run, part)
        return replace(
            excerpt, thread=(await self._thread(run.job) or excerpt.thread).changed(prepared=None)
        )

    async def _start(self, job: Job) -> tuple[Thread, FormingSettings, Door] | None:
        """Return a job's thread with its settings and its door; None if the thread was deleted or
        formation is off.
        """
        thread = await self._thread(job)
        if thread is None:
            return None
        agent = await self._reader.agent(thread.agent)
        settings = self._settings.for_agent(agent)
        if not settings.enabled:
            return None
        await self._who_forms.check(thread.owner.tenant, thread.agent)
        return thread, settings, self._door_of(agent)

    async def _thread(self, job: Job) -> Thread | None:
        return None if job.owner is None else await self._reader.thread(job.owner, thread_of(job))

    async def _form_portions(
        self, run: _Run, thread: Thread, after: int, through_last: int | None = None
    ) -> bool:
        """Process all parts of the thread up to its last message, or another; True if one part was
        the whole, closed thread.
        """
        kept = Portion.kept_with(run.job, after)
        excerpt = await self._end_topics(
            run, await self._reader.excerpt(thread, after, through_last)
        )
        whole = False
        while excerpt.new:
            part = await self._reader.next_messages(excerpt, _AT_A_TIME)
            if not part.new and kept is None:
                excerpt = remaining_after(excerpt, excerpt.new[:_AT_A_TIME][-1].seq)
                continue
            if kept is None:
                waits = len(excerpt.new) > len(part.new)
                portion = await self._read_portion(run, part, after, last=not waits)
            else:
                portion, kept = kept, None
            try:
                portion, formed = await self._extract(run, portion)
            except UnusableReply as unusable:
                if run.again:
                    raise
                await self._set_aside(run, portion, unusable)
                formed = None
            through = portion.through
            # Each mark in a thread leaves a version: one stands for many portions without a
            # statement.
            bare = (
                self._model_calls is None
                and formed is not None
                and formed.empty
                and excerpt.new[-1].seq > through
            )
            bare = bare and bool(excerpt.thread.title or not title_by_rules(portion.reading.new))
            if formed is None:
                after = through
            elif not bare or through - after >= _MOST_UNMARKED:
                await self._apply(run, portion, formed)
                whole = after == 0 and portion.reading.due(EPISODE.name) is not None
                after = through
            telemetry.count("formation.portions")
            current = await self._thread(run.job)
            if current is None:
                return whole
            excerpt = replace(remaining_after(excerpt, through), thread=current)
        return whole

    async def _read_portion(
        self, run: _Run, excerpt: Excerpt, after: int, *, last: bool
    ) -> Portion:
        """Read a thread's next part and the records it may affect, and what is due with it;
        ``last`` if none comes after it.
        """
        budget, now = run.settings.prompt_tokens, self._clock()
        occasions: set[Trigger] = {"silence", "request"} if run.again else {"silence"}
        schemas = await self._reader.schemas(excerpt.thread.agent, occasions, run.job.payload)
        bare = await self._reading(run, excerpt, schemas, now)
        if self._model_calls is None:
            wanted = await asyncio.to_thread(wanted_memories, bare)
            return Portion(
                after=after, reading=await self._reader.with_statements(bare, wanted), budget=budget
            )
        fitting = compose(bare, budget=budget)
        assert fitting is not None
        reading = await self._reader.with_candidates(bare, up_to(excerpt, fitting.through))
        prompt = compose(reading, budget=budget)
        assert prompt is not None
        if last and not run.again and not prompt.waiting:
            if excerpt.closed and after == 0:
                reading = await self._closing(reading)
            elif run.settings.episode_after_hours:
                reading = await self._quiet.preparing(reading)
            said = [read.message for read in prompt.reading.messages]
            due = await self._closer.summary_due(excerpt.thread, said, run.settings)
            reading = reading.model_copy(update={"summarises": due})
            asked = compose(reading, budget=budget)
            if asked is not None and not asked.waiting:
                prompt = asked
        return Portion(after=after, reading=prompt.reading, budget=budget)

    async def _reading(
        self, run: _Run, excerpt: Excerpt, schemas: tuple[WantedSchema, ...], now: datetime
    ) -> Reading:
        """Return the data of a prompt for an excerpt, with the kinds that its agent keeps, still
        without memories.
        """
        bare = await self._reader.reading(excerpt, schemas, now, run.settings.language)
        return bare.model_copy(update={"kinds": run.door.limits.kinds})

    async def _close(self, run: _Run, thread: Thread) -> None:
        """Ask the model for what is due at a thread's close, such as its episode, from the newest
        messages.
        """
        excerpt = await self._reader.excerpt(thread, 0)
        if excerpt.closed and excerpt.new:
            prepared = await self._quiet.prepared_at_end(excerpt)
            reported = 0 if prepared is None or thread.prepared is None else thread.prepared.after
            name = f"close:{thread.id}:{thread.version}"
            closing = replace(run, name=name, again=True, reported=reported)
            await self._ask_about(closing, excerpt, self._closing, prepared)

    async def _ask_about(
        self,
        run: _Run,
        excerpt: Excerpt,
        due: Callable[[Reading], Awaitable[Reading]],
        prepared: EpisodeDraft | None = None,
    ) -> None:
        """Ask the model for the schemas that ``due`` marks, from an excerpt's newest messages, and
        write its answer.

        An episode that was prepared before is written without a question.
        """
        none_due = await self._reader.schemas(excerpt.thread.agent, set())
        # The summary stands for its part of the whole thread; it says nothing of a later part
        # alone.
        part = bool(run.reported) and not excerpt.closed
        newest = newest_within(
            excerpt if part else after_summary(excerpt), run.settings.prompt_tokens
        )
        bare = await self._reading(run, newest, none_due, self._clock())
        bare = bare.model_copy(update={"summary": ""}) if part else bare
        reading = await due(bare)
        if reading.due(EPISODE.name) is None:
            prepared = None
        elif prepared is not None:
            reading = with_schema_due(reading, EPISODE.name, due=False)
        asks = any(schema.due for schema in reading.schemas)
        prompt = compose(reading, budget=run.settings.prompt_tokens)
        if prompt is None or not (asks or prepared):
            return
        # A negative place is the start of no portion, so what is kept for the end is not confused
        # with a portion.
        after = -excerpt.new[-1].seq
        portion = Portion.kept_with(run.job, after) or Portion(
            after=after, reading=prompt.reading, budget=run.settings.prompt_tokens
        )
        formed = Formed()
        if asks:
            portion, formed = await self._extract(run, portion)
        if prepared is not None:
            formed = formed.model_copy(update={"episode": prepared})
        if formed.episode is not None and not excerpt.closed and is_unanswered(portion.reading.new):
            given_up = formed.episode.model_copy(update={"outcome": Outcome.ABANDONED})
            formed = formed.model_copy(update={"episode": given_up})
        await self._apply(run, portion, formed)

    async def _wanting_episode(self, reading: Reading) -> Reading:
        return with_schema_due(reading, EPISODE.name)

    async def _closing(self, reading: Reading) -> Reading:
        """Mark the schemas due when a thread closes; leave out the episode schema if the thread has
        an episode.
        """
        for schema in await self._reader.schemas(reading.thread.agent, {"close"}):
            if schema.due and (
                schema.name != EPISODE.name or await self._closer.needs_episode(reading.thread)
            ):
                reading = with_schema_due(reading, schema.name)
        return reading

    async def _extract(self, run: _Run, portion: Portion) -> tuple[Portion, Formed]:
        limits = run.door.limits
        if self._model_calls is None:
            texts = await self._reader.source_texts(portion.reading)
            formed = await asyncio.to_thread(formed_by_rules, portion.reading, limits, texts)
            ended = with_ended(portion.reading, formed)
            found = with_unread(formed, portion.reading)
            return Portion(after=portion.after, reading=ended, budget=portion.budget), found
        return await self._model_calls.formed(
            run.job, portion, run.settings.answer_tokens, run.usage, limits
        )

    def _door_of(self, agent: Agent | None) -> Door:
        """Return the door with an agent's limits; a run writes the results of a whole
        conversation.
        """
        wide = self._door.limits
        limits = limits_for_agent(wide, agent)
        if limits is wide:
            return self._door
        return self._door.within(limits.model_copy(update={"writes_per_run": wide.writes_per_run}))

    async def _apply(
        self, run: _Run, portion: Portion, formed: Formed, later: JobDraft | None = None
    ) -> None:
        """Write the agent's experience; then, in one commit, all else, how far the thread is
        formed, and a later job.
        """
        formed = without_newer(formed, portion.reading.profiles) if run.late else formed
        reading, formed = (
            portion.reading,
            with_bound_notes(formed, portion.reading, run.door.limits),
        )
        mark = None if run.again else mark_of(reading, formed, portion.after)
        if reading.prepares_episode:
            formed = formed.model_copy(update={"episode": None})
        await self._who_forms.claim(reading.thread.owner.tenant, reading.thread.agent)
        for _ in range(_TRIES):
            current = await self._reader.current_records(reading, formed)
            made = reconcile(
                formed, reading, current, limits=run.door.limits, run=run.operation(portion)
            )
            try:
                learning = run.operation(portion, f":{portion.now.isoformat()}:experience")
                await self._write_experience(portion, made, current, learning)
                await self._write(run, portion, formed, made, mark, later)
            except Stale as exc:
                latest = await self._reader.thread(reading.thread.owner, reading.thread.id)
                if not run.again and (latest is None or latest.formed_through != portion.after):
                    # Another worker has formed this portion.
                    return
                _log.info("computing the changes again: %s", exc)
            except NotFound as exc:
                raise Postponed(
                    f"a record read for this thread was erased; the thread will be read again: {exc}",
                    until=self._clock(),
                ) from exc
            else:
                return
        raise Postponed(
            f"others changed the same records {_TRIES} times in a row; the job will run again",
            until=self._clock(),
        )

    async def _write_experience(
        self, portion: Portion, made: Reconciled, current: CurrentRecords, operation: str
    ) -> None:
        """Write the agent's new experience, in a commit of its own: the agent is another owner. It
        is written once even if the worker is killed and the work is repeated.
        """
        thread = portion.reading.thread
        if not made.experience or thread.agent is None:
            return
        agent = Owner(tenant=thread.owner.tenant, kind=OwnerKind.AGENT, id=thread.agent)
        learnt = await self._guard.with_results(made.experience, current.experience, portion.now)
        await self._door.write(
            agent, WHOLE, ACTOR, learnt, request=[operation], operation=operation
        )

    def _later(self, run: _Run, thread: Thread) -> tuple[JobDraft, ...]:
        """Return the job that gives the thread an episode if it stays quiet."""
        hours = run.settings.episode_after_hours
        if run.again or not hours or thread.status is not ThreadStatus.RUNNING:
            return ()
        return (JobDraft(QUIET, str(thread.id), records=(thread.id,), delay=hours * 3600),)

    async def _summary_of(self, portion: Portion, formed: Formed) -> list[SummariseThread]:
        """Return the change that stores the summary of an answer, unless the thread got another one
        in the meantime.
        """
        thread, through = portion.reading.thread, portion.reading.summarises
        text = formed_data(formed.summary, self._reader.secrets)
        latest = await self._reader.thread(thread.owner, thread.id) if text else None
        if latest is None or latest.summary_through != thread.summary_through:
            return []
        return [SummariseThread(thread.id, text, through, thread.summary_through)]

    async def _write(
        self,
        run: _Run,
        portion: Portion,
        formed: Formed,
        made: Reconciled,
        mark: MarkFormed | None,
        later: JobDraft | None,
    ) -> None:
        """Write the changes that pass the door (the checks of every write); leave out those that it
        refuses for their content.
        """
        reading = portion.reading
        changes = [
            await self._closer.completed(reading.thread, one, run.reported) for one in made.changes
        ]
        changes += [] if mark is None else [mark]
        replaced = await self._replaced(run, portion, formed, made)
        changes += [*await self._summary_of(portion, formed), *replaced]
        untouched = {one.memory: 1 for one in replaced}
        operation, left_out = run.operation(portion), [*made.left_out]
        # Words that are taken out of a message while a model reads it come back in no memory.
        read = {one.message.id: one.message.version for one in reading.messages}
        while changes:
            try:
                await run.door.write(
                    reading.thread.owner,
                    writing_view(reading.thread),
                    ACTOR,
                    changes,
                    request=[operation],
                    operation=operation,
                    expect=Expect(versions={**read, **made.versions, **untouched}),
                    era=run.job.era,
                    note={
                        **portion.ledger_note(),
                        **note_of(left_out),
                        **request_note(run.job.payload),
                    },
                    jobs=(*self._later(run, reading.thread), *(() if later is None else (later,))),
                )
            except InvalidInput as exc:
                if exc.field in CAPS:
                    # All of the portion waits: its answer is kept with the job, and the watermark
                    # stays.
                    telemetry.count("formation.without_room")
                    raise Postponed(f"{NO_ROOM}: {exc}", until=self._clock() + _UNTIL_ROOM) from exc
                place = refused_change(changes, exc)
                if place is None:
                    raise
                _log.warning(
                    "the door refused a change, which is left out: %s",
                    exc.field or type(exc).__name__,
                )
                changes.pop(place)
                left_out.append(REFUSED)
            else:
                count_left_out(left_out)
                return
