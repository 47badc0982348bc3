"""Compares lessons: do two lines of experience say the same in the same words, in another order or form?"""

from __future__ import annotations

from typing import Final

from memoranda.text.scripts import normalised, pieces
from memoranda.text.similarity import words_with_forms

#: Words that stress a lesson and do not change it.
_STRESS: Final = frozenset(
    "always please explicitly carefully make sure ensure remember try every each user users customer customers immer bitte siempre".split()
)
#: Words that stand between two parts of a lesson; what is before and after such a word must not change places.
_BETWEEN: Final = frozenset(
    "before after until unless than instead without when if while from to into over bevor vor nach statt ohne wenn von zu "
    "antes después sin si".split()
)
#: Words that turn or limit a lesson.
_TURNING: Final = frozenset(
    "not no never nothing only except but avoid don't dont nicht kein keine nie nur nunca no solo".split()
)


def same_lesson(one: str, other: str) -> bool:
    """True if two lessons have the same words in any form and order, apart from emphasis, on the same side of words such as "before"."""
    first, second = _parts(one), _parts(other)
    if first is None or second is None or first.keys() != second.keys() or not any(first.values()):
        return False
    return all(_same_words(words, second[place]) for place, words in first.items())


def _parts(line: str) -> dict[str, list[frozenset[int]]] | None:
    """Return the words of a lesson's parts by the word that they follow; None if there are too many parts to compare."""
    parts: dict[str, list[str]] = {"": []}
    turned: list[str] = []
    words, here = [word.strip() for word in _spaced(line)], ""
    fronted = bool(words) and words[0] in _BETWEEN
    for word in words:
        if word in _BETWEEN:
            if word in parts:
                return None
            here = word
            parts[here] = []
        elif word == ",":
            here = "" if fronted else here
            fronted = False
        elif word in _TURNING:
            turned.append(word)
        else:
            parts[here].append(word)
    told = {place: _forms(said) for place, said in parts.items()}
    return told | {f"turned {word}": [] for word in turned}


def _spaced(line: str) -> list[str]:
    text = normalised(line).casefold().replace(",", " , ")
    return [word for each in text.split() for word in ([","] if each == "," else pieces(each))]


def _forms(words: list[str]) -> list[frozenset[int]]:
    kept = " ".join(word for word in words if word not in _STRESS)
    return [forms for _, forms in words_with_forms(kept)]


def _same_words(one: list[frozenset[int]], other: list[frozenset[int]]) -> bool:
    """True if each word of either part has a form in common with a word of the other."""
    return all(
        any(not forms.isdisjoint(some) for some in against)
        for words, against in ((one, other), (other, one))
        for forms in words
    )
