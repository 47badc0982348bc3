"""Commitments: what the assistant promised on a user's request, and the words that say that it is
done.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from memoranda.formation.extract.attribution import Verdict, is_from_user
from memoranda.formation.extract.citations import Sourced
from memoranda.model.drafts import Reading
from memoranda.model.messages import Message
from memoranda.model.records import STRANGERS, Trust
from memoranda.text.similarity import coverage, terms_in, words_with_forms

#: At least this share of a commitment's words was said in the conversation by user or assistant.
_SAID: Final = 1 / 3
#: Words by which a note says that something was promised; nobody has to have said them.
_PROMISING: Final = frozenset(
    "assistant agent promised promises agreed committed announced will assistent agent versprochen zugesagt wird asistente "
    "agente prometió promete prometido hará".split()
)
#: A mail or web address or a long number: what a page may add to a request that the user did make.
_ADDRESS: Final = re.compile(r"\S*[@/]\S*|[\w-]+\.\w{2,}|\S*\d{6}\S*")
_NOT_YET: Final = re.compile(
    r"\b(?:not yet|yet to|(?:have|has|had)(?: not|n['’]t)|still (?:waiting|open|missing|to)|noch nicht|noch offen|aún no|"
    r"todavía no|pas encore)\b",
    re.IGNORECASE,
)
_NOT_DONE: Final = re.compile(
    r"\b(?:will|shall|going to|can(?:no|['’])t|could(?: not|n['’]t)|unable|failed|try(?:ing)?|werde|wird|konnte|kann nicht|voy a|"
    r"no pude|je vais)\b|['’]ll\b",
    re.IGNORECASE,
)


class Commitments:
    """Judges commitments and their ends from the messages that were read for a prompt."""

    def __init__(self, reading: Reading) -> None:
        self._said = [read.message for read in reading.messages]
        self._strangers = [message for message in self._said if message.trust in STRANGERS]

    @staticmethod
    def is_promised(cited: Sequence[Message]) -> bool:
        """True if the assistant says it; what the user intends is no commitment."""
        return _promise(cited) is not None

    def request_of(self, cited: Sequence[Message]) -> Message | None:
        """Return the user's message that the promise among the cited messages answers; None if
        there is none.
        """
        promise = _promise(cited)
        if promise is None:
            return None
        return next(
            (one for one in reversed(self._said) if one.seq < promise.seq and is_from_user(one)),
            None,
        )

    def judge(self, content: str, cited: Sequence[Message]) -> Verdict:
        """Decide if a promise may be kept: it answers a user, and repeats no tool's or page's
        words.
        """
        promise, request = _promise(cited), self.request_of(cited)
        if promise is None or request is None:
            reason = "a commitment cites what the assistant promised in answer to a user"
            return Verdict(Trust.ASSISTANT, code="claimed", reason=reason)
        between = [one for one in self._strangers if request.seq < one.seq <= promise.seq]
        if between or self._paraphrases(content):
            reason = "a tool or a web page stands between the request and the promise, or says what is promised"
            return Verdict(Trust.ASSISTANT, code="stranger", reason=reason)
        kept = " ".join(
            word for word in content.split() if word.casefold().strip(".,:;") not in _PROMISING
        )
        told = "\n".join(
            one.content
            for one in self._said
            if one.trust not in STRANGERS and one.seq <= promise.seq
        )
        if not coverage(kept, promise.content) or coverage(kept, told) < _SAID:
            reason = "the cited messages do not promise it"
            return Verdict(Trust.ASSISTANT, code="claimed", reason=reason)
        return Verdict(Trust.ASSISTANT)

    def _paraphrases(self, content: str) -> bool:
        """True if a tool or a page says what the user did not: an address, or half of the words."""
        own = terms_in(
            "\n".join(message.content for message in self._said if is_from_user(message))
        )
        words = words_with_forms(content)
        new = [(word, forms) for word, forms in words if forms.isdisjoint(own)]
        for message in self._strangers:
            terms = terms_in(message.content)
            taken = [word for word, forms in new if not forms.isdisjoint(terms)]
            if taken and 2 * len(taken) >= len(words):
                return True
            text, users = message.content.casefold(), _own_text(self._said)
            addresses = (found.strip(".,;:!?()").casefold() for found in _ADDRESS.findall(content))
            if any(len(one) > 2 and one in text and one not in users for one in addresses):
                return True
        return False

    @staticmethod
    def closing(cited: Sourced) -> Sourced:
        """Return those citations in which the user or the assistant says that a commitment is done
        or dropped.
        """
        return [(message, one) for message, one in cited if _says_done(message, one.quote)]


def _own_text(said: Sequence[Message]) -> str:
    """Return what the user wrote, in lower case."""
    return "\n".join(message.content for message in said if is_from_user(message)).casefold()


def _promise(cited: Sequence[Message]) -> Message | None:
    """Return the last cited message of the assistant."""
    return next(
        (
            one
            for one in reversed(cited)
            if one.role == "assistant" and one.trust is Trust.ASSISTANT
        ),
        None,
    )


def _says_done(message: Message, quote: str) -> bool:
    text = quote or message.content
    if (
        message.trust in STRANGERS
        or message.role not in ("user", "assistant")
        or _NOT_YET.search(text)
    ):
        return False
    return message.role == "user" or not _NOT_DONE.search(text)
