"""Quality of recall, measured through the public API: ``--data PATH [--sets] [--life open] [--talks
open] [--engine URL] [--json]``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

if not __package__:
    # When run as a file, Python does not know the package's folder yet.
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from evals.corpora import ADVERSARIAL, LOCOMO_SHA256, TUNED_ON, Conversation, Corpus, Question, load
from evals.lives import HELD, OPEN, load_life
from evals.measures import Ranked, summary
from evals.places import new_book
from evals.talk_shapes.shape_halves import NAMES, load_file, write_file
from memoranda import Book, MemorandaError
from tools.recorded_runs import RANKING, record

MODES = ("hybrid", "words", "meaning")
#: The mode of an application that does not name types.
ALL_TYPES = "all types"
#: The owner of everything: each conversation has a book of its own.
OWNER = "asker"
#: Questions and answers of our own.
SETS = Path(__file__).parent / "sets"
SET_NAMES = ("chats", "notes")
#: As many hits as fill the largest budget of tokens.
_HITS = 60
_BATCH = 200
#: The exit code where words and meaning together find less than one of them alone, by more than
#: these points.
BROKEN, ALLOWED = 3, 0.5


@dataclass(frozen=True, slots=True)
class Answered:
    """One question and its hits."""

    conversation: str
    question: Question
    ranked: Ranked


async def fill(book: Book, conversation: Conversation) -> dict[str, str]:
    """Append everything, each session in a thread of its own; return the turn of each record."""
    turn_of: dict[str, str] = {}
    for session, turns in groupby(conversation.turns, key=lambda turn: turn.session):
        thread = await book.thread(OWNER, name=f"session {session}")
        said = list(turns)
        for start in range(0, len(said), _BATCH):
            part = said[start : start + _BATCH]
            receipt = await thread.append(
                [
                    {"role": t.role, "content": t.text}
                    | ({} if t.at is None else {"observed_at": t.at})
                    | ({} if t.speaker is None else {"speaker": t.speaker})
                    for t in part
                ]
            )
            turn_of |= {
                str(id): turn.id for id, turn in zip(receipt.ids("message"), part, strict=True)
            }
    return turn_of


async def ask(
    book: Book, conversation: Conversation, turn_of: dict[str, str], **how: Any
) -> list[Answered]:
    """Ask every question, word for word."""
    answered = []
    for question in conversation.questions:
        hits = await book.recall(OWNER, question.text, limit=_HITS, **how)
        found = [
            (turn_of[str(hit.id)], _tokens(hit.text)) for hit in hits if str(hit.id) in turn_of
        ]
        ranked = Ranked([id for id, _ in found], [cost for _, cost in found], question.gold)
        answered.append(Answered(conversation.id, question, ranked))
    return answered


def _tokens(text: str) -> int:
    """Return roughly the tokens of a text: four characters a token, and a few for the frame."""
    return len(text) // 4 + 4


async def measure(
    corpus: Corpus, modes: Sequence[str], *, embed: Any = "auto", engine: str = ""
) -> dict[str, list[Answered]]:
    """Ask every question in every mode, and once with all types, as an application does."""
    answered: dict[str, list[Answered]] = {mode: [] for mode in (*modes, ALL_TYPES)}
    for conversation in corpus.conversations:
        async with new_book(engine, embed=embed) as book:
            if book.no_vectors_because and set(modes) != {"words"}:
                raise MemorandaError(
                    f"there is no meaning to measure: {book.no_vectors_because}; or give --mode words"
                )
            turn_of = await fill(book, conversation)
            await book.admin.embed()
            for mode in modes:
                answered[mode] += await ask(
                    book, conversation, turn_of, types=["message"], mode=mode
                )
            answered[ALL_TYPES] += await ask(book, conversation, turn_of)
    return answered


def compared(
    one: Mapping[str, list[Answered]], other: Mapping[str, list[Answered]]
) -> dict[str, int]:
    """Return how many questions got the same turns in the same order from two engines, over all
    modes.
    """
    pairs = [pair for mode in one for pair in zip(one[mode], other[mode], strict=True)]
    same = sum(list(first.ranked.found) == list(second.ranked.found) for first, second in pairs)
    return {"rankings": len(pairs), "rankings_identical": same}


def report(corpus: Corpus, answered: dict[str, list[Answered]]) -> dict[str, Any]:
    """Return the figures of a corpus as one object."""
    main = answered[next(iter(answered))]
    about = {
        "corpus": corpus.name,
        "sha256": corpus.sha256,
        "asked": corpus.asked,
        "left_out": dict(corpus.left_out),
    }
    if corpus.name != "locomo":
        modes = {mode: _figures(found) for mode, found in answered.items()}
        kinds = sorted({one.question.kind for one in main})
        return {
            **about,
            "all": _figures(main),
            "kinds": {
                kind: _figures(one for one in main if one.question.kind == kind) for kind in kinds
            },
            "modes": modes,
        }
    plain = [one for one in main if one.question.kind != ADVERSARIAL]
    modes = {
        mode: _figures(one for one in found if one.question.kind != ADVERSARIAL)
        for mode, found in answered.items()
    }
    return {
        **about,
        "as_published": corpus.sha256.startswith(LOCOMO_SHA256),
        "cats_1_4": _figures(plain),
        "cats_1_4_held_out": _figures(one for one in plain if one.conversation not in TUNED_ON),
        "cats_1_4_tuned_on": _figures(one for one in plain if one.conversation in TUNED_ON),
        "categories": {
            kind: _figures(one for one in plain if one.question.kind == kind)
            for kind in sorted({one.question.kind for one in plain})
        },
        "adversarial": _figures(one for one in main if one.question.kind == ADVERSARIAL),
        "all_five": _figures(main),
        "modes": modes,
    }


def _figures(answered: Iterable[Answered]) -> dict[str, float | None]:
    return dict(summary(one.ranked for one in answered))


def figures_of(found: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return the figures of a report with their names, the main ones first."""
    rows = [
        (name, figures)
        for name, figures in found.items()
        if isinstance(figures, dict) and "n" in figures
    ]
    for group in ("categories", "kinds", "modes"):
        rows += [(f"{group}: {name}", figures) for name, figures in found.get(group, {}).items()]
    return rows


def page_tables(found: Mapping[str, Any]) -> dict[str, list[list[str]]]:
    """Return a report, with those inside, as tables of a page."""
    columns = {
        "n": "questions",
        "r5": "R@5",
        "r10": "R@10",
        "all10": "all@10",
        "ndcg10": "NDCG@10",
        "mrr": "MRR",
    }
    columns |= {"r_1000_tokens": "R in 1,000 tokens", "r_2000_tokens": "R in 2,000"}
    rows: dict[str, list[tuple[str, Mapping[str, Any]]]] = {"LoCoMo": [], "sets of our own": []}
    for one in (found, *found.get("sets", {}).values()):
        if one["corpus"] == "locomo":
            rows["LoCoMo"] += figures_of(one)
        else:
            rows["sets of our own"] += [
                (one["corpus"] if mode == MODES[0] else f"{one['corpus']}, {mode} only", figures)
                for mode, figures in one["modes"].items()
                if mode in MODES
            ]
    head = ["", *columns.values()]
    return {
        title: [
            head,
            *([name, *(_shown(figures[column]) for column in columns)] for name, figures in some),
        ]
        for title, some in rows.items()
        if some
    }


def lines(found: dict[str, Any]) -> list[str]:
    """Return a report as a table for people."""
    rows = figures_of(found)
    columns = [
        "n",
        "r5",
        "r10",
        "any10",
        "all10",
        "ndcg10",
        "mrr",
        "r_1000_tokens",
        "r_2000_tokens",
    ]
    head = f"{found['corpus']:<28}" + "".join(
        f"{column.replace('_tokens', 't'):>9}" for column in columns
    )
    table = [
        f"{name:<28}" + "".join(f"{_shown(figures[c]):>9}" for c in columns)
        for name, figures in rows
    ]
    left_out = ", ".join(f"{times} {what}" for what, times in found["left_out"].items())
    return [
        head,
        *table,
        *_beside(found.get("beside_sqlite", {})),
        f"{found['asked']} questions asked; left out: {left_out or 'nothing'}",
    ]


def _beside(counts: Mapping[str, int]) -> list[str]:
    return [f"{name}: {count}" for name, count in counts.items()]


def _shown(figure: float | None) -> str:
    return "-" if figure is None else f"{figure}"


def corpora_of(
    data: Path, *, sets: bool, talks: str | None = None, life: str | None = None
) -> list[Corpus]:
    """Read a file's corpus, and after it our own sets, a life and a half of the talks in other
    shapes if requested.
    """
    found = [load(data), *(load(SETS / f"{name}.json") for name in SET_NAMES if sets)]
    if life is not None:
        found.append(load_life(life))
    with TemporaryDirectory() as folder:
        for name in NAMES if talks is not None else ():
            held = talks == HELD
            half = write_file(name, HELD if held else OPEN, Path(folder), held=held)
            found.append(load_file(half, held=held).corpus)
    return found


async def measured(
    corpora: Sequence[Corpus], modes: Sequence[str], *, engine: str = ""
) -> dict[str, Any]:
    """Return the report of the first corpus, with those of the others inside."""
    reports: list[dict[str, Any]] = []
    for corpus in corpora:
        answered = await measure(corpus, modes, engine=engine)
        reports.append(report(corpus, answered))
        if engine:
            # The same in a file: the rankings have to be equal.
            reports[-1]["beside_sqlite"] = compared(await measure(corpus, modes), answered)
    first, *others = reports
    inside = {"sets": {other["corpus"]: other for other in others}} if others else {}
    return first | inside


def losses(found: Mapping[str, Any]) -> list[str]:
    """Return a sentence for each corpus on which words and meaning together find less than one of
    them alone.
    """
    told = []
    for report in (found, *found.get("sets", {}).values()):
        r10 = {mode: report["modes"][mode]["r10"] for mode in MODES if mode in report["modes"]}
        best = max(r10, key=lambda mode: r10[mode])
        if set(r10) == set(MODES) and r10["hybrid"] < r10[best] - ALLOWED:
            told.append(
                f"{report['corpus']}: r10 is {r10['hybrid']}, and {r10[best]} by {best} alone"
            )
    return told


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure a corpus and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--data", type=Path, required=True, help="LoCoMo's file, or a set of our own"
    )
    parser.add_argument(
        "--sets", action="store_true", help="also the sets of our own, chats and notes"
    )
    parser.add_argument(
        "--life",
        choices=(OPEN, HELD),
        help="also a narrated life; nothing is chosen by the held one",
    )
    parser.add_argument(
        "--talks",
        choices=(OPEN, HELD),
        help="also a half of evals/talk_shapes; nothing is chosen by the held one",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    parser.add_argument(
        "--mode", action="append", choices=MODES, help="only these; the first one is the headline"
    )
    parser.add_argument(
        "--engine", default="", metavar="URL", help="on this server, beside the same in a file"
    )
    parser.add_argument(
        "--record", metavar="NAME", help="store the run under this name for the pages"
    )
    given = parser.parse_args(arguments)
    try:
        corpora = corpora_of(given.data, sets=given.sets, talks=given.talks, life=given.life)
        found = asyncio.run(measured(corpora, given.mode or list(MODES), engine=given.engine))
    except MemorandaError as exc:
        parser.error(str(exc))
    if given.json:
        text = json.dumps(found)
    else:
        tables = [lines(found), *(lines(each) for each in found.get("sets", {}).values())]
        text = "\n\n".join("\n".join(each) for each in tables if each)
    sys.stdout.write(text + "\n")
    if given.record:
        halves = [
            f" {name} {half}"
            for name, half in (("--life", given.life), ("--talks", given.talks))
            if half
        ]
        command = f"python evals/retrieval.py --data {given.data.name}{' --sets' * given.sets}{''.join(halves)}"
        record(given.record, command, page_tables(found), covers=RANKING)
    lost = losses(found)
    for loss in lost:
        sys.stderr.write(f"words and meaning together find less than one alone: {loss}\n")
    return BROKEN if lost else 0


if __name__ == "__main__":
    raise SystemExit(main())
