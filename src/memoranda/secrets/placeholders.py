"""Values that stand where a secret would be: placeholders, variables, words, and numbers made for
tests.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from itertools import pairwise
from typing import Final

from memoranda.first_use import expression

#: Parts of a value that say that it is none.
_MARKS: Final = expression(
    r"example|placeholder|changeme|change[_-]me|redacted|hidden|your[_-]|[_-]here\b|dummy|xxxx|\*{3}|\.{3}|…|"
    r"<|\{\{|\$\{|\$\(|%\(|insert[_-]|replace[_-]|todo|notreal|fake|sample|foobar|deadbeef|not[_-]a[_-]"
)
#: The most characters of a value that are read.
_READ: Final = 64
#: A value that is a variable, a call, or a member of an object.
_CODE: Final = expression(
    r"[$%@&{]|[A-Za-z_]\w{0,60}\[|!(?:Ref|Sub|GetAtt|ImportValue|vault|reference)\b|pk_(?:live|test)_|\[|\(|(?:[A-Za-z_]\w{0,60}(?:\.[A-Za-z_]\w{0,60}){1,8}|[A-Za-z_]\w{0,60})\(|"
    r"(?:self|this|os|process|env|config|settings|vault|request|req|secrets|args|options|ctx|var|local|data|module|"
    r"credentials|params|headers|props|state|user|response|resp|result)\."
)
#: Words that follow a name in prose or in code, and are no password.
_WORDS: Final = frozenset(
    "a an and any are as at auth auto basic bearer before being bool but by can changed changes correct default disabled empty enabled "
    "env expired expires false file for forgot forgotten from fine free generated get got has have hello here hidden how if in incorrect "
    "int invalid is it its just key length long longer lost manager may missing must my needs never new nil no none not null object ok old "
    "on only optional or our password passwords passwort policy prompt protected public read refused reset required rotated rotation safe "
    "same secret secure see sent set should shown so something still str string strong stored test text that the there this token too true "
    "type undefined unknown unset user username valid value variable very was weak what when where which will with wrong yes you your abc "
    "abgelaufen aber alt anders aus dein falsch gespeichert geändert gut ist mein neu nicht noch richtig sehr vergessen weg zu "
    "cambiada caducada contraseña correcta de el en era es esta está incorrecta la mal mi no nueva olvidada para que su tu vieja y "
    "correct, wrong, admin root guest".split()
)
#: Keys that providers print in their documentation, and everybody copies.
_PUBLISHED: Final = frozenset(
    "sk_test_4eC39HqLyjWDarjtT1zdP7dc sk_test_BQokikJOvBiI2HlWgH4olfQ2 sk_test_tR3PYbcVNZZ796tH88S4VQ2u AKIAIOSFODNN7EXAMPLE "
    "AKIAI44QH8DHBEXAMPLE wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY je7MtGbClwBF/2Zp9Utk/h3yCo8nvbEXAMPLEKEY".split()
)


def is_placeholder(value: str) -> bool:
    """True if a value only stands where a secret would be, or is made for a test."""
    folded = value[:_READ].casefold()
    if _MARKS.search(folded) or _CODE.match(value) or value in _PUBLISHED:
        return True
    plain = [character for character in folded if character.isalnum()]
    return len(set(plain)) <= 2 or _is_sequence("".join(plain))


def is_common_word(value: str) -> bool:
    """True if a value is a word that follows "password" in prose, such as "wrong" or "expired"."""
    return value.casefold().strip(".,;:!?'\"") in _WORDS


def _is_sequence(plain: str) -> bool:
    """True if a value runs through the alphabet or the digits, such as abcdef123456."""
    if len(plain) < 5:
        return False
    steps = sum(ord(two) - ord(one) == 1 for one, two in pairwise(plain))
    return steps >= 0.8 * (len(plain) - 1)


def _is_plain(part: str) -> bool:
    return part.isdigit() or (
        part.isalpha() and (part.islower() or part.isupper() or part.istitle())
    )


def bits(value: str) -> float:
    """Return how many bits of entropy a character of a value has."""
    size = len(value)
    return -sum(n / size * math.log2(n / size) for n in Counter(value).values()) if size else 0.0


def looks_random(value: str, least: int = 12) -> bool:
    """True if a value looks as if a program drew it: long enough, of several sorts of characters,
    hardly repeating itself.
    """
    if len(value) < least or bits(value) < min(3.0, math.log2(len(value)) - 0.8):
        return False
    parts = re.split("[_-]", value)
    if " " in value or (
        sum(part.isalpha() and len(part) > 2 for part in parts) > 1 and all(map(_is_plain, parts))
    ):
        # Words, such as ``keep_for_24_hours``.
        return False
    digits = sum(character.isdigit() for character in value)
    letters = sum(character.isalpha() for character in value)
    mixed = any(character.isupper() for character in value) and any(
        character.islower() for character in value
    )
    if digits and letters:
        return digits >= 2 or mixed
    # Letters alone: words are of one case, or have a capital at the beginning of each.
    return bool(letters) and mixed and len(value) >= 20 and not re.search(r"[a-z]{6}", value)
