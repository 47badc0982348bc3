"""TEMPORARY stand-in until the branch of money is merged."""

from __future__ import annotations

from typing import Any

from commonplace.model.values import Value


class Budgets(Value):
    """none"""


class Purse:
    """none"""

    def __init__(self, *a: Any) -> None: ...
    async def allow(self, *a: Any) -> None: ...
    async def begin(self, *a: Any) -> None: ...
    async def note(self, *a: Any) -> None: ...
    def answered(self, *a: Any) -> Any: ...
