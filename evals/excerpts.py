"""Shares of questions whose answering sentence stands in the excerpt, and in a context: ``[--only
NAME] [--budget TOKENS] [--json]``.

The open halves of ``talk_shapes`` are searched by words alone. A question counts for each of its
answering turns that is found and longer than ``LONG``; *excerpt* is the share of those whose
answering sentence stands whole in ``hit.excerpt``, *beginning* in as many characters from the
text's beginning. A question counts in *context* once: where all its answering sentences stand in
the context of that budget.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from pathlib import Path
from typing import Any

if not __package__:
    # When run as a file, Python does not know the package's folder yet.
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import memoranda
from evals.retrieval import OWNER, fill
from evals.talk_shapes.shape_halves import NAMES, as_conversation, write_half
from memoranda.text.excerpts import LENGTH, LONG
from memoranda.text.fence import one_line

_FOUND = 50


async def measure(name: str, budget: int) -> dict[str, Any]:
    """Return the shares of one corpus."""
    excerpt = beginning = turns = context = asked = 0
    for shelf in write_half(name, "open"):
        line = shelf.as_line()
        async with memoranda.open("memory://", embed=None) as book:
            turn_of = await fill(book, as_conversation(line))
            for question in line["questions"]:
                if not question["gold"]:
                    continue
                quotes = dict(zip(question["gold"], question["quotes"], strict=True))
                made = await book.context(OWNER, question["question"], budget=budget)
                context += all(one_line(quote) in one_line(made.text) for quote in quotes.values())
                asked += 1
                for hit in await book.recall(OWNER, question["question"], limit=_FOUND):
                    quote = quotes.get(turn_of[str(hit.id)])
                    if quote is not None and len(hit.text) > LONG:
                        turns += 1
                        excerpt += one_line(quote) in one_line(hit.excerpt.text)
                        beginning += one_line(quote) in one_line(hit.text[:LENGTH])
    counts = {
        "turns": turns,
        "excerpt": excerpt / max(turns, 1),
        "beginning": beginning / max(turns, 1),
    }
    return {**counts, "questions": asked, "context": context / asked}


def main() -> int:
    """Measure the corpora and print one line for each."""
    parser = argparse.ArgumentParser(prog="python -m evals.excerpts", description=__doc__)
    parser.add_argument(
        "--only", choices=NAMES, action="append", help="one corpus; may be repeated"
    )
    parser.add_argument("--budget", type=int, default=1_000, help="tokens of a context")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    for name in given.only or NAMES:
        row = asyncio.run(measure(name, given.budget))
        if given.json:
            print(json.dumps({"corpus": name, **row}))
            continue
        print(
            f"{name}: {row['turns']} long turns, excerpt {row['excerpt']:.1%}, beginning {row['beginning']:.1%}"
        )
        print(
            f"  {row['questions']} questions, context of {given.budget} tokens {row['context']:.1%}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
