"""Whole numbers written in words, in English, German, Spanish and French, as patterns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from memoranda.language.words import table, words

#: The languages of such numbers.
LANGUAGES: Final = ("en", "de", "es", "fr")
_SPANISH_HUNDREDS: Final = "cien(?:to)? doscient[oa]s trescient[oa]s cuatrocient[oa]s quinient[oa]s seiscient[oa]s setecient[oa]s ochocient[oa]s novecient[oa]s"
#: Numbers with several endings.
_ENDED: Final = {("es", 1): "un[oa]?", ("fr", 1): "une?"}
#: Between the words of a number.
_GAP: Final = r"[\s-]+"


def in_words(number: int) -> Iterator[str]:
    """Yield a pattern of a number from 2 to 999,999 in each language, with any gaps between its
    words.
    """
    if not 1 < number < 1_000_000:
        return
    for language in LANGUAGES:
        yield _written(number, language).replace("-", _GAP).replace(" ", _GAP)
    thousands, rest = divmod(number, 1000)
    if thousands > 1 and rest == 500:
        yield f"{_written(thousands, 'en')} and a half thousand".replace(" ", _GAP)


def _written(number: int, language: str) -> str:
    if number < 100:
        return _below_hundred(number, language)
    name, base = ("thousand", 1000) if number >= 1000 else ("hundred", 100)
    many, rest = divmod(number, base)
    if language == "es" and base == 100:
        head = _SPANISH_HUNDREDS.split()[many - 1]
    else:
        of = words(language)[name] + ("s?" if language == "fr" and base == 100 else "")
        left_out = many == 1 and language in ("es", "fr")
        counted = "" if left_out else _written(many, language) + ("" if language == "de" else " ")
        head = f"(?:{counted})?{of}" if many == 1 else f"{counted}{of}"
    if not rest:
        return head
    joined = {"de": "", "en": " (?:and )?"}.get(language, " ")
    return f"{head}{joined}{_written(rest, language)}"


def _below_hundred(number: int, language: str) -> str:
    """Return a pattern of a number from 1 to 99."""
    ones = [
        _ENDED.get((language, number)) or names[0]
        for number, names in enumerate(table(language, "numbers"))
    ]
    if number < 20:
        return ones[number].replace("éis", "[eé]is")
    ten, one = divmod(number, 10)
    tens = [names[0] for names in table(language, "tens")]
    if language == "fr":
        tens += ["soixante", "quatre-vingts?", "quatre-vingt"]
    head = tens[ten - 2]
    if language == "fr" and ten in (7, 9):
        return f"{head} (?:et )?{ones[number % 20]}"
    if not one:
        return head
    last = ones[one]
    if language == "de":
        return f"{last}und{head}"
    if language == "es":
        return (
            f"(?:veinti|veinte y ){last.replace('dos', 'd[oó]s').replace('tres', 'tr[eé]s').replace('seis', 's[eé]is')}"
            if ten == 2
            else f"{head} y {last}"
        )
    return f"{head} (?:et )?{last}" if language == "fr" else f"{head} {last}"
