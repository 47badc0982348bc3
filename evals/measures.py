"""How good a ranking is: recall, all of it, rank and gain, of documents and within a budget of tokens."""

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
    """What one question found, best first, beside what answers it."""

    found: Sequence[str]
    #: What each of the found costs.
    tokens: Sequence[int]
    gold: frozenset[str]

    def recall(self, cut: int) -> float:
        """The share of the gold among the first so many."""
        return len(self.gold.intersection(self.found[:cut])) / len(self.gold)

    def within(self, budget: int) -> float:
        """The share of the gold among what fits into so many tokens, in order, until one does not fit."""
        left, seen = budget, set()
        for id, cost in zip(self.found, self.tokens, strict=True):
            if cost > left:
                break
            left -= cost
            seen.add(id)
        return len(self.gold & seen) / len(self.gold)

    def gain(self, cut: int) -> float:
        """Normalised discounted cumulative gain, every gold document worth the same."""
        got = sum(1 / math.log2(place + 2) for place, id in enumerate(self.found[:cut]) if id in self.gold)
        best = sum(1 / math.log2(place + 2) for place in range(min(cut, len(self.gold))))
        return got / best

    def reciprocal(self) -> float:
        """One over the rank of the first gold document; 0 where none was found."""
        return next((1 / place for place, id in enumerate(self.found, 1) if id in self.gold), 0.0)


def summary(ranked: Iterable[Ranked]) -> Mapping[str, float | None]:
    """The means over questions, in percent but for n; None where there was no question."""
    all_ = list(ranked)
    figures = {f"r{cut}": [one.recall(cut) for one in all_] for cut in CUTS}
    figures |= {f"any{cut}": [float(one.recall(cut) > 0) for one in all_] for cut in CUTS}
    figures |= {"all10": [float(one.recall(10) == 1) for one in all_]}
    figures |= {"ndcg10": [one.gain(10) for one in all_], "mrr": [one.reciprocal() for one in all_]}
    figures |= {f"r_{budget}_tokens": [one.within(budget) for one in all_] for budget in BUDGETS}
    means = {name: round(100 * fmean(values), 2) if values else None for name, values in figures.items()}
    return {"n": len(all_), **means}
