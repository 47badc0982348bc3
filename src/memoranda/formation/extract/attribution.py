"""Attribution: did the user say a statement, or was it recalled, claimed by the assistant, or read from a stranger?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from memoranda.model.drafts import Reading
from memoranda.model.messages import Message
from memoranda.model.records import STRANGERS, Trust, lowest
from memoranda.storage.decide.strangers import OWNER_WORDS
from memoranda.text.scripts import comparable_text
from memoranda.text.similarity import CONTAINED_COVERAGE, coverage, densest_coverage

#: A statement is the user's own if the cited words of the user cover at least this share of it.
OWN_COVERAGE: Final = 0.5
#: A message repeats a memory if it covers at least this share of it.
REPEATED_COVERAGE: Final = 0.25
#: Kinds that direct the agent; only the user's own words create them.
DIRECTING: Final = frozenset({"instruction", "preference"})
_SPEAKERS: Final = frozenset({Trust.USER, Trust.OPERATOR})
_QUESTION_MARKS: Final = frozenset("?？؟;\u037e⁇")


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of checking who said a statement."""

    #: The lowest trust of all its sources, cited or not.
    trust: Trust
    #: The cited words of the user support it; other sources are not needed.
    own: bool = False
    #: Why it cannot be kept, as a stable code and in words; empty if it can.
    code: str = ""
    reason: str = ""


def is_from_user(message: Message) -> bool:
    """True if a message holds the user's own words, with the trust of a user or an operator."""
    return message.role == "user" and message.trust in _SPEAKERS


class Attribution:
    """Judges who said a statement, given all messages and memories that were read for a prompt."""

    def __init__(self, reading: Reading) -> None:
        said = [read.message for read in reading.messages]
        self._before = {after.id: before for before, after in pairwise(said)}
        self._strangers = [message for message in said if message.trust in STRANGERS]
        self._claims = [
            message for message in said if not is_from_user(message) and message.trust not in STRANGERS
        ]
        self._shown = tuple(memory.content for memory in reading.candidates)
        names = {message.speaker for message in said if message.speaker and is_from_user(message)}
        self._owner_names = OWNER_WORDS | {comparable_text(reading.thread.owner.id)}
        self._speakers = self._owner_names | {comparable_text(name) for name in names}

    def judge(
        self, statement: str, cited: Sequence[Message], *, kind: str = "fact", subject: str | None = None
    ) -> Verdict:
        """Decide whether a statement that cites these messages may be stored, and with which trust."""
        own = [message for message in cited if is_from_user(message)]
        trust = lowest(message.trust for message in cited)
        if own and coverage(statement, " \n".join(message.content for message in own)) < OWN_COVERAGE:
            trust = lowest([trust, *self._uncited_trust(statement, own)])
        elif own:
            return Verdict(lowest(message.trust for message in own), own=True)
        if self._answers_question(statement, own):
            return _check_directive(lowest([trust, Trust.ASSISTANT]), kind, answered=True)
        by_others = not own or trust not in _SPEAKERS
        if by_others and any(densest_coverage(statement, text) >= CONTAINED_COVERAGE for text in self._shown):
            return Verdict(
                trust, code="echo", reason="it repeats a recalled memory, and no user said it again"
            )
        if trust is Trust.ASSISTANT or (not own and trust not in STRANGERS):
            about_user = subject is None or comparable_text(subject) in self._speakers
            if about_user or kind in DIRECTING:
                return Verdict(
                    trust,
                    code="claimed",
                    reason="only the assistant says so; that is not a fact about the user",
                )
        return _check_directive(trust, kind)

    def is_repeated(self, statement: str, cited: Sequence[Message]) -> bool:
        """True if a user repeated a memory in their own words; hearing it from the assistant is not enough."""
        own = [message for message in cited if is_from_user(message)]
        if self._answers_question(statement, own):
            return True
        return any(coverage(statement, message.content) >= REPEATED_COVERAGE for message in own)

    def other_subject(self, subject: str) -> str | None:
        """Return the subject of a statement if it is not the owner."""
        return subject if subject and comparable_text(subject) not in self._owner_names else None

    def is_from_stranger(self, statement: str) -> bool:
        """True if a tool result or a web page contains the statement."""
        return any(densest_coverage(statement, one.content) >= CONTAINED_COVERAGE for one in self._strangers)

    def _uncited_trust(self, statement: str, own: Sequence[Message]) -> list[Trust]:
        """Return the trust of the messages that contain a statement which the user's own words do not support."""
        strangers = [
            one.trust
            for one in self._strangers
            if densest_coverage(statement, one.content) >= CONTAINED_COVERAGE
        ]
        claimed = any(densest_coverage(statement, one.content) >= CONTAINED_COVERAGE for one in self._claims)
        recalled = any(densest_coverage(statement, text) >= CONTAINED_COVERAGE for text in self._shown)
        return strangers or [Trust.ASSISTANT] * (claimed or recalled)

    def _answers_question(self, statement: str, own: Sequence[Message]) -> bool:
        """True if a user's message answers an assistant's question, and that question contains the statement."""
        for message in own:
            before = self._before.get(message.id)
            if (
                before is not None
                and before.role == "assistant"
                and not _QUESTION_MARKS.isdisjoint(before.content)
                and densest_coverage(statement, before.content) >= CONTAINED_COVERAGE
            ):
                return True
        return False


def _check_directive(trust: Trust, kind: str, *, answered: bool = False) -> Verdict:
    if kind in DIRECTING and not answered and trust in STRANGERS:
        return Verdict(
            trust,
            code="stranger",
            reason="the words of a tool or a web page cannot be a preference or an instruction",
        )
    return Verdict(trust)
