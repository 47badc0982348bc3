"""Units: the smallest parts of a text that become terms: words with stems, and signs without."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from memoranda.text import scripts
from memoranda.text.stopwords import ELISIONS, HANGUL_STOPS, PARTICLES, SPACELESS_STOPS

#: Characters of a word that are compared; the rest is ignored.
LONGEST: Final = 64
_SCHEME: Final = re.compile(r"\A[a-z][a-z0-9+.-]*+://(?:www\.)?")
_BETWEEN_HOSTS: Final = re.compile(r"[/@?#:]+")
_ADDRESS_NOISE: Final = frozenset(("http", "https", "www"))
_INNER_SIGNS: Final = str.maketrans("", "", ",'-")
_DIGIT: Final = re.compile(r"\d")
#: Endings after an apostrophe in English.
_TAILS: Final = frozenset(("s", "re", "ve", "ll", "d", "m"))


class Unit(NamedTuple):
    """One part of a piece of text."""

    #: The text as it was written.
    written: str
    #: The text as it is compared: lower case, bounded, without apostrophes; folded, unless it is a word.
    text: str
    #: True if it has stems; if not, the text is the term.
    is_word: bool = False
    #: True for a stop word; for words this depends on the language and is decided later.
    is_stop: bool = False


def units_of(piece: str) -> list[Unit]:
    script = scripts.script_of(piece)
    if script in ("Han", "spaceless"):
        return _characters_and_pairs(piece)
    if script == "Hangul":
        return _syllables(piece)
    return _joined(piece) if scripts.words_of(piece) != [piece] else _with_apostrophes(piece)


def _word(written: str, text: str) -> Unit:
    text = text.lower()
    if len(text) > LONGEST or _DIGIT.search(text):
        return Unit(written, scripts.folded(text[:LONGEST]))
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
    """Return words joined by signs, whole and in parts: e-mail, v1.2, #8842, C++, addresses and their hosts."""
    whole = _SCHEME.sub("", piece.lower()).translate(_INNER_SIGNS)
    found = [_word(piece, whole) if whole.isalpha() else Unit(piece, scripts.folded(whole[:LONGEST]))]
    words = [word for word in scripts.words_of(piece.replace(",", "")) if word != whole]
    if "@" in whole or "/" in whole:
        hosts = [part for part in _BETWEEN_HOSTS.split(whole) if "." in part and part != whole]
        found.extend(Unit(host, scripts.folded(host[:LONGEST])) for host in hosts)
    for word in words:
        if word.lower() not in _ADDRESS_NOISE:
            found.extend(_with_apostrophes(word))
    return found


def _characters_and_pairs(run: str) -> list[Unit]:
    characters = scripts.clusters(run)
    if len(characters) == 1:
        return [Unit(characters[0], characters[0], is_stop=characters[0] in SPACELESS_STOPS)]
    found = []
    for index, character in enumerate(characters):
        is_stop = character in SPACELESS_STOPS
        if scripts.script_of(character) == "Han":
            found.append(Unit(character, character, False, is_stop))
        if index + 1 < len(characters):
            pair = character + characters[index + 1]
            is_stop = pair in SPACELESS_STOPS or (is_stop and characters[index + 1] in SPACELESS_STOPS)
            found.append(Unit(pair, pair, False, is_stop))
    return found


def _syllables(run: str) -> list[Unit]:
    """Return pairs of syllables, and a word of one syllable by itself if a particle follows it."""
    if len(run) == 1:
        return [Unit(run, run, is_stop=run in PARTICLES)]
    pairs = [run[index : index + 2] for index in range(len(run) - 1)]
    found = [Unit(pair, pair, is_stop=pair in HANGUL_STOPS) for pair in pairs]
    return [Unit(run[0], run[0]), *found] if run[1:] in PARTICLES else found
