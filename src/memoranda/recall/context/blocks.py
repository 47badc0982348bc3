"""The blocks of a context and their shares of a budget of tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memoranda.recall.context.entries import ContextEntry
from memoranda.text.fence import BLOCKS

#: Blocks that depend little on the question come first: providers cache the beginning of a prompt.
STEADY = BLOCKS[:3]
LIVELY = BLOCKS[3:]
#: The shares of a budget that is too small for all blocks.
_WEIGHTS = dict(zip(BLOCKS, (1, 1, 3, 1, 2, 3), strict=True))
#: The steady blocks get more than half of the budget in steps of this fraction, so that a new turn rarely changes them.
_STEPS = 8


def frame(block: str, lines: Sequence[str]) -> str:
    """Put the lines between the tags of a block."""
    return "\n".join([f"<{block}>", *lines, f"</{block}>"])


def share(budget: int, needs: Mapping[str, int]) -> dict[str, int]:
    """Return the tokens granted to each block: its need if all needs fit, else its share and what others leave."""
    if sum(needs.values()) <= budget:
        return dict(needs)
    steady = sum(needs[block] for block in STEADY)
    step = max(budget // _STEPS, 1)
    left = max(budget - budget // 2 - sum(needs[block] for block in LIVELY), 0)
    half = min(steady, budget // 2 + left // step * step)
    grants = _divided(half, {block: needs[block] for block in STEADY})
    rest = budget - sum(grants.values())
    return grants | _divided(rest, {block: needs[block] for block in LIVELY})


def _divided(budget: int, needs: Mapping[str, int]) -> dict[str, int]:
    """Grant blocks that need less than their share all they need, and divide the rest among the others."""
    grants = dict.fromkeys(needs, 0)
    wanting = [block for block in needs if needs[block]]
    while wanting:
        weight = sum(_WEIGHTS[block] for block in wanting)
        modest = [block for block in wanting if needs[block] * weight <= budget * _WEIGHTS[block]]
        if not modest:
            return grants | {block: budget * _WEIGHTS[block] // weight for block in wanting}
        for block in modest:
            grants[block] = needs[block]
            budget -= needs[block]
            wanting.remove(block)
    return grants


def take(entries: Sequence[ContextEntry], budget: int) -> list[ContextEntry]:
    """Return the entries that fit into a budget, taken in order; entries too long for the rest are skipped."""
    taken = []
    for entry in entries:
        if entry.tokens <= budget:
            taken.append(entry)
            budget -= entry.tokens
    return taken
