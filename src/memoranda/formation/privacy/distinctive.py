"""The parts of a text that could identify a person: words in a normal form, numbers, contacts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Final

from memoranda.formation.privacy.dates import dates
from memoranda.formation.privacy.numerals import numbers
from memoranda.text.scripts import folded, normalised, script_of
from memoranda.text.stopwords import STOP_WORDS

#: A word of at least this many letters that is not ordinary is rare enough to identify somebody.
RARE: Final = 7
#: At most this many adjacent words are tried as one word that was split.
_TAKEN_APART: Final = 4
#: This many words in the same order are a quotation.
QUOTED_WORDS: Final = 7
#: A run of at least this many digits is a phone or account number, whoever it belongs to.
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
_TITLED: Final = re.compile(
    r"\b(?:dr|mr|mrs|ms|miss|prof|herrn?|frau|senhora?|sra?|dona|señora?|mme|mlle|madame|monsieur)\.?\s+([^\W\d_])(?!\w)",
    re.IGNORECASE,
)
_PARTIAL: Final = re.compile(
    r"\b(?:end(?:s|ing|ed)?|start(?:s|ing|ed)?|begin(?:s|ning)?|last|first|final|digits?|endet|endend|beginnt|ziffern?"
    r"|letzten?|ersten?|termina|terminad[ao]|começa|últimos|finit|commence|derniers)\b",
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
_LEET: Final = str.maketrans("0123456789$@!", "oizeasgtbgsai")


def visible_text(text: str) -> str:
    """Return a text in Unicode compatibility form, without invisible characters."""
    if text.isascii():
        return text
    kept = normalised(text)
    return "".join(
        character
        for character in kept
        if unicodedata.category(character) not in ("Cf", "Cc", "Co") or character in "\n\t"
    )


@lru_cache(maxsize=65_536)
def word_key(word: str) -> str:
    """Return the form of a word for comparison: without case, accents, possessive, or look-alike
    letters.
    """
    plain = folded(word.casefold()).replace("’", "'")
    plain = plain.removesuffix("'s").replace("'", "").translate(_LOOKALIKES)
    if len(plain) > len("ueue"):
        plain = plain.replace("ae", "a").replace("oe", "o").replace("ue", "u")
    return plain


@lru_cache(maxsize=65_536)
def word_root(key: str) -> str:
    """Return a name without its case ending, so that Anna equals Annas, and Анна equals Анну."""
    cut = key.removesuffix("s").rstrip("aeiouy\u0443\u044e\u044f\u044b\u0438\u044d")
    return cut if len(cut) >= len("ann") else key


def _ordinary(section: str) -> list[str]:
    """Return the words of one section of ``ordinary_words.txt``; its first line is a
    description.
    """
    text = Path(__file__).with_name("ordinary_words.txt").read_text("utf-8")
    return text.partition(f"[{section}]")[2].partition("\n[")[0].partition("\n")[2].split()


ORDINARY: Final = frozenset(
    word_key(word) for section in ("work", "trade", "tools", "names") for word in _ordinary(section)
)
_BASES: Final = frozenset(
    word_key(word) for section in ("work", "trade") for word in _ordinary(section)
)
#: Short words that a line can hardly avoid, even if somebody has that name.
UNAVOIDABLE: Final = frozenset(
    word_key(word)
    for language in ("en", "de", "pt")
    for word in STOP_WORDS[language]
    if len(word) <= len("can")
)
STOPS: Final = frozenset(word_key(word) for words_of in STOP_WORDS.values() for word in words_of)
_UNSPACED_ORDINARY: Final = sorted(set(_ordinary("unspaced")), key=len, reverse=True)


@dataclass(frozen=True, slots=True)
class Word:
    """One word: the form to compare, and the form in the text."""

    key: str
    #: Has a capital although it does not begin a sentence.
    named: bool
    #: Has a capital.
    capital: bool
    #: Its script has no capitals, so names look like other words.
    caseless: bool = False

    @property
    def is_ordinary(self) -> bool:
        """True if the word identifies nobody, unless it is somebody's name."""
        return self.key in STOPS or self.key in ORDINARY or self.key.removesuffix("s") in ORDINARY

    @property
    def is_verb_form(self) -> bool:
        """True for a form of an ordinary word in -ing, -ed or -es that is written like no name:
        merging, debugged.
        """
        return not self.named and not _BASES.isdisjoint(_verb_bases(self.key))


def _verb_bases(key: str) -> tuple[str, ...]:
    """Return the words that a form in -ing, -ed or -es may come from; none for any other word."""
    stem = key[:-3] if key.endswith("ing") else key[:-2] if key.endswith(("ed", "es")) else ""
    if len(stem) < len("run"):
        return ()
    return stem, f"{stem}e", stem[:-1] if stem[-1] == stem[-2] else stem


def words_of(text: str) -> Iterator[Word]:
    """Yield the words of a text returned by `visible_text`."""
    for found in _WORD.finditer(text):
        word = found.group()
        capital = word[0].isupper() or word[0].istitle()
        start = found.start()
        named = capital and not _ENDS_SENTENCE.search(text[max(0, start - 12) : start])
        caseless = word[0].isalpha() and word[0].lower() == word[0].upper()
        yield Word(word_key(word), named, capital, caseless)


@dataclass(frozen=True, slots=True)
class LineFeatures:
    """The parts of an agent's lesson that could identify a person, to be compared with that
    person's records.
    """

    #: The line contains contact data, such as a mail address; it never passes.
    contact: bool = False
    words: tuple[Word, ...] = ()
    #: Keys of the words in quotation marks.
    quoted: frozenset[str] = frozenset()
    #: Adjacent words joined into one.
    joined: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    #: The numbers may be the beginning or end of longer ones: "ending 213".
    partial_numbers: bool = False
    dates: frozenset[tuple[int, int]] = frozenset()
    initials: frozenset[str] = frozenset()
    #: Single letters after a title, as in "Mrs Q."
    titled_initials: frozenset[str] = frozenset()
    #: Names before a Japanese honorific, and other runs of characters in scripts without spaces.
    honorific_names: frozenset[str] = frozenset()
    runs: frozenset[str] = frozenset()
    #: Sequences of as many words as make a quotation.
    sequences: frozenset[tuple[str, ...]] = field(default=frozenset())
    #: The whole text, to search for names in scripts without spaces.
    text: str = ""


@lru_cache(maxsize=256)
def features_of(line: str) -> LineFeatures:
    """Return the parts of an agent's lesson that could identify a person."""
    text = visible_text(line)
    found = tuple(words_of(text))
    keys = [word.key for word in found]
    digits = numbers(text)
    return LineFeatures(
        contact=bool(_CONTACTS.search(text))
        or any(len(number) >= _MANY_DIGITS for number in digits),
        words=found,
        quoted=frozenset(
            word.key for quote in _QUOTES.findall(text) for word in words_of(" ".join(quote))
        ),
        joined=joined_words(keys),
        numbers=digits,
        partial_numbers=_PARTIAL.search(text) is not None,
        dates=dates(text),
        titled_initials=frozenset(map(word_key, _TITLED.findall(text))),
        initials=_initials(text),
        honorific_names=frozenset(_HONORIFIC.findall(text))
        - {"お客", "客", "皆", "奥", "お子"}
        - _ROLES,
        runs=unspaced_runs(text),
        sequences=word_sequences(keys),
        text=text.casefold(),
    )


_ROLES: Final = frozenset({"ユーザー", "お客", "顧客", "相手", "利用者"})


def joined_words(keys: list[str]) -> frozenset[str]:
    """Return adjacent words joined into one, in case one was split, and words with digits read as
    letters.
    """
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
        found |= {
            "".join(keys[first:last])
            for first in range(at, end)
            for last in range(first + 3, end + 1)
        }
        at = end + 1
    mixed = [one for one in keys if any(map(str.isdigit, one)) and any(map(str.isalpha, one))]
    found |= {one.translate(_LEET) for one in mixed} | {
        one.replace("1", "l").translate(_LEET) for one in mixed
    }
    return frozenset(one for one in found if len(one) > len("an"))


def word_sequences(keys: list[str]) -> frozenset[tuple[str, ...]]:
    """Return all sequences of words that are long enough to count as a quotation."""
    return frozenset(
        tuple(keys[at : at + QUOTED_WORDS]) for at in range(len(keys) - QUOTED_WORDS + 1)
    )


def _initials(text: str) -> frozenset[str]:
    dotted = {"".join(filter(str.isalpha, one)) for one in _INITIALS.findall(text)}
    capitals = {one for one in re.findall(r"(?<!\w)[^\W\d_]{2,3}(?!\w)", text) if one.isupper()}
    return frozenset(word_key(one) for one in dotted | capitals)


def unspaced_runs(text: str) -> frozenset[str]:
    """Return runs of characters in scripts without spaces, after removing ordinary words."""
    for word in _UNSPACED_ORDINARY:
        text = text.replace(word, " ")
    found: set[str] = set()
    for run in _UNSPACED_RUN.findall(text):
        size = 2 if script_of(run) == "Han" else 3 if "\u30a0" <= run[0] <= "\u30ff" else 4
        found |= (
            {run}
            if len(run) <= size
            else {run[at : at + size] for at in range(len(run) - size + 1)}
        )
    return frozenset(found)
