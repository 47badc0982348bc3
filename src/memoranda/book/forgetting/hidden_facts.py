"""The verb that takes a fact out of every read without erasing it, as a model's tool does."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Unpack
from uuid import UUID

from memoranda.book.forgetting.facts import fact_of
from memoranda.book.forgetting.tellings import tellings_of
from memoranda.book.forgetting.verbs import Extent
from memoranda.book.input import Who, as_actor, as_view, owner_named
from memoranda.book.record_ids import record_ids
from memoranda.book.services import Services
from memoranda.book.verb_fields import spelled_out
from memoranda.errors import InvalidInput, Stale
from memoranda.model.changes import Hide
from memoranda.model.ledger import Receipt, Target
from memoranda.model.messages import Message
from memoranda.model.query import Filter
from memoranda.model.records import Owner, RecordType, View
from memoranda.model.redactions import Telling, Traces
from memoranda.model.values import new_id
from memoranda.operations import Part, Role, W, offer
from memoranda.storage.decide.strangers import OWNER_WORDS
from memoranda.text.scripts import comparable_text

#: How often a plan is made again if its messages change in the meantime.
_TRIES: Final = 4
#: The newest messages in which a fact is looked for that was hidden before.
_NEWEST: Final = 200
_HOUR: Final = 3600.0


@dataclass(frozen=True, slots=True)
class Hidden:
    """A fact that is out of every read, and not erased yet."""

    #: Pass it, or its position, to ``finish_forgetting`` or ``undo``.
    receipt: Receipt
    #: What was taken out, and what stays and has to do with it; None if this operation had been done before.
    traces: Traces | None
    #: Hours after which it is erased; None: when somebody decides.
    erased_after_hours: float | None = None


@spelled_out
class Hiding(Part[W]):
    """The verb of a book that hides facts."""

    _services: Services
    #: Tells agents' experience what was hidden; returns the receipt.
    _follow_hidden: Callable[[Owner, Receipt, str], Awaitable[Receipt]]
    _planned: Callable[..., Awaitable[tuple[Traces, Target]]]

    @offer(Role.EDITOR, "POST /hide", title="hide_facts")
    async def hide(
        self,
        owner: str | Owner,
        ids: Iterable[UUID | str] | UUID | str = (),
        *,
        since: Hidden | None = None,
        erase_after_hours: float | None = None,
        operation: str | None = None,
        **who: Unpack[Who],
    ) -> Hidden:
        """Take what these memories state out of every read, as ``forget`` would, but so that ``undo`` brings it back.

        It is erased by ``finish_forgetting``, or ``erase_after_hours``; without these it stays hidden until somebody decides.
        ``since`` names a fact that was hidden before: what newer messages tell of it is hidden, too. Raise ``NotAllowed`` for
        what this view may not forget.
        """
        party, view = owner_named(owner, self._services.tenant), as_view(who)
        wanted = await record_ids(self._services.engine, party, view, ids)
        if bool(wanted) == (since is not None):
            raise InvalidInput("ids: give the ids of memories, or since=", field="ids")
        hours = since.erased_after_hours if since is not None else erase_after_hours
        named = operation or f"hide {new_id()}"
        done = await self._services.engine.find_operation(party, named, as_actor(view))
        if done is not None:
            return Hidden(done, None, hours)
        request = ["hide", sorted(map(str, wanted)), None if since is None else since.receipt.position, hours]
        for left in reversed(range(_TRIES)):
            if since is None:
                found, target = await self._planned(party, view, wanted, Extent())
            else:
                found = await self._told_since(party, view, since)
                if not found.spans:
                    return Hidden(since.receipt, found, hours)
                target = Target(party, view, as_actor(view), redactions=found.redactions)
            after = None if hours is None else hours * _HOUR
            changes = [Hide(target.ids, target.redactions, target.emptied, finish_after=after)]
            try:
                receipt = await self._write_hidden(party, view, changes, request, named)
            except Stale:
                if not left:
                    raise
            else:
                return Hidden(receipt, found, hours)
        raise AssertionError

    async def _write_hidden(
        self, owner: Owner, view: View, changes: Sequence[Hide], request: Sequence[Any], named: str
    ) -> Receipt:
        receipt = await self._services.write(owner, view, changes, request, named)
        return await self._follow_hidden(owner, receipt, named)

    async def _told_since(self, owner: Owner, view: View, since: Hidden) -> Traces:
        """Return the parts of the newest messages that tell a fact to the letter, as far as this view may take them."""
        if since.traces is None:
            return Traces(owner, view, ())
        names = frozenset({comparable_text(owner.id), *OWNER_WORDS})
        facts = [fact_of([memory], names) for memory in since.traces.memories]
        only = Filter(types=frozenset({RecordType.MESSAGE}), newest_first=True)
        page = await self._services.engine.scan(owner, view, only, None, _NEWEST)
        spans: list[Telling] = []
        for record in page.records:
            if isinstance(record, Message) and (view.whole or record.agent == view.agent):
                spans += [one for one in tellings_of(facts, record) if one.to_the_letter]
        return Traces(owner, view, since.traces.memories, spans=tuple(spans))
