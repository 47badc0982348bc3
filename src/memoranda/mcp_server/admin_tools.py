"""The tool that only an administrator has: finish_forgetting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from mcp_types import ToolAnnotations

from memoranda.errors import InvalidInput
from memoranda.mcp_server.asker import Asking

ADMIN_ANNOTATIONS: Final = {
    "finish_forgetting": ToolAnnotations(
        read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
    )
}


@dataclass(frozen=True)
class AdminTools:
    """The administrator's own tool; the book checks the credential's rights at each call."""

    asking: Asking

    async def finish_forgetting(self, userId: str, position: int, confirmation: str = "") -> dict[str, Any]:  # noqa: N803
        """Erase for good what forget took out, by the position in its answer. Pass confirmation='CONFIRM'."""
        if confirmation != "CONFIRM":
            raise InvalidInput(
                "You must pass confirmation='CONFIRM': this cannot be undone", field="confirmation"
            )
        guard = self.asking().guard
        receipt = await guard.call("finish_forgetting", owner=userId, receipt=position, as_owner=True)
        return {"userId": userId, "recordsDeleted": len(receipt.ids), "status": "erased"}
