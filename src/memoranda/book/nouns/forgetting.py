"""Operations that forget: facts, records, parts of records, and everything of an owner."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, Unpack, get_args
from uuid import UUID

from memoranda.book.admin.backup_files import Backups
from memoranda.book.forgetting.bulk import TYPES, BulkReceipt, forget_matching
from memoranda.book.forgetting.hidden_facts import Hidden, told_since
from memoranda.book.forgetting.item_values import in_earlier_values
from memoranda.book.forgetting.meant import Meant, meant
from memoranda.book.forgetting.planning import Extent, Planning, What, named_parts, plan_of, told
from memoranda.book.input import (
    Only,
    Who,
    as_actor,
    as_count,
    as_filter,
    as_flag,
    as_id,
    as_names,
    as_text,
    as_types,
    as_view,
    owner_named,
)
from memoranda.book.record_ids import MEMORIES, record_id, record_ids
from memoranda.book.services import Services
from memoranda.book.verb_fields import spelled_out
from memoranda.door import check_operation
from memoranda.errors import InvalidInput, NotAllowed, NotFound, Stale
from memoranda.model.changes import Hide
from memoranda.model.items import Item
from memoranda.model.ledger import ErasureReceipt, Receipt, Target
from memoranda.model.memories import Memory
from memoranda.model.query import Filter, Hits
from memoranda.model.records import Owner, View
from memoranda.model.redactions import Redaction, Traces
from memoranda.model.service_records import CALLER
from memoranda.model.values import Span, new_id
from memoranda.operations import Part, Role, W, offer
from memoranda.storage.decide.redaction import Redactable, texts_of

#: How often a forgetting is planned when others change the same records.
_TRIES: Final = 4
_HOUR: Final = 3600.0


@spelled_out
class Forgetting(Part[W]):
    """What a book forgets, and what it hides until somebody decides."""

    def __init__(
        self,
        services: Services,
        backups: Backups,
        find: Callable[..., Awaitable[Hits]],
        follow_hidden: Callable[[Owner, Receipt, str], Awaitable[Receipt]],
    ) -> None:
        self._services = services
        self._planning = Planning(services, backups)
        self._find = find
        #: Tells agents' experience what was hidden; returns the receipt.
        self._follow_hidden = follow_hidden

    @offer(Role.VIEWER, "POST /traces", title="find_traces")
    async def find_traces(
        self,
        owner: str | Owner,
        id: UUID | str | None = None,
        *,
        about: str | None = None,
        key: str | None = None,
        take: Iterable[str] = (),
        earlier: bool | None = None,
        keep: Iterable[UUID | str] | UUID | str = (),
        ask_model: bool = False,
        **who: Unpack[Who],
    ) -> Traces:
        """Return the traces of a fact: parts to take, parts that are only listed, and what stays
        and has to do with it.

        ``id`` is a memory's; it is never searched for. ``about`` asks for memories by words, such
        as "where I live" or "my salary and my address"; if these may mean others, they are listed
        with their scores, and nothing else is looked for. ``key`` is that of a memory. ``take``
        names listed parts of messages that are to go as well. With ``earlier`` the earlier values
        of a key go, too, as they do without it where ``about`` or ``key`` names the fact; ``keep``
        are the ids of those that stay. Nothing is changed.

        With ``ask_model`` a language model is asked whether the newest records that share a word or
        a topic with the fact tell it in other words; its findings are ``listed``. ``asking`` says
        beforehand what that costs. A viewer may not ask it.
        """
        party, view = owner_named(owner, self._services.tenant), as_view(who)
        if as_flag(ask_model, "ask_model") and not CALLER.get().writes:
            raise NotAllowed("ask_model: it costs money, and needs the role editor; leave it out")
        if [id, about, key].count(None) != 2:
            raise InvalidInput(
                "id: give the id of a memory, or words by about='…', or its key=", field="id"
            )
        asked: Meant | None = None
        if id is None:
            asked = await meant(self._services.engine, self._find, party, who, about=about, key=key)
            named = tuple(memory.id for memory in asked.memories)
            if asked.unclear is not None:
                return Traces(party, view, asked.memories, is_ambiguous=True, scores=asked.scores)
        else:
            named = (await record_id(self._services.engine, party, view, id, "id", MEMORIES),)
            if not isinstance(
                (await self._services.engine.get(party, view, named)).get(named[0]), Memory
            ):
                raise NotFound(
                    f"id: this view sees no memory {named[0]}; find_traces looks for the fact that a memory states"
                )
        goes = await self._earlier(party, view, id is None, earlier, keep)
        extent = Extent("fact", as_names(take, "take"), *goes, ask_model, True)
        found, _ = await self._planning.planned(party, view, named, extent, strict=False)
        return found if asked is None else replace(found, scores=asked.scores)

    @offer(
        Role.EDITOR,
        "POST /forget",
        final=True,
        command="forget",
        example={"about": "where I live", "dry_run": True},
    )
    async def forget(
        self,
        owner: str | Owner,
        ids: Iterable[UUID | str] | UUID | str = (),
        *,
        about: str | None = None,
        key: str | None = None,
        what: What = "fact",
        take: Iterable[str] = (),
        earlier: bool | None = None,
        keep: Iterable[UUID | str] | UUID | str = (),
        ask_model: bool = False,
        plan: Traces | ErasureReceipt | None = None,
        dry_run: bool = False,
        everything: bool = False,
        backups: bool = False,
        **who: Unpack[Who],
    ) -> ErasureReceipt:
        """Erase memories, messages, episodes or threads by id, with everything derived only from
        them, or ``everything`` of the owner. ``backups`` rewrites the book's own backups without
        it.

        Of a memory, the fact goes: memories that say the same, and the parts of all records that
        tell it by its words or its value; what tells it in other words is not searched for.
        ``take`` names listed parts that go as well; ``what="record"`` erases the memory and leaves
        the messages. ``about`` names memories by words, such as "my salary and my address", and
        raises ``Conflict`` if these may mean others; ``key`` names the memory that has it. Then the
        earlier values of its key go, too, and with ``earlier=True`` also those of a memory that is
        named by its id; ``keep`` are the ids of those that stay. ``ask_model`` is as for
        ``find_traces``. With ``dry_run`` nothing changes: the receipt's ``plan`` is what would go,
        and ``plan=`` does just that, or raises ``Stale`` that says what has changed since.

        Ids that were erased before are ``repeated`` in the receipt. Raise ``NotFound`` for an id
        that never was or that the view may not see; then nothing is erased.
        """
        party, view = owner_named(owner, self._services.tenant), as_view(who)
        dry = as_flag(dry_run, "dry_run")
        wanted = await record_ids(self._services.engine, party, view, ids)
        ways = {"ids": wanted, "about": about, "key": key, "plan": plan, "everything": everything}
        given = [name for name, one in ways.items() if one]
        if len(given) != 1:
            raise InvalidInput(
                "ids: name what to forget, or ask for everything"
                if not given
                else f"ids: give only one of {', '.join(given)}",
                field="ids",
            )
        _check_what(what)
        if everything:
            return await self._planning.erase(
                Target(party, view, as_actor(view), (), True), dry=dry, backups=backups
            )
        goes = await self._earlier(party, view, bool(about or key), earlier, keep)
        extent = Extent(what, as_names(take, "take"), *goes, as_flag(ask_model, "ask_model"), dry)
        if plan is not None:
            shown = plan_of(plan, party, view)
            kept = [one.id for one in shown.earlier if one.id not in shown.ids]
            takes_earlier = len(kept) < len(shown.earlier)
            what = "record" if shown.what == "record" else "fact"
            extent = Extent(what, named_parts(shown), takes_earlier, kept if takes_earlier else ())
            found, target = await self._planning.planned(party, view, shown.ids, extent, shown)
            return told(
                await self._planning.erase(target, dry=dry, backups=backups), found, dry=dry
            )
        if about or key:
            asked = await meant(self._services.engine, self._find, party, who, about=about, key=key)
            wanted = asked.sure()
        tries = _TRIES
        while True:
            tries -= 1
            try:
                found, target = await self._planning.planned(party, view, wanted, extent)
                # Nobody has seen this plan: if others change the records, it is made again, and at
                # last not compared.
                target = target if tries else replace(target, expected=None)
                return told(
                    await self._planning.erase(target, dry=dry, backups=backups), found, dry=dry
                )
            except (Stale, NotFound):
                if not tries:
                    raise

    @offer(Role.EDITOR, "POST /forget-all", final=True, command="forget-all", title="forget_all")
    async def forget_all(
        self,
        owner: str | Owner,
        *,
        types: Iterable[str] | str = "memory",
        kind: Iterable[str] | str | None = None,
        before: datetime | None = None,
        source: UUID | str | None = None,
        thread: UUID | str | None = None,
        dry_run: bool = False,
        backups: bool = False,
        **who: Unpack[Who],
    ) -> BulkReceipt:
        """Erase all of an owner's records of these types that meet every condition given, as
        ``forget`` does by id.

        ``kind`` names kinds of memories, ``before`` the time before which they were observed, said
        or begun, ``source`` a record that they cite, ``thread`` the thread in which they were said.
        With ``dry_run`` nothing is erased, and ``found`` counts what would be. An agent forgets
        what it wrote; everything else needs the owner's view. Many records are erased some at a
        time, each part in a commit of its own: if an error stops it in between, ``left_to_do`` says
        so.
        """
        services = self._services
        party, view = owner_named(owner, services.tenant), as_view(who)
        wanted = as_types(types) or frozenset()
        if not wanted or not wanted <= TYPES:
            names = ", ".join(sorted(type_.value for type_ in TYPES))
            raise InvalidInput(f"types: give some of {names}", field="types")
        only: Only = {"kinds": kind, "until": before, "thread": thread}
        chosen = as_filter(wanted, only)
        if source is not None:
            chosen = replace(chosen, sources=frozenset({as_id(source, "source")}))
        if chosen == Filter(types=wanted):
            raise InvalidInput(
                "forget_all: give kind, before, source or thread; forget(owner, everything=True) erases the owner"
            )
        if not view.whole and view.agent is None:
            raise NotAllowed(
                "forget_all: it erases what others wrote; ask with as_owner=True, or as the agent that wrote it"
            )
        if not view.whole:
            chosen = replace(chosen, agent=view.agent)
        dry, also = as_flag(dry_run, "dry_run"), as_flag(backups, "backups")
        return await forget_matching(
            self._planning, services.engine, party, view, chosen, dry=dry, backups=also
        )

    @offer(Role.EDITOR, "POST /messages/{message}/redact", final=True, title="redact")
    async def redact(
        self,
        owner: str | Owner,
        message: UUID | str,
        start: int,
        end: int,
        *,
        path: str | None = None,
        backups: bool = False,
        **who: Unpack[Who],
    ) -> ErasureReceipt:
        """Take a part out of a message or an item, or out of a memory's ``data``, for good: from
        ``start`` up to ``end``.

        The places are those of the record as it is now. ``path`` is the JSON pointer of a string in
        a native form, in ``data`` or in a value; without it the part is one of a message's text,
        and the same words go from its native form, too. A field of which nothing is left is unset.
        What came from these words alone goes with them.
        """
        party, view = owner_named(owner, self._services.tenant), as_view(who)
        id = as_id(message, "message")
        first, last = as_count(start, "start"), as_count(end, "end", 1)
        if last <= first:
            fault = "end: it lies before start or on it; give the place after the last character"
            raise InvalidInput(fault, field="end")
        held = (await self._services.engine.get(party, view, [id])).get(id)
        if not isinstance(held, Redactable):
            raise NotFound(f"message: this view sees no message, memory or item {id}")
        place = None if path is None else as_text(path, "path")
        if isinstance(held, Item) and place is None and isinstance(held.value, str):
            place = ""
        redactions = [Redaction(id, (Span(start=first, end=last, path=place),), held.version)]
        if isinstance(held, Item):
            words = texts_of(held).get(place, "")[first:last]
            redactions += await in_earlier_values(self._services.engine, party, view, held, words)
        target = Target(party, view, as_actor(view), redactions=tuple(redactions))
        return await self._planning.erase(target, dry=False, backups=backups)

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
        """Take what these memories state out of every read, as ``forget`` would, but so that
        ``undo`` brings it back.

        It is erased by ``finish``, or ``erase_after_hours``; without these it stays hidden until
        somebody decides. ``since`` names a fact that was hidden before: what newer messages tell of
        it is hidden, too. Raise ``NotAllowed`` for what this view may not forget.
        """
        party, view = owner_named(owner, self._services.tenant), as_view(who)
        wanted = await record_ids(self._services.engine, party, view, ids)
        if bool(wanted) == (since is not None):
            raise InvalidInput("ids: give the ids of memories, or since=", field="ids")
        hours = since.erased_after_hours if since is not None else erase_after_hours
        named = f"hide {new_id()}" if operation is None else check_operation(operation)
        request = [
            "hide",
            sorted(map(str, wanted)),
            None if since is None else since.receipt.position,
            hours,
        ]
        if await self._services.engine.find_operation(party, named, as_actor(view)) is not None:
            # The receipt of the first time; another request under this id is refused.
            done = await self._services.write(party, view, [], request, named)
            return Hidden(done, None, hours)
        for left in reversed(range(_TRIES)):
            if since is None:
                found, target = await self._planning.planned(party, view, wanted, Extent())
            else:
                limits = await self._services.forming.of_agents.limits(view.agent)
                found = await told_since(self._services.engine, party, view, since, limits)
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

    @offer(Role.EDITOR, "POST /finish-forgetting", final=True, command="forget")
    async def finish(
        self,
        owner: str | Owner,
        receipt: Receipt | Hidden | int,
        *,
        backups: bool = False,
        **who: Unpack[Who],
    ) -> ErasureReceipt:
        """Erase what a model's ``forget`` or ``hide`` has hidden, by what ``hide`` returned, its
        receipt, or its position in the ledger, which ``about`` lists.

        It cannot be undone. Raise ``Conflict`` if the hiding was undone, and ``NotFound`` if this
        view hid nothing there; the owner's view may erase what any agent hid. ``backups`` rewrites
        the book's own backups without it.
        """
        party, view = owner_named(owner, self._services.tenant), as_view(who)
        if isinstance(receipt, Hidden):
            receipt = receipt.receipt
        if isinstance(receipt, Receipt) and receipt.owner != party:
            raise InvalidInput(
                f"receipt: it is of {receipt.owner}, not of {party}; pass that owner",
                field="receipt",
            )
        position = receipt.position if isinstance(receipt, Receipt) else receipt
        target = Target(party, view, as_actor(view), hidden=as_count(position, "receipt", 1))
        return await self._planning.erase(target, dry=False, backups=backups)

    async def _write_hidden(
        self, owner: Owner, view: View, changes: Sequence[Hide], request: Sequence[Any], named: str
    ) -> Receipt:
        receipt = await self._services.write(owner, view, changes, request, named)
        return await self._follow_hidden(owner, receipt, named)

    async def _earlier(
        self, owner: Owner, view: View, by_default: bool, earlier: bool | None, keep: Any
    ) -> tuple[bool, Collection[UUID]]:
        """Return whether earlier values of a key go, and the ids of those that stay."""
        goes = by_default if earlier is None else as_flag(earlier, "earlier")
        return goes, await record_ids(self._services.engine, owner, view, keep)


def _check_what(what: str) -> None:
    if what not in get_args(What):
        raise InvalidInput(f"what: {what!r} is none of {', '.join(get_args(What))}", field="what")
