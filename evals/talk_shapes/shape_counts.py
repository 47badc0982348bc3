"""Counts of a corpus: turns, questions by kind, whose turns answer, shared words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from evals.talk_shapes.shape_values import ShapeQuestion, Shelf

_WORD = re.compile(r"\w+")
#: Words of a question that say nothing of its subject.
_COMMON = frozenset(
    "what which when where who whom how does did the for from with that this was were have has had and are our its about there their them then than "
    "into onto over again please would should could shall will much many long give tell need name been being they you your mine one two all any can "
    "exactly present moment currently nowadays before after something "
    "welche welcher welches wann wer wie was wo der die das den dem des ein eine einen einem einer und oder für mit von bei auf aus nach über "
    "ist sind war hat haben wird ich wir mein meine meinem unser unsere nochmal bitte "
    "qué cuál cuándo dónde quién cómo los las una unos del por para con que fue era tiene hay mis nuestro nuestra nos".split()
)


def words_of(text: str) -> set[str]:
    """Return the words that carry meaning; in Chinese, pairs of characters."""
    text = text.lower()
    found = {
        word
        for word in _WORD.findall(text)
        if len(word) > 2 and word not in _COMMON and word.isascii()
    }
    found |= {
        word
        for word in re.findall(r"[a-zäöüßáéíóúñ]+", text)
        if len(word) > 2 and word not in _COMMON
    }
    for run in re.findall(r"[\u4e00-\u9fff]+", text):
        found |= {run[place : place + 2] for place in range(len(run) - 1)}
    return found


def shared_words(question: ShapeQuestion) -> float:
    """Return the share of a question's words that its evidence contains."""
    asked = words_of(question.text)
    return len(asked & words_of(" ".join(question.quotes))) / max(1, len(asked))


def counts_of(shelves: Sequence[Shelf]) -> dict[str, Any]:
    """Return the counts of a corpus."""
    every = [question for shelf in shelves for question in shelf.questions]
    answered = [question for question in every if question.gold]
    sources = Counter(question.source for question in answered)
    return {
        "owners": len(shelves),
        "sessions": sum(len({turn.session for turn in shelf.turns}) for shelf in shelves),
        "turns": sum(len(shelf.turns) for shelf in shelves),
        "answerable": len(answered),
        "unanswerable": len(every) - len(answered),
        "kinds": dict(sorted(Counter(question.kind for question in answered).items())),
        "sources": dict(sorted(sources.items())),
        "not_the_users": round(1 - sources["user"] / len(answered), 3),
        "without_you": round(
            sum(not re.search(r"\byou\b", question.text, re.IGNORECASE) for question in answered)
            / len(answered),
            3,
        ),
        "long": sum(question.long for question in answered),
        "other_language": sum(
            question.language != question.evidence_language for question in answered
        ),
        "few_shared_words": round(
            sum(shared_words(each) <= 1 / 3 for each in answered) / len(answered), 3
        ),
    }
