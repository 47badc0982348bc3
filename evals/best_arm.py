"""Compares recall's blend with the better of its two scorers, question by question, with intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, stdev
from typing import Any

from evals.measures import CUTS, Ranked

BLEND, ARMS = "hybrid", ("words", "meaning")
#: The row of all questions of all corpora.
TOGETHER = "together"
#: A corpus may lose so many points to chance and no more.
ALLOWED = -1.0
#: Standard errors on each side of a 95 % interval.
_ERRORS = 1.96

#: The points of the blend above its best scorer, one number a question, by cut.
Differences = dict[str, list[float]]


def can_compare(modes: Iterable[str]) -> bool:
    """Return whether the blend and both scorers were measured."""
    return {BLEND, *ARMS} <= set(modes)


def table(corpora: Mapping[str, Mapping[str, Sequence[Ranked]]]) -> dict[str, dict[str, Any]]:
    """Return one row for each corpus, which maps modes to its ranked questions, and one for all together."""
    rows: dict[str, dict[str, Any]] = {}
    together: Differences = {f"r{cut}": [] for cut in CUTS}
    for name, modes in corpora.items():
        if not modes[BLEND]:
            continue
        differences = {}
        for cut in CUTS:
            arm = _best(modes, cut)
            differences[f"r{cut}"] = [
                100 * (mine.recall(cut) - other.recall(cut))
                for mine, other in zip(modes[BLEND], modes[arm], strict=True)
            ]
            together[f"r{cut}"] += differences[f"r{cut}"]
        rows[name] = _row(differences) | {"arm": _best(modes, CUTS[-1])}
    if len(rows) > 1:
        rows[TOGETHER] = _row(together)
    return rows


def broken(rows: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return a sentence for each row that breaks the promise: the blend loses nothing to its best scorer."""
    found = []
    for name, row in rows.items():
        for cut in (f"r{cut}" for cut in CUTS):
            points, low, high = row[cut]["points"], row[cut]["low"], row[cut]["high"]
            if (name == TOGETHER and points < 0) or high < ALLOWED:
                found.append(
                    f"{name}: {cut} is {points:+} points beside the best scorer ({low:+} to {high:+})"
                )
    return found


def _best(modes: Mapping[str, Sequence[Ranked]], cut: int) -> str:
    return max(ARMS, key=lambda arm: fmean(one.recall(cut) for one in modes[arm]))


def _row(differences: Differences) -> dict[str, Any]:
    found: dict[str, Any] = {cut: _interval(values) for cut, values in differences.items()}
    return {"n": len(next(iter(differences.values())))} | found


def _interval(values: Sequence[float]) -> dict[str, float]:
    """Return the mean difference and its 95 % interval, of paired questions; of one question nothing is known."""
    mean = fmean(values)
    half = _ERRORS * stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 100.0
    return {"points": round(mean, 2), "low": round(mean - half, 2), "high": round(mean + half, 2)}
