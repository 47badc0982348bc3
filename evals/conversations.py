"""Quality of formation without a model: each turn is appended and formed, and the memories are
compared with the expected ones.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

if not __package__:
    # When run as a file, Python does not know the package's folder yet.
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import memoranda
from evals.statements import same_value
from memoranda.formation.said_before import said_before
from memoranda.model.memories import Memory
from memoranda.model.messages import Message

#: The labelled set: the half on which the rules were developed.
SET: Final = Path(__file__).parent / "sets" / "conversations.json"
_AGENT: Final = "guide"
#: Time between two turns; each is formed before the next is said.
_PAUSE: Final = timedelta(hours=7)
#: Kinds that say the same: where somebody lives.
_SAME_KIND: Final = {"moved": "home"}
#: One shared word is enough: the kind of animal or relative, or its name.
_NAMED: Final = frozenset({"family", "pet"})
_NO_WORD: Final = frozenset(
    "a an the my our and of to is called named two three una un el la de mi y une le ma mon et der die das ein eine mein meine und heißt".split()
)
_POLITE: Final = frozenset("please pls always bitte immer siempre toujours por favor".split())


@dataclass(frozen=True, slots=True)
class Scored:
    """One conversation: the statements that should and should not hold at its end, and those that
    the book has.
    """

    id: str
    language: str
    turns: tuple[str, ...]
    trap: str | None
    expected: tuple[tuple[str, str], ...]
    gone: tuple[tuple[str, str], ...]
    found: tuple[tuple[str, str], ...]

    @property
    def met(self) -> list[tuple[str, str]]:
        """Expected statements that the book holds."""
        return [one for one in self.expected if any(same(one, found) for found in self.found)]

    @property
    def right(self) -> list[tuple[str, str]]:
        """Statements in the book that were expected."""
        return [found for found in self.found if any(same(one, found) for one in self.expected)]

    @property
    def stale(self) -> list[tuple[str, str]]:
        """Statements that should be gone and are still active."""
        return [one for one in self.gone if any(same(one, found) for found in self.found)]


def same(one: tuple[str, str], other: tuple[str, str]) -> bool:
    """True if two statements are of the same kind, and the words of one value contain those of the
    other.
    """
    kind = _SAME_KIND.get(one[0], one[0])
    if kind != _SAME_KIND.get(other[0], other[0]):
        return False
    words, others = _words(one), _words(other)
    if kind in _NAMED and (words & others) - _NO_WORD:
        return True
    return bool(words and others) and (words <= others or others <= words)


def _words(one: tuple[str, str]) -> set[str]:
    words = set(same_value(one[1]).split())
    return words - _POLITE or words if one[0] == "instruction" else words


async def talks(items: Iterable[Mapping[str, Any]]) -> AsyncIterator[tuple[Mapping[str, Any], Any]]:
    """Hold every conversation with an own user of one book that has no model, and yield it with the
    book; a turn is the user's, or a pair of a role and a text.
    """
    now = [datetime(2026, 1, 5, 9, tzinfo=UTC)]
    async with memoranda.open("memory://", clock=lambda: now[0], worker=False, embed=None) as book:
        for item in items:
            thread = await book.thread(item["id"], agent=_AGENT)
            for turn in item["turns"]:
                role, text = ("user", turn) if isinstance(turn, str) else turn
                await thread.append(role, text)
                now[0] += _PAUSE
                await book.worker.drain()
            yield item, book


async def memories(owner: str, book: Any, *statuses: str) -> list[Memory]:
    """Return a user's memories of these statuses."""
    found = await book.records.list(
        owner, types="memory", only={"statuses": statuses}, as_owner=True, limit=200
    )
    return [one for one in found.records if isinstance(one, Memory)]


async def score(items: Iterable[Mapping[str, Any]]) -> list[Scored]:
    """Hold every conversation and compare what the book has at its end."""
    return [await _scored(item, book) async for item, book in talks(items)]


async def _scored(item: Mapping[str, Any], book: Any) -> Scored:
    held = await memories(item["id"], book, "active")
    messages = await book.records.list(item["id"], types="message", as_owner=True, limit=200)
    texts = {one.id: one.content for one in messages.records if isinstance(one, Message)}
    return Scored(
        id=item["id"],
        language=item["language"],
        turns=tuple(item["turns"]),
        trap=item.get("trap"),
        expected=tuple((one["kind"], one["value"]) for one in item["expect"]),
        gone=tuple((one["kind"], one["value"]) for one in item["gone"]),
        found=tuple((one.about, one.value) for one in said_before(held, texts)),
    )


def report(scored: Sequence[Scored]) -> dict[str, Any]:
    """Return the figures as one object."""
    languages = sorted({one.language for one in scored})
    return {
        "all": _figures(scored),
        "languages": {
            name: _figures([one for one in scored if one.language == name]) for name in languages
        },
        "kinds": _kinds(scored),
    }


def _figures(scored: Sequence[Scored]) -> dict[str, Any]:
    expected, found = (
        sum(len(one.expected) for one in scored),
        sum(len(one.found) for one in scored),
    )
    right, met = sum(len(one.right) for one in scored), sum(len(one.met) for one in scored)
    return _row(
        expected,
        found,
        right,
        met,
        sum(len(one.gone) for one in scored),
        sum(len(one.stale) for one in scored),
    )


def _kinds(scored: Sequence[Scored]) -> dict[str, dict[str, Any]]:
    counts = {
        name: Counter(
            _SAME_KIND.get(kind, kind) for one in scored for kind, _ in getattr(one, name)
        )
        for name in ("expected", "found", "right", "met", "gone", "stale")
    }
    return {
        kind: _row(
            *(counts[name][kind] for name in ("expected", "found", "right", "met", "gone", "stale"))
        )
        for kind in sorted(set().union(*counts.values()))
    }


def _row(expected: int, found: int, right: int, met: int, gone: int, stale: int) -> dict[str, Any]:
    return {
        "expected": expected,
        "found": found,
        "right": right,
        "precision": _share(right, found),
        "recall": _share(met, expected),
        "gone": gone,
        "stale": stale,
    }


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def lines(figures: Mapping[str, Any]) -> list[str]:
    """Return the figures as a table."""
    columns = ("expected", "found", "right", "precision", "recall", "gone", "stale")
    table = [f"{'':12}" + "".join(f"{column:>11}" for column in columns)]
    rows = [("all", figures["all"]), *figures["languages"].items(), *figures["kinds"].items()]
    for name, row in rows:
        table.append(
            f"{name:12}"
            + "".join(f"{'-' if row[column] is None else row[column]:>11}" for column in columns)
        )
    return table


def misses(scored: Iterable[Scored]) -> list[str]:
    """Return the statements that were missed, wrongly found, or not taken back, with their
    turns.
    """
    shown = []
    for one in scored:
        wrong = [found for found in one.found if found not in one.right]
        missed = [want for want in one.expected if want not in one.met]
        if wrong or missed or one.stale:
            shown.append(f"{one.id} {one.trap or '-'}: {' // '.join(one.turns)!r}")
            shown += [f"    missed {kind}: {value}" for kind, value in missed]
            shown += [f"    wrong  {kind}: {value}" for kind, value in wrong]
            shown += [f"    stale  {kind}: {value}" for kind, value in one.stale]
    return shown


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python evals/conversations.py", description=__doc__)
    parser.add_argument(
        "--data",
        type=Path,
        default=SET,
        help="the labelled set; by default the half for development",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    parser.add_argument(
        "--misses", action="store_true", help="show what was missed, wrong and not taken back"
    )
    given = parser.parse_args(arguments)
    try:
        items = json.loads(given.data.read_text("utf-8"))["items"]
        scored = asyncio.run(score(items))
    except (OSError, ValueError, KeyError, TypeError) as exc:
        parser.error(f"{given.data} is no labelled set: {exc!r}")
    figures = report(scored)
    table = [*lines(figures), *(["", *misses(scored)] if given.misses else [])]
    sys.stdout.write((json.dumps(figures) if given.json else "\n".join(table)) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
