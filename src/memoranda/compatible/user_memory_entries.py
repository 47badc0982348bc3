"""Memories as the entries of EDDI's user memory: a key, a value of any JSON type, a category and a
visibility.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from pydantic import ValidationError

from memoranda.access.principal import GuardedBook
from memoranda.book.dream.contradictions import contradictions
from memoranda.errors import InvalidInput, LimitReached, NotAllowed, NotFound, Restricted
from memoranda.model.memories import Memory
from memoranda.model.records import Audience, Owner, OwnerKind
from memoranda.model.values import is_id, refused
from memoranda.paging import by_cursor

#: The agent in whose name entries are written that name none: no agent of an application reads
#: them.
NO_AGENT: Final = "(no agent)"
KEY_LENGTH: Final = 255
CATEGORIES: Final = ("preference", "fact", "context")
VISIBILITIES: Final = ("self", "group", "global")
#: Longer keys are stored whole in the data of the memory, and found by their digest.
_OWN_KEY: Final = 100
#: The most characters of a value that its memory's text has; the data has all of it.
_SHOWN: Final = 800
_PAGE: Final = 1000
_FORGOTTEN_AT_ONCE: Final = 200
_TEAM: Final = "group:"


async def list_entries(
    guard: GuardedBook, user: str, *, archived: bool = False
) -> list[dict[str, Any]]:
    """Return the entries of a user; with ``archived`` those that are archived, too."""
    return _entries(user, await _memories(guard, user, _STANDING if archived else None))


async def visible_entries(
    guard: GuardedBook, user: str, agent: str | None, groups: Sequence[str], order: str, limit: int
) -> list[dict[str, Any]]:
    """Return the entries that an agent sees, with those of its teams; a ``limit`` below 1 is none.

    Without an ``order`` it is the agent's own.
    """
    reader = agent if agent and agent != NO_AGENT else NO_AGENT if groups else None
    known = (
        await guard.call("agents.get", name=reader)
        if reader not in (None, NO_AGENT) and not order
        else None
    )
    order = order or (
        "" if known is None else dict(known.settings.get("context") or {}).get("order", "")
    )
    who: dict[str, Any] = {"agent": reader, "groups": list(groups)} if reader else {}
    owner = owner_named(guard, user)
    if order == "most_accessed":
        most = limit if 0 < limit <= _PAGE else _PAGE
        asked = {"query": "", "mode": "most_used", "types": "memory", "limit": most}
        hits = [
            hit
            for hit in await guard.call("recall", owner=owner, **asked, **who)
            if _has_reader(hit.record)
        ]
        entries = [_entry(user, hit.record, hit.uses) for hit in hits]
        await _used(guard, owner, [hit.record for hit in hits], who, placed=True)
    else:
        read = [one for one in await _memories(guard, user, who=who) if _has_reader(one)]
        entries = _entries(user, read)
        if who:
            given = {entry["id"] for entry in (entries[:limit] if limit > 0 else entries)}
            told = [one for one in read if _entry(user, one, 0)["id"] in given]
            await _used(guard, owner, told, who, placed=False)
    for group in groups:
        with contextlib.suppress(NotFound):
            team = _TEAM + group
            entries += _entries(team, await _memories(guard, team, who={**who, "groups": [group]}))
    return entries[:limit] if limit > 0 else entries


async def _used(
    guard: GuardedBook,
    owner: str | Owner,
    given: Sequence[Memory],
    who: Mapping[str, Any],
    *,
    placed: bool,
) -> None:
    """Note that an agent was given memories; of somebody who only reads nothing is noted."""
    with contextlib.suppress(NotAllowed):
        ids = [one.id for one in given]
        await guard.call("memories.mark_used", owner=owner, ids=ids, placed=placed, **who)


async def dream_result(guard: GuardedBook, user: str, agent: str | None) -> dict[str, Any]:
    """Do a night of an agent for a user, and return its result as EDDI has it; one that cannot be
    done says why.
    """
    error, report = "", None
    known = await guard.call("agents.get", name=agent) if agent else None
    dreaming = None if known is None else known.settings.get("dream")
    if not agent:
        error = "agentId is required"
    elif known is None:
        error = f"Agent not found: {agent}"
    elif not (isinstance(dreaming, Mapping) and dreaming.get("enabled")):
        error = f"Dream is disabled for agent {agent}: set settings.dream.enabled"
    else:
        try:
            report = await guard.call("dreams.run", owner=owner_named(guard, user), agent=agent)
        except Restricted:
            error = "processing_restricted"
    return {
        "userId": user,
        "entriesPruned": len(report.archived) if report else 0,
        "contradictionsFound": len(report.contradictions) if report else 0,
        "entriesSummarized": 0,
        "durationMs": round(report.seconds * 1000) if report else 0,
        "estimatedCostUsd": 0.0,
        "error": error or None,
    }


async def list_schedules(guard: GuardedBook) -> list[dict[str, Any]]:
    """Return the scheduled nights as EDDI lists schedules."""
    return [
        {
            "agentId": one.agent,
            "metadata": {"dreamType": "dream_consolidation"},
            "fireStatus": one.state,
            "nextFire": _moment(one.next_at),
            "failCount": one.attempts,
            "lastError": one.error or None,
        }
        for one in await guard.call("dreams.schedules")
    ]


async def search_entries(guard: GuardedBook, user: str, text: str) -> list[dict[str, Any]]:
    """Return the entries that have a text in their key or value, in any case; all of them for a
    blank text.
    """
    wanted = text.strip().casefold()
    return [
        one
        for one in await list_entries(guard, user)
        if wanted in one["key"].casefold() or wanted in _text(one["value"]).casefold()
    ]


async def entries_in_category(guard: GuardedBook, user: str, category: str) -> list[dict[str, Any]]:
    """Return the entries of one category."""
    return [one for one in await list_entries(guard, user) if one["category"] == category]


async def entry_by_key(guard: GuardedBook, user: str, key: str) -> dict[str, Any] | None:
    """Return the last updated entry with a key, any agent's; None if there is none."""
    found = await _with_key(guard, user, key)
    return found[0] if found else None


async def count_entries(guard: GuardedBook, user: str, *, archived: bool = False) -> int:
    """Return how many entries a user has; with ``archived`` those that are archived count, too."""
    only = _STANDING if archived else _ACTIVE
    count: int = await guard.call(
        "records.count", owner=owner_named(guard, user), types="memory", only=only, as_owner=True
    )
    return count


async def upsert_entry(guard: GuardedBook, given: Mapping[str, Any]) -> str:
    """Store an entry, or replace the one it stands for, and return its id, which stays the same.

    A global entry is one by its key, and keeps its first agent; another one by its key and agent.
    """
    user, key, category = _name(given, "userId"), _name(given, "key"), given.get("category")
    visibility = given.get("visibility") or "self"
    if visibility not in VISIBILITIES:
        raise InvalidInput(
            f"visibility: {visibility!r} is none of {', '.join(VISIBILITIES)}", field="visibility"
        )
    groups = given.get("groupIds") or []
    if not isinstance(groups, list) or not all(isinstance(one, str) for one in groups):
        raise InvalidInput("groupIds: give a list of names", field="groupIds")
    entry = {
        "key": key.strip(),
        "value": given.get("value"),
        "category": as_category(category),
        "visibility": visibility,
        "agent": _name(given, "sourceAgentId", None),
        "groups": sorted(set(groups)),
        "conversation": _name(given, "sourceConversationId", None),
    }
    return await _store(guard, user, entry, await _with_key(guard, user, key))


async def delete_entry(guard: GuardedBook, id: str) -> bool:
    """Erase an entry with its earlier values; False if there is none with this id."""
    user, root = _parts(id)
    if root is None:
        return False
    found = await _of_entry(guard, user, root)
    if not found:
        return False
    await _erase(guard, user, [one.id for one in found])
    return True


async def delete_entries(guard: GuardedBook, user: str) -> int:
    """Erase the entries of a user and return their number; conversations stay."""
    count = await count_entries(guard, user, archived=True)
    everything = await _memories(guard, user, {"statuses": None})
    await _erase(guard, user, [one.id for one in everything])
    return count


async def read_properties(guard: GuardedBook, user: str) -> dict[str, Any]:
    """Return the values of the global entries by their keys."""
    entries = await list_entries(guard, user, archived=True)
    return {one["key"]: one["value"] for one in reversed(entries) if one["visibility"] == "global"}


async def merge_properties(guard: GuardedBook, user: str, properties: Mapping[str, Any]) -> None:
    """Store each property as a global entry; one that has this value already stays as it is."""
    entries = await list_entries(guard, user, archived=True)
    held = {one["key"]: one["value"] for one in reversed(entries) if one["visibility"] == "global"}
    for key, value in properties.items():
        name = key.strip()
        if key in ("_id", "userId") or (
            name in held and json.dumps(held[name]) == json.dumps(value)
        ):
            continue
        entry = {"key": name, "value": value, "category": "property", "visibility": "global"}
        same_key = [one for one in entries if one["key"] == name]
        await _store(
            guard, user, {**entry, "agent": None, "groups": [], "conversation": None}, same_key
        )


async def delete_properties(guard: GuardedBook, user: str) -> None:
    """Erase all global entries of a user."""
    found = await _memories(guard, user, _STANDING)
    await _erase(
        guard, user, [one.id for one in found if _entry(user, one, 0)["visibility"] == "global"]
    )


def as_category(given: Any) -> str:
    """Return a category in its usual form; one that is unknown or missing is ``fact``."""
    named = given.strip().casefold() if isinstance(given, str) else ""
    return named if named in CATEGORIES else "fact"


# ── reading ───────────────────────────────────────────────────────────────────────────────────────

_ACTIVE: Final = {"statuses": ["active"]}
#: With the archived ones, which no list shows.
_STANDING: Final = {"statuses": ["active", "archived"]}
_PERSON: Final = {"as_owner": True}


async def _memories(
    guard: GuardedBook,
    user: str,
    only: Mapping[str, Any] | None = None,
    who: Mapping[str, Any] = _PERSON,
) -> list[Memory]:
    found: list[Memory] = []
    listed = {"types": "memory", "only": {**_ACTIVE, **(only or {})}, "newest_first": True, **who}
    async for page in by_cursor(
        lambda cursor: guard.call(
            "records.list", owner=owner_named(guard, user), cursor=cursor, limit=_PAGE, **listed
        )
    ):
        found += page.records
    return found


async def _with_key(guard: GuardedBook, user: str, key: str) -> list[dict[str, Any]]:
    own = key.strip()
    found = await _memories(guard, user, {**_STANDING, "keys": [own, _digested(own)]})
    return [one for one in _entries(user, found) if one["key"] == own]


async def _of_entry(guard: GuardedBook, user: str, root: UUID) -> list[Memory]:
    """Return the memories of an entry: those that name its first one, or else that one, or the
    active one that took its place in the end.
    """
    named = await _memories(guard, user, {**_STANDING, "data.entry.id": {"eq": root.hex}})
    if named:
        return named
    seen: set[UUID] = set()
    wanted: UUID | None = root
    while wanted is not None and wanted not in seen:
        seen.add(wanted)
        try:
            held = await guard.call(
                "records.get", owner=owner_named(guard, user), id=wanted, as_owner=True
            )
        except NotFound:
            return []
        if not isinstance(held, Memory):
            return []
        if held.status == "active":
            return [held]
        wanted = held.superseded_by
    return []


def _has_reader(memory: Memory) -> bool:
    return memory.audience.agent != NO_AGENT


def _entries(user: str, found: Iterable[Memory]) -> list[dict[str, Any]]:
    memories = list(found)
    # Of what this reader reads: nobody learns that another agent's own memory says something else.
    conflicts = {id for one in contradictions(memories) for id in one.ids}
    entries = [_entry(user, one, 0) for one in memories]
    for one, entry in zip(memories, entries, strict=True):
        entry["conflicted"] |= one.id in conflicts
    return sorted(entries, key=lambda one: str(one["updatedAt"]), reverse=True)


def _entry(user: str, memory: Memory, uses: int) -> dict[str, Any]:
    held = _held(memory)
    root = held.get("id") or memory.id.hex
    of_nobody = memory.audience.agent == NO_AGENT
    return {
        "id": _id(root, user),
        "userId": user,
        "key": held.get("key") or memory.key or str(memory.id),
        "value": held.get("value", memory.content),
        "category": held.get("category") or memory.kind,
        "visibility": held.get("visibility", "self") if of_nobody else str(memory.audience.kind),
        "sourceAgentId": held.get("agent", memory.agent),
        "groupIds": list(memory.audience.groups),
        "sourceConversationId": held.get("conversation")
        or (str(memory.thread) if memory.thread else None),
        "conflicted": memory.disputes is not None,
        "accessCount": uses,
        "createdAt": held.get("created_at") or _moment(memory.observed_at),
        "updatedAt": _moment(memory.recorded_at),
    }


def _held(memory: Memory) -> dict[str, Any]:
    """Return what an entry says beside its memory; nothing for a memory that was no entry."""
    entry = memory.data.get("entry") if isinstance(memory.data, dict) else None
    return entry if isinstance(entry, dict) and "value" in entry else {}


def _moment(at: Any) -> str:
    # Always as many digits, so that the order of texts is that of the moments.
    return str(at.isoformat(timespec="microseconds")).replace("+00:00", "Z")


# ── writing ───────────────────────────────────────────────────────────────────────────────────────


async def _store(
    guard: GuardedBook, user: str, entry: dict[str, Any], same_key: Sequence[Mapping[str, Any]]
) -> str:
    is_global = entry["visibility"] == "global"
    alike = [one for one in same_key if (one["visibility"] == "global") == is_global]
    held = next((one for one in alike if is_global or one["sourceAgentId"] == entry["agent"]), None)
    writer, audience = _readers(entry)
    owner, root = owner_named(guard, user), None
    if held is not None:
        root, known = _parts(held["id"])[1], held["sourceAgentId"]
        entry = {
            **entry,
            "agent": known if is_global else entry["agent"],
            "created_at": held["createdAt"],
        }
        await _move(guard, user, root, audience)
    data = {"entry": {**entry, **({} if root is None else {"id": root.hex})}}
    kind = entry["category"] if entry["category"] in CATEGORIES else "fact"
    arguments = {
        "owner": owner,
        "content": f"{entry['key']}: {_text(entry['value'])[:_SHOWN]}".strip(),
        "kind": kind,
        "data": data,
        "trust": "user",
        "audience": audience,
        "agent": writer,
        "groups": list(audience.groups),
    }
    receipt = await _remember(guard, entry["key"], arguments)
    first = root or (receipt.items[0].id if receipt.items else receipt.ignored[0].id)
    return _id(first.hex, user)


async def _remember(guard: GuardedBook, key: str, arguments: dict[str, Any]) -> Any:
    if len(key) <= _OWN_KEY:
        try:
            return await guard.call("remember", key=key, **arguments)
        except LimitReached as exc:
            if exc.field != "key":
                raise
    return await guard.call("remember", key=_digested(key), **arguments)


def _readers(entry: Mapping[str, Any]) -> tuple[str | None, Audience]:
    """Return who writes an entry, and who reads it."""
    agent, visibility = entry["agent"], entry["visibility"]
    if visibility == "global":
        return agent, Audience.everyone()
    try:
        if visibility == "group" and entry["groups"]:
            return agent or NO_AGENT, Audience.of_groups(entry["groups"])
        # No agent reads what names no reader; the person does.
        reader = agent if agent and visibility == "self" else NO_AGENT
        return reader, Audience.of_agent(reader)
    except ValidationError as exc:
        raise refused(exc, at="visibility") from exc


async def _move(guard: GuardedBook, user: str, root: UUID | None, audience: Audience) -> None:
    """Give the memory of an entry other readers, so that the new one takes its place."""
    if root is None:
        return
    for one in await _of_entry(guard, user, root):
        if one.audience != audience:
            await guard.call(
                "memories.share",
                owner=owner_named(guard, user),
                id=one.id,
                audience=audience,
                as_owner=True,
            )


async def _erase(guard: GuardedBook, user: str, ids: Sequence[UUID]) -> None:
    waiting, gone = list(dict.fromkeys(ids)), set[UUID]()
    while waiting:
        now, waiting = waiting[:_FORGOTTEN_AT_ONCE], waiting[_FORGOTTEN_AT_ONCE:]
        receipt = await guard.call(
            "forget", owner=owner_named(guard, user), ids=now, what="record", as_owner=True
        )
        gone |= {*now, *receipt.ids}
        waiting = [one for one in dict.fromkeys([*waiting, *receipt.superseded]) if one not in gone]


# ── names ─────────────────────────────────────────────────────────────────────────────────────────


def owner_named(guard: Any, user: str) -> str | Owner:
    """Return the owner of a user's entries, or of a team's."""
    if not user.startswith(_TEAM) or len(user) == len(_TEAM):
        return user
    try:
        return Owner(tenant=guard.book.tenant, kind=OwnerKind.GROUP, id=user[len(_TEAM) :])
    except ValueError:
        raise InvalidInput(
            "userId: a team's name has 1 to 255 characters, and no control character",
            field="userId",
        ) from None


def _id(root: str, user: str) -> str:
    """Return the id of an entry; it has the user in it."""
    return f"{root}.{base64.urlsafe_b64encode(user.encode()).decode().rstrip('=')}"


def _parts(id: str) -> tuple[str, UUID | None]:
    first, _, rest = id.partition(".")
    try:
        user = base64.b64decode(
            rest + "=" * (-len(rest) % 4), altchars=b"-_", validate=True
        ).decode()
    except (binascii.Error, ValueError):
        return "", None
    return (user, UUID(first)) if user and is_id(first) else ("", None)


def _digested(key: str) -> str:
    return "key:" + hashlib.sha256(key.encode(errors="surrogatepass")).hexdigest()[:40]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


_NEEDED: Final[Any] = object()


def _name(given: Mapping[str, Any], field: str, default: Any = _NEEDED) -> Any:
    value = given.get(field)
    if value in (None, "") and default is not _NEEDED:
        return default
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"{field}: give a text", field=field)
    return value
