"""The tools of EDDI for an administrator: nine of user memory, and two for a person's rights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from mcp_types import ToolAnnotations

from memoranda.access.principal import GuardedBook
from memoranda.compatible import user_memory_entries as entries
from memoranda.errors import InvalidInput, NotFound
from memoranda.model.records import Record
from memoranda.secrets.masks import formed_data, shown

_WORD: Final = "CONFIRM"
#: The most entries or records in one answer.
_MOST: Final = 1000


@dataclass(frozen=True)
class UserMemoryTools:
    """EDDI's tools; the book checks the credential's rights at each call."""

    guard_of_request: Callable[[], GuardedBook]

    @property
    def _guard(self) -> GuardedBook:
        return self.guard_of_request()

    def _entry(self, entry: dict[str, Any]) -> dict[str, Any]:
        """Return an entry as a model may see it."""
        pair = formed_data({entry["key"]: entry["value"]}, self._guard.secrets)
        ((key, value),) = pair.items()
        return {**entry, "key": key, "value": value}

    def _memories(self, found: list[dict[str, Any]], **named: str) -> dict[str, Any]:
        return {**named, "count": len(found), "memories": [self._entry(one) for one in found]}

    def _record(self, record: Record) -> dict[str, Any]:
        """Return a record as a model may see it."""
        (seen,) = shown([record], self._guard.secrets)
        return {"type": seen.type.value, **seen.model_dump(mode="json")}

    async def list_user_memories(self, userId: str, limit: int = 50) -> dict[str, Any]:  # noqa: N803
        """List a user's memories; the newest is the first."""
        found = await entries.list_entries(self._guard, userId)
        return self._memories(found[: _limit(limit)], userId=userId)

    async def get_visible_memories(
        self,
        userId: str,  # noqa: N803
        agentId: str,  # noqa: N803
        groupIds: str = "",  # noqa: N803
        order: str = "",
        limit: int = 50,
    ) -> dict[str, Any]:
        """List the memories of a user that an agent sees; groupIds are separated by commas."""
        groups = [one.strip() for one in groupIds.split(",") if one.strip()]
        found = await entries.visible_entries(
            self._guard, userId, agentId, groups, order, _limit(limit)
        )
        return self._memories(found, userId=userId, agentId=agentId)

    async def search_user_memories(self, userId: str, query: str) -> dict[str, Any]:  # noqa: N803
        """Find memories of a user with a text in their key or value."""
        found = await entries.search_entries(self._guard, userId, query)
        return self._memories(found[:_MOST], userId=userId, query=query)

    async def get_memory_by_key(self, userId: str, key: str) -> dict[str, Any]:  # noqa: N803
        """Get the memory of a user that has a key."""
        found = await entries.entry_by_key(self._guard, userId, key)
        if found is None:
            raise NotFound(f"No memory with key '{key}' found for user: {userId}")
        return self._entry(found)

    async def count_user_memories(self, userId: str) -> dict[str, Any]:  # noqa: N803
        """Count the memories of a user."""
        return {"userId": userId, "count": await entries.count_entries(self._guard, userId)}

    async def run_dream(self, userId: str, agentId: str) -> dict[str, Any]:  # noqa: N803
        """Archive a user's memories that an agent did not use for long, and count those that contradict each other."""
        return await entries.dream_result(self._guard, userId, agentId)

    async def upsert_user_memory(
        self,
        userId: str,  # noqa: N803
        key: str,
        value: str,
        agentId: str,  # noqa: N803
        category: str = "fact",
        visibility: str = "self",
        groupIds: str = "",  # noqa: N803
    ) -> dict[str, Any]:
        """Store a user's memory in place of an earlier one with the same key."""
        groups = [one.strip() for one in groupIds.split(",") if one.strip()]
        if visibility.strip().casefold() == "group" and not groups:
            raise InvalidInput(
                "groupIds: a group memory names its groups, separated by commas", field="groupIds"
            )
        given = {
            "userId": userId,
            "key": key,
            "value": value,
            "sourceAgentId": agentId,
            "category": category,
            "visibility": visibility.strip().casefold(),
            "groupIds": groups,
        }
        id = await entries.upsert_entry(self._guard, given)
        return {"id": id, "key": key.strip(), "status": "upserted"}

    async def delete_user_memory(self, entryId: str) -> dict[str, Any]:  # noqa: N803
        """Erase one memory, if it is there."""
        await entries.delete_entry(self._guard, entryId)
        return {"entryId": entryId, "status": "deleted"}

    async def delete_all_user_memories(self, userId: str, confirmation: str = "") -> dict[str, Any]:  # noqa: N803
        """Erase all memories of a user; conversations stay. Pass confirmation='CONFIRM'."""
        _confirm(confirmation)
        count = await entries.delete_entries(self._guard, userId)
        return {"userId": userId, "entriesDeleted": count, "status": "deleted"}

    async def delete_user_data(self, userId: str, confirmation: str = "") -> dict[str, Any]:  # noqa: N803
        """Erase everything of a user: memories, conversations, profile, items. Pass confirmation='CONFIRM'."""
        _confirm(confirmation)
        count = await entries.count_entries(self._guard, userId, archived=True)
        receipt = await self._guard.call("forget", owner=userId, everything=True, as_owner=True)
        return {
            "userId": userId,
            "memoriesDeleted": count,
            "recordsDeleted": len(receipt.ids),
            "completedAt": datetime.now(UTC).isoformat(),
        }

    async def export_user_data(self, userId: str, cursor: str = "") -> dict[str, Any]:  # noqa: N803
        """Export a user's records, up to 1000 in an answer; the cursor continues."""
        page = await self._guard.call(
            "records.list", owner=userId, as_owner=True, cursor=cursor or None, limit=_MOST
        )
        records = [self._record(one) for one in page.records]
        return {"userId": userId, "records": records, "cursor": page.cursor}


_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_ERASES = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
)
#: Each tool's annotations, in the order of the list.
USER_MEMORY_ANNOTATIONS: Final = {
    "list_user_memories": _READS,
    "get_visible_memories": _READS,
    "search_user_memories": _READS,
    "get_memory_by_key": _READS,
    "count_user_memories": _READS,
    "run_dream": ToolAnnotations(
        read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
    ),
    "upsert_user_memory": ToolAnnotations(
        read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
    ),
    "delete_user_memory": _ERASES,
    "delete_all_user_memories": _ERASES,
    "delete_user_data": _ERASES,
    "export_user_data": _READS,
}


def _limit(limit: int) -> int:
    return limit if 0 < limit <= _MOST else _MOST


def _confirm(word: str) -> None:
    if word != _WORD:
        raise InvalidInput(
            f"You must pass confirmation='{_WORD}': this cannot be undone", field="confirmation"
        )
