"""Languages: which one a text is in, and the stems that its words have in it."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

import Stemmer

from memoranda.text.scripts import folded, normalised, script_of
from memoranda.text.stopwords import ENGLISH_TOO, STOP_WORDS

#: The languages of each script, the likeliest first: it is taken where a text gives no evidence.
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
#: As many words as are remembered, with their stems.
_MOST_WORDS: Final = 16_384
#: As many terms as one word of a question may stand as.
MOST_ALTERNATIVES: Final = 12
#: Stems of these are always among the alternatives of a word, which keep one place for the plain word.
_NEVER_CROWDED_OUT: Final = frozenset(
    language for languages in LANGUAGES.values() for language in languages[: MOST_ALTERNATIVES - 1]
)

#: Letters that tell a language, with what they weigh: less than a stop word, for names travel. Weights are
#: whole numbers, so that their order cannot alter a sum, nor a sum the terms of a text.
_LETTERS: Final = (
    (75, {"de": "ß", "es": "ñ", "pt": "ãõ", "da": "øæ", "no": "øæ", "hu": "őű", "pl": "łąęśćźż",
            "tr": "şğı", "ro": "ășțţ", "fr": "êœù", "it": "ìò", "fa": "پچژگکی"}),
    (30, {"de": "äöü", "fi": "äö", "sv": "äöå", "da": "å", "no": "å", "hu": "öüáó", "tr": "öüç", "fr": "çéè",
           "pt": "çáé", "es": "áéí"}),
)  # fmt: skip


#: English is taken before another language of its script, unless there is more than this for the other.
_HEAD_START: Final = 50


def _spellings(words: Iterable[str]) -> frozenset[str]:
    as_written = [normalised(word) for word in words]
    joined = [word.replace("'", "") for word in as_written]
    return frozenset([*as_written, *joined, *map(folded, joined)])


#: Stop words as they are met: with and without their accents and apostrophes.
_STOPS: Final = {language: _spellings(words) for language, words in STOP_WORDS.items()}


def _evidence() -> dict[str, tuple[tuple[str, int], ...]]:
    """What each stop word or letter says for which languages; more, the fewer languages share it."""
    shared = Counter(word for words in _STOPS.values() for word in words)
    found: dict[str, list[tuple[str, int]]] = {}
    for language, words in _STOPS.items():
        for word in words:
            tells_little = len(word) == 1 or (word in ENGLISH_TOO and language != "en")
            weight = _HEAD_START - 10 if tells_little else 100 + 50 // shared[word]
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
#: What two words in the language of a question weigh at least.
_TWO_WORDS: Final = 200
#: As many words as are looked at, spread over the text.
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
    """The languages of the Latin and of the Arabic words of a text in lower case, cut at its spaces."""
    sample = words[:: len(words) // _SAMPLE + 1]
    if 5 * sum(map(_ONLY_ENGLISH.__contains__, sample)) > len(sample):
        return "en", LANGUAGES["Arabic"][0]
    scores = _scores(sample)
    scores["en"] = scores.get("en", 0) + _HEAD_START
    return _best("Latin", scores), _best("Arabic", scores)


def likely_languages(words: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """The same for a question, with all Latin languages that it may be in, the likeliest first.

    Unless two words tell of a language, it may be in any; if they do, in English still.
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
    """One set of stemmers a thread: they are not safe to share."""

    def __init__(self) -> None:
        self.by_language: dict[str, Stemmer.Stemmer] = {}

    def stem(self, language: str, word: str) -> str:
        stemmer = self.by_language.get(language)
        if stemmer is None:
            # Without a cache of its own: words are remembered below, for all threads.
            stemmer = self.by_language[language] = Stemmer.Stemmer(_ALGORITHMS[language], 0)
        return folded(stemmer.stemWord(word)) or folded(word)


_STEMMERS: Final = _Stemmers()


def language_for(word: str, latin: str, arabic: str) -> str | None:
    """The language that a word is read in, where its text is in these."""
    script = script_of(word)
    if script == "Latin":
        return latin
    if script == "Arabic":
        return arabic
    return LANGUAGES[script][0] if script in LANGUAGES else None


@lru_cache(maxsize=_MOST_WORDS)
def alternatives(word: str, latin: tuple[str, ...] = LANGUAGES["Latin"]) -> tuple[str, ...]:
    """The terms that a word of a question stands as, the likeliest first; the plain word is one of them."""
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
    """The stem of a word in a text of this language, and the plain word if a question could miss the stem."""
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
