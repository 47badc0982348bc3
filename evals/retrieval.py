"""How well recall finds what answers a question, measured through the public API: ``--data PATH [--json]``."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import commonplace
from commonplace import Book
from evals.corpora import ADVERSARIAL, LOCOMO_SHA256, TUNED_ON, Conversation, Corpus, Question, load
from evals.measures import Ranked, summary

MODES = ("hybrid", "words", "meaning")
#: As many hits as fill the largest budget of tokens.
_HITS = 60
_BATCH = 200


@dataclass(frozen=True, slots=True)
class Answered:
    """One question and what it found."""

    conversation: str
    question: Question
    ranked: Ranked


async def fill(book: Book, conversation: Conversation) -> dict[str, str]:
    """Say everything, each session as a thread of its own; gives the turn of each record."""
    turn_of: dict[str, str] = {}
    for session, turns in groupby(conversation.turns, key=lambda turn: turn.session):
        thread = await book.thread(conversation.id, name=f"session {session}")
        said = list(turns)
        for start in range(0, len(said), _BATCH):
            part = said[start : start + _BATCH]
            receipt = await thread.append(
                [
                    {"role": t.role, "content": t.text, "observed_at": t.at}
                    | ({} if t.speaker is None else {"speaker": t.speaker})
                    for t in part
                ]
            )
            turn_of |= {str(id): turn.id for id, turn in zip(receipt.ids("message"), part, strict=True)}
    return turn_of


async def ask(book: Book, conversation: Conversation, turn_of: dict[str, str], **how: Any) -> list[Answered]:
    """Ask every question, word for word."""
    answered = []
    for question in conversation.questions:
        hits = await book.recall(conversation.id, question.text, limit=_HITS, **how)
        found = [(turn_of[str(hit.id)], _tokens(hit.text)) for hit in hits if str(hit.id) in turn_of]
        ranked = Ranked([id for id, _ in found], [cost for _, cost in found], question.gold)
        answered.append(Answered(conversation.id, question, ranked))
    return answered


def _tokens(text: str) -> int:
    """About what a model's tokenizer makes of it: four characters a token, and a few for the frame."""
    return len(text) // 4 + 4


async def measure(corpus: Corpus, modes: Sequence[str]) -> dict[str, list[Answered]]:
    """Every question in every mode, and once as an application asks: all types."""
    answered: dict[str, list[Answered]] = {mode: [] for mode in (*modes, "all types")}
    with tempfile.TemporaryDirectory() as folder:
        for conversation in corpus.conversations:
            async with commonplace.open(Path(folder, f"{conversation.id}.db")) as book:
                turn_of = await fill(book, conversation)
                await book.embed()
                for mode in modes:
                    answered[mode] += await ask(book, conversation, turn_of, types=["message"], mode=mode)
                answered["all types"] += await ask(book, conversation, turn_of)
    return answered


def report(corpus: Corpus, answered: dict[str, list[Answered]]) -> dict[str, Any]:
    """The figures of a corpus as one object."""
    main = answered[next(iter(answered))]
    if corpus.name != "locomo":
        kinds = sorted({one.question.kind for one in main})
        return {
            "corpus": corpus.name,
            "sha256": corpus.sha256,
            "all": _figures(main),
            "kinds": {kind: _figures(one for one in main if one.question.kind == kind) for kind in kinds},
            "modes": {mode: _figures(found) for mode, found in answered.items()},
        }
    plain = [one for one in main if one.question.kind != ADVERSARIAL]
    return {
        "corpus": corpus.name,
        "sha256": corpus.sha256,
        "as_published": corpus.sha256.startswith(LOCOMO_SHA256),
        "cats_1_4": _figures(plain),
        "cats_1_4_held_out": _figures(one for one in plain if one.conversation not in TUNED_ON),
        "cats_1_4_tuned_on": _figures(one for one in plain if one.conversation in TUNED_ON),
        "categories": {
            str(number): _figures(one for one in main if one.question.kind == str(number))
            for number in range(1, 5)
        },
        "adversarial": _figures(one for one in main if one.question.kind == ADVERSARIAL),
        "all_five": _figures(main),
        "modes": {
            mode: _figures(one for one in found if one.question.kind != ADVERSARIAL)
            for mode, found in answered.items()
        },
    }


def _figures(answered: Iterable[Answered]) -> dict[str, float]:
    return dict(summary(one.ranked for one in answered))


def lines(found: dict[str, Any]) -> list[str]:
    """A report as a table for people."""
    rows = [
        (name, figures) for name, figures in found.items() if isinstance(figures, dict) and "n" in figures
    ]
    for group in ("categories", "kinds", "modes"):
        rows += [(f"{group}: {name}", figures) for name, figures in found.get(group, {}).items()]
    columns = ["n", "r5", "r10", "any10", "all10", "ndcg10", "mrr", "r_1000_tokens", "r_2000_tokens"]
    head = f"{'':<28}" + "".join(f"{column.replace('_tokens', 't'):>9}" for column in columns)
    return [head] + [
        f"{name:<28}" + "".join(f"{figures.get(column, 0):>9}" for column in columns)
        for name, figures in rows
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure a corpus and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="LoCoMo's file, or a set of our own")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    parser.add_argument(
        "--mode", action="append", choices=MODES, help="only these; the first one is the headline"
    )
    given = parser.parse_args(arguments)
    corpus = load(given.data)
    found = report(corpus, asyncio.run(measure(corpus, given.mode or MODES)))
    sys.stdout.write(json.dumps(found) + "\n" if given.json else "\n".join(lines(found)) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
