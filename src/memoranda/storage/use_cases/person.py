"""Reads everything that a book stores about one owner: the records that a whole erasure finds, and the rows beside them."""

from __future__ import annotations

from memoranda.model.beside.person_rows import AboutOwner, Holding
from memoranda.model.beside.service_records import ReadLine
from memoranda.model.experience_lines import ExperienceLine
from memoranda.model.language_models import Spent, SpentFilter
from memoranda.model.profiles import Key
from memoranda.model.records import WHOLE, Owner, OwnerKind, Record
from memoranda.model.values import moment, owner_digest
from memoranda.storage.damaged import Damaged
from memoranda.storage.decide.erasure_plan import plan_whole_erasure
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
    """Return everything that is stored about an owner; records of others are those that the owner's erasure changes."""
    own = yield from owner_pieces(owner)
    held = () if own is None else (yield from _held(owner))
    keys = [one.record.id for one in held if isinstance(one.record, Key)]
    digest = owner_digest((yield from ask(Secret())), owner.parts)
    return AboutOwner(
        own,
        held,
        (yield from key_uses(keys)) if keys else {},
        (yield from restriction(owner)),
        (yield from _reads(owner)),
        () if own is None else (yield from _spent(owner)),
        tuple(moment(at) for at in (yield from ask(ErasuresOf(digest)))),
    )


def _held(owner: Owner) -> Deciding[tuple[Holding, ...]]:
    yield from ask(FindOwner(owner))
    records = {record.id: record for record in (yield from ask(AllRecords()))}
    plan = yield from plan_whole_erasure(owner, WHOLE, records)
    # A record that stays is planned without its part about the owner, so it is read as it stands.
    standing = {record.id: record for record in (yield from ask(OtherHolders()))}
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
        # A line that did not pass the privacy check for others may tell of them.
        open_ = record.approved_at is not None or all(part.guarded_at is not None for part in others)
        return Holding(record.shown_to(owner), goes, frozenset() if open_ else frozenset({"line", "reason"}))
    if isinstance(record, Key):
        return Holding(_key_of(record, owner), goes, frozenset({"digest"}))
    # A record that keeps other sources tells of others, too.
    return Holding(record, goes, frozenset() if goes else frozenset(type(record).model_fields) - _ALWAYS)


def _key_of(key: Key, owner: Owner) -> Key:
    """Return a key without the names of other users and groups."""
    user, group = owner.kind is OwnerKind.USER, owner.kind is OwnerKind.GROUP
    changed: Key = key.changed(
        opens=key.opens if key.opens == owner else None,
        owners=_only(key.owners, owner.id, of_kind=user),
        groups=_only(key.groups, owner.id, of_kind=group),
        person=key.person if user and key.person == owner.id else None,
    )
    return changed


def _only(names: tuple[str, ...] | None, name: str, *, of_kind: bool) -> tuple[str, ...] | None:
    return None if names is None else tuple(one for one in names if of_kind and one == name)


def _reads(owner: Owner) -> Deciding[tuple[ReadLine, ...]]:
    found: list[ReadLine] = []
    cursor: str | None = None
    while True:
        page = yield from reads(owner.tenant, owner, None, _PAGE, cursor)
        found += page.lines
        cursor = page.cursor
        if cursor is None:
            return tuple(found)


def _spent(owner: Owner) -> Deciding[tuple[Spent, ...]]:
    return tuple((yield from list_spent(owner.tenant, SpentFilter(owner=owner))))
