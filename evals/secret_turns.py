"""Turns with and without secrets, made from templates: every value is drawn by code, so no key
stands in the repository.
"""

from __future__ import annotations

import base64
import json
import random
import re
import string
import zlib
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

#: The templates, and the forms of their slots. `«name»` or `«name:argument»` is a slot.
SET: Final = Path(__file__).parent / "sets" / "secret_turns.json"
HALVES: Final = ("dev", "held")
#: How many turns of each kind a half has.
SHARES: Final = {"secret": 590, "lookalike": 860, "plain": 860}
_SEED: Final = "secret turns, 1"
_SLOT: Final = re.compile(r"«(\w+)(?::([^»]*))?»")

_ALNUM: Final = string.ascii_letters + string.digits
_ALPHABETS: Final = {
    "alnum": _ALNUM,
    "base32": string.ascii_uppercase + "234567",
    "booking": "ABCDEFGHJKLMNPQRSTUVWXYZ23456789",
    "digits": string.digits,
    "hex": "0123456789abcdef",
    "hexupper": "0123456789ABCDEF",
    "key": _ALNUM + "-_",
    "letters": string.ascii_letters,
    "lower": string.ascii_lowercase + string.digits,
    "passport": "CFGHJKLMNPRTVWXYZ0123456789",
    "pods": "bcdfghjklmnpqrstvwxz2456789",
    "slash": _ALNUM + "/+",
    "strong": _ALNUM + "!#$%*+-_",
    "upper": string.ascii_uppercase + string.digits,
}
#: The beginnings and lengths of card numbers, the usual ones more often.
_CARDS: Final = (
    *(("4", 16),) * 3,
    *(("51", 16), ("53", 16), ("55", 16), ("2221", 16), ("37", 15), ("6011", 16)),
)
#: The kinds of private keys, and how many whole lines their bodies may have.
_PRIVATE_KEYS: Final = (
    ("RSA PRIVATE KEY", (9, 13, 25)),
    ("EC PRIVATE KEY", (3,)),
    ("PRIVATE KEY", (3, 13)),
    ("OPENSSH PRIVATE KEY", (5, 18)),
    ("ENCRYPTED PRIVATE KEY", (10,)),
    ("DSA PRIVATE KEY", (7,)),
)
#: The check letters of Spanish identity numbers.
_DNI_LETTERS: Final = "TRWAGMYFPDXBNJZSQVHLCKE"


def load() -> dict[str, Any]:
    """Return the set of templates, with the forms of their slots and the classes of secret or
    optional slots.
    """
    found: dict[str, Any] = json.loads(SET.read_text("utf-8"))
    return found


def turns(half: str, seed: str = _SEED) -> list[dict[str, Any]]:
    """Make the turns of one half; a seed always gives the same turns, and the halves share no
    template.
    """
    data = load()
    dice = random.Random(f"{seed}: {half}")
    maker = _Maker(dice, data)
    pools = {
        kind: [one for one in data["templates"] if one["half"] == half and one["kind"] == kind]
        for kind in SHARES
    }
    beside = [one["text"] for one in pools["plain"] if one.get("language") in ("en", None)]
    made: dict[str, dict[str, Any]] = {}
    for kind, number in SHARES.items():
        order: list[dict[str, Any]] = []
        wanted = len(made) + number
        while len(made) < wanted:
            if not order:
                order = dice.sample(pools[kind], len(pools[kind]))
            template = order.pop()
            turn = maker.turn(_dressed(template, half, beside, dice))
            turn |= {"lookalikes": template.get("lookalikes", []), "template": template["id"]}
            made.setdefault(turn["text"], turn)
    mixed = dice.sample(list(made.values()), len(made))
    return [{"id": f"s{half[0]}{number:05}", **turn} for number, turn in enumerate(mixed, 1)]


def _dressed(template: Mapping[str, Any], half: str, beside: list[str], dice: random.Random) -> str:
    """Return the template's text, perhaps with an opening, an ending, or a plain passage beside
    it.
    """
    text: str = template["text"]
    language = template.get("language")
    if language == "en" and "\n" not in text:
        if text.endswith((".", "!", "?")) and dice.random() < 0.5:
            text += f"«ending_{half}»"
        if dice.random() < 0.5:
            text = f"«opening_{half}»{text}"
    if language in ("en", None) and dice.random() < 0.2:
        passages = [text, dice.choice(beside)]
        dice.shuffle(passages)
        text = "\n\n".join(passages)
    return text


class _Maker:
    """The filler of slots. A slot is a form of the set, an alphabet with a length, or a
    function.
    """

    def __init__(self, dice: random.Random, data: Mapping[str, Any]) -> None:
        self.dice = dice
        self.forms: Mapping[str, list[str]] = data["forms"]
        self.labels = {
            slot: (where, name)
            for where, source in (("secrets", data["classes"]), ("optional", data["optional"]))
            for name, slots in source.items()
            for slot in slots
        }

    def turn(self, text: str) -> dict[str, Any]:
        """Fill a template, and record the places of its secrets and optional spans."""
        turn: dict[str, Any] = {"text": "", "secrets": [], "optional": []}
        self._write(text, turn)
        return turn

    def _write(self, text: str, turn: dict[str, Any]) -> None:
        end = 0
        for slot in _SLOT.finditer(text):
            turn["text"] += text[end : slot.start()]
            end, name = slot.end(), slot[1]
            if name in self.forms and name not in self.labels:
                # What it chooses may hold secrets of its own, such as the password of an address.
                self._write(self.dice.choice(self.forms[name]), turn)
                continue
            start = len(turn["text"])
            turn["text"] += self.value(name, slot[2] or "")
            if name in self.labels:
                where, label = self.labels[name]
                turn[where].append({"start": start, "end": len(turn["text"]), "class": label})
        turn["text"] += text[end:]

    def fill(self, text: str) -> str:
        """Fill the slots of a text."""
        return _SLOT.sub(lambda slot: self.value(slot[1], slot[2] or ""), text)

    def value(self, name: str, argument: str = "") -> str:
        """Make one value of a slot."""
        if name in self.forms:
            return self.fill(self.dice.choice(self.forms[name]))
        if name in _ALPHABETS:
            return "".join(self.dice.choices(_ALPHABETS[name], k=int(argument)))
        return _FUNCTIONS[name](self, argument)


# --- parts of values ------------------------------------------------------------------------------


def _number(maker: _Maker, argument: str) -> str:
    low, high = argument.split("-")
    return str(maker.dice.randint(int(low), int(high)))


def _base64(maker: _Maker, argument: str) -> str:
    return base64.b64encode(maker.dice.randbytes(int(argument))).decode()


def _base64url(maker: _Maker, argument: str) -> str:
    return _url64(maker.dice.randbytes(int(argument)))


def _url64(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def _moment(maker: _Maker, argument: str) -> str:
    # A moment of 2026.
    seconds = 1_767_225_600 + maker.dice.randint(0, 27_000_000)
    if argument == "iso":
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"
    return str(seconds if argument == "seconds" else seconds * 1000 + maker.dice.randint(0, 999))


def _grouped(text: str, separator: str) -> str:
    return separator.join(text[at : at + 4] for at in range(0, len(text), 4))


# --- numbers with check digits --------------------------------------------------------------------


def luhn(digits: str) -> bool:
    """True if the last digit is the right check digit by Luhn's rule."""
    doubled = (
        int(digit) if place % 2 == 0 else sum(divmod(2 * int(digit), 10))
        for place, digit in enumerate(reversed(digits))
    )
    return sum(doubled) % 10 == 0


def right_iban(text: str) -> bool:
    """True if the checksum of an IBAN is right."""
    plain = text.replace(" ", "")
    return _remainder(plain[4:] + plain[:4]) == 1


def _remainder(text: str) -> int:
    return int("".join(str(int(letter, 36)) for letter in text)) % 97


def _luhn_number(maker: _Maker, argument: str, right: bool = True) -> str:
    start, length = argument.split("-")
    while True:
        number = start + maker.value("digits", str(int(length) - len(start)))
        if luhn(number) is right:
            return number


def _card_number(maker: _Maker, separator: str) -> str:
    start, length = maker.dice.choice(_CARDS)
    number = _luhn_number(maker, f"{start}-{length}")
    if length == 15:
        return separator.join((number[:4], number[4:10], number[10:]))
    return _grouped(number, separator)


def _reference(maker: _Maker, separator: str) -> str:
    return _grouped(
        _luhn_number(maker, f"{maker.dice.choice('3456789')}-16", right=False), separator
    )


def _iban(maker: _Maker, country: str, right: bool = True) -> str:
    account = maker.value(f"account_{country}")
    check = 98 - _remainder(f"{account}{country}00")
    if not right:
        check = (check + maker.dice.randint(3, 50)) % 97 or 1
    iban = f"{country}{check:02}{account}"
    if right_iban(iban) is not right:
        return _iban(maker, country, right)
    return _grouped(iban, " ") if maker.dice.random() < 0.6 else iban


def _routing(maker: _Maker, _: str) -> str:
    digits = maker.fill("0«number:1-9»«digits:6»")
    return digits + str(
        -sum(int(digit) * (3, 7, 1)[at % 3] for at, digit in enumerate(digits)) % 10
    )


def _article(digits: str) -> str:
    # The check digit of article numbers and books.
    return digits + str(
        -sum(int(digit) * (3 if at % 2 else 1) for at, digit in enumerate(digits)) % 10
    )


def _ean(maker: _Maker, _: str) -> str:
    return _article(maker.fill("40«digits:10»"))


def _isbn(maker: _Maker, _: str) -> str:
    number = _article(maker.fill("978«of:013»«digits:8»"))
    return "-".join((number[:3], number[3], number[4:7], number[7:12], number[12]))


def _ssn(maker: _Maker, _: str) -> str:
    area = maker.dice.choice([number for number in range(1, 900) if number != 666])
    return f"{area:03}-{maker.dice.randint(1, 99):02}-{maker.dice.randint(1, 9999):04}"


def _dni(maker: _Maker, _: str) -> str:
    number = maker.dice.randint(10**7, 10**8 - 1)
    return f"{number}{maker.dice.choice(('', '-'))}{_DNI_LETTERS[number % 23]}"


def _nie(maker: _Maker, _: str) -> str:
    first, rest = maker.dice.choice("XYZ"), maker.value("digits", "7")
    return f"{first}{rest}{_DNI_LETTERS[int(str('XYZ'.index(first)) + rest) % 23]}"


# --- keys, tokens, passwords ----------------------------------------------------------------------


def _checked(maker: _Maker, start: str) -> str:
    """Return a token of GitHub's form: thirty characters and their CRC-32 in base 62."""
    body = maker.value("alnum", "30")
    rest, check = zlib.crc32(body.encode()), ""
    while rest:
        rest, digit = divmod(rest, 62)
        check = (string.digits + string.ascii_uppercase + string.ascii_lowercase)[digit] + check
    return start + body + check.rjust(6, "0")


def _jwt(maker: _Maker, _: str) -> str:
    issued = 1_700_000_000 + maker.dice.randint(0, 60_000_000)
    parts = (
        {"alg": maker.dice.choice(("HS256", "RS256")), "typ": "JWT"},
        {"sub": maker.value("digits", "8"), "name": maker.value("name"), "iat": issued},
    )
    texts = [_url64(json.dumps(part, separators=(",", ":")).encode()) for part in parts]
    return ".".join((*texts, _base64url(maker, "32")))


def _private_key(maker: _Maker, line_end: str) -> str:
    kind, sizes = maker.dice.choice(_PRIVATE_KEYS)
    start = "b3BlbnNzaC1rZXktdjEA" if kind.startswith("OPENSSH") else "MII"
    size = 48 * maker.dice.choice(sizes) + maker.dice.randint(5, 40)
    body = start + _base64(maker, str(size))[len(start) :]
    lines = (body[at : at + 64] for at in range(0, len(body), 64))
    return line_end.join((f"-----BEGIN {kind}-----", *lines, f"-----END {kind}-----"))


def _certificate(maker: _Maker, _: str) -> str:
    lines = (_base64(maker, "48") for _line in range(maker.dice.randint(3, 9)))
    start = "MIID" + _base64(maker, "45")
    return "\n".join(("-----BEGIN CERTIFICATE-----", start, *lines, "-----END CERTIFICATE-----"))


def _password(maker: _Maker, _: str) -> str:
    text = maker.value("password_shape")
    # A sign at the end could as well be the sentence's.
    return text[:-1] + maker.value("lower", "1") if text[-1] in "+-_?$" else text


def _url_password(maker: _Maker, _: str) -> str:
    return re.sub(r"[^A-Za-z0-9!*_-]", "x", _password(maker, ""))


_FUNCTIONS: Final[dict[str, Callable[[_Maker, str], str]]] = {
    "base64": _base64,
    "base64bare": lambda maker, argument: _base64(maker, argument).rstrip("="),
    "base64url": _base64url,
    "basic": lambda maker, _: base64.b64encode(
        f"{maker.value('user')}:{_password(maker, '')}".encode()
    ).decode(),
    "capital": lambda maker, argument: maker.value(argument).capitalize(),
    "card_number": _card_number,
    "cert": _certificate,
    "checked": _checked,
    "dni": _dni,
    "ean": _ean,
    "isbn": _isbn,
    "jwt": _jwt,
    "leet": lambda maker, argument: maker.value(argument).translate(str.maketrans("aeo", "430")),
    "luhn": _luhn_number,
    "moment": _moment,
    "nie": _nie,
    "no_luhn": lambda maker, argument: _luhn_number(maker, argument, right=False),
    "number": _number,
    "of": lambda maker, argument: maker.dice.choice(argument),
    "password": _password,
    "pem": lambda maker, _: _private_key(maker, "\n"),
    "pemesc": lambda maker, _: _private_key(maker, "\\n"),
    "phrase": lambda maker, _: " ".join(maker.dice.sample(maker.forms["word"], 4)),
    "reference": _reference,
    "right_iban": _iban,
    "routing": _routing,
    "ssn": _ssn,
    "url_password": _url_password,
    "wrong_iban": lambda maker, country: _iban(maker, country, right=False),
}
