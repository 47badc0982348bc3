"""Answers, corrections and plain statements that rules read, and traps that they are to leave:
``[--data PATH] [--json] [--shown]``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

if not __package__:
    # When run as a file, Python does not know the package's folder yet.
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from evals.conversations import memories, talks
from evals.told import load

#: The labelled talks: the half on which the rules were developed.
SET: Final = Path(__file__).parent / "sets" / "rule_talks_dev.jsonl"
KINDS: Final = ("answer", "correction", "statement", "trap")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one talk: the memories at its end, and all that there ever were."""

    talk: Mapping[str, Any]
    active: tuple[str, ...]
    ever: tuple[str, ...]

    @property
    def wrong(self) -> list[str]:
        """Memories at the end that nobody expects."""
        allowed = [*self.talk["expect"], *self.talk["also"]]
        return [
            one
            for one in self.active
            if not any(tells(one, words) for words in allowed)
            or any(tells(one, words) for words in self.talk["gone"])
        ]

    @property
    def right(self) -> bool:
        """True if all that is expected holds, and nothing else; in a trap, if nothing wrong came
        and nothing right went.
        """
        if self.wrong:
            return False
        if self.talk["kind"] == "trap":
            allowed = [w for w in self.talk["also"] if any(tells(one, w) for one in self.ever)]
            return all(any(tells(one, words) for one in self.active) for words in allowed)
        wanted = self.talk["expect"]
        # What was never formed was not corrected.
        shown = self.active if wanted else self.ever
        wanted = wanted or self.talk["gone"]
        return all(any(tells(one, words) for one in shown) for words in wanted)


def tells(content: str, words: str) -> bool:
    """True if a memory has all words, each given by its beginning, or by several: ``like|love``."""
    return all(
        re.search(rf"(?:^|\b)(?:{word})", content, re.IGNORECASE) is not None
        for word in words.split()
    )


async def measure(cases: Iterable[Mapping[str, Any]]) -> list[Outcome]:
    """Hold every talk in a book that has no model."""
    found = []
    async for case, book in talks(cases):
        every = await memories(case["id"], book, "active", "superseded", "retracted")
        found.append(
            Outcome(
                case,
                active=tuple(one.content for one in every if one.active),
                ever=tuple(one.content for one in every),
            )
        )
    return found


def report(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return the talks that came out right by kind, and the share of memories that are right."""
    of = {kind: [one for one in outcomes if one.talk["kind"] == kind] for kind in KINDS}
    figures: dict[str, Any] = {
        kind: {"talks": len(those), "right": sum(one.right for one in those)}
        for kind, those in of.items()
    }
    held = sum(len(one.active) for one in outcomes)
    right = held - sum(len(one.wrong) for one in outcomes)
    figures["memories"] = {
        "held": held,
        "right": right,
        "precision": round(right / held, 4) if held else None,
    }
    return figures


def lines(figures: Mapping[str, Any]) -> list[str]:
    """Return the figures as lines."""
    said = [f"{kind}s {figures[kind]['right']}/{figures[kind]['talks']}" for kind in KINDS[:3]]
    traps, held = figures["trap"], figures["memories"]
    return [
        *said,
        f"traps wrong {traps['talks'] - traps['right']}/{traps['talks']}",
        f"memories right {held['right']}/{held['held']}",
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python evals/rule_talks.py", description=__doc__)
    parser.add_argument(
        "--data",
        type=Path,
        default=SET,
        help="the labelled talks; by default the half for development",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object instead of lines")
    parser.add_argument("--shown", action="store_true", help="name each talk that went wrong")
    given = parser.parse_args(arguments)
    try:
        cases = load(given.data)
        outcomes = asyncio.run(measure(cases))
    except (OSError, ValueError, KeyError, TypeError) as exc:
        parser.error(f"{given.data} is no file of talks: {exc!r}")
    figures = report(outcomes)
    shown = [json.dumps(figures)] if given.json else lines(figures)
    if given.shown:
        shown += [
            f"{one.talk['id']} {' // '.join(text for _, text in one.talk['turns'])!r}: "
            f"wanted {one.talk['expect']}, gone {one.talk['gone']}, held {[*one.active]}"
            for one in outcomes
            if not one.right
        ]
    sys.stdout.write("\n".join(shown) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
