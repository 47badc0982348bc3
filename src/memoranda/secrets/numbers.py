"""Numbers of cards and accounts, known by their checksums."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from memoranda.first_use import expression
from memoranda.secrets.spans import Secret, SecretClass

#: Digits with single spaces, hyphens or dots between them, from border to border.
_DIGITS: Final = expression(
    r"(?<![\w.+#/%-])[0-9](?:[ .\u00a0-]?[0-9]){12,18}(?![\w%])(?![.-][0-9])"
)
#: What makes a number a part of a longer one: the beginning of an IBAN before it, or four more
#: digits after it.
_COUNTRY: Final = expression(r"[A-Za-z]{2}[0-9]{2}[ -]?$")
_MORE: Final = expression(r"[ -][0-9]{4}(?![0-9/.])")
_GROUPS: Final = expression(r"[0-9]+")
#: How issuers print their numbers.
_PRINTED: Final = frozenset({(4, 4, 4, 4), (4, 6, 5), (4, 6, 4), (4, 4, 4, 4, 3), (4, 4, 4, 4, 2)})
#: Beginnings of the numbers that card networks issue, by length.
_ISSUED: Final = {
    14: expression(r"3(?:0[0-5]|[68])"),
    15: expression(r"3[47]"),
    16: expression(
        r"4|5[1-5]|2(?:2[2-9]|[3-6]|7[01]|720)|6(?:011|4[4-9]|5|2)|35(?:2[89]|[3-8])|50|5[6-8]|6[37]"
    ),
    19: expression(r"4|6(?:2|[37])|50|5[6-8]"),
    18: expression(r"6(?:2|[37])|50|5[6-8]"),
    13: expression(r"4"),
}
#: Lengths that only few cards have: words must say that it is one.
_RARE: Final = frozenset({13, 18, 19})
_CARD_WORDS: Final = expression(
    r"card|visa|master|amex|american express|discover|maestro|cvv|cvc|expir|exp\b|\bpay|\bpan\b|karte|kredit|tarjeta|cr[eé]dit|d[eé]bit|"
    r"caduca|g[uü]ltig|zahl|pago|carte|charge|billing|abbuch|cobr"
)
_OTHER_WORDS: Final = expression(
    r"order|invoice|track|parcel|shipment|ticket|case|serial|imei|sku|ean|isbn|barcode|\bid\b|_id|uuid|snowflake|timestamp|"
    r"reference|\bref\b|\bno\.? of|bestell|rechnung|sendung|auftrag|vorgang|pedido|factura|env[ií]o|seguimiento|commit|build|batch|job|"
    r"transaction|meter\b|z[aä]hler|vertrag|contract|contrato|serien?n|n[uú]mero de serie|device|sensor|iccid|imsi|meid|\bsim\b|gtin|\bupc\b|voucher|gutschein|"
    r"loyalty|membership|trace|request|event|row\b|epoch|account|konto|cuenta|phone|tel\b|fax|kunden|customer|claim|policy|test"
)
#: Words near a number that say that it is nobody's.
_EXAMPLE: Final = expression(
    r"(?<!for )example|sample\b|beispiel(?!sweise)|(?<!por )ejemplo|documentation|\bdocs\b|tutorial|dummy|platzhalter|placeholder"
)
#: How far before and after a number its words are read.
_BEFORE, _AFTER = 60, 40
#: Numbers that payment providers publish for tests.
_TEST_CARDS: Final = frozenset(
    "4242424242424242 4000056655665556 5555555555554444 2223003122003222 5200828282828210 5105105105105100 378282246310005 "
    "371449635398431 6011111111111117 6011000990139424 6011981111111113 3056930009020004 36227206271667 6555900000604105 "
    "3566002020360505 6200000000000005 4111111111111111 4012888888881881 4222222222222 30569309025904 38520000023237 "
    "3530111333300000 5019717010103742 6331101999990016 4000000000000002 4000000000009995 4000000000000077 4000002500003155 "
    "4000002760003184 4000000000003220 4000008260003178 4917610000000000 4917300800000000 4484070000000000 4462030000000000 "
    "5454545454545454 2222420000001113 2222630000001125 2222400070000005 5577000055770004 5136333333333335 371449635392376 "
    "374251018720018 370000000000002 343434343434343 4508750015741019 5017670000000000 6771798021000008 4988438843884305 "
    "4166676667666746 4646464646464644 4000620000000007 4000060000000006 4293189100000008 5500000000000004 340000000000009 "
    "30000000000004 6011000000000004 3088000000000009 201400000000009 4000000000000069 4000000000000127 4000000000000119 "
    "4000000000000341 4000000000009987 4000000000009979 5424000000000015 2223000010309703 2223016768739313 6011000000000012 "
    "38000000000006 3088000000000017 4007000000027 4012888818888 370000000000028 4716108999716531 4003830171874018 5496198584584769".split()
)
#: The length of an account number by country, as the registry of IBANs has it.
_IBAN_LENGTHS: Final = {
    pair[:2]: int(pair[2:])
    for pair in (
        "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18 "
        "FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 "
        "LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 "
        "SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30"
    ).split()
}
#: From the check digits on; the two letters of the country stand before them.
_IBAN: Final = expression(
    r"[0-9]{2}(?<=[A-Za-z]{2}[0-9]{2})(?<![A-Za-z0-9][A-Za-z]{2}[0-9]{2})(?:[ \u00a0-]?[A-Za-z0-9]){11,30}"
)


def cards(text: str, folded: str) -> Iterator[Secret]:
    """Yield numbers of cards: an issuer's beginning and length, the right last digit, and no words
    that say otherwise.
    """
    for found in _DIGITS.finditer(text):
        groups = _GROUPS.findall(found.group())
        number = "".join(groups)
        issued = _ISSUED.get(len(number))
        if (
            issued is None
            or not issued.match(number)
            or number in _TEST_CARDS
            or not _has_last_digit(number)
        ):
            continue
        if len(set(number)) <= 3:
            continue
        start, end = found.span()
        if _COUNTRY.search(text[max(start - 5, 0) : start]) or _MORE.match(text, end):
            continue
        before, after = folded[max(start - _BEFORE, 0) : start], folded[end : end + _AFTER]
        if _is_card(before, after, groups, number):
            yield Secret(SecretClass.CARD, start, end)


def _is_card(before: str, after: str, groups: list[str], number: str) -> bool:
    """True if the printed form and the words around a number fit a card's."""
    others, cards = _last(_OTHER_WORDS, before), _last(_CARD_WORDS, before)
    if others > cards:
        return False
    if cards >= 0 or _CARD_WORDS.search(after):
        return (
            len(groups) == 1
            or tuple(map(len, groups)) in _PRINTED
            or all(len(group) <= 4 for group in groups)
        )
    if len(number) in _RARE:
        return False
    return len(groups) == 1 or tuple(map(len, groups)) in _PRINTED


def _last(pattern: re.Pattern[str], text: str) -> int:
    """Return where the last match of a pattern begins; -1 if there is none."""
    return max((found.start() for found in pattern.finditer(text)), default=-1)


def _has_last_digit(number: str) -> bool:
    """True if the last digit is right by Luhn's rule."""
    total = 0
    for place, digit in enumerate(reversed(number)):
        value = ord(digit) - 48
        if place % 2:
            value = value * 2 - 9 if value > 4 else value * 2
        total += value
    return total % 10 == 0


def ibans(text: str, folded: str) -> Iterator[Secret]:
    """Yield international account numbers: the country's length, and a remainder of 1 by 97; but
    none that is called an example.
    """
    for found in _IBAN.finditer(text):
        start = found.start() - 2
        size = _IBAN_LENGTHS.get(text[start : found.start()].upper())
        end = None if size is None else _end_of(text, start, size)
        if end is None or end > found.end() or not is_iban(text[start:end]):
            continue
        if not is_example(folded, start, end):
            yield Secret(SecretClass.ACCOUNT, start, end)


def is_example(folded: str, start: int, end: int) -> bool:
    """True if the words around a number call it an example."""
    before, after = folded[max(start - _BEFORE, 0) : start], folded[end : end + _BEFORE]
    return _EXAMPLE.search(before) is not None or _EXAMPLE.search(after) is not None


def _end_of(text: str, start: int, size: int) -> int | None:
    """Return where so many letters and digits end, if the next character is none."""
    place = start
    while size and place < len(text):
        size -= text[place].isalnum()
        place += 1
    return None if size or text[place : place + 1].isalnum() else place


def is_iban(written: str) -> bool:
    """True if the check digits of an international account number are right."""
    plain = "".join(
        character for character in written.upper() if character.isascii() and character.isalnum()
    )
    turned = plain[4:] + plain[:4]
    return int("".join(str(int(character, 36)) for character in turned)) % 97 == 1
