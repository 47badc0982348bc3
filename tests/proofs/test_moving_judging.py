"""Which writes have to be there after a book has moved, while everything of some owners was
forgotten.
"""

from __future__ import annotations

from typing import Any

import pytest

from memoranda.engines.inmemory import InMemoryEngine
from memoranda.model.records import Owner
from proofs._moving.judging import Unlike, _acknowledged

ANN, BEN = (Owner(tenant="other", id=name).parts for name in ("ann", "ben"))


def written(owner: tuple[str, str, str], began: int) -> list[dict[str, Any]]:
    """A write that was acknowledged, and is nowhere."""
    return [
        {"owner": owner, "operation": "one", "position": 1, "began": began, "ids": [], "tells": ""}
    ]


ENDED = [{"ending": ANN}, {"ended": ANN, "at": 100, "ids": []}]
REFUSED = [{"ending": ANN}, {"kept": ANN}]


@pytest.mark.parametrize(
    ("erased", "began"),
    [(ENDED, 50), (ENDED, 100), ([*ENDED, *REFUSED], 50), ([{"ending": ANN}], 10**9)],
)
async def test_what_may_have_come_before_its_owners_end_is_not_looked_for(
    erased: list[dict[str, Any]], began: int
) -> None:
    await _acknowledged(InMemoryEngine(), written(ANN, began), erased)


@pytest.mark.parametrize(
    ("erased", "owner", "began"),
    [
        (ENDED, ANN, 101),
        (ENDED, BEN, 50),
        (REFUSED, ANN, 50),
        ([*ENDED, *REFUSED], ANN, 101),
        ([], ANN, 0),
    ],
)
async def test_every_other_write_has_to_be_there(
    erased: list[dict[str, Any]], owner: tuple[str, str, str], began: int
) -> None:
    with pytest.raises(Unlike, match="acknowledged"):
        await _acknowledged(InMemoryEngine(), written(owner, began), erased)
