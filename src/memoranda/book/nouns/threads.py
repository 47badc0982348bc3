"""One thread of an open book: what applications append to, read and close."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, Unpack
from uuid import UUID

from memoranda.book.forming_jobs import Requested, scheduled
from memoranda.book.forming_runs import form, how_far
from memoranda.book.input import (
    as_actor,
    as_count,
    as_cursor,
    as_flag,
    as_id,
    as_limit,
    as_text,
    as_versions,
    as_wait,
    each,
    episode_of,
    names_a_record,
)
from memoranda.book.message_input import drafts_in, message_of
from memoranda.book.record_ids import THREADS, record_named, with_ids
from memoranda.book.services import Services, WaitFor
from memoranda.book.verb_fields import (
    EpisodeFields,
    MemoryFields,
    MessageFields,
    ThreadFields,
    spelled_out,
)
from memoranda.book.windows import MOST_FIRST, WindowRequest, window
from memoranda.errors import InvalidInput, NotFound
from memoranda.first_use import dataclass
from memoranda.model.changes import FORM, Append, CloseThread, Expect, JobDraft, SetThread
from memoranda.model.drafts import Scheduled
from memoranda.model.forming_results import FormedThread, FormingReport
from memoranda.model.ledger import Receipt
from memoranda.model.messages import FINISHED, Message, Outcome, TaskSummary, Thread, ThreadStatus
from memoranda.model.query import Filter, Page, place_of
from memoranda.model.records import Audience, Owner, RecordType, View, those_of
from memoranda.operations import Part, Role, W, offer
from memoranda.recall.context.turns import Window
from memoranda.text.token_count import Count


@spelled_out
@dataclass(frozen=True, slots=True)
class ThreadHandle(Part[W]):
    """One thread, as one view sees it."""

    _services: Services
    owner: Owner
    id: UUID
    _view: View
    #: The agent whose settings say when it is formed.
    _agent: str | None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id} of {self.owner}>"

    @offer(
        Role.EDITOR,
        "POST /threads/{thread}/messages",
        command="append",
        batch=("role_or_messages",),
        example={"messages": [{"role": "user", "content": "I moved to Lisbon"}], "agent": "chef"},
    )
    async def append(
        self,
        role_or_messages: str | Mapping[str, Any] | Iterable[Mapping[str, Any]],
        content: str | None = None,
        *,
        operation: str | None = None,
        expect_last: int | None = None,
        state: Mapping[str, Any] | None = None,
        expect: Mapping[UUID, int] | None = None,
        wait_for: WaitFor = "stored",
        **fields: Unpack[MessageFields],
    ) -> Receipt:
        """Add one message (``append("user", "text")`` or ``append({"role": …, "content": …})``) or
        a list of several.

        Messages of OpenAI's chat API are taken as they are: texts of list content are joined and
        other parts only named, ``name`` is the speaker, ``developer`` is a system role, and tool
        calls with their ids are kept in ``native``. ``expect_last`` names the place of the last
        message that the caller has read, and ``expect`` the versions of records, such as this
        thread's. ``state`` sets the thread's state in the same operation. ``wait_for="embedded"``
        makes the vectors of these messages before it returns.
        """
        waiting = as_wait(wait_for)
        drafts = drafts_in(role_or_messages, content, fields)
        received = self._services.door.clock()
        messages = each(
            drafts, "messages", lambda draft: message_of(draft, self.owner, self.id, received)
        )
        versions = as_versions(expect or {})
        last = {} if expect_last is None else {self.id: expect_last}
        setting = [] if state is None else [SetThread(self.id, {"state": state})]
        # A field that is not given is no part of the request, so requests of before have the same
        # digest.
        added = [state, _listed(versions)] if versions or setting else []
        receipt = await (await self._services.door_for(self._view)).write(
            self.owner,
            self._view,
            as_actor(self._view),
            [Append(self.id, tuple(messages)), *setting],
            request=["append", str(self.id), drafts, expect_last, *added],
            operation=operation,
            expect=Expect(versions=versions, last=last),
            jobs=await self._services.forming.jobs(self._agent, self.id),
        )
        return await self._services.embeddings.reached(receipt, waiting)

    @offer(Role.EDITOR, "POST /threads/{thread}/feedback")
    async def feedback(
        self: ThreadHandle,
        text: str = "",
        *,
        rating: int | None = None,
        by: str | None = None,
        about: int | None = None,
        operation: str | None = None,
        wait_for: WaitFor = "stored",
    ) -> Receipt:
        """Store a judgement on the agent's work: a text, a ``rating`` from 1 (useless) to 5 (just
        right), or both.

        It is a user's message that says what it is about: ``about`` names the place of a message,
        ``by`` who judges, if not the owner.
        """
        said = as_text(text, "text")
        if not said.strip() and rating is None:
            raise InvalidInput("text: give a text, a rating, or both", field="text")
        if about is not None and not await self.messages(
            first=as_count(about, "about", 1), last=about
        ):
            raise InvalidInput(f"about: this thread has no message {about}", field="about")
        judged = {"rating": rating, "about": about}
        message = {
            "role": "user",
            "content": said if said.strip() else f"Rating: {rating} of 5",
            "speaker": by,
            "feedback": {name: value for name, value in judged.items() if value is not None},
        }
        return await self.append(message, operation=operation, wait_for=wait_for)

    @offer(Role.EDITOR, "POST /threads/{thread}/memories")
    async def remember(
        self,
        content: str,
        *,
        audience: str | Audience | None = None,
        run: str | None = None,
        operation: str | None = None,
        expect: Mapping[UUID, int] | None = None,
        wait_for: WaitFor = "stored",
        **fields: Unpack[MemoryFields],
    ) -> Receipt:
        """Store a statement that was made in this thread."""
        statements = [{"content": content, "thread": self.id, **fields}]
        return await self._services.remember(
            self.owner, self._view, statements, audience, run, operation, expect, wait_for
        )

    @offer(Role.VIEWER, "GET /threads/{thread}")
    async def get(self) -> Thread:
        """Return the current version of the thread."""
        return await _seen(self._services, self.owner, self.id, self._view)

    @offer(Role.VIEWER, "GET /threads/{thread}/operations/{operation}")
    async def operation(self, operation: str) -> Receipt | None:
        """Return the receipt of an operation id that was used with this handle's view; None if it
        was never applied.
        """
        by, name = as_actor(self._view), as_text(operation, "operation")
        return await self._services.engine.find_operation(self.owner, name, by)

    @offer(Role.VIEWER, "GET /threads/{thread}/messages")
    async def messages(
        self,
        *,
        first: int = 1,
        last: int | None = None,
        cursor: str | None = None,
        limit: int = 100,
    ) -> Page:
        """Return a page of the thread's messages, oldest first; ``first`` and ``last`` are the
        places it begins and ends at.

        A message's place is its ``seq``, counted from 1. Places of messages that are gone stay
        empty.
        """
        begins, most = as_count(first, "first", 1), as_limit(limit)
        after = max(place_of(as_cursor(cursor)) or 0, begins - 1)
        ends = None if last is None else as_count(last, "last", 1)
        if ends is not None:
            most = min(most, ends - after)
        if most < 1:
            return Page((), None)
        only = Filter(types=frozenset({RecordType.MESSAGE}), thread=self.id)
        page = await self._services.engine.scan(self.owner, self._view, only, str(after), most)
        if ends is None or page.cursor is None:
            return page
        found = [message for message in those_of(Message, page.records) if message.seq <= ends]
        return Page(tuple(found), page.cursor if found and found[-1].seq < ends else None)

    @offer(Role.VIEWER, "GET /threads/{thread}/newest")
    async def newest(self, limit: int = 20) -> list[Message]:
        """Return the thread's newest messages, oldest first."""
        only = Filter(types=frozenset({RecordType.MESSAGE}), thread=self.id, newest_first=True)
        page = await self._services.engine.scan(self.owner, self._view, only, None, as_limit(limit))
        return [record for record in reversed(page.records) if isinstance(record, Message)]

    @offer(Role.VIEWER, "GET /threads/{thread}/window")
    async def window(
        self,
        budget: int = 2000,
        *,
        limit: int = 2000,
        keep_first: int = 0,
        summary: str | None = None,
        count: Count | None = None,
        max_gap: timedelta | None = None,
    ) -> Window:
        """Return the newest turns within a budget of tokens and at most ``limit`` messages, tool
        calls with their results.

        The system messages that the thread begins with come first. ``keep_first`` also keeps about
        so many of its first steps, from the first user's turn on. ``summary`` is what the caller
        keeps of older turns; it is counted, and comes before them. Without it, the thread's own is
        taken where turns are left out. ``count`` counts tokens as the model does that is to read
        them; without it a message costs its ``token_count``, or an estimate. A silence of more than
        ``max_gap`` ends the window: turns before it stay out. Without it the book's setting holds.
        """
        text = None if summary is None else as_text(summary, "summary")
        if max_gap is not None and (not isinstance(max_gap, timedelta) or max_gap <= timedelta()):
            raise InvalidInput("max_gap: give a timedelta longer than zero", field="max_gap")
        steps = as_count(keep_first, "keep_first")
        if steps > MOST_FIRST:
            raise InvalidInput(
                f"keep_first: {steps} is too many; give at most {MOST_FIRST}", field="keep_first"
            )
        asked = WindowRequest(
            as_count(budget, "budget", 1),
            as_limit(limit, 2000),
            steps,
            text,
            count,
            self._services.forming.window_ttl if max_gap is None else max_gap,
        )
        return await window(self._services, self.owner, self._view, self.id, asked)

    @offer(Role.EDITOR, "POST /threads/{thread}/summary")
    async def summarise(self: ThreadHandle) -> TaskSummary:
        """Return a summary of the whole thread by the forming model: one paragraph, the main
        points, and the takeaways.

        It is stored with the thread: without a new message since, no model is asked again. Raise
        ``Conflict`` where the book has no model, ``ModelFailed`` where the model gives no answer or
        a budget is used up.
        """
        await self.get()
        return await self._services.on_demand.summarise(self.owner, self.id)

    @offer(Role.EDITOR, "PATCH /threads/{thread}")
    async def set(
        self,
        *,
        operation: str | None = None,
        expect: int | Mapping[UUID, int] | None = None,
        **fields: Unpack[ThreadFields],
    ) -> Receipt:
        """Set the thread's title, status, state, result or tags.

        ``expect`` names the version of the thread that the caller has read, or the versions of
        several records by their ids.
        """
        versions = as_versions(expect if isinstance(expect, Mapping) else {})
        if expect is not None and not isinstance(expect, Mapping):
            versions = {self.id: expect}
        return await self._services.door.write(
            self.owner,
            self._view,
            as_actor(self._view),
            [SetThread(self.id, dict(fields))],
            request=[
                "set",
                str(self.id),
                fields,
                _listed(versions) if isinstance(expect, Mapping) else expect,
            ],
            operation=operation,
            expect=Expect(versions=versions),
            jobs=await self._services.forming.now(self._agent, self.id)
            if fields.get("status") in FINISHED
            else (),
        )

    @offer(Role.EDITOR, "POST /threads/{thread}/close")
    async def close(
        self,
        status: str = "completed",
        *,
        result: Any = None,
        episode: EpisodeFields | Mapping[str, Any] | None = None,
        operation: str | None = None,
        wait_for: WaitFor = "stored",
    ) -> Receipt:
        """Finish the thread, with the episode that records what was done, if one is given; its
        outcome follows the status.
        """
        waiting = as_wait(wait_for)
        try:
            ended = ThreadStatus(status)
        except ValueError:
            raise InvalidInput(
                f"status: {status!r} is not a final status; use completed or failed", field="status"
            ) from None
        now = self._services.door.clock()
        made = None
        if episode is not None:
            agent = self._view.agent
            outcome = Outcome.FAILED if ended is ThreadStatus.FAILED else Outcome.SUCCEEDED
            given = {"thread": self.id, **episode}
            given |= {"outcome": outcome} if given.get("outcome") is None else {}
            given, _ = await with_ids(self._services.engine, self.owner, self._view, given)
            made = each([given], "episode", lambda d: episode_of(d, self.owner, agent, now))[0]
        receipt = await (await self._services.door_for(self._view)).write(
            self.owner,
            self._view,
            as_actor(self._view),
            [CloseThread(self.id, ended, result, made)],
            request=["close", str(self.id), status, result, episode],
            operation=operation,
            jobs=await self._services.forming.now(self._agent, self.id),
        )
        return await self._services.embeddings.reached(receipt, waiting)

    @offer(Role.EDITOR, "POST /threads/{thread}/form", command="form")
    async def form(
        self: ThreadHandle, *, schemas: Requested | None = None, wait: bool = True
    ) -> FormingReport:
        """Form the thread now (turn what is new into memories); return what was made and what was
        left out.

        It waits for no silence, provider or budget, and where another worker has the thread, for
        that worker. Where it cannot be formed the result says why. ``schemas`` are those to be
        filled, as ``schedule`` takes them; without them, those that were scheduled stay.
        ``wait=False`` only makes the thread due, for a worker or an open book.
        """
        waits, thread = as_flag(wait, "wait"), await self.get()
        return await form(self._services, self._view, [thread], schemas=schemas, wait=waits)

    @offer(Role.EDITOR, "PUT /threads/{thread}/schedule")
    async def schedule(
        self: ThreadHandle,
        *,
        after: float | timedelta | None = None,
        schemas: Requested | None = None,
    ) -> bool:
        """Form the thread's new messages after a pause of so many seconds; it replaces what was
        scheduled before.

        A later message puts it off again by the agent's usual pause. ``schemas`` are the only ones
        to be filled: names of stored or built-in ones, or definitions (``name``, ``description``,
        ``parameters``, ``update_mode``, ``instructions``) that hold for this run alone. Without
        them the agent's own are. False where formation is off.
        """
        await self.get()
        jobs = await self._services.forming.later(self._agent, self.id, after, schemas)
        await self._due(jobs)
        return bool(jobs)

    @offer(Role.VIEWER, "GET /threads/{thread}/schedule")
    async def scheduled(self: ThreadHandle) -> Scheduled | None:
        """Return when the thread will be formed, or why it is not; None if nothing waits."""
        await self.get()
        return scheduled(await self._services.engine.job_of(self.owner, FORM, str(self.id)))

    @offer(Role.EDITOR, "DELETE /threads/{thread}/schedule")
    async def unschedule(self: ThreadHandle) -> bool:
        """Cancel the waiting forming of the thread; its messages wait for the next one. False if
        none waits.

        A run that has begun goes on to its end.
        """
        await self.get()
        return await self._services.engine.cancel(self.owner, FORM, str(self.id))

    @offer(Role.VIEWER, "GET /threads/{thread}/formed")
    async def formed(self: ThreadHandle, *, limit: int = 20) -> FormedThread:
        """Return the newest formed parts of the thread, oldest first, each with what was written
        and what was left out.

        Its ``state`` says if something waits to be formed, and ``because`` why.
        """
        return await how_far(self._services, self._view, await self.get(), as_limit(limit))

    @offer(Role.EDITOR, "POST /threads/{thread}/form-again", command="form")
    async def form_again(self: ThreadHandle, *, schemas: Requested | None = None) -> None:
        """Form the thread again from its beginning (turn its messages into memories); a language
        model's calls cost again.

        ``schemas`` are the only ones to be filled, as ``schedule`` takes them. Refused with
        ``Conflict`` where formation is off, by the settings or by the thread's agent's own.
        """
        await self.get()
        await self._due(await self._services.forming.again(self._agent, self.id, schemas))

    async def _due(self, jobs: tuple[JobDraft, ...]) -> None:
        await self._services.door.write(
            self.owner,
            self._view,
            as_actor(self._view),
            [SetThread(self.id, {})],
            request=["due", str(self.id)],
            jobs=jobs,
        )


def _listed(versions: Mapping[UUID, int]) -> dict[str, int]:
    return {str(id): version for id, version in versions.items()}


async def taken_up(services: Services, owner: Owner, id: UUID | str, view: View) -> ThreadHandle:
    """Return the existing thread with this id or name; raise NotFound if the view may not see
    it.
    """
    if names_a_record(id):
        found = await record_named(services.engine, owner, view, str(id), "id", THREADS)
        assert isinstance(found, Thread)
    else:
        found = await _seen(services, owner, as_id(id), view)
    return ThreadHandle(services, owner, found.id, view, found.agent)


async def _seen(services: Services, owner: Owner, id: UUID, view: View) -> Thread:
    record = (await services.engine.get(owner, view, [id])).get(id)
    if not isinstance(record, Thread):
        raise NotFound(f"no thread {id} that this view may see")
    return record
