"""The verbs of a book that forget: facts, records, parts of records, and everything of an owner."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final, Literal, NamedTuple, Unpack, get_args
from uuid import UUID

from memoranda import telemetry
from memoranda.book.admin.backup_files import Backups
from memoranda.book.forgetting.item_values import in_earlier_values
from memoranda.book.forgetting.look import Look, may_forget
from memoranda.book.forgetting.meant import Meant, meant
from memoranda.book.input import (
    Who,
    as_actor,
    as_count,
    as_flag,
    as_id,
    as_names,
    as_text,
    as_view,
    owner_named,
)
from memoranda.book.record_ids import MEMORIES, record_id, record_ids
from memoranda.book.services import Services
from memoranda.book.verb_fields import spelled_out
from memoranda.errors import Conflict, Corrupt, InvalidInput, NotFound, Stale
from memoranda.model.items import Item
from memoranda.model.ledger import ErasureReceipt, Target
from memoranda.model.memories import Memory
from memoranda.model.messages import Message, Thread
from memoranda.model.profiles import ProfileDocument
from memoranda.model.query import Hits
from memoranda.model.quotations import quote
from memoranda.model.records import Owner, Record, View
from memoranda.model.redactions import Redaction, Trace, Traces
from memoranda.model.values import Span
from memoranda.operations import Part, Role, W, offer
from memoranda.ports import Records
from memoranda.storage.decide.redaction import Redactable, texts_of

#: Why a record goes.
_NAMED: Final = "named"
_SAME: Final = "it says it, too"
_RESTS: Final = "it rests on what goes"


def shown_of(records: Mapping[UUID, Record], ids: Iterable[UUID], found: Traces) -> tuple[Trace, ...]:
    """Return these records as traces, as far as they could be read."""
    named, same = {memory.id for memory in found.memories}, set(found.ids)
    why = {id: _NAMED if id in named else _SAME if id in same else _RESTS for id in ids}
    return tuple(Trace(id, records[id].type, _text_of(records[id]), why[id]) for id in why if id in records)


def _text_of(record: Record) -> str:
    if isinstance(record, Message):
        return quote(record.content)
    if isinstance(record, Thread):
        return quote(record.title)
    if isinstance(record, ProfileDocument):
        return record.schema_name
    return quote(record.passage_text() or "")


def differences_of(shown: Traces, found: Traces) -> list[str]:
    """Return what is not as it was shown, one line for each sort of difference."""
    spans = [{(one.name, one.version, one.text) for one in traces.spans} for traces in (shown, found)]
    records = [{one.message for one in traces.spans} for traces in (shown, found)]
    ids, goes = (
        (set(found.ids) ^ set(shown.ids)),
        ({one.id for one in found.goes} ^ {one.id for one in shown.goes}),
    )
    lines = []
    if new := records[1] - records[0]:
        lines.append(f"these records tell it as well: {', '.join(sorted(map(str, new)))}")
    if spans[0] - spans[1]:
        gone = sorted({str(name).partition(":")[0] for name, _, _ in spans[0] - spans[1]})
        lines.append(f"parts of these records are not as they were: {', '.join(gone)}")
    elif not new and spans[1] - spans[0]:
        lines.append(f"{len(spans[1] - spans[0])} more parts of the same records tell it")
    if ids:
        lines.append(f"these records say the same, or did: {', '.join(sorted(map(str, ids)))}")
    elif goes:
        lines.append(f"these records would go, or would not any more: {', '.join(sorted(map(str, goes)))}")
    return lines


def changed_since(differences: Sequence[str]) -> str:
    return f"plan: what was shown has changed since: {'; '.join(differences)}; nothing was forgotten; look again, then decide"


#: What forgetting a memory takes: the fact, with the words of messages that tell it; or the record alone.
What = Literal["fact", "record"]
#: How often a forgetting is planned when others change the same records.
_TRIES: Final = 4


class Extent(NamedTuple):
    """A choice of records and parts to forget beside the records that are named."""

    what: What = "fact"
    #: The names of listed parts that go as well.
    take: Collection[str] = ()
    #: True if earlier values of a key go, too, but for those in ``keep``.
    earlier: bool = False
    keep: Collection[UUID] = ()
    #: True if a language model is asked of texts without the value if they tell it.
    ask_model: bool = False
    #: True to say what asking would cost.
    prices: bool = False


@spelled_out
class Forgetting(Part[W]):
    """The verbs of a book that forget."""

    _services: Services
    _on_erased: Callable[[], None]
    backups: Backups
    _find: Callable[..., Awaitable[Hits]]

    @offer(Role.VIEWER, "POST /traces")
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
        """Return the traces of a fact: parts to take, parts that are only listed, and what stays and has to do with it.

        ``id`` is a memory's; it is never searched for. ``about`` asks for memories by words, such as "where I live" or "my
        salary and my address"; if these may mean others, they are listed with their scores, and nothing else is looked for.
        ``key`` is that of a memory. ``take`` names listed parts of messages that are to go as well. With ``earlier`` the earlier
        values of a key go, too, as they do without it where ``about`` or ``key`` names the fact; ``keep`` are the ids of those
        that stay. Nothing is changed.

        With ``ask_model`` a language model is asked whether the newest records that share a word or a topic with the fact
        tell it in other words; its findings are ``listed``. ``asking`` says beforehand what that costs.
        """
        party, view = owner_named(owner, self._services.tenant), as_view(who)
        if [id, about, key].count(None) != 2:
            raise InvalidInput("id: give the id of a memory, or words by about='…', or its key=", field="id")
        asked: Meant | None = None
        if id is None:
            asked = await meant(self._services.engine, self._find, party, who, about=about, key=key)
            named = tuple(memory.id for memory in asked.memories)
            if asked.unclear is not None:
                return Traces(party, view, asked.memories, is_ambiguous=True, scores=asked.scores)
        else:
            named = (await record_id(self._services.engine, party, view, id, "id", MEMORIES),)
            if not isinstance((await self._services.engine.get(party, view, named)).get(named[0]), Memory):
                raise NotFound(
                    f"id: this view sees no memory {named[0]}; find_traces looks for the fact that a memory states"
                )
        goes = await self._earlier(party, view, id is None, earlier, keep)
        extent = Extent("fact", as_names(take, "take"), *goes, as_flag(ask_model, "ask_model"), True)
        found, _ = await self._planned(party, view, named, extent, strict=False)
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
        """Erase memories, messages, episodes or threads by id, with everything derived only from them, or
        ``everything`` of the owner. ``backups`` rewrites the book's own backups without it.

        Of a memory, the fact goes: memories that say the same, and the parts of all records that tell it by its words or its
        value; what tells it in other words is not searched for. ``take`` names listed parts that go as well;
        ``what="record"`` erases the memory and leaves the messages. ``about`` names memories by words, such as "my salary and my
        address", and raises ``Conflict`` if these may mean others; ``key`` names the memory that has it. Then the earlier values
        of its key go, too, and with ``earlier=True`` also those of a memory that is named by its id; ``keep`` are the ids of
        those that stay. ``ask_model`` is as for ``find_traces``. With ``dry_run`` nothing changes: the receipt's ``plan`` is what would go, and ``plan=`` does just that,
        or raises ``Stale`` that says what has changed since.

        Ids that were erased before are ``repeated`` in the receipt. Raise ``NotFound`` for an id that never was or that the
        view may not see; then nothing is erased."""
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
            return await self._erase(Target(party, view, as_actor(view), (), True), dry=dry, backups=backups)
        goes = await self._earlier(party, view, bool(about or key), earlier, keep)
        extent = Extent(what, as_names(take, "take"), *goes, as_flag(ask_model, "ask_model"), dry)
        if plan is not None:
            shown = _plan_of(plan, party, view)
            kept = [one.id for one in shown.earlier if one.id not in shown.ids]
            takes_earlier = len(kept) < len(shown.earlier)
            what = "record" if shown.what == "record" else "fact"
            extent = Extent(what, _named(shown), takes_earlier, kept if takes_earlier else ())
            found, target = await self._planned(party, view, shown.ids, extent, shown)
            return _told(await self._erase(target, dry=dry, backups=backups), found, dry=dry)
        if about or key:
            asked = await meant(self._services.engine, self._find, party, who, about=about, key=key)
            wanted = asked.sure()
        tries = _TRIES
        while True:
            tries -= 1
            try:
                found, target = await self._planned(party, view, wanted, extent)
                # Nobody has seen this plan: if others change the records, it is made again, and at last not compared.
                target = target if tries else replace(target, expected=None)
                return _told(await self._erase(target, dry=dry, backups=backups), found, dry=dry)
            except (Stale, NotFound):
                if not tries:
                    raise

    @offer(Role.EDITOR, "POST /messages/{message}/redact", final=True)
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
        """Take a part out of a message or an item, or out of a memory's ``data``, for good: from ``start`` up to ``end``.

        The places are those of the record as it is now. ``path`` is the JSON pointer of a string in a native form, in ``data`` or
        in a value; without it the part is one of a message's text, and the same words go from its native form, too. A field of
        which nothing is left is unset. What came from these words alone goes with them."""
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
        return await self._erase(target, dry=False, backups=backups)

    async def _erase(self, target: Target, *, dry: bool, backups: bool) -> ErasureReceipt:
        if dry:
            planned = replace(target, dry_run=True)
            return (await self._services.engine.erase(planned, self._services.door.clock())).as_seen()
        receipt = await self.backups.forget(target, backups=backups)
        self._on_erased()
        telemetry.count("erasures")
        return receipt

    async def _earlier(
        self, owner: Owner, view: View, by_default: bool, earlier: bool | None, keep: Any
    ) -> tuple[bool, Collection[UUID]]:
        """Return whether earlier values of a key go, and the ids of those that stay."""
        goes = by_default if earlier is None else as_flag(earlier, "earlier")
        return goes, await record_ids(self._services.engine, owner, view, keep)

    # ── the plan ─────────────────────────────────────────────────────────────────────────────────────────────────

    async def _planned(
        self,
        owner: Owner,
        view: View,
        ids: Sequence[UUID],
        extent: Extent,
        shown: Traces | None = None,
        *,
        strict: bool = True,
    ) -> tuple[Traces, Target]:
        """Return what forgetting these records takes, and the target that does it; with ``shown`` raise ``Stale`` if they differ.

        Unless it is ``strict``, records that the view may not forget are left out.
        """
        engine = self._services.engine
        records = await readable(engine, owner, view, ids)
        # What goes with the memories that were named is not looked for by itself.
        wanted = set(ids) if shown is None else {memory.id for memory in shown.memories}
        memories = [one for one in records.values() if isinstance(one, Memory) and one.id in wanted]
        target = Target(owner, view, as_actor(view), tuple(ids))
        if not memories or extent.what == "record":
            _refuse_unnamed(extent.take, ())
            found = Traces(owner, view, tuple(memories), what=extent.what, ids=tuple(ids))
            look = None
        else:
            look = await self._looked(owner, view, memories, extent)
            more = (record.id for record in (*look.taken, *look.same))
            found = Traces(
                owner, view, tuple(memories), ids=tuple(dict.fromkeys((*ids, *more))), earlier=tuple(look.earlier),
                spans=tuple(look.spans), listed=tuple(look.listed), looked=look.looked,
                asking=look.price(asked=extent.ask_model) if look.collects else None,
            )  # fmt: skip
            target = replace(target, ids=found.ids, redactions=found.redactions)
        if shown is not None and (
            gone := [trace.id for trace in shown.goes if trace.id in ids and trace.id not in records]
        ):
            raise Stale(changed_since([f"{len(gone)} of the records are gone: {', '.join(map(str, gone))}"]))
        if not strict and not all(may_forget(view, memory) for memory in memories):
            own = {memory.id for memory in memories if may_forget(view, memory)}
            allowed = tuple(id for id in found.ids if id in own or id not in records)
            found, target = replace(found, ids=allowed), replace(target, ids=allowed)
        would = await self._erase(target, dry=True, backups=False)
        gone_or_changed = await readable(engine, owner, view, [*would.ids, *would.kept])
        found = replace(
            found,
            goes=shown_of(gone_or_changed, would.ids, found),
            changes=shown_of(gone_or_changed, would.kept, found),
            removed=would.removed,
        )
        if look is not None:
            named, unnamed = look.named(set(would.ids))
            found = replace(found, still_tells=named, more=unnamed)
        if shown is not None and (differences := differences_of(shown, found)):
            raise Stale(changed_since(differences))
        return found, replace(target, expected=frozenset(would.ids))

    async def _looked(self, owner: Owner, view: View, memories: Sequence[Memory], extent: Extent) -> Look:
        """Return a look through all records; raise ``InvalidInput`` for what ``take`` and ``keep`` name and it does not find."""
        ask = self._services.on_demand.ask
        if extent.ask_model and ask is None:
            raise Conflict(
                "ask_model: this book has no language model; open it with models=, or set models.use"
            )
        look = Look(self._services.engine, owner, view, memories, extent.take, extent.earlier, extent.keep)
        look.collects = ask is not None and (extent.ask_model or extent.prices)
        await look.through()
        if extent.ask_model and ask is not None:
            await look.ask(ask)
        await look.take_named()
        if unknown := sorted(set(extent.keep) - {one.id for one in look.earlier}):
            raise InvalidInput(
                f"keep: {unknown[0]} is no earlier value of what is forgotten; leave it out", field="keep"
            )
        _refuse_unnamed(extent.take, [one.name for one in look.spans])
        return look


async def readable(records: Records, owner: Owner, view: View, ids: Sequence[UUID]) -> dict[UUID, Record]:
    """Return those of these records that the view sees and that can be read; a damaged one can be erased all the same."""
    try:
        return await records.get(owner, view, ids)
    except Corrupt:
        found: dict[UUID, Record] = {}
        for id in ids:
            with suppress(Corrupt):
                found |= await records.get(owner, view, [id])
        return found


def _told(receipt: ErasureReceipt, found: Traces, *, dry: bool) -> ErasureReceipt:
    """Return a receipt with what stays and has to do with the fact; that of a dry run with its plan."""
    told = replace(receipt, still_tells=found.still_tells, more=found.more)
    return replace(told, plan=found) if dry else told


def _check_what(what: str) -> None:
    if what not in get_args(What):
        raise InvalidInput(f"what: {what!r} is none of {', '.join(get_args(What))}", field="what")


def _plan_of(plan: Traces | ErasureReceipt, owner: Owner, view: View) -> Traces:
    """Return the plan that a dry run or find_traces made; raise an error if it is none, or another view's."""
    found = plan.plan if isinstance(plan, ErasureReceipt) else plan
    if not isinstance(found, Traces):
        raise InvalidInput("plan: pass what find_traces or a dry run of forget returned", field="plan")
    if found.is_ambiguous:
        raise Conflict("plan: it lists several memories that may be meant; give the id of one of them")
    if (found.owner, found.view) != (owner, view):
        raise InvalidInput("plan: it was made for another owner or view; pass the same ones", field="plan")
    return found


def _named(plan: Traces) -> tuple[str, ...]:
    return tuple(one.name for one in plan.spans if not one.to_the_letter)


def _refuse_unnamed(take: Collection[str], names: Collection[str]) -> None:
    """Raise ``InvalidInput`` for a part to take that is not among those found."""
    unknown = sorted(set(take) - set(names))
    if unknown:
        raise InvalidInput(
            f"take: this view may take no part called {unknown[0]!r}; find_traces lists the names of the parts",
            field="take",
        )
