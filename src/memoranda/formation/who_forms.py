"""This process's part in forming: what the book's record of who forms leaves to it, and what to
others.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Collection
from datetime import timedelta
from typing import Final

from memoranda.errors import InvalidInput
from memoranda.model.changes import Postponed
from memoranda.model.language_models import FORMATION, RULES, FormingRecord
from memoranda.ports import Clock, Jobs, Models

#: Seconds for which a record that was read counts: other processes may change it.
_KNOWN_SECONDS: Final = 5.0
#: Before a thread that another process has to form is looked at again.
_LEFT: Final = timedelta(seconds=60)
#: What ``form_with`` takes to remove an agent's own record.
DEFAULT: Final = "default"

_log = logging.getLogger("memoranda.who_forms")


def described(who: str) -> str:
    """Return who forms, as a person reads it."""
    return "rules, without a language model" if who == RULES else who


class WhoForms:
    """Compares who forms in this process with the book's record; what another process has to form
    is left to it.
    """

    def __init__(self, records: Jobs, tenant: str, models: Models | None, clock: Clock) -> None:
        self._records = records
        self._tenant = tenant
        self._models = models
        self._clock = clock
        #: The record as it was last read, and when.
        self._known: tuple[FormingRecord, float] | None = None
        #: Why this process leaves threads to another one; empty if it forms them.
        self.cannot_form_because = ""

    @property
    def by_model(self) -> bool:
        """True if a language model forms in this process."""
        return self._models is not None

    @property
    def own(self) -> str:
        """The word for this process in the record: ``rules`` or ``provider:model``."""
        return RULES if self._models is None else self._models.named(FORMATION)

    async def record(self) -> FormingRecord:
        """Read the record, and compare it with this process."""
        found = await self._records.forming_record(self._tenant)
        self._known = found, time.monotonic()
        who = found.of()
        self.cannot_form_because = "" if who in ("", self.own) else self._why(who)
        return found

    async def compare(self) -> None:
        """Read the record, and warn if this process leaves threads to another one."""
        await self.record()
        if self.cannot_form_because:
            _log.warning("%s", self.cannot_form_because)

    async def left(self, kinds: Collection[str], *, whole: bool) -> Collection[str]:
        """Return those of these kinds of jobs that this process does not lease; ``whole``: it works
        for every tenant.
        """
        known = self._known
        if known is None or time.monotonic() - known[1] > _KNOWN_SECONDS:
            record = await self.record()
        else:
            record = known[0]
        # Other tenants have records of their own, which the job itself compares.
        return () if record.leaves_any_to(self.own) or (whole and not record.alone) else kinds

    async def check(self, tenant: str, agent: str | None) -> None:
        """Raise ``Postponed`` if another process has to form the threads of an agent."""
        self._refuse((await self._records.forming_record(tenant)).of(agent))

    async def claim(self, tenant: str, agent: str | None) -> None:
        """Record this process's part if nobody's is recorded; raise ``Postponed`` if another's
        is.
        """
        self._refuse(await self._records.claim_forming(tenant, agent, self.own))

    async def change(self, who: str | None, agent: str | None) -> str:
        """Record who forms; None is this process. Return who forms the threads of that agent
        now.
        """
        chosen = self.own if who is None else who
        if chosen == DEFAULT and agent is None:
            raise InvalidInput(
                "who: 'default' removes the record of one agent; name the agent, too", field="who"
            )
        if chosen not in (RULES, DEFAULT) and not _is_model(chosen):
            raise InvalidInput(
                f"who: {chosen!r} is neither 'rules' nor a model as provider:model", field="who"
            )
        await self._records.change_forming(self._tenant, agent, "" if chosen == DEFAULT else chosen)
        return (await self.record()).of(agent)

    def _refuse(self, who: str) -> None:
        if who not in ("", self.own):
            raise Postponed(
                f"it waits for a process that forms with {described(who)}; this one forms with {described(self.own)}",
                until=self._clock() + _LEFT,
            )

    def _why(self, who: str) -> str:
        call = (
            "book.jobs.form_with()"
            if self._models is not None
            else f"book.jobs.form_with({RULES!r})"
        )
        return (
            f"this book is formed with {described(who)}, and this process has {described(self.own)}: it leaves the threads "
            f"to a process that forms as recorded; to change the record: {call}, or memoranda form --with {self.own}"
        )


def _is_model(who: str) -> bool:
    provider, _, model = who.partition(":")
    return bool(provider.strip() and model.strip()) and who.isprintable()
