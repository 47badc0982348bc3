"""Estimated numbers of tokens, for when the model's tokenizer is not available."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import Final

from memoranda.first_use import expression

#: Counts the tokens of a text.
Count = Callable[[str], int]

_LATIN: Final = expression(r"[A-Za-z\u00aa\u00b5\u00ba\u00c0-\u024f\u1e00-\u1eff]+")
#: Tables for ASCII bytes: letters become lower case and all else a space; the bytes to delete to
#: keep only digits; and the bytes to delete to keep only signs.
_WORDS: Final = bytes(ord(chr(code).lower() if chr(code).isalpha() else " ") for code in range(256))
_NO_DIGITS: Final = bytes(code for code in range(128) if not chr(code).isdigit())
_NO_SIGNS: Final = bytes(code for code in range(128) if chr(code).isalnum() or chr(code).isspace())
#: Any character that is not part of a Latin word, a digit or a space.
_SIGNS: Final = expression(r"[^A-Za-z0-9\s\u00aa\u00b5\u00ba\u00c0-\u024f\u1e00-\u1eff]")

#: Words that are evidence of English, and of other languages in Latin letters.
_ENGLISH: Final = frozenset(
    "the of and to a is it i you that this for on with are be not have has was my at by or as if from we they he she "
    "his her its your their what when how which will would can do does no but there so all return def import class "
    "self none true false int str function const let var select where else elif while".split()
)
_OTHER: Final = frozenset(
    "der die das und ist nicht ein eine einen einem einer den dem des mit von zu zum zur auf für im ich sie er es wir "
    "wird hat sich auch bei nach aus dass le la les du et est une un que qui pour dans pas ne sur au aux je il elle el "
    "los las y en por con para del se su lo al como más che di non per una gli della sono o os um uma não do da em het "
    "een van niet voor op och att det som är på inte og jeg ikke w na się nie jest ve bir bu és az egy nem".split()
)


#: The longest word with an entry in the tables.
_LONGEST: Final = 64


def _by_length(short: float, up_to: int, rate: float) -> tuple[float, ...]:
    """Return the tokens of a word by its length: about one for a short word, then one for every
    ``rate`` letters.
    """
    lengths = range(_LONGEST + 1)
    return tuple(short if letters <= up_to else max(short, letters / rate) for letters in lengths)


#: Fitted to a vocabulary of 30,000 pieces that is best at English; later models have larger ones.
#: English, unknown language, other language.
_FAMILIAR: Final = _by_length(1.06, 6, 5.2)
_UNKNOWN: Final = _by_length(1.1, 4, 3.9)
_FOREIGN: Final = _by_length(1.1, 3, 2.5)


def estimate(text: str) -> int:
    """Estimate the tokens of a text; the estimate errs towards more."""
    signs: float
    if is_ascii := text.isascii():
        raw = text.encode("ascii")
        words = raw.translate(_WORDS).decode("ascii").split()
        digits = len(raw.translate(None, _NO_DIGITS))
        signs = len(raw.translate(None, _NO_SIGNS))
    else:
        words = _LATIN.findall(text.lower())
        digits = sum(map(text.count, "0123456789"))
        signs = sum(map(_weight, _SIGNS.findall(text)))
    return ceil(
        _of_words(words, _weights(words, is_ascii)) + 0.55 * digits + 0.3 * text.count("\n") + signs
    )


def _of_words(words: list[str], weights: tuple[float, ...]) -> float:
    try:
        return sum([weights[len(word)] for word in words])
    except IndexError:
        return sum(
            [weights[min(len(word), _LONGEST)] * max(len(word) / _LONGEST, 1) for word in words]
        )


def _weights(words: list[str], is_ascii: bool) -> tuple[float, ...]:
    english = sum(map(_ENGLISH.__contains__, words))
    other = sum(map(_OTHER.__contains__, words))
    if not is_ascii:
        other += sum([not word.isascii() for word in words])
    if english > other:
        return _FAMILIAR
    return _FOREIGN if other else _UNKNOWN


def _weight(sign: str) -> float:
    """Estimate how many tokens a sign has, or a letter from a script that tokenizers split into
    short pieces.
    """
    code = ord(sign)
    if code < 0x2E80:
        return 1.0
    if code > 0xFFFF:
        return 2.0
    return 1.6 if 0xAC00 <= code <= 0xD7AF else 1.1
