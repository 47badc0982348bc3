"""Checks the arguments of the book's operations and makes values of them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import datetime
from pathlib import Path
from typing import Any, TypeAlias, TypedDict
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from memoranda.errors import InvalidInput, NotAllowed, no_such
from memoranda.model.data_filters import data_filter, names_data
from memoranda.model.items import LABEL_LENGTH, LABELS, length_fault, namespace_text
from memoranda.model.ledger import Actor
from memoranda.model.memories import ARCHIVED, STANDING, Memory, MemoryStatus
from memoranda.model.messages import Episode, ThreadStatus
from memoranda.model.query import Filter
from memoranda.model.records import Audience, Owner, Record, RecordType, Trust, View
from memoranda.model.service_records import CALLER
from memoranda.model.values import is_id, new_id, refused, text_fault
from memoranda.ports import MakesVectors
from memoranda.recall.hits import MOST_USED
from memoranda.recall.scoring.search import Mode

_WITHOUT_A_QUESTION = (Mode.RECENT, MOST_USED)


def as_mode_of_types(mode: Any, types: Set[RecordType]) -> str:
    """Check a mode of recall for these types of records and return it."""
    chosen = as_mode(mode)
    if chosen == MOST_USED and RecordType.MEMORY not in types:
        raise InvalidInput("types: most_used counts memories", field="types")
    return chosen


def as_vector(given: Any, maker: MakesVectors | None) -> NDArray[np.float32]:
    """Check the vector of a question and return it with length 1."""
    if maker is None:
        raise InvalidInput(
            "vector: this book has no embedder, so vectors cannot be compared", field="vector"
        )
    try:
        vector = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as exc:
        raise InvalidInput("vector: pass numbers", field="vector") from exc
    largest = float(np.abs(vector).max(initial=0.0))
    if 0 < largest < np.inf:
        # The squares of very large or very small numbers are not finite, or 0.
        vector = vector / largest
    length = float(np.linalg.norm(vector)) if vector.ndim == 1 and largest < np.inf else 0.0
    if vector.shape != (maker.embedding.dimension,) or not 0 < length < np.inf:
        raise InvalidInput(
            f"vector: pass {maker.embedding.dimension} finite numbers that are not all 0",
            field="vector",
        )
    return np.asarray(vector / length, dtype=np.float32)


def as_confidence(given: Any, mode: str) -> float | None:
    """Check the least confidence of a hit and return it; modes that ignore the question have none
    to compare.
    """
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not 0 <= given <= 1:
        raise InvalidInput("at_least: pass a number from 0 to 1", field="at_least")
    if mode in _WITHOUT_A_QUESTION:
        raise InvalidInput(
            f"at_least: {mode} ignores the question, so its hits have no confidence; choose another mode or leave it out",
            field="at_least",
        )
    return float(given)


def as_labels(namespace: Any, field: str = "namespace", least: int = 1) -> tuple[str, ...]:
    """Check a namespace and return its labels."""
    if isinstance(namespace, str) or not isinstance(namespace, Sequence):
        raise InvalidInput(
            f"{field}: give a list of labels, such as ('notes', 'work')", field=field
        )
    if not least <= len(namespace) <= LABELS:
        raise InvalidInput(
            f"{field}: give {least} to {LABELS} labels, not {len(namespace)}", field=field
        )
    return tuple(as_bounded(label, LABEL_LENGTH, field) for label in namespace)


def as_namespace_text(labels: Any) -> str | None:
    """Return the beginning of the kinds of all items in a namespace or below it; None for all
    namespaces.
    """
    return namespace_text(as_labels(labels, least=0)) or None


def as_bounded(text: Any, most: int, field: str) -> str:
    """Check a text that is not empty and at most so long, and return it."""
    if not isinstance(text, str):
        raise InvalidInput(f"{field}: give a text, not {type(text).__name__}", field=field)
    if (fault := length_fault(text, most)) is not None:
        raise InvalidInput(f"{field}: {fault}", field=field)
    return text


class Who(TypedDict, total=False):
    """The reader or writer in whose name a verb is called: an agent, its groups, or the owner."""

    #: The agent whose view it is; without one, only what all the owner's agents may read is seen.
    agent: str | None
    #: The groups that the agent is in.
    groups: Sequence[str]
    #: True: as the person, who sees everything of theirs.
    as_owner: bool


def owner_named(owner: str | Owner, tenant: str) -> Owner:
    """Return an owner of this book's tenant; a plain name means a user."""
    if isinstance(owner, Owner):
        if owner.tenant != tenant:
            raise NotAllowed(
                f"owner: it belongs to another tenant; this book was opened for {tenant!r}"
            )
        return owner
    if not isinstance(owner, str):
        raise InvalidInput(
            f"owner: give a name or an Owner, not {type(owner).__name__}", field="owner"
        )
    try:
        return Owner(tenant=tenant, id=owner)
    except ValidationError as exc:
        raise refused(exc, at="owner") from exc


def as_view(who: Who) -> View:
    """Return the view (as whom one reads) that the caller asked for."""
    unknown = who.keys() - Who.__annotations__.keys()
    if unknown:
        verb = sys._getframe(1).f_code
        own = verb.co_varnames[1 : verb.co_argcount + verb.co_kwonlyargcount]
        raise TypeError(no_such("argument", min(unknown), [*own, *Who.__annotations__]))
    whole = as_flag(who.get("as_owner") or False, "as_owner")
    groups = as_names(who.get("groups") or (), "groups")
    try:
        return View(agent=who.get("agent"), groups=tuple(sorted(set(groups))), whole=whole)
    except ValidationError as exc:
        # Only that both are given is about no single one of them.
        raise refused(exc, at="" if exc.errors()[0]["loc"] else "as_owner") from exc


def as_actor(view: View) -> Actor:
    """Return the actor of a view's writes."""
    kind: Any = "owner" if view.whole else "application" if view.agent is None else "agent"
    return Actor(kind, view.agent, CALLER.get().trust)


def as_audience(audience: str | Audience | None, view: View) -> Audience | None:
    """Return an audience, given as a value, or by its kind for the caller's own agent and
    groups.
    """
    if audience is None or isinstance(audience, Audience):
        return audience
    if audience == "global":
        return Audience.everyone()
    if audience == "self":
        if view.agent is None:
            raise InvalidInput("audience: 'self' needs an agent; give agent", field="audience")
        return Audience.of_agent(view.agent)
    if audience == "group":
        if not view.groups:
            raise InvalidInput("audience: 'group' needs groups; give groups", field="audience")
        return Audience.of_groups(view.groups)
    raise InvalidInput(
        f"audience: {audience!r} is not one of self, group, global", field="audience"
    )


def as_names(values: Any, field: str) -> tuple[str, ...]:
    """Check a list of names and return them; a single text is refused."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InvalidInput(
            f"{field}: give a list of names, not {type(values).__name__}", field=field
        )
    return tuple(as_text(name, field) for name in values)


def as_text(value: Any, field: str) -> str:
    """Check a text that is to be stored, and return it."""
    if not isinstance(value, str):
        raise InvalidInput(f"{field}: give a text, not {type(value).__name__}", field=field)
    fault = text_fault(value)
    if fault is not None:
        raise InvalidInput(f"{field}: {fault}", field=field)
    return value


def as_cursor(value: Any) -> str | None:
    """Check the cursor that continues a list, and return it."""
    return None if value is None else as_text(value, "cursor")


def as_count(value: Any, field: str, least: int = 0) -> int:
    """Check a whole number: at least ``least``, and small enough for every engine."""
    if type(value) is not int or not least <= value < 2**62:
        raise InvalidInput(
            f"{field}: {value!r} is not a whole number of at least {least}", field=field
        )
    return value


def as_versions(expect: Any) -> dict[UUID, int]:
    """Return record ids with the versions that the caller has read."""
    if not isinstance(expect, Mapping):
        raise InvalidInput("expect: give a mapping of record ids to versions", field="expect")
    return {as_id(id, "expect"): as_count(version, "expect", 1) for id, version in expect.items()}


def as_path(value: Any, field: str) -> Path:
    """Return a path, given as a value or as text."""
    if not isinstance(value, (str, Path)) or not str(value) or "\0" in str(value):
        raise InvalidInput(f"{field}: give a path, not {value!r}", field=field)
    return Path(value)


def as_fields(value: Any) -> dict[str, Any]:
    """Check the fields to change, at least one, and return them."""
    if not isinstance(value, Mapping) or not value:
        raise InvalidInput("fields: give a mapping of the fields to change", field="fields")
    return dict(value)


def as_id(value: UUID | str, field: str = "id") -> UUID:
    """Return an id, given as a value or as text."""
    if isinstance(value, UUID):
        return value
    try:
        return UUID(value)
    except (ValueError, AttributeError, TypeError):
        raise InvalidInput(f"{field}: {value!r} is not a valid id", field=field) from None


def names_a_record(value: Any) -> bool:
    """True if a text is no id of the book, and so the caller's own name of a record."""
    return isinstance(value, str) and not is_id(value)


def names_records(draft: Any) -> bool:
    """True if the draft of a memory or an episode names another record by a caller's own name."""
    given = [draft.get(name) or () for name in _TIES] if isinstance(draft, Mapping) else ()
    return any(
        any(map(names_a_record, one if isinstance(one, (list, tuple)) else (one,))) for one in given
    )


_TIES = ("sources", "supersedes", "thread")


def as_limit(limit: int, most: int = 1000) -> int:
    """Check the size of a page and return it."""
    if type(limit) is not int or not 1 <= limit <= most:
        raise InvalidInput(
            f"limit: give a whole number from 1 to {most}, not {limit!r}", field="limit"
        )
    return limit


def as_offset(offset: int, limit: int, most: int = 1000) -> tuple[int, int]:
    """Check how many hits are left out before a page of so many, and return both."""
    if as_count(offset, "offset") + limit > most:
        raise InvalidInput(f"offset: offset and limit together are at most {most}", field="offset")
    return offset, limit


def as_types(types: Iterable[str | RecordType] | str | None) -> frozenset[RecordType] | None:
    """Return record types, given by name."""
    if types is None:
        return None
    names = (types,) if isinstance(types, str) else as_names(types, "types")
    known = [type_.value for type_ in RecordType]
    for name in names:
        if name not in known:
            raise InvalidInput(f"types: {no_such('type', name, known)}", field="types")
    return frozenset(map(RecordType, names))


def as_flag(value: Any, field: str) -> bool:
    """Check a flag, True or False, and return it."""
    if not isinstance(value, bool):
        raise InvalidInput(f"{field}: give True or False, not {value!r}", field=field)
    return value


def as_wait(wait_for: Any) -> str:
    """Check ``wait_for`` and return it."""
    if wait_for not in ("stored", "embedded"):
        raise InvalidInput(
            f"wait_for: {wait_for!r} is not 'stored' or 'embedded'", field="wait_for"
        )
    return str(wait_for)


_STATED = frozenset(
    "kind content subject cardinality key applies_when data tags thread valid_from valid_to observed_at "
    "sources trust pinned supersedes happened valid_from_granularity valid_to_granularity external_id expires_at".split()
)


def memory_of(
    draft: Mapping[str, Any], owner: Owner, agent: str | None, received: datetime
) -> Memory:
    """Build a memory from the arguments of ``remember``."""
    check_fields(draft, _STATED)
    fields = {name: value for name, value in draft.items() if value is not None}
    fields.setdefault("observed_at", received)
    fields.setdefault("trust", Trust.USER if agent is None else Trust.ASSISTANT)
    if fields.get("key") is not None and "cardinality" not in fields:
        fields["cardinality"] = "one"
    return Memory.model_validate({**fields, "id": new_id(), "owner": owner, "agent": agent})


_DONE = frozenset(
    "goal summary tool_calls outcome tags started_at ended_at thread sources trust external_id expires_at".split()
)


def episode_of(draft: Mapping[str, Any], owner: Owner, agent: str | None, now: datetime) -> Episode:
    """Build an episode (the record of a finished run) from an unchecked mapping."""
    check_fields(draft, _DONE)
    fields = {name: value for name, value in draft.items() if value is not None}
    fields.setdefault("ended_at", now)
    fields.setdefault("started_at", fields["ended_at"])
    return Episode.model_validate({**fields, "id": new_id(), "owner": owner, "agent": agent})


def check_fields(draft: Mapping[str, Any], known: frozenset[str]) -> None:
    """Raise InvalidInput unless a draft is a mapping that has only known fields."""
    if not isinstance(draft, Mapping):
        raise InvalidInput(f"give a mapping of fields, not {type(draft).__name__}")
    unknown = sorted(set(draft) - known, key=str)
    if unknown:
        raise InvalidInput(no_such("field", str(unknown[0]), sorted(known)), field=str(unknown[0]))


def each(drafts: Sequence[Mapping[str, Any]], what: str, make: Any) -> list[Any]:
    """Convert every item; if some are malformed, raise one error that reports each of them."""
    made: list[Record] = []
    errors: list[InvalidInput] = []
    for place, draft in enumerate(drafts):
        try:
            made.append(make(draft))
        except ValidationError as exc:
            errors.append(refused(exc, at=f"{what}[{place}]", item=place))
        except InvalidInput as exc:
            name = f"{what}[{place}]" + (f".{exc.field}" if exc.field else "")
            errors.append(InvalidInput(f"{what}[{place}]: {exc}", field=name, item=place))
    if errors:
        errors[0].errors = tuple(errors)
        raise errors[0]
    return made


#: The modes of recall; ``BY_MEANING`` need the question's vector.
MODES = (*(mode.value for mode in Mode), MOST_USED)
BY_MEANING = frozenset({Mode.HYBRID, Mode.MEANING})


def as_mode(mode: Any) -> str:
    """Check a mode of recall and return it."""
    if mode not in MODES:
        raise InvalidInput(f"mode: {mode!r} is none of {', '.join(MODES)}", field="mode")
    return str(mode)


class Only(TypedDict, total=False):
    """Conditions on the records that are read; a missing key sets no condition."""

    kinds: Iterable[str] | str | None
    statuses: Iterable[str] | str | None
    thread: UUID | str | None
    since: datetime | None
    until: datetime | None
    valid_at: datetime | None
    #: Of memories: their key, and the person or thing they are about.
    keys: Iterable[str] | str | None
    subject: str | None
    #: The agent that wrote it, or that it was addressed to.
    agent: str | None
    #: At least one of these.
    tags: Iterable[str] | str | None
    trust: Iterable[str] | str | None
    #: Memories that were true at this moment, also if they were superseded later.
    as_of: datetime | None
    #: Records that the book had at this moment.
    known_at: datetime | None
    #: Only pinned ones of the memories.
    pinned: bool
    #: Recall also memories whose ``valid_to`` has passed; a list shows them anyway.
    include_ended: bool
    #: Inserted documents of one of these schemas.
    schema: Iterable[str] | str | None
    #: Items in this namespace and below it, and items with one of these names.
    namespace: Sequence[str] | None
    name: Iterable[str] | str | None


#: Those, and conditions on data, each under its path: ``{"data.age": {"gte": 30}}``.
Conditions: TypeAlias = Only | Mapping[str, Any]


def as_filter(
    types: frozenset[RecordType] | None,
    only: Conditions,
    *,
    newest_first: bool = False,
    now: datetime | None = None,
) -> Filter:
    """Check conditions and return them as a filter.

    With ``now`` it leaves out memories that have ended, unless a condition asks for some that may
    have.
    """
    if not isinstance(only, Mapping):
        raise InvalidInput("only: pass a mapping of conditions", field="only")
    if not only:
        return Filter(types=types, current_at=now, newest_first=newest_first)
    others = only.keys() - Only.__annotations__.keys()
    data = {name: dict(only)[name] for name in others if isinstance(name, str) and names_data(name)}
    if unknown := sorted(others - data.keys(), key=str):
        known = ", ".join(sorted([*Only.__annotations__, "data.… (a path)"]))
        raise InvalidInput(
            f"only.{unknown[0]}: unknown condition; the conditions are {known}",
            field=f"only.{unknown[0]}",
        )
    thread, keys = only.get("thread"), _names(only.get("keys"), "keys")
    statuses = _words(only.get("statuses"), "statuses", _STATUSES)
    asks = [only.get(name) is not None for name in ("valid_at", "as_of", "known_at")]
    ended = as_flag(only.get("include_ended", False), "include_ended") or any(asks)
    labels, names = only.get("namespace"), _names(only.get("name"), "name")
    schemas = _names(only.get("schema"), "schema")
    keys = None if keys is None else frozenset(key.strip() for key in keys)
    if labels is not None or names is not None:
        types = _ITEMS if types is None else types & _ITEMS
        keys = names if keys is None or names is None else keys & names
    return Filter(
        types=types,
        current_at=None if ended or (statuses is not None and statuses - STANDING) else now,
        kinds=_names(only.get("kinds"), "kinds"),
        statuses=statuses,
        thread=None if thread is None else as_id(thread, "thread"),
        since=_moment(only.get("since"), "since"),
        until=_moment(only.get("until"), "until"),
        valid_at=_moment(only.get("valid_at"), "valid_at"),
        kind_prefix=None if labels is None else as_namespace_text(labels),
        keys=keys,
        data=data_filter(schemas, data) if data or schemas is not None else None,
        subject=_name(only.get("subject"), "subject"),
        agent=_name(only.get("agent"), "agent"),
        tags=_names(only.get("tags"), "tags"),
        trust=_words(only.get("trust"), "trust", _TRUSTS),
        as_of=_moment(only.get("as_of"), "as_of"),
        known_at=_moment(only.get("known_at"), "known_at"),
        pinned=as_flag(only.get("pinned", False), "pinned"),
        newest_first=newest_first,
    )


_ITEMS = frozenset({RecordType.ITEM})
_STATUSES = frozenset({*map(str, MemoryStatus), ARCHIVED, *map(str, ThreadStatus)})
_TRUSTS = frozenset(trust.value for trust in Trust)


def _names(values: Iterable[str] | str | None, field: str) -> frozenset[str] | None:
    if values is None:
        return None
    return frozenset(as_names((values,) if isinstance(values, str) else values, field))


def _words(
    values: Iterable[str] | str | None, field: str, known: frozenset[str]
) -> frozenset[str] | None:
    words = _names(values, field)
    if strange := sorted((words or frozenset()) - known):
        raise InvalidInput(
            f"{field}: {strange[0]!r} is none of {', '.join(sorted(known))}", field=field
        )
    return words


def _name(value: Any, field: str) -> str | None:
    return None if value is None else as_text(value, field)


def _moment(value: Any, field: str) -> datetime | None:
    if value is None:
        return None
    if not isinstance(value, datetime) or value.tzinfo is None:
        raise InvalidInput(f"{field}: pass a datetime with a time zone", field=field)
    return value
