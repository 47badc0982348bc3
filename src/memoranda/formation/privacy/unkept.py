"""Hides what a user asked not to keep, once a thread is formed: it is out of every read, and erased
after the hours of grace.
"""

from __future__ import annotations

import hashlib
import logging
import re
from typing import Final

from memoranda.door import Door
from memoranda.errors import Erased, NotFound, Stale
from memoranda.formation.privacy.unwanted import unwanted_spans
from memoranda.model.changes import Hide, Job, thread_of
from memoranda.model.ledger import Actor
from memoranda.model.messages import Message, Thread
from memoranda.model.query import Filter
from memoranda.model.records import WHOLE, RecordType, those_of
from memoranda.model.redactions import Redaction, as_said, united
from memoranda.model.values import Span
from memoranda.ports import Records

#: The newest messages of a thread in which such requests are looked for after each run.
_NEWEST: Final = 200
_HOUR: Final = 3600.0
_ACTOR: Final = Actor("system", "formation")

_ENDING: Final = re.compile(r"[.!?…)\"'”]*")

_log = logging.getLogger("memoranda.formation")


class UnkeptWords:
    """Hides the parts of messages that their users asked not to keep."""

    def __init__(self, records: Records, door: Door, hours: float) -> None:
        self._records = records
        self._door = door
        #: Hours after which it is erased.
        self._hours = hours

    async def hide(self, job: Job) -> None:
        """Hide what the user's formed messages point to; what was hidden and undone before
        stays.
        """
        if job.owner is None:
            return
        id = thread_of(job)
        thread = (await self._records.get(job.owner, WHOLE, [id])).get(id)
        if not isinstance(thread, Thread):
            return
        only = Filter(types=frozenset({RecordType.MESSAGE}), thread=id, newest_first=True)
        page = await self._records.scan(job.owner, WHOLE, only, None, _NEWEST)
        said = [
            message
            for message in reversed(those_of(Message, page.records))
            if message.role == "user" and message.seq <= thread.formed_through
        ]
        for message, found in zip(said, unwanted_spans([one.content for one in said]), strict=True):
            if found:
                spans = united(
                    Span(start=one.start, end=_end(message.content, one.end)) for one in found
                )
                await self._hide(job, message, spans)

    async def _hide(self, job: Job, message: Message, spans: tuple[Span, ...]) -> None:
        assert job.owner is not None
        # The same words of the same message are hidden once: an undo is the last word.
        places = hashlib.sha256(repr(as_said(spans, message.removed)).encode()).hexdigest()[:16]
        operation = f"unkept:{message.id}:{places}"
        change = Hide(
            redactions=(Redaction(message.id, spans, message.version),),
            finish_after=self._hours * _HOUR,
        )
        try:
            await self._door.write(
                job.owner,
                WHOLE,
                _ACTOR,
                [change],
                request=[operation],
                operation=operation,
                era=job.era,
            )
        except (Stale, NotFound, Erased) as exc:
            _log.info("what is not to be kept changed in the meantime: %s", exc)


def _end(text: str, end: int) -> int:
    """Return the end of a part with the signs that end its sentence."""
    found = _ENDING.match(text, end)
    return end if found is None else found.end()
