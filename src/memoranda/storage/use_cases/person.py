"""Reads everything that a book stores about one owner: the records that a whole erasure finds, and
the rows beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from memoranda.model.experience_lines import ExperienceLine
from memoranda.model.language_models import SpentFilter
from memoranda.model.profiles import Key
from memoranda.model.records import WHOLE, Owner, OwnerKind, Record
from memoranda.model.service_records import LOCAL, SELF, AboutOwner, Holding, ReadLine
from memoranda.model.values import moment, owner_digest
from memoranda.storage.damaged import Damaged
from memoranda.storage.decide.wide_erasures import plan_whole_erasure
from memoranda.storage.questions import FindOwner, OtherHolders, Secret
from memoranda.storage.service_questions import ErasuresOf
from memoranda.storage.upkeep_questions import AllRecords
from memoranda.storage.use_case import Deciding, ask
from memoranda.storage.use_cases.copies import owner_pieces
from memoranda.storage.use_cases.costs import list_spent
from memoranda.storage.use_cases.read_lines import key_uses, reads
from memoranda.storage.use_cases.restriction_checks import restriction

_PAGE = 1000
#: Fields of a record that tell nothing of its content.
_ALWAYS = frozenset({"id", "version", "recorded_at"})


def about_owner(owner: Owner) -> Deciding[AboutOwner]:
    """Return everything that is stored about an owner; records of others are those that the owner's
    erasure changes.
    """
    own = yield from owner_pieces(owner)
    tenant = Owner(tenant=owner.tenant, kind=OwnerKind.TENANT, id=owner.tenant)
    # A key may name an owner who has no records.
    yield from ask(FindOwner(tenant if own is None else owner))
    records = (
        {} if own is None else {record.id: record for record in (yield from ask(AllRecords()))}
    )
    others = yield from ask(OtherHolders())
    held = yield from _held(owner, records, others)
    keys = [one.record.id for one in held if isinstance(one.record, Key)]
    digest = owner_digest((yield from ask(Secret())), owner.parts)
    return AboutOwner(
        own,
        held,
        (yield from key_uses(keys)) if keys else {},
        (yield from restriction(owner)),
        (yield from _reads(owner, others)),
        tuple((yield from list_spent(owner.tenant, SpentFilter(owner=owner)))),
        tuple(moment(at) for at in (yield from ask(ErasuresOf(digest)))),
    )


def _held(
    owner: Owner, records: dict[UUID, Record], others: Sequence[Record]
) -> Deciding[tuple[Holding, ...]]:
    plan = yield from plan_whole_erasure(owner, WHOLE, records)
    # A record that stays is planned without its part about the owner, so it is read as it stands.
    standing = {record.id: record for record in others}
    found = [
        _holding(standing.get(id, record), owner, goes=id in plan.doomed)
        for id, record in {**plan.stripped, **plan.doomed}.items()
        if record.owner != owner and not isinstance(record, Damaged)
    ]
    return tuple(sorted(found, key=lambda one: (one.record.owner.parts, one.record.id)))


def _holding(record: Record, owner: Owner, *, goes: bool) -> Holding:
    """Return the part of another owner's record that is about this owner."""
    if isinstance(record, ExperienceLine):
        others = [part for part in record.evidence if part.owner != owner]
        # A line that did not pass the privacy check for others may tell of them, approved or not;
        # no check reads the reason.
        checked = all(part.guarded_at is not None for part in others)
        left_out = () if not others else ("reason",) if checked else ("line", "reason")
        return Holding(record.shown_to(owner), goes, frozenset(left_out))
    if isinstance(record, Key):
        return Holding(*_key_of(record, owner, goes=goes))
    # No other record of others is about an owner; if one should be, it may be about others, too.
    return Holding(record, goes, frozenset(type(record).model_fields) - _ALWAYS)


def _key_of(key: Key, owner: Owner, *, goes: bool) -> tuple[Key, bool, frozenset[str]]:
    """Return a key that lists no other owner, and the fields that would name others."""
    lists, beside = ("owners", "groups") if owner.kind is OwnerKind.USER else ("groups", "owners")
    listed = getattr(key, lists)
    shown: Key = key.changed(**{lists: listed and tuple(one for one in listed if one == owner.id)})
    left_out = {"digest", beside} | ({"opens"} if key.opens != owner else set())
    if not _is_own(key, owner):
        left_out |= {"name", "person"}
    return shown, goes, frozenset(left_out)


def _is_own(key: Key, owner: Owner) -> bool:
    """Return True if no other person holds a key: its name may be that person's."""
    return key.person is None or (owner.kind is OwnerKind.USER and owner.id == key.person)


def _reads(owner: Owner, others: Sequence[Record]) -> Deciding[tuple[ReadLine, ...]]:
    """Return the lines about reads of an owner; the name of another person who read is empty."""
    keys = [record for record in others if isinstance(record, Key)]
    named = {key.name for key in keys if _is_own(key, owner)} | {SELF, LOCAL}
    named -= {key.name for key in keys if not _is_own(key, owner)}
    found: list[ReadLine] = []
    cursor: str | None = None
    while True:
        page = yield from reads(owner.tenant, owner, None, _PAGE, cursor)
        found += (
            one if one.principal in named else replace(one, principal="") for one in page.lines
        )
        cursor = page.cursor
        if cursor is None:
            return tuple(found)
