"""Plans an erasure: the given records, and everything derived only from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from memoranda.errors import NotAllowed
from memoranda.model.experience_lines import ExperienceLine
from memoranda.model.items import Item
from memoranda.model.ledger import AGED, REDACTED, Actor, Line, Verb
from memoranda.model.memories import Cited, Memory
from memoranda.model.messages import Episode, Message, Thread
from memoranda.model.profiles import ProfileDocument
from memoranda.model.records import Owner, Record, RecordType, View, those_of
from memoranda.model.redactions import Redaction, dump_redactions
from memoranda.model.unlisted import unlisted_of
from memoranda.storage.damaged import Damaged
from memoranda.storage.decide.protection import is_pinned_against
from memoranda.storage.decide.redaction import (
    Redactable,
    Remade,
    Removed,
    check_version,
    has,
    is_earlier,
    parts_of,
    quotes_left,
    removed_from,
    statements_of,
    text_of_value,
    without_fields,
    without_parts,
)
from memoranda.storage.decide.source_lists import Lost, with_groups
from memoranda.storage.decide.state import load_all, load_erasable
from memoranda.storage.questions import Aged, InThread, Members, RestingOn
from memoranda.storage.use_case import Deciding, ask


@dataclass(slots=True)
class ErasurePlan:
    """The records to erase, and the records that stay with fewer sources."""

    #: The records to erase, by id.
    doomed: dict[UUID, Record] = field(default_factory=dict)
    #: Records that stay, without the erased sources.
    stripped: dict[UUID, Record] = field(default_factory=dict)
    #: Messages removed by age before, which no record may have as a source any more.
    aged: set[UUID] = field(default_factory=set)
    #: Record → each of its groups of unlisted sources, as they are stored. An import may give two
    #: records the same group id.
    members: dict[UUID, dict[UUID, frozenset[UUID]]] = field(default_factory=dict)
    #: The same of groups in ``stripped``, as they will be.
    kept_members: dict[UUID, dict[UUID, frozenset[UUID]]] = field(default_factory=dict)
    #: The messages and documents that stay without some of their words.
    removed: dict[UUID, Removed] = field(default_factory=dict)
    #: Parts of earlier values of items, which are emptied.
    earlier: list[Redaction] = field(default_factory=list)
    #: The parts of records that are made anew from others, with the versions that have them.
    remade: list[Redaction] = field(default_factory=list)
    #: Episodes and threads that were looked through for the fact: they lose the parts that were
    #: named, and no more.
    looked_through: set[UUID] = field(default_factory=set)
    #: Asked for, and not there for this view.
    unknown: list[UUID] = field(default_factory=list)
    #: The threads whose summaries are emptied; they are made anew.
    unsummarised: list[UUID] = field(default_factory=list)
    #: Older statements that erased memories had superseded; they are not erased.
    superseded: list[UUID] = field(default_factory=list)

    def __contains__(self, id: object) -> bool:
        """True if this plan erases the record, or if it was removed earlier because of its age."""
        return id in self.doomed or id in self.aged

    def lost_to(self, record: Record, text: str) -> Lost:
        """Return the sources that a record loses by this plan; ``text`` is its text, or that of one
        part.
        """
        return Lost(
            _Gone(self, text, getattr(record, "quotes", ())), self.members.get(record.id, {})
        )

    def left_of(self, record: Record, group: UUID) -> frozenset[UUID]:
        """Return the sources that a group of unlisted sources keeps."""
        stored = self.members[record.id][group]
        held = self.kept_members.get(record.id, {}).get(group, stored)
        # A part of a profile may keep what another part loses.
        gone = self.lost_to(record, record.content).sources if isinstance(record, Memory) else self
        return frozenset(source for source in held if source not in gone)

    def unlinked(self, record: Record) -> list[tuple[UUID, UUID]]:
        """Return the pairs of a group and a source that leaves it, of a record that stays."""
        kept = {group.id: self.kept_members[record.id][group.id] for group in unlisted_of(record)}
        return [
            (id, source)
            for id, held in self.members.get(record.id, {}).items()
            for source in sorted(held - kept.get(id, frozenset()))
        ]

    def redacted(self) -> tuple[Redaction, ...]:
        """Return the parts that records lose that stay, as places in the records as they were
        said.
        """
        now = [
            Redaction(id, one.spans, at=one.left.updated_at if isinstance(one.left, Item) else None)
            for id, one in self.removed.items()
        ]
        beside = (*self.earlier, *self.remade)
        return (*now, *(one for one in beside if one.message not in self.doomed))

    def parts(self) -> Counter[str]:
        """Return how many parts records lose that stay, by type."""
        lost = [(one.left.type, len(one.spans)) for one in self.removed.values()]
        for one in self.remade:
            record = self.stripped.get(one.message)
            if record is not None and record.version == one.of_version:
                lost.append((record.type, len(one.spans)))
        return parts_of(lost)

    def takes_earlier(self, record: Record | None, redaction: Redaction) -> bool:
        """Empty the earlier versions of an item if a redaction is of an earlier value; return False
        if it is of none.
        """
        if not isinstance(record, Item) or not is_earlier(record, redaction):
            return False
        self.earlier.append(redaction)
        self.stripped.setdefault(record.id, record)
        return True

    def losing_threads(self) -> set[UUID]:
        """Return the threads that lose a message, memory or episode by this plan."""
        left = [removed.left for removed in self.removed.values()]
        return {
            record.thread
            for record in (*self.doomed.values(), *left)
            if isinstance(record, (Message, Memory, Episode)) and record.thread is not None
        }


@dataclass(frozen=True, slots=True)
class _Gone:
    """The sources that a statement loses: those that are erased, and messages that lose the words
    it came from.
    """

    plan: ErasurePlan
    text: str
    quotes: tuple[Cited, ...]

    def __contains__(self, id: object) -> bool:
        if id in self.plan or not isinstance(id, UUID):
            return id in self.plan
        removed = self.plan.removed.get(id)
        return removed is not None and removed.is_source_of(self.text, self.quotes)


def plan_erasure(
    view: View,
    actor: Actor,
    ids: tuple[UUID, ...],
    redactions: tuple[Redaction, ...] = (),
    emptied: tuple[UUID, ...] = (),
) -> Deciding[ErasurePlan]:
    """Plan, by asking the engine, the erasure of these records and of everything derived only from
    them.

    The records of ``redactions`` stay without some of their words, and the threads ``emptied``
    without their summaries.
    """
    plan = ErasurePlan()
    records = yield from load_erasable(ids)
    aged = (yield from ask(Aged())) if view.whole and len(records) < len(set(ids)) else {}
    for id in ids:
        record = records.get(id)
        if record is None and id in aged:
            plan.aged.add(id)
        elif record is None or not record.audience.readable_by(view):
            plan.unknown.append(id)
        else:
            _check_own(record, view)
            plan.doomed[id] = record
    yield from _redact(plan, view, redactions)
    for thread in (yield from load_all(emptied)).values():
        if not thread.audience.readable_by(view):
            plan.unknown.append(thread.id)
        else:
            _check_own(thread, view)
    yield from follow(plan, {*(aged[id] for id in plan.aged if id in aged), *emptied})
    if not view.whole:
        for memory in those_of(Memory, plan.doomed.values()):
            if memory.audience.readable_by(view) and (yield from is_pinned_against(actor, memory)):
                raise NotAllowed(
                    f"memory {memory.id} would go with it, and the person pinned that: only they forget it"
                )
    return plan


def _redact(plan: ErasurePlan, view: View, redactions: tuple[Redaction, ...]) -> Deciding[None]:
    records = yield from load_all(one.message for one in redactions)
    fact = statements_of(plan.doomed.values())
    # The places of a later version are looked for in what those of this one have left.
    for one in sorted(redactions, key=lambda one: one.of_version or 0):
        record = records.get(one.message)
        if one.message in plan.doomed:
            continue
        if not isinstance(record, Redactable | Remade) or not record.audience.readable_by(view):
            plan.unknown.append(one.message)
            continue
        _check_own(record, view)
        if plan.takes_earlier(record, one):
            continue
        if isinstance(record, Remade):
            _redact_remade(plan, record, one)
            continue
        if isinstance(record, Episode):
            plan.looked_through.add(record.id)
        if not one.spans:
            check_version(record, one)
            continue
        removed = removed_from(record, one, fact)
        if removed is None:
            plan.doomed[record.id] = record
        else:
            plan.removed[record.id] = removed
            plan.stripped[record.id] = removed.left


def _redact_remade(plan: ErasurePlan, record: Remade, redaction: Redaction) -> None:
    """Take parts out of a record that is made anew from others.

    Of another version than the one that has these places: an earlier one, such as that of a backup,
    loses each field that has one; a later one only what history shows of it.
    """
    if redaction.of_version is None:
        check_version(record, redaction)
    version, spans = redaction.of_version or record.version, redaction.spans
    base: Any = plan.stripped.get(record.id, record)
    left = base
    if isinstance(record, Thread) and version == record.version:
        plan.looked_through.add(record.id)
    if spans:
        plan.remade.append(replace(redaction, version=None, of_version=version))
        if redaction.of_version is None or (version == record.version and has(base, spans)):
            left = without_parts(base, spans)
        elif version >= record.version:
            left = without_fields(base, spans)
    if left is None:
        plan.doomed[record.id] = record
        plan.stripped.pop(record.id, None)
    elif left != base or (spans and version != record.version):
        if isinstance(left, Thread) and not left.summary and left.summary_through:
            plan.unsummarised.append(left.id)
            left = left.changed(summary_through=0)
        plan.stripped[record.id] = left


def follow(plan: ErasurePlan, aged: Collection[UUID]) -> Deciding[None]:
    """Add dependent records and covered summaries to a plan; ``aged`` are threads that lost
    messages by age.
    """
    touched = (yield from ask(RestingOn(tuple(plan.removed), damaged=True))) if plan.removed else []
    yield from _read_groups(plan, touched)
    for record in touched:
        if record.id in plan.doomed:
            continue
        if _falls(plan, record):
            plan.doomed[record.id] = record
            plan.stripped.pop(record.id, None)
        elif record.version == 1 and plan.stripped.get(record.id) == record:
            # Nothing of it came from these words, and it has no earlier version that may quote
            # them.
            del plan.stripped[record.id]
    _take_empty(plan, touched)
    yield from spread(plan, [*plan.doomed, *plan.aged])
    yield from _empty_summaries(plan, aged)
    plan.superseded = [
        older
        for record in plan.doomed.values()
        if isinstance(record, Memory)
        for older in record.supersedes
        if older not in plan.doomed
    ]


def _take_empty(plan: ErasurePlan, touched: Iterable[Record]) -> None:
    """Erase the messages that would stay without a word, unless another record has them as its
    source.
    """
    held: set[UUID] = set()
    for record in touched:
        if record.id not in plan.doomed and not _has_others(plan, record):
            held.update(plan.stripped.get(record.id, record).stands_on())
            groups = plan.kept_members.get(record.id) or plan.members.get(record.id, {})
            held.update(source for group in groups.values() for source in group)
    for id, one in [*plan.removed.items()]:
        if one.is_empty and id not in held:
            plan.doomed[id] = one.before
            del plan.removed[id], plan.stripped[id]


def _has_others(plan: ErasurePlan, record: Record) -> bool:
    """True of an episode that keeps a source that has words."""
    gone = {id for id, one in plan.removed.items() if one.is_empty} | plan.doomed.keys()
    return isinstance(record, Episode) and any(id not in gone for id in record.rests_on())


def departure(
    plan: ErasurePlan, owner: Owner, *, ageing: bool
) -> tuple[tuple[Line, ...], dict[str, Any]]:
    """Return an erasure's ledger lines, and the note for its ledger entry."""
    verb = Verb.AGE if ageing else Verb.ERASE
    own = [record for record in plan.doomed.values() if record.owner == owner]
    note: dict[str, Any] = {}
    if ageing:
        own.sort(key=_place)
        counts = Counter(record.thread.hex for record in own if isinstance(record, Message))
        note[AGED] = [[thread, count] for thread, count in counts.items()]
    lines = [Line(verb, r.type, r.id, r.version, 0, erased=True) for r in own]
    lines += [Line(verb, RecordType.MESSAGE, id, 0, 0, erased=True) for id in sorted(plan.aged)]
    if redacted := plan.redacted():
        note[REDACTED] = dump_redactions(redacted)
    return tuple(lines), note


def _place(record: Record) -> tuple[UUID, int]:
    return (record.thread, record.seq) if isinstance(record, Message) else (record.id, 0)


def _check_own(record: Record, view: View) -> None:
    """Raise ``NotAllowed`` if an agent would erase a record that another wrote; the owner may erase
    all records.
    """
    if view.whole:
        return
    writer = getattr(record, "agent", None)
    if view.agent is None:
        raise NotAllowed(
            f"{record.type.value} {record.id}: name the agent that wrote it, with agent=, or forget it as the person, with "
            "as_owner=True"
        )
    if writer != view.agent:
        raise NotAllowed(
            f"{record.type.value} {record.id} is not this agent's own: retract it, or forget it with as_owner=True"
        )


def spread(plan: ErasurePlan, wave: list[UUID]) -> Deciding[None]:
    """Add to a plan what falls with a wave of records, and with that, until nothing more falls."""
    while wave:
        threads = [
            id for id in wave if id in plan.doomed and plan.doomed[id].type is RecordType.THREAD
        ]
        aged = (yield from ask(Aged())) if threads else {}
        left = [id for id, thread in aged.items() if thread in threads and id not in plan.aged]
        plan.aged.update(left)
        found: list[UUID] = []
        for thread in threads:
            inside = yield from load_erasable((yield from ask(InThread(thread))))
            yield from _read_groups(plan, inside.values())
            for record in inside.values():
                if record.id in plan.doomed:
                    continue
                if _lives_in(record, thread) or _falls(plan, record):
                    plan.doomed[record.id] = record
                    plan.stripped.pop(record.id, None)
                    found.append(record.id)
        resting = yield from ask(RestingOn((*wave, *left), damaged=True))
        yield from _read_groups(plan, resting)
        for record in resting:
            if record.id not in plan.doomed and _falls(plan, record):
                plan.doomed[record.id] = record
                plan.stripped.pop(record.id, None)
                found.append(record.id)
        wave = found


def _read_groups(plan: ErasurePlan, records: Iterable[Record]) -> Deciding[None]:
    """Read the unlisted sources of records, once each."""
    for record in records:
        new = tuple(group.id for group in unlisted_of(record))
        if new and record.id not in plan.members:
            found = yield from ask(Members(record.id, new))
            plan.members[record.id] = {
                id: frozenset(source for group, source in found if group == id) for id in new
            }


def _empty_summaries(plan: ErasurePlan, aged: Collection[UUID]) -> Deciding[None]:
    """Empty every summary and formed title that covers an erased message; any may cover one that
    was removed by age.
    """
    said = [record for record in plan.doomed.values() if isinstance(record, Message)]
    said += [one.left for one in plan.removed.values() if isinstance(one.left, Message)]
    firsts: dict[UUID, int] = dict.fromkeys(aged, 1)
    for message in said:
        firsts[message.thread] = min(message.seq, firsts.get(message.thread, message.seq))
    threads = yield from load_all(id for id in firsts if id not in plan.doomed)
    for thread in threads.values():
        if not isinstance(thread, Thread) or thread.id in plan.looked_through:
            continue
        emptied: dict[str, Any] = {}
        if firsts[thread.id] <= thread.summary_through:
            emptied |= {"summary": "", "summary_through": 0}
        if firsts[thread.id] <= thread.title_through:
            emptied |= {"title": "", "title_through": 0}
        if thread.task_summary is not None and firsts[thread.id] <= thread.task_summary.through:
            emptied["task_summary"] = None
        if thread.prepared is not None and firsts[thread.id] <= thread.prepared.through:
            emptied["prepared"] = None
        if emptied:
            plan.unsummarised += [thread.id] if "summary" in emptied and thread.summary else []
            plan.stripped[thread.id] = plan.stripped.get(thread.id, thread).changed(**emptied)


def _lives_in(record: Record, thread: UUID) -> bool:
    """True if a record is always erased with its thread: it is a message of the thread, or its
    episode.
    """
    if isinstance(record, Message):
        return True
    return isinstance(record, Episode) and record.thread == thread


def _with_groups(plan: ErasurePlan, record: Any) -> Any:
    """Return a record that stays, with the unlisted sources that are left."""
    left = {group.id: plan.left_of(record, group.id) for group in unlisted_of(record)}
    record = with_groups(record, left, record.version + 1)
    plan.kept_members.setdefault(record.id, {}).update(left)
    return record


def _falls(plan: ErasurePlan, record: Record) -> bool:
    """True if a record must be erased, having lost its sources; otherwise the plan may store it
    without them.
    """
    if isinstance(record, Damaged):
        # Nobody can say what it would be without these sources.
        return True
    base = plan.stripped.get(record.id, record)
    if isinstance(base, (Memory, ProfileDocument, ExperienceLine)):
        left = _without(plan, base)
        if left is None:
            return True
        plan.stripped[record.id] = _with_groups(plan, left)
        return False
    if isinstance(base, Episode):
        left_of = tuple(source for source in base.rests_on() if source not in plan)
        if record.id in plan.looked_through and left_of:
            if len(left_of) < len(base.sources):
                plan.stripped[record.id] = base.changed(sources=left_of)
            return False
        # It summarises all its sources; its words cannot be attributed to one of them.
        return any(source in plan or source in plan.removed for source in base.rests_on())
    return all(source in plan for source in base.rests_on())


def _without(plan: ErasurePlan, base: Memory | ProfileDocument | ExperienceLine) -> Record | None:
    """Return a record without the sources that it loses; None if nothing is left of it."""
    if isinstance(base, ProfileDocument):
        return base.without(lambda value: plan.lost_to(base, text_of_value(value)))
    if isinstance(base, ExperienceLine):
        return base.without(plan.lost_to(base, base.line))
    left = base.without(plan.lost_to(base, base.content))
    return None if left is None else left.changed(quotes=quotes_left(left, plan.removed))
