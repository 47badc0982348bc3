"""Languages: recognition of a text's language, and the stems of its words."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

import Stemmer

from memoranda.text.scripts import folded, normalised, script_of
from memoranda.text.stopwords import ENGLISH_TOO, STOP_WORDS

#: The languages of each script, the most likely first: it is assumed if a text gives no evidence.
LANGUAGES: Final[dict[str, tuple[str, ...]]] = {
    "Latin": ("en", "de", "fr", "es", "it", "pt", "nl", "sv", "da", "no", "fi", "hu", "ro", "tr", "pl"),
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
#: The stems in these languages are always among a word's alternatives; one of those is the plain word.
_NEVER_CROWDED_OUT: Final = frozenset(
    language for languages in LANGUAGES.values() for language in languages[: MOST_ALTERNATIVES - 1]
)

#: Letters that are evidence of a language, with their weights: less than a stop word, because names occur in all
#: languages. Weights are whole numbers, so that their order cannot change a sum, and so the terms of a text.
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
    """Return the languages of the Latin and of the Arabic words in a text, given as its words in lower case."""
    sample = words[:: len(words) // _SAMPLE + 1]
    if 5 * sum(map(_ONLY_ENGLISH.__contains__, sample)) > len(sample):
        return "en", LANGUAGES["Arabic"][0]
    scores = _scores(sample)
    scores["en"] = scores.get("en", 0) + _HEAD_START
    return _best("Latin", scores), _best("Arabic", scores)


def likely_languages(words: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """Return the same for a question, with all Latin languages that are possible, the most likely first.

    All are possible unless two words are evidence of a language; English is always possible.
    """
    languages = LANGUAGES["Latin"]
    scores = _scores(words[:_SAMPLE])
    best = max((scores.get(language, 0) for language in languages), default=0)
    near = [language for language in languages if 10 * scores.get(language, 0) >= 6 * best]
    if best < _TWO_WORDS or len(near) > 4:
        return languages, _best("Arabic", scores)
    near.sort(key=lambda language: -scores[language])
    return tuple(dict.fromkeys([*near, "en"])), _best("Arabic", scores)


def _best(script: str, scores: dict[str, int]) -> str:
    return max(LANGUAGES[script], key=lambda language: scores.get(language, 0))


def is_stop_word(word: str, language: str | None) -> bool:
    return language is not None and word in _STOPS[language]


class _Stemmers(threading.local):
    """The stemmers of one thread: threads cannot share them."""

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
    """Return the terms for a question's word, the most likely first; the plain word is one of them."""
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
    """Return the stem of a word in this language, and the plain word if a question could miss the stem."""
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
