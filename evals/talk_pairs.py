"""Scores cases of several messages with a given answer: counts older memories that were wrongly
retired, or wrongly kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from evals.told import tell
from memoranda.assembly import open_engine

#: The answers of a careful model, and those of a careless one.
COMPETENT, CARELESS = "competent", "careless"
ANSWERS: Final = (COMPETENT, CARELESS)


@dataclass(frozen=True, slots=True)
class TalkOutcome:
    """The outcome of one case."""

    id: str
    kind: str
    answers: str
    #: Numbers of older memories: to retire, to stay; retired although they stay, not retired
    #: although they end.
    to_retire: int
    to_stay: int
    wrong: int
    missed: int
    #: True if another number of notes was kept than expected.
    notes_differ: bool
    codes: tuple[str, ...]


async def measure(cases: Iterable[Mapping[str, Any]]) -> list[TalkOutcome]:
    """Give every case to a book in memory."""
    engine = await open_engine("memory://")
    found = []
    try:
        for case in cases:
            told, expect = await tell(case, engine), case["expect"]
            ends, stays = set(expect["retired"]), set(expect["kept"])
            wanted = expect.get("notes")
            found.append(
                TalkOutcome(
                    id=case["id"],
                    kind=case["kind"],
                    answers=COMPETENT if case["competent"] else CARELESS,
                    to_retire=len(ends),
                    to_stay=len(stays),
                    wrong=len(told.retired & stays),
                    missed=len(ends - told.retired),
                    notes_differ=wanted is not None and len(told.made) != wanted,
                    codes=told.codes,
                )
            )
    finally:
        await engine.close()
    return found


def report(outcomes: Sequence[TalkOutcome]) -> dict[str, Any]:
    """Return the figures of the careful and of the careless answers."""
    return {
        answers: _figures([one for one in outcomes if one.answers == answers])
        for answers in ANSWERS
    }


def _figures(outcomes: Sequence[TalkOutcome]) -> dict[str, Any]:
    stay, retire = sum(one.to_stay for one in outcomes), sum(one.to_retire for one in outcomes)
    wrong, missed = sum(one.wrong for one in outcomes), sum(one.missed for one in outcomes)
    return {
        "cases": len(outcomes),
        "to_stay": stay,
        "wrong_retirements": wrong,
        "wrong_retirements_percent": round(100 * wrong / stay, 1) if stay else None,
        "to_retire": retire,
        "missed_retirements": missed,
        "missed_retirements_percent": round(100 * missed / retire, 1) if retire else None,
        "notes_differ": sum(one.notes_differ for one in outcomes),
    }


def lines(figures: Mapping[str, Any]) -> list[str]:
    """Return the figures as lines."""
    return [
        f"talks, {answers}: {row['cases']} cases; wrong {row['wrong_retirements']} of {row['to_stay']} to stay, "
        f"missed {row['missed_retirements']} of {row['to_retire']} to retire, other number of notes {row['notes_differ']}"
        for answers, row in figures.items()
    ]
