"""Plans a forgetting, with all that tells the fact, and carries it out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final, Literal, NamedTuple
from uuid import UUID

from memoranda import telemetry
from memoranda.book.admin.backup_files import Backups
from memoranda.book.forgetting.look import Look, may_forget
from memoranda.book.input import as_actor
from memoranda.book.services import Services
from memoranda.errors import Conflict, Corrupt, InvalidInput, Stale
from memoranda.model.ledger import ErasureReceipt, Target
from memoranda.model.memories import Memory
from memoranda.model.messages import Message, Thread
from memoranda.model.profiles import ProfileDocument
from memoranda.model.quotations import quote
from memoranda.model.records import Owner, Record, View
from memoranda.model.redactions import Trace, Traces
from memoranda.ports import Records

#: Why a record goes.
_NAMED: Final = "named"
_SAME: Final = "it says it, too"
_RESTS: Final = "it rests on what goes"
#: What forgetting a memory takes: the fact, with the words of messages that tell it; or the record
#: alone.
What = Literal["fact", "record"]


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


class Planning:
    """Plans forgettings, and carries them out in the book and its backups."""

    def __init__(self, services: Services, backups: Backups) -> None:
        self._services = services
        self._backups = backups

    async def erase(self, target: Target, *, dry: bool, backups: bool) -> ErasureReceipt:
        """Erase what a target names, or with ``dry`` say what that would take."""
        if dry:
            planned = replace(target, dry_run=True)
            return (
                await self._services.engine.erase(planned, self._services.door.clock())
            ).as_seen()
        receipt = await self._backups.forget(target, backups=backups)
        telemetry.count("erasures")
        return receipt

    async def planned(
        self,
        owner: Owner,
        view: View,
        ids: Sequence[UUID],
        extent: Extent,
        shown: Traces | None = None,
        *,
        strict: bool = True,
    ) -> tuple[Traces, Target]:
        """Return what forgetting these records takes, and the target that does it; with ``shown``
        raise ``Stale`` if they differ.

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
            gone := [
                trace.id for trace in shown.goes if trace.id in ids and trace.id not in records
            ]
        ):
            raise Stale(
                changed_since([f"{len(gone)} of the records are gone: {', '.join(map(str, gone))}"])
            )
        if not strict and not all(may_forget(view, memory) for memory in memories):
            own = {memory.id for memory in memories if may_forget(view, memory)}
            allowed = tuple(id for id in found.ids if id in own or id not in records)
            found, target = replace(found, ids=allowed), replace(target, ids=allowed)
        would = await self.erase(target, dry=True, backups=False)
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

    async def _looked(
        self, owner: Owner, view: View, memories: Sequence[Memory], extent: Extent
    ) -> Look:
        """Return a look through all records; raise ``InvalidInput`` for what ``take`` and ``keep``
        name and it does not find.
        """
        ask = self._services.on_demand.ask
        if extent.ask_model and ask is None:
            raise Conflict(
                "ask_model: this book has no language model; open it with models=, or set models.use"
            )
        look = Look(
            self._services.engine, owner, view, memories, extent.take, extent.earlier, extent.keep
        )
        look.collects = ask is not None and (extent.ask_model or extent.prices)
        await look.through()
        if extent.ask_model and ask is not None:
            await look.ask(ask)
        await look.take_named()
        if unknown := sorted(set(extent.keep) - {one.id for one in look.earlier}):
            raise InvalidInput(
                f"keep: {unknown[0]} is no earlier value of what is forgotten; leave it out",
                field="keep",
            )
        _refuse_unnamed(extent.take, [one.name for one in look.spans])
        return look


async def readable(
    records: Records, owner: Owner, view: View, ids: Sequence[UUID]
) -> dict[UUID, Record]:
    """Return those of these records that the view sees and that can be read; a damaged one can be
    erased all the same.
    """
    try:
        return await records.get(owner, view, ids)
    except Corrupt:
        found: dict[UUID, Record] = {}
        for id in ids:
            with suppress(Corrupt):
                found |= await records.get(owner, view, [id])
        return found


def shown_of(
    records: Mapping[UUID, Record], ids: Iterable[UUID], found: Traces
) -> tuple[Trace, ...]:
    """Return these records as traces, as far as they could be read."""
    named, same = {memory.id for memory in found.memories}, set(found.ids)
    why = {id: _NAMED if id in named else _SAME if id in same else _RESTS for id in ids}
    return tuple(
        Trace(id, records[id].type, _text_of(records[id]), why[id]) for id in why if id in records
    )


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
    spans = [
        {(one.name, one.version, one.text) for one in traces.spans} for traces in (shown, found)
    ]
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
        lines.append(
            f"these records would go, or would not any more: {', '.join(sorted(map(str, goes)))}"
        )
    return lines


def changed_since(differences: Sequence[str]) -> str:
    """Return the words for a plan that does not hold any more."""
    return f"plan: what was shown has changed since: {'; '.join(differences)}; nothing was forgotten; look again, then decide"


def plan_of(plan: Traces | ErasureReceipt, owner: Owner, view: View) -> Traces:
    """Return the plan that a dry run or find_traces made; raise an error if it is none, or another
    view's.
    """
    found = plan.plan if isinstance(plan, ErasureReceipt) else plan
    if not isinstance(found, Traces):
        raise InvalidInput(
            "plan: pass what find_traces or a dry run of forget returned", field="plan"
        )
    if found.is_ambiguous:
        raise Conflict(
            "plan: it lists several memories that may be meant; give the id of one of them"
        )
    if (found.owner, found.view) != (owner, view):
        raise InvalidInput(
            "plan: it was made for another owner or view; pass the same ones", field="plan"
        )
    return found


def named_parts(plan: Traces) -> tuple[str, ...]:
    """Return the names of the parts that somebody chose for a plan."""
    return tuple(one.name for one in plan.spans if not one.to_the_letter)


def _refuse_unnamed(take: Collection[str], names: Collection[str]) -> None:
    """Raise ``InvalidInput`` for a part to take that is not among those found."""
    unknown = sorted(set(take) - set(names))
    if unknown:
        raise InvalidInput(
            f"take: this view may take no part called {unknown[0]!r}; find_traces lists the names of the parts",
            field="take",
        )


def told(receipt: ErasureReceipt, found: Traces, *, dry: bool) -> ErasureReceipt:
    """Return a receipt with what stays and has to do with the fact; that of a dry run with its
    plan.
    """
    whole = replace(receipt, still_tells=found.still_tells, more=found.more)
    return replace(whole, plan=found) if dry else whole
