"""Threads with messages that are not yet turned into memories: finds them, and adds jobs that do
it.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Collection, Sequence
from typing import Final

from memoranda.book.forming_jobs import Forming
from memoranda.door import Door
from memoranda.errors import NotFound
from memoranda.model.changes import FORM_LATE, MOST_JOBS, Job, JobDraft, SetThread, thread_of
from memoranda.model.drafts import SCHEMAS
from memoranda.model.forming_results import FormedPart, LeftOutPart
from memoranda.model.language_models import Usage
from memoranda.model.ledger import LEFT_OUT, TOKENS_CUT, USED, Actor, ReceiptItem
from memoranda.model.messages import Message, Thread
from memoranda.model.query import Filter
from memoranda.model.records import WHOLE, Owner, RecordType, View, those_of, with_expired
from memoranda.paging import every_page
from memoranda.ports import Jobs, Records

#: So many threads are read at a time, and made due in one commit.
_PAGE: Final = 500
_THREADS: Final = Filter(types=frozenset({RecordType.THREAD}))


async def last_place(records: Records, thread: Thread) -> int:
    """Return the place of a thread's last message; 0 if it has none."""
    said = Filter(types=frozenset({RecordType.MESSAGE}), thread=thread.id, newest_first=True)
    page = await records.scan(thread.owner, WHOLE, said, None, 1)
    return max((message.seq for message in those_of(Message, page.records)), default=0)


async def is_formed(records: Records, thread: Thread) -> bool:
    """True if every message of a thread has been formed (turned into memories)."""
    return await last_place(records, thread) <= thread.formed_through


async def pending_threads(
    records: Records, owner: Owner, view: View = WHOLE
) -> AsyncIterator[list[Thread]]:
    """Yield the owner's threads that a view sees and that have messages not formed yet, in
    lists.
    """
    async for page in every_page(records, owner, view, _THREADS, _PAGE):
        found = [
            record
            for record in page.records
            if isinstance(record, Thread) and not await is_formed(records, record)
        ]
        if found:
            yield found


async def parts_aside(jobs: Jobs, records: Records, owner: Owner, view: View) -> list[Job]:
    """Return the jobs of an owner's parts that were set aside because no answer could be used; of
    threads that a view sees.
    """
    found = [job for job in await jobs.jobs(None, MOST_JOBS, owner) if job.kind == FORM_LATE]
    seen = await records.get(owner, with_expired(view), [thread_of(job) for job in found])
    return [job for job in found if thread_of(job) in seen]


async def formed_parts(
    records: Records, thread: Thread, view: View, limit: int, *, after: int = 0
) -> list[FormedPart]:
    """Return a thread's newest formed parts, oldest first; only those ``after`` a place."""
    found, through = [], after
    for step in await records.history(thread.owner, view, thread.id):
        if isinstance(step.record, Thread) and step.record.formed_through > through:
            through = step.record.formed_through
            found.append((step, through))
    parts = []
    for step, through in found[-limit:]:
        (entry,) = await records.entries(thread.owner, step.position - 1, 1)
        lines = [line for line in entry.lines if line.id != thread.id]
        seen = await records.get(thread.owner, with_expired(view), [line.id for line in lines])
        part = FormedPart(
            step.position,
            step.at,
            through,
            tuple(LeftOutPart(part, code) for part, code in entry.note.get(LEFT_OUT, ())),
            tuple(
                ReceiptItem(one.verb, one.type, one.id, one.after)
                for one in lines
                if one.id in seen
            ),
            tuple(entry.note.get(SCHEMAS, ())),
            Usage.model_validate(entry.note.get(USED, {})),
            int(entry.note.get(TOKENS_CUT, 0)),
        )
        parts.append(part)
    return parts


async def make_due(
    records: Records, door: Door, forming: Forming, owners: Collection[Owner]
) -> None:
    """Add jobs that form the owners' threads after the usual pause, for agents whose settings allow
    it.
    """
    # The import may have brought agents with settings of their own.
    forming.of_agents.changed()
    for owner in owners:
        async for threads in pending_threads(records, owner):
            due = [(thread, await forming.jobs(thread.agent, thread.id)) for thread in threads]
            await put_all(door, due)


_Due = Sequence[tuple[Thread, tuple[JobDraft, ...]]]


async def put_all(door: Door, threads: _Due) -> int:
    """Add the jobs of some threads of one owner; return how many threads have some."""
    due = [(thread, jobs) for thread, jobs in threads if jobs]
    try:
        await _put(door, due)
    except NotFound:
        # Something was forgotten since it was read: the others do not wait for it.
        for one in due:
            with contextlib.suppress(NotFound):
                await _put(door, [one])
    return len(due)


async def _put(door: Door, due: _Due) -> None:
    """Add the jobs of some threads of one owner in one commit; all threads must exist."""
    if due:
        thread, jobs = due[0][0], tuple(job for _, some in due for job in some)
        there = SetThread(thread.id, {})
        await door.write(thread.owner, WHOLE, Actor("owner"), [there], request=None, jobs=jobs)
