"""Scripts: normalising, folding and splitting of text in any script into the units that become
terms.
"""

from __future__ import annotations

import sys
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable
from functools import cache, lru_cache
from itertools import groupby
from typing import Final, NamedTuple

from memoranda.first_use import expression
from memoranda.text.stopwords import ELISIONS, HANGUL_STOPS, PARTICLES, SPACELESS_STOPS


def wellformed(text: str) -> str:
    """Replace lone halves of surrogate pairs, which cannot be encoded, and join pairs into their
    character.
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


#: The first and last character of each script. "spaceless" scripts have no spaces between words
#: (Thai, Lao, Burmese, Khmer, kana); their digits are not included.
_SPANS: Final = (
    (0x0000, 0x02AF, "Latin"), (0x0370, 0x03FF, "Greek"), (0x0400, 0x052F, "Cyrillic"),
    (0x0530, 0x058F, "Armenian"), (0x0600, 0x06FF, "Arabic"), (0x0750, 0x077F, "Arabic"),
    (0x08A0, 0x08FF, "Arabic"), (0x0900, 0x097F, "Devanagari"), (0x0B80, 0x0BFF, "Tamil"),
    (0x0E01, 0x0E3A, "spaceless"), (0x0E40, 0x0E4E, "spaceless"), (0x0E81, 0x0ECF, "spaceless"),
    (0x0EDC, 0x0EDF, "spaceless"), (0x1000, 0x103F, "spaceless"), (0x1050, 0x108F, "spaceless"),
    (0x109A, 0x109F, "spaceless"), (0x1100, 0x11FF, "Hangul"), (0x1780, 0x17D3, "spaceless"),
    (0x17D7, 0x17D7, "spaceless"), (0x17DC, 0x17DD, "spaceless"), (0x1E00, 0x1EFF, "Latin"),
    (0x1F00, 0x1FFF, "Greek"), (0x2C60, 0x2C7F, "Latin"), (0x3005, 0x3007, "Han"),
    (0x3041, 0x309A, "spaceless"), (0x309D, 0x309F, "spaceless"), (0x30A1, 0x30FA, "spaceless"),
    (0x30FC, 0x30FF, "spaceless"), (0x3105, 0x312F, "spaceless"), (0x31F0, 0x31FF, "spaceless"),
    (0x3400, 0x4DBF, "Han"), (0x4E00, 0x9FFF, "Han"), (0xA720, 0xA7FF, "Latin"), (0xA960, 0xA97F, "Hangul"),
    (0xA9E0, 0xA9EF, "spaceless"), (0xAA60, 0xAA7F, "spaceless"), (0xAC00, 0xD7FF, "Hangul"),
    (0xF900, 0xFAFF, "Han"), (0x20000, 0x323AF, "Han"),
)  # fmt: skip
_FIRST: Final = tuple(first for first, _, _ in _SPANS)


def script_of(text: str) -> str:
    """Return the script of a text's first character; empty for scripts without rules of their
    own.
    """
    return _script_of_character(text[0])


@lru_cache(maxsize=8192)
def _script_of_character(character: str) -> str:
    code = ord(character)
    _, last, script = _SPANS[bisect_right(_FIRST, code) - 1]
    return script if code <= last else ""


def _class(spans: Iterable[tuple[int, int]]) -> str:
    """Return these characters as the inside of a regular expression's character class."""
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in spans)


@cache
def _marks() -> str:
    """Return vowel signs, accents and the like: characters in words that are no letters or
    digits.
    """
    blocks = (range(0x0300, 0x1E00), range(0xA600, 0xAC00), range(0xFE20, 0xFE30))
    codes = [
        code
        for block in blocks
        for code in block
        if unicodedata.category(chr(code)) in ("Mn", "Mc")
    ]
    runs = groupby(enumerate(codes), lambda place: place[1] - place[0])
    spans = [[code for _, code in run] for _, run in runs]
    return _class((span[0], span[-1]) for span in spans)


_UNSPACED: Final = _class(
    (first, last) for first, last, script in _SPANS if script in ("spaceless", "Han")
)
_HANGUL: Final = _class((first, last) for first, last, script in _SPANS if script == "Hangul")
_EMOJI: Final = (
    "\u231a-\u23ff\u2600-\u27bf\u2b1b\u2b1c\u2b50\u2b55\U0001f000-\U0001f1e5\U0001f200-\U0001faff"
)
_FLAG: Final = "[\U0001f1e6-\U0001f1ff]{1,2}+"

_SIGNS: Final = r"-._@/:+&=?#%~"
#: Any number of times, without stepping back, which saves memory. Python before 3.11.5 reads ``*+``
#: wrongly: it keeps the comma of "tea, please" although no word follows it. Stepping back finds the
#: same, as nothing that follows can fail.
_ANY_NUMBER: Final = "*+" if sys.version_info >= (3, 11, 5) else "*"


def _piece(word: str) -> str:
    """Return a pattern for a word, or for words joined without spaces as in an address or a
    version.
    """
    connector = rf"(?:://|,(?=[0-9]{{3}}(?![0-9]))|['{_SIGNS}])"
    return rf"[#@]?{word}(?:{connector}{word}){_ANY_NUMBER}(?:\+\+|\#)?"


_ASCII_PIECE: Final = expression(_piece("[A-Za-z0-9]++"))


def _any_piece() -> str:
    word = f"(?:[^\\W_{_UNSPACED}{_HANGUL}{_EMOJI}]++[{_marks()}]*+)++"
    return f"[{_UNSPACED}]++|[{_HANGUL}]++|{_FLAG}|[{_EMOJI}]|{_piece(word)}"


_ANY_PIECE: Final = expression(_any_piece)
_WORD_OF_PIECE: Final = expression(f"[^,{_SIGNS}]+")
#: A character with its combining marks.
_CLUSTER: Final = expression(lambda: f"[^{_marks()}][{_marks()}]{{0,7}}+")
#: Normalising takes quadratic time in the number of successive marks; no language needs more than a
#: few.
_PILE_OF_MARKS: Final = expression(lambda: f"([{_marks()}]{{8}})[{_marks()}]++")

#: Apostrophes and hyphens become those of keyboards; invisible characters (joiners, marks of
#: direction, variation selectors, skin tones) are removed.
_SAME_SIGN: Final[dict[int, str | None]] = {
    **dict.fromkeys((0x02BC, 0x05F3, 0x2018, 0x2019, 0x2032), "'"),
    **dict.fromkeys((0x058A, 0x05BE, 0x2010, 0x2212), "-"),
    **dict.fromkeys((0x00AD, 0x034F, 0x061C, 0x0640, 0x2060, 0xFEFF, 0x20E3)),
    **dict.fromkeys((*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x2066, 0x206A))),
    **dict.fromkeys((*range(0xFE00, 0xFE10), *range(0x1F3FB, 0x1F400))),
}


def normalised(text: str) -> str:
    """Return the text in Unicode compatibility form, with one apostrophe, one hyphen and no
    invisible characters.
    """
    if text.isascii():
        return text
    if _PILE_OF_MARKS.search(text):
        text = _PILE_OF_MARKS.sub(r"\1", text)
    return unicodedata.normalize("NFKC", text).translate(_SAME_SIGN)


def comparable_text(text: str) -> str:
    """Return a statement without differences in case, spaces and final punctuation."""
    return " ".join(normalised(text).casefold().split()).rstrip(".!… ")


def pieces(text: str) -> list[str]:
    """Split a normalised text into words, joined words, runs without spaces, flags and emoji."""
    return (_ASCII_PIECE if text.isascii() else _ANY_PIECE).findall(text)


def words_of(piece: str) -> list[str]:
    """Return the words in a joined piece such as an address; a word with an apostrophe is one
    word.
    """
    return _WORD_OF_PIECE.findall(piece)


def clusters(run: str) -> list[str]:
    """Split a run of text without spaces into characters with their combining marks."""
    return _CLUSTER.findall(run)


#: Letters that people type in more than one way and that Unicode does not decompose.
_SAME_LETTER: Final = {
    "ł": "l", "ø": "o", "đ": "d", "ð": "d", "ħ": "h", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th", "ŋ": "n",
    "ё": "е", "أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ی": "ي", "ک": "ك", "ة": "ه",
}  # fmt: skip
#: Marks that people omit when they type: separate accents, Hebrew points, Arabic vowels.
_OPTIONAL_MARKS: Final = (
    range(0x0300, 0x0370),
    range(0x0591, 0x05C8),
    range(0x0610, 0x061B),
    range(0x064B, 0x0660),
)


class _FoldedCharacters(dict[str, str]):
    """Cache of the folded form of each character seen; Unicode bounds its size."""

    def __missing__(self, character: str) -> str:
        self[character] = form = _fold(character)
        return form


def _fold(character: str) -> str:
    code = ord(character)
    if character in _SAME_LETTER:
        return _SAME_LETTER[character]
    if code == 0x0670 or any(code in marks for marks in _OPTIONAL_MARKS):
        return ""
    digit = unicodedata.decimal(character, None)
    if digit is not None:
        return str(digit)
    if script_of(character) in ("Latin", "Greek"):
        # In other scripts a mark makes a different letter: й is not и, が is not か.
        decomposed = unicodedata.normalize("NFKD", character)
        bare = "".join(part for part in decomposed if not unicodedata.combining(part)).casefold()
        return "".join(_SAME_LETTER.get(letter, letter) for letter in bare)
    return character.casefold()


_FOLDED: Final = _FoldedCharacters()


def folded(word: str) -> str:
    """Return a word in lower case without accents, as people may type it: café as cafe, ёлка as
    елка.
    """
    return word if word.isascii() else "".join([_FOLDED[character] for character in word])


#: Characters of a word that are compared; the rest is ignored.
LONGEST: Final = 64
_SCHEME: Final = expression(r"\A[a-z][a-z0-9+.-]*+://(?:www\.)?")
_BETWEEN_HOSTS: Final = expression(r"[/@?#:]+")
_ADDRESS_NOISE: Final = frozenset(("http", "https", "www"))
_INNER_SIGNS: Final = str.maketrans("", "", ",'-")
_DIGIT: Final = expression(r"\d")
#: Endings after an apostrophe in English.
_TAILS: Final = frozenset(("s", "re", "ve", "ll", "d", "m"))


class Unit(NamedTuple):
    """One part of a piece of text."""

    #: The text as it was written.
    written: str
    #: The text as it is compared: lower case, bounded, without apostrophes; folded, unless it is a
    #: word.
    text: str
    #: True if it has stems; if not, the text is the term.
    is_word: bool = False
    #: True for a stop word; for words this depends on the language and is decided later.
    is_stop: bool = False


def units_of(piece: str) -> list[Unit]:
    """Split a piece by the rule of its script: characters and pairs, syllables, or words with
    joining signs.
    """
    script = script_of(piece)
    if script in ("Han", "spaceless"):
        return _characters_and_pairs(piece)
    if script == "Hangul":
        return _syllables(piece)
    return _joined(piece) if words_of(piece) != [piece] else _with_apostrophes(piece)


def _word(written: str, text: str) -> Unit:
    text = text.lower()
    if len(text) > LONGEST or _DIGIT.search(text):
        return Unit(written, folded(text[:LONGEST]))
    return Unit(written, text, is_word=True)


def _with_apostrophes(word: str) -> list[Unit]:
    """Split a word that may have apostrophes: Ana's, don't, l'amour, O'Brien."""
    head, apostrophe, tail = word.partition("'")
    if not apostrophe:
        return [_word(word, word)]
    if tail.lower() in _TAILS:
        return [_word(head, head)]
    if head.lower() in ELISIONS and "'" not in tail:
        return [_word(tail, tail)]
    whole = _word(word, word.replace("'", ""))
    if tail.lower() == "t":
        return [whole]
    return [whole, *(_word(part, part) for part in word.split("'") if len(part) > 1)]


def _joined(piece: str) -> list[Unit]:
    """Return words joined by signs, whole and in parts: e-mail, v1.2, #8842, C++, addresses and
    their hosts.
    """
    whole = _SCHEME.sub("", piece.lower()).translate(_INNER_SIGNS)
    found = [_word(piece, whole) if whole.isalpha() else Unit(piece, folded(whole[:LONGEST]))]
    words = [word for word in words_of(piece.replace(",", "")) if word != whole]
    if "@" in whole or "/" in whole:
        hosts = [part for part in _BETWEEN_HOSTS.split(whole) if "." in part and part != whole]
        found.extend(Unit(host, folded(host[:LONGEST])) for host in hosts)
    for word in words:
        if word.lower() not in _ADDRESS_NOISE:
            found.extend(_with_apostrophes(word))
    return found


def _characters_and_pairs(run: str) -> list[Unit]:
    characters = clusters(run)
    if len(characters) == 1:
        return [Unit(characters[0], characters[0], is_stop=characters[0] in SPACELESS_STOPS)]
    found = []
    for index, character in enumerate(characters):
        is_stop = character in SPACELESS_STOPS
        if script_of(character) == "Han":
            found.append(Unit(character, character, False, is_stop))
        if index + 1 < len(characters):
            pair = character + characters[index + 1]
            is_stop = pair in SPACELESS_STOPS or (
                is_stop and characters[index + 1] in SPACELESS_STOPS
            )
            found.append(Unit(pair, pair, False, is_stop))
    return found


def _syllables(run: str) -> list[Unit]:
    """Return pairs of syllables, and a word of one syllable by itself if a particle follows it."""
    if len(run) == 1:
        return [Unit(run, run, is_stop=run in PARTICLES)]
    pairs = [run[index : index + 2] for index in range(len(run) - 1)]
    found = [Unit(pair, pair, is_stop=pair in HANGUL_STOPS) for pair in pairs]
    return [Unit(run[0], run[0]), *found] if run[1:] in PARTICLES else found
