"""Quality measures of a ranking: recall, complete recall, rank and gain, of documents and within a
token budget.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

#: The cuts that are reported.
CUTS = (5, 10)
#: Budgets in tokens.
BUDGETS = (1000, 2000)


@dataclass(frozen=True, slots=True)
class Ranked:
    """The hits of one question, best first, and the documents that answer it."""

    found: Sequence[str]
    #: What each of the found costs.
    tokens: Sequence[int]
    gold: frozenset[str]

    def recall(self, cut: int) -> float:
        """Return the share of the gold documents among this many first hits."""
        return len(self.gold.intersection(self.found[:cut])) / len(self.gold)

    def within(self, budget: int) -> float:
        """Return the share of the gold documents among the hits that fit into a token budget, in
        order.
        """
        left, seen = budget, set()
        for id, cost in zip(self.found, self.tokens, strict=True):
            if cost > left:
                break
            left -= cost
            seen.add(id)
        return len(self.gold & seen) / len(self.gold)

    def gain(self, cut: int) -> float:
        """Return the normalised discounted cumulative gain, with equal gain for every gold
        document.
        """
        got = sum(
            1 / math.log2(place + 2) for place, id in enumerate(self.found[:cut]) if id in self.gold
        )
        best = sum(1 / math.log2(place + 2) for place in range(min(cut, len(self.gold))))
        return got / best

    def reciprocal(self) -> float:
        """Return one over the rank of the first gold document; 0 if none was found."""
        return next((1 / place for place, id in enumerate(self.found, 1) if id in self.gold), 0.0)


def summary(ranked: Iterable[Ranked]) -> Mapping[str, float | None]:
    """Return the means over questions, in percent except n; None if there was no question."""
    all_ = list(ranked)
    figures = {f"r{cut}": [one.recall(cut) for one in all_] for cut in CUTS}
    figures |= {f"any{cut}": [float(one.recall(cut) > 0) for one in all_] for cut in CUTS}
    figures |= {"all10": [float(one.recall(10) == 1) for one in all_]}
    figures |= {"ndcg10": [one.gain(10) for one in all_], "mrr": [one.reciprocal() for one in all_]}
    figures |= {f"r_{budget}_tokens": [one.within(budget) for one in all_] for budget in BUDGETS}
    means = {
        name: round(100 * fmean(values), 2) if values else None for name, values in figures.items()
    }
    return {"n": len(all_), **means}
