"""Echoes: messages that a context leaves out because they only repeat what it shows, or hold no
words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, cached_property
from typing import Final, Literal, NamedTuple
from uuid import UUID

from memoranda.first_use import expression
from memoranda.model.experience_lines import ExperienceLine
from memoranda.model.memories import Memory
from memoranda.model.messages import NO_WORDS, Message
from memoranda.model.profiles import ProfileDocument
from memoranda.model.records import Record
from memoranda.text.scripts import comparable_text, pieces
from memoranda.text.similarity import CONTAINED_COVERAGE, sentences_of, terms_in, words_with_forms
from memoranda.text.stopwords import STOP_WORDS

Echo = Literal["no_words", "acknowledges", "repeats_question", "repeats_context"]

#: Roles whose messages may only repeat; what a user said is left out only if it is the question
#: itself.
_REPEATING: Final = frozenset({"assistant", "tool"})
#: The label of an entry, where an answer recites whole lines of a context; and what introduces an
#: item of a list.
_LABEL: Final = expression(r"^\s*(?:[-*•]\s+)?(?:\[[^\]]*\]\s*)?")
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
#: Words with which an assistant only says that it heard or did something.
_DONE: Final = """
    done got it right understood understand clear perfect sure will do course absolutely certainly alright noted happy no
    problem worries pleasure nice anytime welcome sorry wait moment working ready i'm i'll i've you're it's that's we'll
    erledigt verstanden alles klar mache gemacht gern gerne natürlich selbstverständlich ordnung kein problem notiert geschehen
    moment sofort bitte bitteschön super prima
    hecho listo entendido vale claro perfecto acuerdo supuesto anotado momento nada
    fait compris entendu parfait d'accord bien sûr c'est noté reçu moment rien avec plaisir
"""
#: An acknowledgement has at most so many characters.
_BRIEF: Final = 120
_NEGATIONS: Final = frozenset(
    "not no never without nicht nie niemals kein keine keinen keiner pas jamais sans nunca jamás sin".split()
)


class Echoes:
    """Finds messages that add nothing to what a context shows: its records, and the question that
    it answers.
    """

    def __init__(self, known: Iterable[Record], question: str | None) -> None:
        self._texts = {record.id: text for record in known if (text := _text_of(record))}
        self._parts: dict[UUID, list[_Part]] = {}
        #: Terms are looked for when a message needs them, and once in each text.
        self._terms_in = cache(terms_in)
        self._question = comparable_text(question or "")

    def reason(self, message: Message, shown: Shown | None = None) -> Echo | None:
        """Return why a message adds nothing to what is shown, by default all that is known; None if
        it may.
        """
        if (why := self.empty(message)) is not None or message.role not in _REPEATING:
            return why
        parts = self._parts.get(message.id)
        if parts is None:
            parts = [_part_of(text) for text in sentences_of(message.content)]
            self._parts[message.id] = parts
        among = self.shown(self._texts) if shown is None else shown
        told = all(part.plain == self._question or _is_repeated(part, among) for part in parts)
        return "repeats_context" if parts and told else None

    def shown(self, ids: Iterable[UUID]) -> Shown:
        """Return what these records say together, as far as they are known."""
        return Shown([self._texts[id] for id in ids if id in self._texts], self._terms_in)

    def empty(self, message: Message) -> Echo | None:
        """Return why a message says nothing beside any context; None if it may."""
        if not message.content.replace(NO_WORDS, "").strip():
            return "no_words"
        if self._question and comparable_text(message.content) == self._question:
            return "repeats_question"
        return (
            "acknowledges"
            if message.role == "assistant" and _acknowledges(message.content)
            else None
        )


class Shown:
    """The terms of the texts in a context, and a flag if one has a negation."""

    def __init__(self, texts: Sequence[str], terms_in: Callable[[str], frozenset[int]]) -> None:
        self._texts = texts
        self._terms_in = terms_in

    @cached_property
    def terms(self) -> frozenset[int]:
        """All terms of the texts."""
        return frozenset().union(*map(self._terms_in, self._texts))

    @cached_property
    def denies(self) -> bool:
        """True if one of the texts has a negation."""
        return any(map(_has_negation, self._texts))


class _Part(NamedTuple):
    """One sentence of a message: what it states, and if it negates."""

    plain: str
    stated: Sequence[tuple[str, frozenset[int]]]
    denies: bool


def _part_of(sentence: str) -> _Part:
    sentence = _LABEL.sub("", sentence)
    stated = [
        (word, forms)
        for word, forms in words_with_forms(sentence)
        if forms.isdisjoint(_terms_around())
    ]
    return _Part(comparable_text(sentence), stated, _has_negation(sentence))


def _is_repeated(part: _Part, shown: Shown) -> bool:
    """True if a sentence states nothing that is not shown."""
    if not part.stated:
        return True
    missing = [word for word, forms in part.stated if forms.isdisjoint(shown.terms)]
    if len(part.stated) - len(missing) < CONTAINED_COVERAGE * len(part.stated):
        return False
    # A number or a name is never a mere turn of phrase.
    if any(any(map(str.isdigit, word)) or word[0].isupper() for word in missing):
        return False
    return shown.denies or not part.denies


def _acknowledges(text: str) -> bool:
    """True if a short answer says only that something was heard or done."""
    if len(text) > _BRIEF or any(map(str.isdigit, text)):
        return False
    words = {word.casefold() for word in pieces(text)}
    said, joining = _words_of_acknowledgement()
    return not words.isdisjoint(said) and words <= said | joining


@cache
def _words_of_acknowledgement() -> tuple[frozenset[str], frozenset[str]]:
    """Return the words that acknowledge, and the function words that may join them."""
    said = frozenset(pieces(f"{_AROUND} {_DONE}"))
    return said, frozenset(word for words in STOP_WORDS.values() for word in words) - _NEGATIONS


def _text_of(record: Record) -> str:
    """Return the text that a context shows of a record; empty for a message that may be longer than
    what is shown.
    """
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
