"""Whose word it is: what a user said, and what was only recalled, claimed by the assistant, or read from a stranger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from memoranda.formation.alike import coverage, densest
from memoranda.model.forming import Reading
from memoranda.model.messages import Message
from memoranda.model.trust import STRANGERS, Trust, lowest
from memoranda.text.scripts import comparable_text

#: A statement of which the user's cited words cover so much is the user's own.
OWN: Final = 0.5
#: A statement of which two sentences of another text cover so much stands in that text.
BORNE: Final = 0.75
#: So much of a memory has to stand in what repeats it.
REPEATED: Final = 0.25
#: Kinds that direct the agent: only the user's own word makes them.
DIRECTING: Final = frozenset({"instruction", "preference"})
_SPEAKERS: Final = frozenset({Trust.USER, Trust.OPERATOR})
_QUESTION_MARKS: Final = frozenset("?？؟;\u037e⁇")
_ONESELF: Final = frozenset({"user", "the user", "me", "myself", "i"})


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a statement's claim to be the word of somebody."""

    #: The lowest of all that it rests on, whether it was cited or not.
    trust: Trust
    #: The user's own cited words bear it; what others said need not be cited for it.
    own: bool = False
    #: Why it cannot be kept, as a stable word and in words; empty where it can.
    code: str = ""
    reason: str = ""


def speaks(message: Message) -> bool:
    """Whether a message is what a user said, and not what was claimed, called up or pasted in."""
    return message.role == "user" and message.trust in _SPEAKERS


def another(message: Message) -> str | None:
    """Who spoke in the user's place, where it was not the owner: what they say of themselves is not said of the owner."""
    speaker = message.speaker
    return (
        None
        if speaker is None or comparable_text(speaker) in (comparable_text(message.owner.id), *_ONESELF)
        else speaker
    )


class Witness:
    """Knows all that was said and shown in a reading, and judges whose word a statement is."""

    def __init__(self, reading: Reading) -> None:
        said = [read.message for read in reading.messages]
        self._before = {after.id: before for before, after in pairwise(said)}
        self._strangers = [message for message in said if message.trust in STRANGERS]
        self._claims = [message for message in said if not speaks(message) and message.trust not in STRANGERS]
        self._shown = tuple(memory.content for memory in reading.candidates)
        names = {message.speaker for message in said if message.speaker and speaks(message)}
        self._oneself = _ONESELF | {comparable_text(reading.thread.owner.id)}
        self._speakers = self._oneself | {comparable_text(name) for name in names}

    def judge(
        self, statement: str, cited: Sequence[Message], *, kind: str = "fact", subject: str | None = None
    ) -> Verdict:
        """Whether a statement may be kept as the word of those whom it cites, and how far it is to be believed."""
        own = [message for message in cited if speaks(message)]
        trust = lowest(message.trust for message in cited)
        if own and coverage(statement, " \n".join(message.content for message in own)) < OWN:
            trust = lowest([trust, *self._uncited(statement, own)])
        elif own:
            return Verdict(lowest(message.trust for message in own), own=True)
        if self._answered(statement, own):
            return _directed(lowest([trust, Trust.ASSISTANT]), kind, answered=True)
        by_others = not own or trust not in _SPEAKERS
        if by_others and any(densest(statement, text) >= BORNE for text in self._shown):
            return Verdict(
                trust, code="echo", reason="it repeats what was recalled, and no user said it anew"
            )
        if trust is Trust.ASSISTANT or (not own and trust not in STRANGERS):
            about_user = subject is None or comparable_text(subject) in self._speakers
            if about_user or kind in DIRECTING:
                return Verdict(
                    trust, code="claimed", reason="only the assistant says so; that is no fact about the user"
                )
        return _directed(trust, kind)

    def repeated(self, statement: str, cited: Sequence[Message]) -> bool:
        """Whether a user said again what a memory says, and not merely heard it again."""
        own = [message for message in cited if speaks(message)]
        if self._answered(statement, own):
            return True
        return any(coverage(statement, message.content) >= REPEATED for message in own)

    def other(self, subject: str) -> str | None:
        """Whom a statement is about, where it is not the owner."""
        return subject if subject and comparable_text(subject) not in self._oneself else None

    def strange(self, statement: str) -> bool:
        """Whether a statement stands in what a tool or a page says."""
        return any(densest(statement, one.content) >= BORNE for one in self._strangers)

    def _uncited(self, statement: str, own: Sequence[Message]) -> list[Trust]:
        """The trust of those in whose texts a statement stands that the user's words hardly bear."""
        strangers = [one.trust for one in self._strangers if densest(statement, one.content) >= BORNE]
        claimed = any(densest(statement, one.content) >= BORNE for one in self._claims)
        recalled = any(densest(statement, text) >= BORNE for text in self._shown)
        return strangers or [Trust.ASSISTANT] * (claimed or recalled)

    def _answered(self, statement: str, own: Sequence[Message]) -> bool:
        """Whether a user's message follows the assistant's question in which the statement stands."""
        for message in own:
            before = self._before.get(message.id)
            if (
                before is not None
                and before.role == "assistant"
                and not _QUESTION_MARKS.isdisjoint(before.content)
                and densest(statement, before.content) >= BORNE
            ):
                return True
        return False


def _directed(trust: Trust, kind: str, *, answered: bool = False) -> Verdict:
    if kind in DIRECTING and not answered and trust in STRANGERS:
        return Verdict(
            trust, code="stranger", reason="what a tool or a page says is no preference and no instruction"
        )
    return Verdict(trust)
