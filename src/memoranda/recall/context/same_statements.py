"""Statements that a context would tell twice: fields of profiles, memories, lines of experience and
of summaries, compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from memoranda.first_use import expression
from memoranda.model.memories import Memory
from memoranda.text.similarity import content_words

#: Words that only say that something is so, and that join others. Never one that negates, limits,
#: or says before or after.
_PLAIN: Final = """
    live prefer like want use work have own name call called wish love enjoy speak know say said tell told ask please make
    in at of on to with and for she he it his her its
    wohnen wohne wohnt leben lebe lebt mag bevorzugt heißt heiße nutzt arbeitet der die das den dem ein eine einen im am
    an und mein meine ich er sie
    vive prefiere gusta llama usa trabaja el la lo los las un una en de del y mi su
    habite préfère aime appelle utilise travaille le les une à du des et mon ma
"""
_WITHOUT_MEANING: Final = frozenset(content_words(_PLAIN))
_NEGATIONS: Final = frozenset(
    "not no never without nor nicht nie kein keine keinen keiner pas jamais sans nunca".split()
)
#: A statement may say so much more than another and still be the same, in words.
_MORE: Final = 5
_NAME_PARTS: Final = expression(r"[A-Z]?[a-z]+|[^\W_a-zA-Z]+|\w")
#: Fields of a profile that hold the owner's own name.
_OWN_NAMES: Final = frozenset(
    {"name", "full_name", "first_name", "last_name", "nickname", "fullname"}
)


class Statement(NamedTuple):
    """One statement as its words in order, and words that may stand around it without a meaning of
    their own.
    """

    words: tuple[str, ...]
    around: frozenset[str] = frozenset()

    def same_as(self, other: Statement) -> bool:
        """True if both say the same: the words of one contain those of the other in their order,
        and say little more.
        """
        one, two = set(self.words), set(other.words)
        one, two = one - (other.around - two), two - (self.around - one)
        both = one & two
        if not both or not (one <= two or two <= one):
            return False
        more = one ^ two
        if len(more) * _MORE > len(both) or more & _NEGATIONS or _has_number(more):
            return False
        first, second = (
            [word for word in words if word in both] for words in (self.words, other.words)
        )
        return any(first[turn:] + first[:turn] == second for turn in range(len(first) or 1))


def _has_number(words: Iterable[str]) -> bool:
    return any(any(map(str.isdigit, word)) for word in words)


def statement_of(text: str, around: Iterable[str] = ()) -> Statement:
    """Return a text as a statement."""
    words = tuple(word for word in content_words(text) if word not in _WITHOUT_MEANING)
    return Statement(words, frozenset(around))


def of_memory(memory: Memory, own: Iterable[str]) -> Statement:
    """Return a memory as a statement; ``own`` are the words of its owner's name."""
    about = f" {memory.subject}" if memory.subject is not None else ""
    around = own if memory.subject is None else ()
    return statement_of(f"{memory.content} {memory.applies_when}{about}", around)


def of_value(field: str, value: Any, own: Iterable[str]) -> Statement:
    """Return one value of a profile as a statement, around which its field's name may stand."""
    named = (part.casefold() for part in _NAME_PARTS.findall(field))
    words = [word for part in named for word in content_words(part)]
    text = value if isinstance(value, str) else _text(value)
    return statement_of(text, [*words, *(own if field not in _OWN_NAMES else ())])


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(_text(part) for pair in value.items() for part in pair)
    return " ".join(map(_text, value)) if isinstance(value, (list, tuple)) else str(value)


def own_words(owner: str, body: dict[str, Any]) -> frozenset[str]:
    """Return the words of an owner's id and names: a statement about the owner may begin with
    them.
    """
    names = [str(value) for field, value in body.items() if field.casefold() in _OWN_NAMES]
    return frozenset(word for name in (owner, *names) for word in content_words(name))


def without_told(text: str, told: Sequence[Statement]) -> str:
    """Return a summary without the sentences that say one of these statements."""
    parts = re.split(r"(?<=[.!?。！？])\s+|\n+", text)
    kept = [part for part in parts if not any(statement_of(part).same_as(one) for one in told)]
    return text if len(kept) == len(parts) else " ".join(kept)
