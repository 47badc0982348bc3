"""Secrets that a name announces: ``name = value`` in code and settings, and "my password is …" in
several languages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from memoranda.first_use import expression
from memoranda.secrets.placeholders import is_common_word, is_placeholder, looks_random
from memoranda.secrets.spans import Secret, SecretClass

#: Names are searched in the text in lower case; where one begins and ends is the same in the text
#: itself.
_PASSWORD: Final = (
    r"pass(?:words?|wd|phrase|code|wort|wörter)|(?<![a-z])pass(?![a-z])|(?<![a-z])pwd?(?![a-z])|kennwort|contrase(?:ñ|n|n\u0303)as?|"
    r"(?<![a-z])clave|mot de passe|(?<![a-z])senha"
)
_NAME: Final = (
    rf"(?P<name>(?P<secret>(?P<key>keys?|schlüssel)|secrets?)|(?P<password>{_PASSWORD})|"
    r"(?P<token>tokens?|(?<![a-z])jwt|session[ _-]?id|sessi?d|(?<![a-z])sid|(?<![a-z])cookie))"
)
#: A key is a secret if the word before it says which key it is.
_KEYS: Final = expression(
    r"(?:api|access|secret|auth|account|signing|encryption|master|shared|service|subscription|license|webhook|consumer|app|storage|"
    r"deploy|client|private|geheim|admin|bot|live|clave de|apikey)[ _-]?$"
)
#: The most characters of such a word.
_KEY_WORD: Final = 14
#: A name may be a part of a longer one: ``DB_PASSWORD``, ``stripe.apiKey``; what follows it tells
#: if the value is the secret.
_NAMED: Final = expression(
    _NAME
    + r"(?P<more>[\w-]{0,20})[\"'`*\]]{0,4}\s{0,3}(?P<sign>:=|=>|={1,3}|:|->|>)[ \t]{0,4}(?P<quote>\\?[\"'`]{1,3}|)"
)
#: What a name ends in that is no secret.
_HARMLESS: Final = expression(
    r"(?:^|[_-]|(?<=[a-z]))(?:ids?|names?|count|limits?|length|len|size|type|url|uri|path|files?|field|hash|policy|expiry|expires|"
    r"expiration|ttl|age|max|min|prefix|header|hint|reset|label|version|usage|budget|manager|vault|env|var|arn|status|rotation|required|"
    r"enabled|strength|attempts|store|provider|index|column|table|used|seconds|minutes|digest|checksum|scopes?|ring|board|fingerprint)$"
)
_VALUE: Final = expression(r"[^\s\"'`,;<>(){}\[\]|]{4,200}")
_QUOTED: Final = {mark: expression(rf"[^{mark}\n\\]{{4,200}}") for mark in ('"', "'", "`")}
_IS: Final = (
    r":|=|(?:is|was|lautet|ist|heißt|war|es|era|será)(?:[ \t]{1,3}(?:now|currently|set to|jetzt|nun|ahora|still|noch|todavía))?"
    r"(?:[ \t]?:)?"
)
_CODE: Final = r"(?:pin|puk)(?:[ -]?(?:code|nummer|number))?|cvv2?|cvc2?|sicherheitscode|prüfnummer"
#: Every name begins in one of these ways; those of numbers need a digit.
_STARTS: Final = (
    "pas", "secret", "token", "key", "pw", "ses", "sid", "cookie", "jwt", "kennwort", "contrase", "clave", "senha", "schlüssel",
    "mot de passe", "seed phrase",
)  # fmt: skip
_CODE_STARTS: Final = ("pin", "puk", "cvv", "cvc", "sicherheitscode", "prüfnummer")
_WHICH: Final = rf"(?:(?<!\w)(?P<code>{_CODE})|{_NAME})(?!\w)"
_TELLS: Final = r"[ \t]{1,3}(?P<quote>[\"'`“„«‘*]{0,2})(?P<value>[^\s\"'`“”„«»’<>]{3,200})"
#: "my password for the shop is …", in prose. The value is one word.
_TOLD: Final = expression(
    _WHICH
    + r"(?:[ \t]{1,3}(?:for|to|of|on|at|in|with|from|für|zum|zur|im|beim?|vom|von|mit|para|del?|en|con|al?)"
    r"(?:[ \t]{1,3}[\w.@/'’-]{1,40}){1,5}?)?"
    r"(?:[ \t]{0,3}\([^()\n]{1,40}\))?(?:[ \t]{1,3}(?:now|currently|jetzt|nun|ahora))?(?:,[^,.\n]{1,40},)?"
    rf"[ \t]{{0,3}}(?:{_IS}){_TELLS}"
)
#: "the password Xy12…", without "is".
_BESIDE: Final = expression(_WHICH + r"(?:[ \t](?:to|auf|zu|a|en))?" + _TELLS)
#: The end of "I type Xy12… as password", before the name.
_BEFORE: Final = expression(
    r"(?<![^\s\"'`])([^\s\"'`<>]{6,80})[\"'`]?[ ](?:as|als|como|is|ist|es)(?: (?:the|my|your|our|a|das|mein|la|mi|tu))?(?: (?:new|neues?|nueva|wifi))?[ ]$"
)
#: "I changed it to Xy12…", in a text about passwords.
_CHANGED: Final = expression(
    r"(?:changed|set|reset|updated|geändert|cambié|cambiado)(?: (?:it|that|mine|es|la|(?:the|my|das|mein|mi)(?: [\w-]{1,20}){0,2} "
    r"(?:password|passwort|contraseña)))? (?:to|auf|in|zu|por|a)[ ]{1,2}[\"'`]?([^\s\"'`<>]{6,80})"
)
#: "credentials: admin:Xy12…".
_LOGIN: Final = expression(
    r"(?<!\w)(?:credentials?|zugangsdaten|credenciales|logins?|anmeldung)[^\w\n]{1,4}(?:(?:are|is|sind|son) )?"
    r"[\w.@+-]{2,40} ?[:/] ?([^\s\"'`<>/][^\s\"'`<>]{4,80})"
)
#: "my passphrase is "four words in quotation marks"".
_PHRASE: Final = expression(
    rf"(?:pass(?:phrase|word|wort|code)|kennwort|contraseña|clave|seed phrase)[^.!?\n\"“„«]{{0,40}}(?:{_IS})[ \t]{{1,3}}"
    r"[\"“„«]([a-zäöüßáéíóúñ-]{2,20}(?:[ -][a-zäöüßáéíóúñ-]{2,20}){2,11})[\"”“»]"
)
_WHOLE_NAMES: Final = ("password", "passwort", "passphrase", "kennwort", "contraseña")
#: The most characters of what stands before "as password".
_LOOK_BACK: Final = 100
_CODE_NUMBER: Final = expression(r"[0-9]{3,8}")
#: Signs at the end of a value that end the sentence.
_ENDS: Final = ".,;:)"
#: Signs that passwords have, and words do not.
_SIGNS: Final = "!#$%&*+=^~§"
#: The fewest characters of a password that follows its name without "is" or a sign.
_BESIDE_LEAST: Final = 8


def starts_of_names(folded: str, *, digits: bool) -> list[int]:
    """Return where names of secrets may begin in a text in lower case."""
    found: list[int] = []
    for word in _STARTS + _CODE_STARTS if digits else _STARTS:
        place = folded.find(word)
        while place >= 0:
            found.append(place)
            place = folded.find(word, place + 1)
    return found


def named(text: str, folded: str, starts: Iterable[int]) -> Iterator[Secret]:
    """Yield the values of names such as ``password`` or ``api_key`` in code, settings and prose;
    ``folded`` is in lower case.
    """
    for place in starts:
        if (found := _NAMED.match(folded, place)) is not None and _is_name(found, folded):
            yield from _assigned(text, found)
        for pattern, needs in ((_TOLD, _is_told), (_BESIDE, _is_beside)):
            if (found := pattern.match(folded, place)) is not None and _is_name(found, folded):
                plain = _plain(text[found.start("value") : found.end("value")], found["quote"])
                if needs(found, plain):
                    yield Secret(
                        _kind(found), found.start("value"), found.start("value") + len(plain)
                    )
        if folded.startswith(_WHOLE_NAMES, place):
            yield from _named_after(text, folded, place)
        if (found := _PHRASE.match(folded, place)) is not None:
            yield Secret(SecretClass.PASSWORD, *found.span(1))
    if "passw" in folded or "contraseña" in folded:
        for found in _CHANGED.finditer(folded):
            plain = _plain(text[found.start(1) : found.end(1)], "")
            if _is_new(plain):
                yield Secret(SecretClass.PASSWORD, found.start(1), found.start(1) + len(plain))


def logins(text: str, folded: str) -> Iterator[Secret]:
    """Yield passwords after a user's name: "credentials: admin:Xy12…"."""
    for found in _LOGIN.finditer(folded):
        plain = _plain(text[found.start(1) : found.end(1)], "")
        if _is_new(plain):
            yield Secret(SecretClass.PASSWORD, found.start(1), found.start(1) + len(plain))


def _plain(value: str, quote: str) -> str:
    """Return a value without the signs that end its sentence or close its quotation."""
    return value.rstrip(_ENDS + "*" if "*" in quote else _ENDS)


def _named_after(text: str, folded: str, place: int) -> Iterator[Secret]:
    """Yield the word before "as password"."""
    start = max(place - _LOOK_BACK, 0)
    found = _BEFORE.search(folded[start:place])
    if found is not None and _is_new(text[start + found.start(1) : start + found.end(1)]):
        yield Secret(SecretClass.PASSWORD, start + found.start(1), start + found.end(1))


def _assigned(text: str, found: re.Match[str]) -> Iterator[Secret]:
    """Yield the value after a name and a sign, if it is a secret."""
    if found["more"] and _HARMLESS.search(found["more"]):
        return
    mark = found["quote"][-1:]
    value = (_QUOTED[mark] if mark else _VALUE).match(text, found.end())
    if value is None or (not mark and text[value.end() : value.end() + 1] in ("(", "[", "{")):
        return
    plain = value.group() if mark else _plain(value.group(), "")
    if _is_secret(found, plain):
        yield Secret(_kind(found), value.start(), value.start() + len(plain))


def _is_name(found: re.Match[str], folded: str) -> bool:
    """True unless it is any other key than one that opens something."""
    start = found.start("name")
    if not found["key"] or "api" in found.group():
        return True
    return _KEYS.search(folded[max(start - _KEY_WORD, 0) : start]) is not None


def _kind(found: re.Match[str]) -> SecretClass:
    if found["secret"]:
        return SecretClass.KEY
    return SecretClass.TOKEN if found["token"] else SecretClass.PASSWORD


def _is_secret(found: re.Match[str], value: str) -> bool:
    """True if the value of a name in code or settings is a secret."""
    if len(value) < 4 or is_placeholder(value) or is_common_word(value):
        return False
    if not found["password"]:
        return looks_random(value)
    if found["quote"]:
        return " " not in value.strip()
    return is_strong(value)


def _is_told(found: re.Match[str], value: str) -> bool:
    """True if the value of a name in prose is a secret."""
    if found["code"]:
        return _CODE_NUMBER.fullmatch(value) is not None
    if len(value) < 4 or is_placeholder(value) or is_common_word(value):
        return False
    if not found["password"]:
        return looks_random(value)
    # "Pass" is a verb, too.
    return found["password"] != "pass" and (is_strong(value) or bool(found["quote"]))


def _is_beside(found: re.Match[str], value: str) -> bool:
    """True if a word right after a name is a secret: nothing says so but its own form."""
    if not _is_told(found, value):
        return False
    if found["code"] or (found["quote"] and is_strong(value)):
        return True
    least = _BESIDE_LEAST - 2 if any(character in _SIGNS for character in value) else _BESIDE_LEAST
    return len(value) >= least and _is_new(value)


def _is_new(value: str) -> bool:
    """True if a word without a name right before it looks like a password: letters, digits, and no
    placeholder.
    """
    drawn = any(map(str.isdigit, value)) or any(character in _SIGNS for character in value[1:-1])
    return drawn and any(map(str.isalpha, value)) and is_strong(value) and not is_placeholder(value)


def is_strong(value: str) -> bool:
    """True if a word is no ordinary one: a digit or a sign in it, or a capital inside."""
    if any(character.isdigit() for character in value):
        return any(character.isalpha() for character in value) or len(value) >= 6
    if any(
        not character.isalnum() and character not in "-_'’./" for character in value.rstrip("!*")
    ):
        return True
    capital = any(character.isupper() for character in value[1:])
    return (capital and not value.isupper()) or value.count("-") >= 2
