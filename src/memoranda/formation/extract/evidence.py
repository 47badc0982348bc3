"""Compares the words of a statement with the texts it may come from: whose words does it add to
what was shown?
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import Final

from memoranda.model.messages import Message
from memoranda.model.records import Trust, lowest
from memoranda.text.irregular import with_verbs
from memoranda.text.polarity import ends_something, opposes
from memoranda.text.scripts import comparable_text, normalised, script_of
from memoranda.text.similarity import (
    CONTAINED_COVERAGE,
    clears_with_similarity,
    content_words,
    densest_share,
    sentences_of,
    terms_in,
    words_with_forms,
)
from memoranda.text.terms import LANGUAGES, likely_languages

#: A statement shares at least so many words, or this share of them, with a text that supports it.
_LEAST_WORDS: Final = 2
_LEAST_SHARE: Final = 0.5
#: Words with which texts speak to agents, or of their user.
_ADDRESS: Final = re.compile(
    r"\b(?:ai|a\.i\.|llms?|assistants?|agents?|copilots?|chatbots?|(?:your|the|this|its?) (?:users?|owner)|instructions?"
    r"|from (?:now|here) on|earlier statements?|remember|ignore|overrides?|ki|ki-\w+|assistent\w*|nutzers?|anweisung\w*"
    r"|k[uü]nftig|ab (?:jetzt|sofort)|ia|asistentes?|agentes?|usuario|dueño|instrucci\w+|recuerda|a partir de ahora"
    r"|utilisateur|consignes?|dorénavant|désormais)\b"
)
_ORDER: Final = re.compile(
    r"\b(?:always|never|must|should|prefers?|wants?|likes?|(?<!\d )(?<!in )may(?!,? \d)|allow\w*|permi\w+|immer|niemals|muss|darf|möchte|bevorzugt"
    r"|siempre|nunca|debe\w*|prefiere|quiere|permite|toujours|jamais|doit|préfère|veut)\b"
)
#: Words that stand in any order, and tell nothing of what is ordered.
_GENERAL: Final = frozenset(
    "every use using used later make get want wants prefer prefers need needs new time always never user users owner assistant "
    "assistants agent agents ai instruction instructions remember ignore note must should may first good now".split()
)


class Words:
    """A statement's words, without its owner's names and words of no weight."""

    def __init__(self, statement: str, names: Collection[str] = ()) -> None:
        self.text = statement
        left_out = {part for name in names for part in name.split()}
        every = words_with_forms(with_verbs(statement))
        kept = [(word, forms) for word, forms in every if comparable_text(word) not in left_out]
        self._words = kept or every
        #: The possible forms of each word.
        self.forms = tuple(forms for _, forms in self._words)

    @property
    def size(self) -> int:
        """The number of words."""
        return len(self._words)

    def count(self, text: str) -> int:
        """Return how many of the words occur in a text."""
        return len(self._in(terms_of_text(text)))

    def share(self, text: str) -> float:
        """Return the share of the words that occur in a text."""
        return self.count(text) / self.size if self.size else 0.0

    def supported(self, text: str) -> bool:
        """True if a text has two of the words, or half of them."""
        found = self.count(text)
        return found >= _LEAST_WORDS or (found > 0 and found >= _LEAST_SHARE * self.size)

    def adds(self, said: str, shown: str, *, ended: bool = False) -> bool:
        """True if what the words add to a text that was shown is in what was said.

        If the statement ends that text, it is enough that what was said names anything of the
        statement; and if it only leaves something of that text out, that what was said names that.
        """
        terms, told = terms_of_text(shown), terms_of_text(said)
        new = [forms for forms in self.forms if forms.isdisjoint(terms)]
        if not new and ended:
            own = frozenset().union(*self.forms)
            gone = [forms for forms in Words(shown).forms if forms.isdisjoint(own)]
            return any(not forms.isdisjoint(told) for forms in gone)
        if not new or ended:
            return bool(new) and self.count(said) > 0
        return 2 * sum(not forms.isdisjoint(told) for forms in new) >= len(new)

    def beyond(self, said: str, texts: frozenset[int]) -> int:
        """Return how many words that tell something were not said, but occur among these terms."""
        told = terms_of_text(said)
        return sum(
            forms.isdisjoint(told) and not forms.isdisjoint(texts)
            for word, forms in self._words
            if word.casefold() not in _GENERAL
        )

    def _in(self, terms: frozenset[int]) -> list[str]:
        return [word for word, forms in self._words if not forms.isdisjoint(terms)]


def bears(text: str, words: Words) -> bool:
    """True if a text contains a statement, and does not say its opposite."""
    if words.size == 1:
        # The stem of one word stands in any text: it has to be the word itself.
        found = set(content_words(words.text)) <= set(content_words(text))
    else:
        found = densest_share(words.forms, text) >= CONTAINED_COVERAGE
    return found and not opposes(words.text, text)


class Evidence:
    """The texts of tools and web pages in a conversation."""

    def __init__(self, messages: Iterable[Message]) -> None:
        self._messages = list(messages)
        plain = [
            (one, normalised(one).casefold().replace("_", " "))
            for said in self._messages
            for one in sentences_of(said.content)
        ]
        #: True if a text speaks to agents, or of their user.
        self.addresses = any(_ADDRESS.search(text) for _, text in plain)
        #: True if a text could be read as an order.
        self.order = self.addresses or any(_ORDER.search(text) for _, text in plain)
        orders = [one for one, text in plain if _ADDRESS.search(text) or _ORDER.search(text)]
        self._ordered = frozenset().union(*map(terms_of_text, orders))
        self._all = frozenset().union(*(terms_of_text(said.content) for said in self._messages))

    def __bool__(self) -> bool:
        return bool(self._messages)

    @property
    def trust(self) -> Trust:
        """The lowest trust of the texts."""
        return lowest(said.trust for said in self._messages)

    def bearing(self, words: Words) -> list[Trust]:
        """Return the trust of each text that contains a statement."""
        return [said.trust for said in self._messages if bears(said.content, words)]

    def ends_too(self, words: Words) -> bool:
        """True if one of the texts that contain a statement ends something, too."""
        return any(
            ends_something(said.content) for said in self._messages if bears(said.content, words)
        )

    def adds(self, words: Words, said: str) -> bool:
        """True if a statement adds a word of these texts to what was said."""
        return words.beyond(said, self._all) > 0

    def adds_order(self, words: Words, said: str) -> bool:
        """True if a statement adds something to what was said that one of these texts orders."""
        found = words.beyond(said, self._ordered)
        return 2 * found > words.size - words.count(said)

    def paraphrased(self, words: Words, said: str) -> bool:
        """True if a statement shares with these texts what was not said."""
        found = words.beyond(said, self._ordered if self.order else self._all)
        return found >= (1 if self.addresses else _LEAST_WORDS)

    def repeated(self, words: Words) -> bool:
        """True if half of a statement's words are from these texts."""
        found = words.beyond("", self._all)
        return found >= min(_LEAST_WORDS, words.size) and found >= _LEAST_SHARE * words.size


@lru_cache(maxsize=512)
def terms_of_text(text: str) -> frozenset[int]:
    """Return the hashes of the terms in a text, with the verbs of its irregular forms."""
    return terms_in(with_verbs(text))


clears_with_similarity(terms_of_text, with_verbs)


def languages_differ(one: str, other: str) -> bool:
    """True if two texts are in different languages, as far as their letters and common words
    tell.
    """
    first, second = _language(one), _language(other)
    return bool(first and second) and first != second


def _language(text: str) -> str:
    words = normalised(text).lower().split()
    scripts = {script_of(letter) for word in words for letter in word if letter.isalpha()}
    if not scripts:
        return ""
    if scripts == {"Latin"}:
        found = likely_languages(words)[0]
        # Without evidence, all languages are possible.
        return found[0] if found != LANGUAGES["Latin"] else ""
    return min(scripts - {"Latin"})
