"""Numbers of passports, accounts and identity cards that their name announces, in several
languages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from memoranda.first_use import expression
from memoranda.secrets.numbers import is_example, is_iban
from memoranda.secrets.spans import Secret, SecretClass

#: Characters between the name of a number and the number; a sentence's end or another number's name
#: ends the search.
_REACH, _LONGEST = 60, 48
_STOP: Final = expression(
    r"(?<!no)(?<!nr)(?<!num)(?<!núm)\.\s|[!?;\n]\s|order|ticket|tracking|invoice|customer|phone|kundennummer|bestell|pedido|factura|"
    r"\btel\b|\bcase\b|expir|issued|ablauf|caduca|vence|\bborn|flight|booking"
)
_YEAR: Final = expression(r"(?:19|20)[0-9]{2}")
_DNI: Final = "TRWAGMYFPDXBNJZSQVHLCKE"


def _is_passport(number: str) -> bool:
    digits = sum(character.isdigit() for character in number)
    dated = _YEAR.match(number) or _YEAR.fullmatch(number[-4:])
    if digits >= 5:
        return not (dated and digits == 8 and digits == len(number.replace(" ", "")))
    # Some states draw letters and digits alike, and leave out vowels.
    return digits >= 1 and len(number) in (8, 9) and number.isalnum() and number == number.upper()


def _is_account(number: str) -> bool:
    if number[:2].isalpha():
        return is_iban(number)
    return len({*number} - {" ", "-"}) > 2


def _is_identity(number: str) -> bool:
    """True if a number has the letter that Spain computes for it, or the form of another
    country's.
    """
    plain = re.sub("[ .-]", "", number.upper())
    if plain[-1:].isalpha() and plain[-9:-1].lstrip("XYZ").isdigit() and len(plain) == 9:
        value = plain[:-1].replace("X", "0").replace("Y", "1").replace("Z", "2")
        return _DNI[int(value) % 23] == plain[-1]
    return len(set(plain)) > 2


class _Announced(NamedTuple):
    kind: SecretClass
    #: One of these words stands in every text that has one of the names.
    words: tuple[str, ...]
    #: The names, in lower case; and the number that may follow.
    name: re.Pattern[str]
    number: re.Pattern[str]
    is_right: Callable[[str], bool]


_BORDER, _END = r"(?<![\w.-])", r"(?![\w-])(?!\.[0-9])"
_ALL: Final = (
    _Announced(
        SecretClass.PASSPORT,
        ("pass", "ausweis", "pasaporte"),
        expression(
            r"passport|reisepass|(?<!\w)pass(?:nummer|[- ]?nr\b)|ausweis(?:nummer|[- ]?nr\b)?|pasaporte|passeport|passaporto|passaporte|(?<!\w)pass (?:hat die|mit der) nummer"
        ),
        expression(
            _BORDER
            + r"(?:[0-9]{2,4}(?: [0-9]{2,7}){1,3}|(?:[A-Z]{1,3}[ -]?|[a-z]{1,3})?[0-9][A-Za-z0-9]{4,10}|[A-Za-z][A-Za-z0-9]{5,10})"
            + _END
        ),
        _is_passport,
    ),
    _Announced(
        SecretClass.ACCOUNT,
        ("acc", "a/c", "konto", "cuenta", "iban", "compte", "clabe"),
        expression(
            r"(?<!aws )(?<!customer )(?<!client )(?<!user )account[ _-]?(?:number|no\b|nr\b|num\b|#)|"
            r"(?:bank|savings|checking|current|giro|deposit) account|acct\b|a/c (?:no|number)|konto(?:nummer|[- ]?nr\b)|bankkonto|girokonto|"
            r"(?:número|numero|n[º°.]{1,2}|num\.?) de (?:la |mi )?cuenta|cuenta (?:bancaria|corriente|de ahorros|número|numero)|iban\b|"
            r"numéro de compte|clabe\b|cuenta (?=[0-9]{10})|(?:routing|sort code|wire|transfer|bank|deposit|blz)[^.\n]{0,40}?\baccount\b"
        ),
        expression(
            _BORDER
            + r"(?:[A-Za-z]{2}[0-9]{2}(?: ?[A-Za-z0-9]){11,30}|[0-9](?:[ -]?[0-9]){5,23})"
            + _END
        ),
        _is_account,
    ),
    _Announced(
        SecretClass.IDENTITY,
        (
            "ssn",
            "social sec",
            "dni",
            "nie",
            "steuer",
            "nif",
            "national ins",
            "national id",
            "seguridad",
            "sozialv",
            "my social",
            "nino",
            "cpf",
        ),
        expression(
            r"(?<![a-z])ssn\b|social security|my social\b|(?<![a-z])(?:dni|nie|nif|nino|cpf)\b|steuer(?:liche )?-?id(?:entifikationsnummer)?|steuernummer|"
            r"sozialversicherungsnummer|national insurance|national id\b|seguridad social"
        ),
        expression(
            _BORDER
            + r"(?:[0-9]{3}-[0-9]{2}-[0-9]{4}|[XYZxyz]?-?[0-9]{7,8}-?[A-Za-z]|[0-9]{2} ?[0-9]{3} ?[0-9]{3} ?[0-9]{3}|"
            r"[A-Z]{2} ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-D]|[0-9]{2} ?[0-9]{6} ?[A-Z] ?[0-9]{3}|[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}|[0-9]{9})(?![\w-])"
        ),
        _is_identity,
    ),
)


def numbered(text: str, folded: str) -> Iterator[Secret]:
    """Yield numbers that their name announces; ``folded`` is the text in lower case."""
    for one in _ALL:
        if any(word in folded for word in one.words):
            for found in one.name.finditer(folded):
                span = _number_after(text, folded, found.end(), one)
                if span is not None and not is_example(folded, *span):
                    yield Secret(one.kind, *span)


def _number_after(text: str, folded: str, start: int, one: _Announced) -> tuple[int, int] | None:
    """Return where the first number after a name begins and ends; None if a sentence ends or
    something else is named before it.
    """
    stop = _STOP.search(folded, start, start + _REACH)
    reach = start + _REACH if stop is None else stop.start()
    for value in one.number.finditer(text, start, reach + _LONGEST):
        if value.start() > reach:
            return None
        if one.is_right(value.group()):
            return value.span()
    return None
