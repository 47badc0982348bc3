"""Terms (word stems, by which recall finds words), made when a text is stored, and detection of the
text's language.
"""

from __future__ import annotations

import struct
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import chain
from typing import Final, Generic, TypeVar

import Stemmer

from memoranda.first_use import dataclass
from memoranda.text import scripts
from memoranda.text.near_words import near_words
from memoranda.text.scripts import LONGEST, Unit, folded, normalised, script_of, units_of
from memoranda.text.stopwords import ENGLISH_TOO, STOP_WORDS

#: The languages of each script, the most likely first: it is assumed if a text gives no evidence.
LANGUAGES: Final[dict[str, tuple[str, ...]]] = {
    "Latin": (
        "en",
        "de",
        "fr",
        "es",
        "it",
        "pt",
        "nl",
        "sv",
        "da",
        "no",
        "fi",
        "hu",
        "ro",
        "tr",
        "pl",
    ),
    "Cyrillic": ("ru",),
    "Greek": ("el",),
    "Arabic": ("ar", "fa"),
    "Devanagari": ("hi",),
    "Tamil": ("ta",),
    "Armenian": ("hy",),
}
_ALGORITHMS: Final = {
    "en": "english", "de": "german", "fr": "french", "es": "spanish", "it": "italian", "pt": "portuguese",
    "nl": "dutch", "sv": "swedish", "da": "danish", "no": "norwegian", "fi": "finnish", "hu": "hungarian",
    "ro": "romanian", "tr": "turkish", "pl": "polish", "ru": "russian", "el": "greek", "ar": "arabic",
    "fa": "persian", "hi": "hindi", "ta": "tamil", "hy": "armenian",
}  # fmt: skip
#: Most words whose stems are cached.
_MOST_WORDS: Final = 16_384
#: Most terms of one word of a question.
MOST_ALTERNATIVES: Final = 12
#: The stems in these languages are always among a word's alternatives; one of those is the plain
#: word.
_NEVER_CROWDED_OUT: Final = frozenset(
    language for languages in LANGUAGES.values() for language in languages[: MOST_ALTERNATIVES - 1]
)

#: Letters that are evidence of a language, with their weights: less than a stop word, because names
#: occur in all languages. Weights are whole numbers, so that their order cannot change a sum, and
#: so the terms of a text.
_LETTERS: Final = (
    (75, {"de": "ß", "es": "ñ", "pt": "ãõ", "da": "øæ", "no": "øæ", "hu": "őű", "pl": "łąęśćźż",
            "tr": "şğı", "ro": "ășțţ", "fr": "êœù", "it": "ìò", "fa": "پچژگکی"}),
    (30, {"de": "äöü", "fi": "äö", "sv": "äöå", "da": "å", "no": "å", "hu": "öüáó", "tr": "öüç", "fr": "çéè",
           "pt": "çáé", "es": "áéí"}),
)  # fmt: skip


#: English is assumed unless there is more evidence than this for another language.
_HEAD_START: Final = 50


def _spellings(words: Iterable[str]) -> frozenset[str]:
    as_written = [normalised(word) for word in words]
    joined = [word.replace("'", "") for word in as_written]
    return frozenset([*as_written, *joined, *map(folded, joined)])


#: Stop words in all spellings: with and without their accents and apostrophes.
_STOPS: Final = {language: _spellings(words) for language, words in STOP_WORDS.items()}


def _evidence() -> dict[str, tuple[tuple[str, int], ...]]:
    """Return the weight of each stop word for its languages: higher if fewer languages share it."""
    shared = Counter(word for words in _STOPS.values() for word in words)
    found: dict[str, list[tuple[str, int]]] = {}
    for language, words in _STOPS.items():
        for word in words:
            is_weak = len(word) == 1 or (word in ENGLISH_TOO and language != "en")
            weight = _HEAD_START - 10 if is_weak else 100 + 50 // shared[word]
            found.setdefault(word, []).append((language, weight))
    return {word: tuple(languages) for word, languages in found.items()}


def _letters() -> dict[str, tuple[tuple[str, int], ...]]:
    found: dict[str, list[tuple[str, int]]] = {}
    for weight, languages in _LETTERS:
        for language, letters in languages.items():
            for letter in letters:
                found.setdefault(letter, []).append((language, weight))
    return {letter: tuple(languages) for letter, languages in found.items()}


_EVIDENCE: Final = _evidence()
_LETTER_EVIDENCE: Final = _letters()
_ONLY_ENGLISH: Final = frozenset(word for word in _STOPS["en"] if len(_EVIDENCE[word]) == 1)
#: The least weight of two words in one language.
_TWO_WORDS: Final = 200
#: Most words that are examined, spread over the text.
_SAMPLE: Final = 200
_PUNCTUATION: Final = ".,:;!?()[]{}<>\"'*_~`«»„“”‚…¿¡、。-"


def _scores(words: Sequence[str]) -> dict[str, int]:
    scores: dict[str, int] = {}
    for word in words:
        plain = word if word.isalpha() else word.strip(_PUNCTUATION)
        for language, weight in _EVIDENCE.get(plain, ()):
            scores[language] = scores.get(language, 0) + weight
    letters = {letter for word in words if not word.isascii() for letter in word}
    for letter in letters & _LETTER_EVIDENCE.keys():
        for language, weight in _LETTER_EVIDENCE[letter]:
            scores[language] = scores.get(language, 0) + weight
    return scores


def languages_of(words: Sequence[str]) -> tuple[str, str]:
    """Return the languages of the Latin and of the Arabic words in a text, given as its words in
    lower case.
    """
    sample = words[:: len(words) // _SAMPLE + 1]
    if 5 * sum(map(_ONLY_ENGLISH.__contains__, sample)) > len(sample):
        return "en", LANGUAGES["Arabic"][0]
    scores = _scores(sample)
    scores["en"] = scores.get("en", 0) + _HEAD_START
    return _best("Latin", scores), _best("Arabic", scores)


def likely_languages(words: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """Return a question's possible Latin languages, the most likely first, and the language of its
    Arabic words.

    All are possible unless two words are evidence of a language; English is always possible.
    """
    languages = LANGUAGES["Latin"]
    scores = _scores(words[:_SAMPLE])
    if not scores:
        return languages, LANGUAGES["Arabic"][0]
    best = max((scores.get(language, 0) for language in languages), default=0)
    near = [language for language in languages if 10 * scores.get(language, 0) >= 6 * best]
    if best < _TWO_WORDS or len(near) > 4:
        return languages, _best("Arabic", scores)
    near.sort(key=lambda language: -scores[language])
    return tuple(dict.fromkeys([*near, "en"])), _best("Arabic", scores)


def _best(script: str, scores: dict[str, int]) -> str:
    languages = LANGUAGES[script]
    return max(
        (one for one in languages if one in scores), key=scores.__getitem__, default=languages[0]
    )


def is_stop_word(word: str, language: str | None) -> bool:
    """True if a word in lower case is on the language's list of stop words; False if no language is
    known.
    """
    return language is not None and word in _STOPS[language]


class _Stemmers(threading.local):
    """The stemmers of one operating-system thread; threads cannot share them."""

    def __init__(self) -> None:
        self.by_language: dict[str, Stemmer.Stemmer] = {}

    def stem(self, language: str, word: str) -> str:
        stemmer = self.by_language.get(language)
        if stemmer is None:
            # The stemmer's own cache is off: words are cached below, for all threads.
            stemmer = self.by_language[language] = Stemmer.Stemmer(_ALGORITHMS[language], 0)
        return folded(stemmer.stemWord(word)) or folded(word)


_STEMMERS: Final = _Stemmers()


def language_for(word: str, latin: str, arabic: str) -> str | None:
    """Return a word's language, given its text's languages."""
    script = script_of(word)
    if script == "Latin":
        return latin
    if script == "Arabic":
        return arabic
    return LANGUAGES[script][0] if script in LANGUAGES else None


@lru_cache(maxsize=_MOST_WORDS)
def alternatives(word: str, latin: tuple[str, ...] = LANGUAGES["Latin"]) -> tuple[str, ...]:
    """Return the terms for a question's word, the most likely first; the plain word is one of
    them.
    """
    plain = folded(word)
    script = script_of(word)
    languages = latin if script == "Latin" else LANGUAGES.get(script, ())
    found = dict.fromkeys(_STEMMERS.stem(language, plain) for language in languages)
    if plain not in found or len(found) > MOST_ALTERNATIVES:
        found = dict.fromkeys([*list(found)[: MOST_ALTERNATIVES - 1], plain])
    if word != plain:
        found.update(dict.fromkeys(_STEMMERS.stem(language, word) for language in languages))
    return tuple(found)[:MOST_ALTERNATIVES]


@lru_cache(maxsize=_MOST_WORDS)
def word_terms(word: str, language: str | None) -> tuple[str, ...]:
    """Return the stem of a word in this language, and the plain word if a question could miss the
    stem.
    """
    plain = folded(word)
    if language is None:
        return (plain,)
    stem = _STEMMERS.stem(language, word)
    if stem == plain:
        return (stem,)
    typed_without_accents = stem == _STEMMERS.stem(language, plain)
    if typed_without_accents and (language in _NEVER_CROWDED_OUT or stem in alternatives(plain)):
        return (stem,)
    return stem, plain


#: The version of the rule that makes terms of text; stored with them. Every change to a term raises
#: it.
RULE: int = 3

_MOST_HASHES: Final = 131_072
_MOST_TABLES: Final = 8
#: Signs around a word that are not part of it.
_AROUND: Final = '.,;:!?()"'

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class TermGroup:
    """A word of a question with the terms that it may have in a text."""

    #: The word as it was written.
    word: str
    #: Distinct, the most likely first, at most twelve: a text with one of them contains the word.
    hashes: tuple[int, ...]


def terms_of(text: str) -> list[str]:
    """Return a text's terms, in order, with repetitions.

    A word becomes its stem in the likely language of the text, without accents; if a question
    without accents would miss that stem, the plain word follows. Joined words (e-mail, v1.2,
    addresses) become terms as a whole and in parts. Korean becomes overlapping pairs of syllables;
    Chinese, Japanese, Thai, Lao, Khmer and Burmese overlapping pairs of characters. Chinese
    characters are terms by themselves, too, so that a question may consist of one and need not
    divide words as the text does: about half as many terms more. Stop words are left out, unless
    there is nothing else.
    """
    words = scripts.normalised(text).lower().split()
    table = _terms_in(*languages_of(words))
    terms = [term for word in words for term in table[word]]
    return terms or _of_stop_words(words)


def pack_text(text: str) -> bytes:
    """Return a text's terms in packed form; the result is ``pack(terms_of(text))``."""
    words = scripts.normalised(text).lower().split()
    table = _hashes_in(*languages_of(words))
    counts = Counter(chain.from_iterable(map(table.__getitem__, words)))
    if not counts:
        counts.update(map(term_hash, _of_stop_words(words)))
    return _packed(counts)


def hashes_of_parts(parts: Sequence[str]) -> list[Iterable[int]]:
    """Return the hashes of the terms in each part of one text; the languages are those of the whole
    text.
    """
    words = [scripts.normalised(part).lower().split() for part in parts]
    table = _hashes_in(*languages_of([*chain.from_iterable(words)]))
    return [chain.from_iterable(map(table.__getitem__, part)) for part in words]


def _of_stop_words(words: list[str]) -> list[str]:
    return [scripts.folded(unit.text) for word in words for unit in _units(word)]


@lru_cache(maxsize=_MOST_HASHES)
def term_hash(term: str) -> int:
    """Return a hash of 64 bits for a term, the same in every process and on every machine."""
    return int.from_bytes(
        blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little"
    )


def pack(terms: Iterable[str]) -> bytes:
    """Pack terms: the distinct hashes of 8 bytes each, ascending, then one byte each for how often
    they occur.
    """
    return _packed(Counter(map(term_hash, terms)))


def _packed(counts: Counter[int]) -> bytes:
    hashes = sorted(counts)
    often = [*map(counts.__getitem__, hashes)]
    if often and max(often) > 255:
        often = [min(255, count) for count in often]
    return struct.pack(f"<{len(hashes)}Q", *hashes) + bytes(often)


def query_groups(text: str) -> tuple[TermGroup, ...]:
    """Return a question's words, distinct and in order, without stop words unless there is nothing
    else.

    If the question's language is recognised, a word has its stems in that language and in English,
    and the plain word; if the question is too short for that, the stems of all languages.
    """
    words = scripts.normalised(text).split()
    languages, arabic = likely_languages([word.lower() for word in words])
    table = _groups_in(languages, arabic)
    groups = [group for word in words for group in table[word]]
    return _distinct(groups or [_group(unit, languages) for word in words for unit in _units(word)])


def forget_words() -> None:
    """Empty the caches of words: they may contain words of erased texts."""
    for cache in (
        _terms_in,
        _hashes_in,
        _groups_in,
        term_hash,
        alternatives,
        word_terms,
        near_words,
    ):
        cache.cache_clear()


def _units(word: str) -> Iterator[Unit]:
    """Yield the units (words and parts of words) of a text between two spaces."""
    return (unit for piece in scripts.pieces(word) for unit in units_of(piece))


class _Table(dict[str, tuple[Value, ...]], Generic[Value]):
    """Cache of the values made of recent words; emptied when full. Threads share it and may compute
    a value twice.
    """

    def __init__(self, make: Callable[[str], tuple[Value, ...]]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, word: str) -> tuple[Value, ...]:
        value = self._make(word)
        if len(word) <= 64 and len(value) <= 4:
            if len(self) >= _MOST_WORDS:
                self.clear()
            self[word] = value
        return value


@lru_cache(maxsize=_MOST_TABLES)
def _terms_in(latin: str, arabic: str) -> _Table[str]:
    def terms_of_unit(unit: Unit) -> tuple[str, ...]:
        if not unit.is_word:
            return () if unit.is_stop else (unit.text,)
        language = language_for(unit.text, latin, arabic)
        return () if is_stop_word(unit.text, language) else word_terms(unit.text, language)

    def terms_of_word(word: str) -> tuple[str, ...]:
        plain = word.strip(_AROUND)
        if plain.isascii() and plain.isalpha() and len(plain) <= LONGEST:
            # Nearly all words are such. The general code gives the same result.
            return () if is_stop_word(plain, latin) else word_terms(plain, latin)
        return tuple(term for unit in _units(word) for term in terms_of_unit(unit))

    return _Table(terms_of_word)


@lru_cache(maxsize=_MOST_TABLES)
def _hashes_in(latin: str, arabic: str) -> _Table[int]:
    terms = _terms_in(latin, arabic)
    return _Table(lambda word: tuple(map(term_hash, terms[word])))


@lru_cache(maxsize=_MOST_TABLES)
def _groups_in(languages: tuple[str, ...], arabic: str) -> _Table[TermGroup]:
    def is_stop(unit: Unit) -> bool:
        if not unit.is_word:
            return unit.is_stop
        return is_stop_word(unit.text, language_for(unit.text, languages[0], arabic))

    return _Table(
        lambda word: tuple(_group(unit, languages) for unit in _units(word) if not is_stop(unit))
    )


def _group(unit: Unit, languages: tuple[str, ...]) -> TermGroup:
    terms = alternatives(unit.text, languages) if unit.is_word else (unit.text,)
    return TermGroup(unit.written, tuple(dict.fromkeys(map(term_hash, terms))))


def _distinct(groups: list[TermGroup]) -> tuple[TermGroup, ...]:
    """Join a question's words that have the same most likely term into one, with the terms of all
    of them.
    """
    found: dict[int, TermGroup] = {}
    for group in groups:
        first = group.hashes[0]
        same = found.get(first)
        if same is None:
            found[first] = group
        elif same.hashes != group.hashes:
            hashes = tuple(dict.fromkeys((*same.hashes, *group.hashes)))[:MOST_ALTERNATIVES]
            found[first] = TermGroup(same.word, hashes)
    return tuple(found.values())
