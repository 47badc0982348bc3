"""Whole numbers written in words, in English, German, Spanish and French, as patterns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

_ONES: Final = {
    "en": "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen",
    "de": "ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn",
    "es": "un[oa]? dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince diecis[eé]is diecisiete dieciocho diecinueve",
    "fr": "une? deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit dix-neuf",
}
_TENS: Final = {
    "en": "twenty thirty forty fifty sixty seventy eighty ninety",
    "de": "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig",
    "es": "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa",
    "fr": "vingt trente quarante cinquante soixante soixante quatre-vingts? quatre-vingt",
}
_HUNDRED: Final = {"en": "hundred", "de": "hundert", "fr": "cents?"}
_THOUSAND: Final = {"en": "thousand", "de": "tausend", "es": "mil", "fr": "mille"}
_SPANISH_HUNDREDS: Final = "cien(?:to)? doscient[oa]s trescient[oa]s cuatrocient[oa]s quinient[oa]s seiscient[oa]s setecient[oa]s ochocient[oa]s novecient[oa]s"
#: Between the words of a number.
_GAP: Final = r"[\s-]+"


def in_words(number: int) -> Iterator[str]:
    """Yield a pattern of a number from 2 to 999,999 in each language, with any gaps between its
    words.
    """
    if not 1 < number < 1_000_000:
        return
    for language in _ONES:
        yield _written(number, language).replace("-", _GAP).replace(" ", _GAP)
    thousands, rest = divmod(number, 1000)
    if thousands > 1 and rest == 500:
        yield f"{_written(thousands, 'en')} and a half thousand".replace(" ", _GAP)


def _written(number: int, language: str) -> str:
    if number < 100:
        return _below_hundred(number, language)
    of, base = (_THOUSAND[language], 1000) if number >= 1000 else (_HUNDRED.get(language, ""), 100)
    many, rest = divmod(number, base)
    if not of:
        head = _SPANISH_HUNDREDS.split()[many - 1]
    else:
        left_out = many == 1 and language in ("es", "fr")
        counted = "" if left_out else _written(many, language) + ("" if language == "de" else " ")
        head = f"(?:{counted})?{of}" if many == 1 else f"{counted}{of}"
    if not rest:
        return head
    joined = {"de": "", "en": " (?:and )?"}.get(language, " ")
    return f"{head}{joined}{_written(rest, language)}"


def _below_hundred(number: int, language: str) -> str:
    ones, tens = _ONES[language].split(), _TENS[language].split()
    if number < 20:
        return ones[number - 1]
    ten, one = divmod(number, 10)
    head = tens[ten - 2]
    if language == "fr" and ten in (7, 9):
        return f"{head} (?:et )?{ones[number % 20 + (19 if ten == 5 else 0) - 1]}"
    if not one:
        return head
    last = ones[one - 1]
    if language == "de":
        return f"{last}und{head}"
    if language == "es":
        return (
            f"(?:veinti|veinte y ){last.replace('dos', 'd[oó]s').replace('tres', 'tr[eé]s').replace('seis', 's[eé]is')}"
            if ten == 2
            else f"{head} y {last}"
        )
    return f"{head} (?:et )?{last}" if language == "fr" else f"{head} {last}"
