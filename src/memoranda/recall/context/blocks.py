"""Blocks: a budget shared among them by need, so that what seldom changes stays as it was from call to call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memoranda.recall.context.entries import ContextEntry
from memoranda.text.fence import BLOCKS

#: What does not follow the question closely stands first: providers keep the beginning of a prompt.
STEADY = BLOCKS[:3]
LIVELY = BLOCKS[3:]
#: How a budget is divided where all want more than there is.
_WEIGHTS = dict(zip(BLOCKS, (1, 1, 3, 1, 2, 3), strict=True))
#: The steady blocks get more than their half in steps, lest every new turn take a little of it.
_STEPS = 8


def frame(block: str, lines: Sequence[str]) -> str:
    """A block of text."""
    return "\n".join([f"<{block}>", *lines, f"</{block}>"])


def share(budget: int, needs: Mapping[str, int]) -> dict[str, int]:
    """What each block may take: all that it needs where that fits, else its part and what others leave."""
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
    """Whoever needs less than their part gets it all, and the others divide what is left."""
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
    """The first of some entries that fit, and of what follows whatever still does."""
    taken = []
    for entry in entries:
        if entry.tokens <= budget:
            taken.append(entry)
            budget -= entry.tokens
    return taken
