"""Detection of secrets in a text by patterns and checksums; text without digits and telling words
costs next to nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from memoranda.secrets.announced import logins, named, starts_of_names
from memoranda.secrets.announced_numbers import numbered
from memoranda.secrets.numbers import cards, ibans
from memoranda.secrets.shapes import shaped, with_words
from memoranda.secrets.spans import Secret, united

#: Signs of private keys, of command lines with a password, and of headers and addresses.
_SIGNS: Final = (
    "private key",
    " -u",
    " -p",
    "--user",
    "sudo",
    "net use",
    " -a ",
    "identified",
    "://",
)
#: Words before values that always have a digit, and before numbers.
_WITH_RUN: Final = ("bearer", "basic", "authorization", "hooks.slack", "?", "&")
_LOGINS: Final = ("login", "credential", "credencial", "zugangsdaten", "anmeldung")
#: How keys begin that may have letters alone.
_OF_LETTERS: Final = ("hf_", "npm_", "AKIA", "ASIA", "ghp_", "gho_", "ghs_")
#: The fewest characters without a space that may hold a provider's key.
_RUN: Final = 19
#: Digits of other scripts, and signs that do not show or look like a space or a hyphen, for the
#: reading of numbers.
_AS_NUMBERS: Final = {
    **{
        first + place: str(place)
        for first in (0xFF10, 0x0660, 0x06F0, 0x0966)
        for place in range(10)
    },
    **dict.fromkeys((0xAD, *range(0x2000, 0x2010), 0x202F, 0x205F, 0x2060, 0x3000, 0xFEFF), " "),
    **dict.fromkeys((*range(0x2010, 0x2016), 0x2212, 0xFF0D), "-"),
}
#: The fewest digits of a text with a card, and with an international account number.
_CARD_DIGITS, _IBAN_DIGITS = 13, 10


def find_secrets(text: str) -> list[Secret]:
    """Return the secrets in a text, in its order; none overlap."""
    folded = text.lower()
    if len(folded) != len(text):
        # A letter that becomes two in lower case would move every place after it.
        folded = "".join(one if len(one) == 1 else "?" for one in map(str.lower, text))
    numbers, folded_numbers = text, folded
    if not text.isascii():
        numbers, folded_numbers = text.translate(_AS_NUMBERS), folded.translate(_AS_NUMBERS)
    digits = sum(map(numbers.count, "0123456789"))
    found: list[Secret] = []
    starts = starts_of_names(folded, digits=digits > 0)
    run = len(text) >= _RUN and (digits or _has(_OF_LETTERS, text))
    run = run and max(map(len, text.split()), default=0) >= _RUN
    if _has(_SIGNS, folded) or (run and _has(_WITH_RUN, folded)):
        found += with_words(text, folded)
    if starts:
        found += named(text, folded, starts)
    if digits and _has(_LOGINS, folded):
        found += logins(text, folded)
    if run:
        found += shaped(text)
    if digits >= _IBAN_DIGITS:
        found += ibans(numbers, folded_numbers)
    if digits >= _CARD_DIGITS:
        found += cards(numbers, folded_numbers)
    if digits:
        found += numbered(numbers, folded_numbers)
    return united(found) if len(found) > 1 else found


def _has(words: Iterable[str], folded: str) -> bool:
    for word in words:  # noqa: SIM110 - a loop takes half the time of any() here
        if word in folded:
            return True
    return False
