"""Shares of contexts that have the words of the answer, with memories and without: ``--data PATH
[--half HALF] [--json]``.

A book is filled with each of LoCoMo's conversations twice: *raw*, its turns alone; and *formed*,
the turns with the annotators' observations as memories, each with the turn that it comes from.
Every question of categories 1 to 4 is asked word for word, and counts as **answered** where each
content word of the gold answer stands in the text of the context:

- Content words are the words without stop words. A word stands there if one of its forms does: as written, without a plural or
  third-person s, or its stem, as recall's terms have them.
- A date is one word, however it is written: "7 May 2023", "May 7th, 2023" and "2023-05-07" are the same. A day gives its month
  and its year, too: a context with 2023-06-10 has "June 2023". The dates of labels count.
- "yesterday", "tomorrow", "last year", "next month", "two weeks ago" and the like in an entry also give the date that they mean,
  counted from the entry's own date: who reads the context can count, too. "The Friday before 15 July 2023" needs "Friday" and that date.
- A question whose answer has no content word is left out.

A context is **stale** where it holds a statement that a later one replaced, as a memory, as a field
of a profile, or as a passage without a mark. LoCoMo's annotators mark no replacement, so this is
measured on our own labelled conversations (``sets/``), formed by rules: each statement that should
be gone is asked for in its own words.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any, Final

if not __package__:
    # When run as a file, Python does not know the package's folder yet.
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import memoranda
from evals.conversations import SET
from evals.corpora import ADVERSARIAL, TUNED_ON, Conversation, load
from evals.places import new_book
from evals.retrieval import OWNER, fill
from evals.sessions import sessions_of
from memoranda import Book, Context, MemorandaError
from memoranda.recall.context.passage_parts import MARKS
from memoranda.text.fence import one_line
from memoranda.text.similarity import coverage, terms_in, words_with_forms

BUDGETS: Final = (500, 1_000, 2_000)
WAYS: Final = ("raw", "formed")
_AGENT: Final = "guide"
#: Blocks that tell what holds; an episode tells what a conversation was about at its time.
_TELLING: Final = frozenset({"user_profile", "memories", "passages"})
#: Time between two turns of our own conversations; each is formed before the next is said.
_PAUSE: Final = timedelta(hours=7)

# ── dates ─────────────────────────────────────────────────────────────────────────────────────────

_MONTHS: Final = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_MONTH: Final = r"(?P<m>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DAY: Final = r"(?P<d>[0-3]?\d)(?:st|nd|rd|th)?"
_WRITTEN: Final = (
    re.compile(r"\b(?P<y>\d{4})-(?P<n>\d\d)-(?P<d>\d\d)\b"),
    re.compile(rf"\b{_DAY} (?:of )?{_MONTH},? (?P<y>\d{{4}})\b", re.IGNORECASE),
    re.compile(rf"\b{_MONTH} {_DAY},? (?P<y>\d{{4}})\b", re.IGNORECASE),
    re.compile(rf"\b{_DAY} (?:of )?{_MONTH}(?! ?\d)\b", re.IGNORECASE),
    re.compile(rf"\b{_MONTH} {_DAY}\b", re.IGNORECASE),
    re.compile(rf"\b{_MONTH},? (?P<y>\d{{4}})\b", re.IGNORECASE),
)
_LABEL: Final = re.compile(r"^- \[(?:received )?(\d{4}-\d\d-\d\d)")
_NUMBERS: Final = "a two three four five six seven eight nine ten".split()
_AGO: Final = re.compile(
    rf"\b(\d+|{'|'.join(_NUMBERS)}) (day|week|month|year)s? ago\b", re.IGNORECASE
)
_NEXT: Final = re.compile(r"\b(last|next) (month|year)\b", re.IGNORECASE)
_DAYS: Final = {"yesterday": -1, "last night": -1, "today": 0, "tonight": 0, "tomorrow": 1}


def one_word_dates(text: str) -> str:
    """Return a text with every date as one word, such as ``on20230507``."""
    for written in _WRITTEN:
        text = written.sub(lambda found: f" {_word(**_parts(found))} ", text)
    return text


def _parts(found: re.Match[str]) -> dict[str, int]:
    groups = found.groupdict()
    month = int(groups["n"]) if groups.get("n") else _MONTHS.index(groups["m"].lower()) + 1
    return {"year": int(groups.get("y") or 0), "month": month, "day": int(groups.get("d") or 0)}


def _word(year: int = 0, month: int = 0, day: int = 0) -> str:
    return f"on{year:04}{month:02}{day:02}"


def _words_of(moment: date) -> list[str]:
    """Return the words that stand for a day: the whole date, the date without its year, its month
    and its year.
    """
    year, month, day = moment.year, moment.month, moment.day
    return [_word(year, month, day), _word(0, month, day), _word(year, month), str(year)]


def dates_in(text: str) -> Iterator[str]:
    """Yield the words of all dates in a context, also of those that relative words mean."""
    at: date | None = None
    for line in text.split("\n"):
        if label := _LABEL.match(line):
            at = date.fromisoformat(label[1])
        for written in _WRITTEN:
            for found in written.finditer(line):
                parts = _parts(found)
                yield _word(**parts)
                if parts["year"]:
                    yield from (_word(parts["year"], parts["month"]), str(parts["year"]))
                    yield _word(0, parts["month"], parts["day"])
        if at is not None:
            yield from _meant(line.lower(), at)


def _meant(line: str, at: date) -> Iterator[str]:
    for words, days in _DAYS.items():
        if words in line:
            yield from _words_of(at + timedelta(days=days))
    steps = [(-_number(found[1]), found[2].lower()) for found in _AGO.finditer(line)]
    steps += [
        (-1 if found[1].lower() == "last" else 1, found[2].lower())
        for found in _NEXT.finditer(line)
    ]
    for step, unit in steps:
        if unit in ("day", "week"):
            yield from _words_of(at + timedelta(days=step * (7 if unit == "week" else 1)))
        elif unit == "month":
            place = at.year * 12 + at.month - 1 + step
            yield from (_word(place // 12, place % 12 + 1), str(place // 12))
        else:
            yield str(at.year + step)


def _number(written: str) -> int:
    return int(written) if written.isdigit() else _NUMBERS.index(written.lower()) + 1


# ── answers ───────────────────────────────────────────────────────────────────────────────────────


class Answer:
    """A gold answer as content words, each with its possible forms."""

    def __init__(self, text: str) -> None:
        self.words = words_with_forms(one_word_dates(text))

    def stands_in(self, text: str) -> bool:
        """True if a context contains every content word of a text."""
        terms = terms_in(text) | terms_in(" ".join(sorted(set(dates_in(text)))))
        return all(not forms.isdisjoint(terms) for _, forms in self.words)


@dataclass(frozen=True, slots=True)
class Asked:
    """One question with its context."""

    conversation: str
    kind: str
    way: str
    budget: int
    answered: bool
    tokens: int
    seconds: float


async def asked_of(
    path: Path, conversation: Conversation, way: str, budgets: Sequence[int]
) -> list[Asked]:
    """Fill a book with a conversation, and make a context for each question and budget."""
    gold = {
        one.text: Answer(one.answer)
        for one in conversation.questions
        if one.kind != ADVERSARIAL and one.answer
    }
    said = []
    async with new_book(worker=False) as book:
        turn_of = await fill(book, conversation)
        if way == "formed":
            await remember_observations(book, path, conversation, turn_of)
        await book.admin.embed()
        for question in conversation.questions:
            answer = gold.get(question.text)
            if question.kind == ADVERSARIAL or answer is None or not answer.words:
                continue
            for budget in budgets:
                began = time.process_time()
                made = await book.context(OWNER, question.text, budget=budget, mark_used=False)
                took = time.process_time() - began
                found = answer.stands_in(made.text)
                said.append(
                    Asked(conversation.id, question.kind, way, budget, found, made.tokens, took)
                )
    return said


async def remember_observations(
    book: Book, path: Path, conversation: Conversation, turn_of: Mapping[str, str]
) -> None:
    """Store the annotators' observations as memories, each with the turn that it comes from."""
    record_of = {turn: record for record, turn in turn_of.items()}
    at = {turn.id: turn.at for turn in conversation.turns}
    for session in sessions_of(path, conversation.id):
        for _, text, turn in session.observed:
            source = record_of.get(turn)
            sources = [] if source is None else [source]
            await book.remember(OWNER, text, sources=sources, observed_at=at.get(turn))


# ── statements that were replaced ─────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Bait:
    """A context for a statement that no longer holds."""

    way: str
    budget: int
    stale: bool


async def baits(data: Path, budgets: Sequence[int]) -> list[Bait]:
    """Fill books with our own conversations, formed by rules or unformed, and ask for statements
    that no longer hold.
    """
    items = [item for item in json.loads(data.read_text("utf-8"))["items"] if item["gone"]]
    found = []
    for way in WAYS:
        now = [datetime(2026, 1, 5, 9, tzinfo=UTC)]
        async with memoranda.open(
            "memory://",
            clock=lambda: now[0],  # noqa: B023
            worker=False,
            embed=None,
        ) as book:
            for item in items:
                thread = await book.thread(item["id"], agent=_AGENT)
                for turn in item["turns"]:
                    await thread.append("user", turn)
                    now[0] += _PAUSE
                    if way == "formed":
                        await book.worker.drain()
                for gone in item["gone"]:
                    for budget in budgets:
                        made = await book.context(
                            item["id"], gone["value"], budget=budget, agent=_AGENT
                        )
                        found.append(
                            Bait(way, budget, _is_stale(made, gone["value"], item["turns"]))
                        )
    return found


def _is_stale(made: Context, value: str, turns: Sequence[str]) -> bool:
    """True if a context shows a value as still valid; the last turn that names the value is the one
    that ends it.
    """
    ends = next((turn for turn in reversed(turns) if coverage(value, turn) == 1), None)
    return any(
        coverage(value, one.text) == 1 and not any(mark in one.label for mark in MARKS.values())
        for block in made.blocks
        for one in block.placed
        if block.name in _TELLING
        and (
            block.name != "passages" or ends is None or not one.text.startswith(one_line(ends)[:40])
        )
    )


# ── the report ────────────────────────────────────────────────────────────────────────────────────


def report(asked: Sequence[Asked], baited: Sequence[Bait]) -> dict[str, Any]:
    """Return the figures as one object; shares are in percent."""
    budgets = sorted({one.budget for one in asked} | {one.budget for one in baited})
    found: dict[str, Any] = {"budgets": {}}
    for budget in budgets:
        row: dict[str, Any] = {}
        for way in WAYS:
            mine = [one for one in asked if (one.way, one.budget) == (way, budget)]
            kinds = sorted({one.kind for one in mine})
            bait = [one for one in baited if (one.way, one.budget) == (way, budget)]
            row[way] = {
                "questions": len(mine),
                "answered": _share(one.answered for one in mine),
                "categories": {
                    kind: _share(one.answered for one in mine if one.kind == kind) for kind in kinds
                },
                "tokens": round(median(one.tokens for one in mine)) if mine else None,
                "ms": round(median(one.seconds for one in mine) * 1000, 1) if mine else None,
                "baits": len(bait),
                "stale": _share(one.stale for one in bait),
            }
        found["budgets"][str(budget)] = row
    return found


def _share(met: Iterable[bool]) -> float | None:
    counted = list(met)
    return round(100 * sum(counted) / len(counted), 1) if counted else None


def lines(found: Mapping[str, Any]) -> list[str]:
    """Return the figures as a table."""
    columns = ("questions", "answered", "tokens", "ms", "baits", "stale")
    table = [f"{'':16}" + "".join(f"{column:>10}" for column in columns)]
    for budget, row in found["budgets"].items():
        for way, figures in row.items():
            shown = ["-" if figures[column] is None else f"{figures[column]}" for column in columns]
            kinds = ", ".join(f"{kind}: {share}" for kind, share in figures["categories"].items())
            table.append(
                f"{budget:>6} {way:9}" + "".join(f"{each:>10}" for each in shown) + f"   {kinds}"
            )
    return table


async def measured(
    data: Path | None, budgets: Sequence[int], only: Sequence[str]
) -> dict[str, Any]:
    """Ask all questions of the chosen conversations, and ask for all statements that no longer
    hold.
    """
    asked: list[Asked] = []
    corpus = None if data is None else load(data)
    for conversation in () if corpus is None else corpus.conversations:
        if conversation.id in only or not only:
            for way in WAYS:
                assert data is not None
                asked += await asked_of(data, conversation, way, budgets)
    about = {} if corpus is None else {"corpus": corpus.name, "sha256": corpus.sha256}
    return {**about, "conversations": sorted({one.conversation for one in asked})} | report(
        asked, await baits(SET, budgets)
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python evals/contexts.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--data", type=Path, help="LoCoMo's file; without it, our own conversations only"
    )
    parser.add_argument(
        "--budget", type=int, action="append", help="tokens of a context; repeatable"
    )
    parser.add_argument(
        "--half", choices=("tuned", "held", "all"), default="tuned", help="which of LoCoMo's"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    given = parser.parse_args(arguments)
    try:
        names = [] if given.data is None else [one.id for one in load(given.data).conversations]
        chosen = [
            name
            for name in names
            if given.half == "all" or (name in TUNED_ON) == (given.half == "tuned")
        ]
        found = asyncio.run(measured(given.data, given.budget or BUDGETS, chosen))
    except MemorandaError as exc:
        parser.error(str(exc))
    sys.stdout.write((json.dumps(found) if given.json else "\n".join(lines(found))) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
