"""What in a text could tell who somebody is: its words in a form that spelling tricks do not change, its numbers, its contacts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from memoranda.formation.numerals import numbers
from memoranda.formation.ordinary import NAMES, UNSPACED, WORK
from memoranda.text.scripts import folded, normalised, script_of
from memoranda.text.stopwords import STOP_WORDS

#: A word of so many letters that is not ordinary is rare enough to tell somebody.
RARE: Final = 7
#: So many adjacent words may be one that was taken apart.
_TAKEN_APART: Final = 4
#: So many words in the same order are a quotation.
QUOTED_WORDS: Final = 7
#: With so many digits a run of them is a contact or an account, whosever it is.
_MANY_DIGITS: Final = 9

_MARKS: Final = "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u109f\u1780-\u17ff"
_WORD: Final = re.compile(rf"[^\W_](?:[^\W_]|[{_MARKS}]|['’](?=[^\W_]))*")
_ENDS_SENTENCE: Final = re.compile(r"(?:^|[.!?:;…。！？\n\r•*]|^\s*[-–—])[\s\"'“”‘’„«»()\[\]-]*$")
_QUOTES: Final = re.compile(
    r"[\"“„«「『]([^\"“”„«»「」『』]{2,200})[\"”“»」』]|(?<!\w)['‘]([^'‘’]{3,200})['’](?!\w)"
)
_CONTACTS: Final = re.compile(
    r"\w\s?(?:@|[\[(]\s?at\s?[\])])\s?\w|(?<!\w)@\w{2}|\bwww\.|://"
    r"|\b\w+ (?:at|arroba) \w+ (?:dot|punkt|ponto) \w+"
    r"|\b[a-z0-9-]+\.(?:com|org|net|de|io|co|uk|eu|br|pt|jp|fr|es|it|info|dev|app)\b",
    re.IGNORECASE,
)
_INITIALS: Final = re.compile(r"(?<!\w)(?:[^\W\d_]\.[\s-]?){1,4}[^\W\d_](?:\.|(?!\w))")
_HONORIFIC: Final = re.compile(
    r"([\u30a0-\u30ff\u3400-\u9fff]{1,6}|[\u3041-\u309f]{2,4})(?:さん|さま|様|君|くん|ちゃん|氏|先生)"
)
_UNSPACED_RUN: Final = re.compile(
    r"[\u3400-\u9fff\u3005]{2,}|[\u30a0-\u30ff]{2,}|[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]{4,}"
)

#: Letters that look like Latin ones.
_LOOKALIKES: Final = str.maketrans(
    "авеёіјкмнорстухѕԁԛԝһьαβεηικνορτυχγοոսցհքօɑɡɩʋᴀᴇᴏ",
    "abeeijkmhopctyxsdqwhbabenikvoptuxyonughpoagivaeo",
)
_LEET: Final = str.maketrans("013457$@!8", "oieastsaib")


def bare(text: str) -> str:
    """A text in compatibility form, without anything that is not seen."""
    if text.isascii():
        return text
    kept = normalised(text)
    return "".join(
        character
        for character in kept
        if unicodedata.category(character) not in ("Cf", "Cc", "Co") or character in "\n\t"
    )


@lru_cache(maxsize=65_536)
def key(word: str) -> str:
    """A word as it is compared: without case, accents, a possessive, or letters that only look alike."""
    plain = folded(word.casefold()).replace("’", "'")
    plain = plain.removesuffix("'s").replace("'", "").translate(_LOOKALIKES)
    if len(plain) > len("ueue"):
        plain = plain.replace("ae", "a").replace("oe", "o").replace("ue", "u")
    return plain


@lru_cache(maxsize=65_536)
def root(key: str) -> str:
    """A name but for the ending that a language puts to it: Anna, Annas and Анну with Анна."""
    cut = key.removesuffix("s").rstrip("aeiouy\u0443\u044e\u044f\u044b\u0438\u044d")
    return cut if len(cut) >= len("ann") else key


def _keys(words: str) -> frozenset[str]:
    return frozenset(key(word) for word in words.split())


ORDINARY: Final = _keys(WORK) | _keys(NAMES)
#: Short words that a line can hardly do without, even where somebody is called so.
UNAVOIDABLE: Final = frozenset(
    key(word) for language in ("en", "de", "pt") for word in STOP_WORDS[language] if len(word) <= len("can")
)
STOPS: Final = frozenset(key(word) for words in STOP_WORDS.values() for word in words)
_UNSPACED_ORDINARY: Final = sorted(set(UNSPACED.split()), key=len, reverse=True)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text, and how it stands there."""

    key: str
    #: Written with a capital where its sentence did not ask for one.
    named: bool
    #: Written with a capital at all.
    capital: bool
    #: Its letters have no capitals, so that a name looks like any word.
    caseless: bool = False

    @property
    def plain(self) -> bool:
        """Whether it says nothing of anybody, as long as nobody is called so."""
        return self.key in STOPS or self.key in ORDINARY or self.key.removesuffix("s") in ORDINARY


def words(text: str) -> Iterator[Word]:
    """The words of a bare text."""
    for found in _WORD.finditer(text):
        word = found.group()
        capital = word[0].isupper() or word[0].istitle()
        start = found.start()
        named = capital and not _ENDS_SENTENCE.search(text[max(0, start - 12) : start])
        caseless = word[0].isalpha() and word[0].lower() == word[0].upper()
        yield Word(key(word), named, capital, caseless)


@dataclass(frozen=True, slots=True)
class Telling:
    """What of a line could tell who somebody is; whether it does, their records say."""

    #: It holds what reaches somebody, such as an address of mail: it tells, whatever the records say.
    contact: bool = False
    words: tuple[Word, ...] = ()
    #: Keys of its words that stand between quotation marks.
    quoted: frozenset[str] = frozenset()
    #: Adjacent words written as one.
    joined: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    initials: frozenset[str] = frozenset()
    #: What stands before a Japanese honorific, and other runs of characters that are not spaced.
    honoured: frozenset[str] = frozenset()
    runs: frozenset[str] = frozenset()
    #: Its words in order, so many at a time.
    sequences: frozenset[tuple[str, ...]] = field(default=frozenset())
    #: All of it, to be looked through for names in scripts without spaces.
    text: str = ""


@lru_cache(maxsize=256)
def distinctive(line: str) -> Telling:
    """What of a line could tell who somebody is."""
    text = bare(line)
    found = tuple(words(text))
    keys = [word.key for word in found]
    digits = numbers(text)
    return Telling(
        contact=bool(_CONTACTS.search(text)) or any(len(number) >= _MANY_DIGITS for number in digits),
        words=found,
        quoted=frozenset(word.key for quote in _QUOTES.findall(text) for word in words(" ".join(quote))),
        joined=joined(keys),
        numbers=digits,
        initials=_initials(text),
        honoured=frozenset(_HONORIFIC.findall(text)) - {"お客", "客", "皆", "奥", "お子"} - _ROLES,
        runs=unspaced(text),
        sequences=sequences(keys),
        text=text.casefold(),
    )


_ROLES: Final = frozenset({"ユーザー", "お客", "顧客", "相手", "利用者"})


def joined(keys: list[str]) -> frozenset[str]:
    """Adjacent words written as one, in case one was taken apart; and words with signs for letters read as letters."""
    found = {
        "".join(keys[at : at + many])
        for many in range(2, _TAKEN_APART + 1)
        for at in range(len(keys) - many + 1)
    }
    at = 0
    while at < len(keys):
        end = at
        while end < len(keys) and len(keys[end]) == 1:
            end += 1
        found |= {"".join(keys[first:last]) for first in range(at, end) for last in range(first + 3, end + 1)}
        at = end + 1
    mixed = [one for one in keys if any(map(str.isdigit, one)) and any(map(str.isalpha, one))]
    found |= {one.translate(_LEET) for one in mixed} | {
        one.replace("1", "l").translate(_LEET) for one in mixed
    }
    return frozenset(one for one in found if len(one) > len("an"))


def sequences(keys: list[str]) -> frozenset[tuple[str, ...]]:
    """All runs of as many words as make a quotation."""
    return frozenset(tuple(keys[at : at + QUOTED_WORDS]) for at in range(len(keys) - QUOTED_WORDS + 1))


def _initials(text: str) -> frozenset[str]:
    dotted = {"".join(filter(str.isalpha, one)) for one in _INITIALS.findall(text)}
    capitals = {one for one in re.findall(r"(?<!\w)[^\W\d_]{2,3}(?!\w)", text) if one.isupper()}
    return frozenset(key(one) for one in dotted | capitals)


def unspaced(text: str) -> frozenset[str]:
    """Runs of two characters and more in scripts that have no spaces, without ordinary words."""
    for word in _UNSPACED_ORDINARY:
        text = text.replace(word, " ")
    found: set[str] = set()
    for run in _UNSPACED_RUN.findall(text):
        size = 2 if script_of(run) == "Han" else 3 if "\u30a0" <= run[0] <= "\u30ff" else 4
        found |= {run} if len(run) <= size else {run[at : at + size] for at in range(len(run) - size + 1)}
    return frozenset(found)
