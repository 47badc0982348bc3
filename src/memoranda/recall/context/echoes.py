"""Echoes: messages that a context leaves out because they only repeat what it shows, or hold no words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, cached_property
from typing import Final, Literal

from memoranda.model.experience_lines import ExperienceLine
from memoranda.model.memories import Memory
from memoranda.model.messages import NO_WORDS, Message
from memoranda.model.profiles import ProfileDocument
from memoranda.model.records import Record
from memoranda.text.scripts import comparable_text, pieces
from memoranda.text.similarity import CONTAINED_COVERAGE, sentences_of, terms_in, words_with_forms

Echo = Literal["no_words", "repeats_question", "repeats_context"]

#: Roles whose messages may only repeat; what a user said is left out only if it is the question itself.
_REPEATING: Final = frozenset({"assistant", "tool"})
#: The label of an entry, where an answer recites whole lines of a context; and what introduces an item of a list.
_LABEL: Final = re.compile(r"^\s*(?:[-*•]\s+)?(?:\[[^\]]*\]\s*)?")
#: A user's message that is longer may say more than the part of it that a context shows.
_SHORT: Final = 500
#: Words around what is recited, in the languages of the rules. They state nothing about anybody.
_AROUND: Final = """
    know knew known remember remembered recall memory memories remind stored saved keep noted note told tell said say
    mention mentioned share shared nothing anything something everything else far yet already currently now information
    details fact facts thing things list following like help shall let ask summary profile previous earlier conversation
    conversations user sure okay ok yes great thank thanks hello hi welcome glad good well here also please mind
    weiß weißt wissen erinnere erinnerung erinnerungen gemerkt merke merken gesagt erzählt bisher bekannt nichts etwas
    alles noch schon notiert gespeichert informationen gerne danke hallo gut folgendes
    sais souviens rappelle retenu noté dit mémoire souvenir rien quelque chose tout encore déjà jusqu'ici informations
    merci bonjour sé recuerdo recordar recordaré anotado dicho dijiste memoria nada algo todo hasta ahora todavía
    información gracias hola
"""
_NEGATIONS: Final = frozenset(
    "not no never without nicht nie niemals kein keine keinen keiner pas jamais sans nunca jamás sin".split()
)


class Echoes:
    """Finds messages that add nothing to what a context shows: its records, and the question that it answers."""

    def __init__(self, shown: Iterable[Record], question: str | None) -> None:
        texts = [text for record in shown if (text := _text_of(record))]
        self._shown = "\n".join(texts)
        self._question = comparable_text(question or "")

    def reason(self, message: Message) -> Echo | None:
        """Return why a message adds nothing to the context; None if it may."""
        if not message.content.replace(NO_WORDS, "").strip():
            return "no_words"
        if self._question and comparable_text(message.content) == self._question:
            return "repeats_question"
        if message.role not in _REPEATING:
            return None
        parts = sentences_of(message.content)
        return "repeats_context" if parts and all(map(self._is_repeated, parts)) else None

    @cached_property
    def _terms(self) -> frozenset[int]:
        return terms_in(self._shown)

    @cached_property
    def _denies(self) -> bool:
        return _has_negation(self._shown)

    def _is_repeated(self, sentence: str) -> bool:
        """True if a sentence states nothing that is not shown."""
        sentence = _LABEL.sub("", sentence)
        if comparable_text(sentence) == self._question:
            return True
        stated = [
            (word, forms) for word, forms in words_with_forms(sentence) if forms.isdisjoint(_terms_around())
        ]
        if not stated:
            return True
        if _has_negation(sentence) and not self._denies:
            return False
        missing = [word for word, forms in stated if forms.isdisjoint(self._terms)]
        if len(stated) - len(missing) < CONTAINED_COVERAGE * len(stated):
            return False
        # A number or a name is never a mere turn of phrase.
        return not any(any(map(str.isdigit, word)) or word[0].isupper() for word in missing)


def _text_of(record: Record) -> str:
    """Return the text that a context shows of a record; empty for a message that may be longer than what is shown."""
    if isinstance(record, Memory):
        return f"{record.content} {record.applies_when} {record.key or ''} {record.subject or ''}"
    if isinstance(record, ProfileDocument):
        return "\n".join(f"{field} {value}" for field, value in record.body.items())
    if isinstance(record, ExperienceLine):
        return record.line
    if isinstance(record, Message) and record.role == "user" and len(record.content) <= _SHORT:
        return record.content
    return ""


@cache
def _terms_around() -> frozenset[int]:
    return frozenset(form for _, forms in words_with_forms(_AROUND) for form in forms)


def _has_negation(text: str) -> bool:
    words = {word.casefold() for word in pieces(text)}
    return not _NEGATIONS.isdisjoint(words) or any(word.endswith(("n't", "n’t")) for word in words)
