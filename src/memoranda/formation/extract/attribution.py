"""Attribution: did the user say a statement, or was it recalled, claimed by the assistant, or read from a stranger?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any, Final, Protocol

from memoranda.formation.extract.prompt import Prompt
from memoranda.formation.extract.validity import LONGEST
from memoranda.formation.schemas.json_values import printable
from memoranda.model.drafts import DroppedPart, Reading
from memoranda.model.memories import QUOTE_LENGTH, Cited
from memoranda.model.messages import Message
from memoranda.model.records import STRANGERS, Trust, lowest
from memoranda.storage.decide.strangers import OWNER_WORDS
from memoranda.text.fence import fenced
from memoranda.text.scripts import comparable_text, normalised
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


#: The most entries of each part that are read from one answer; a conversation has fewer.
MOST_ENTRIES: Final = 50
#: The most problems that are reported for one answer.
MOST_PROBLEMS: Final = 100
#: The most sources that one entry may name.
MOST_SOURCES: Final = 20


class Report(Protocol):
    """Reports a problem: a stable code, and a reason that a model can be shown."""

    def __call__(self, code: str, reason: str, *, mendable: bool = False) -> None: ...


#: Cited messages, each with its citation.
Sourced = list[tuple[Message, Cited]]


class Problems:
    """The parts of a model's answer that were left out, with reasons."""

    def __init__(self) -> None:
        self._problems: list[DroppedPart] = []

    def add(self, at: str, code: str, reason: str, *, mendable: bool = False) -> None:
        """Report one problem; problems beyond the limit are dropped."""
        if len(self._problems) < MOST_PROBLEMS:
            self._problems.append(
                DroppedPart(part=printable(at), code=code, reason=reason, mendable=mendable)
            )

    def reporter(self, at: str) -> Report:
        """Return a function that reports problems at one path of the answer."""

        def report(code: str, reason: str, *, mendable: bool = False) -> None:
            self.add(at, code, reason, mendable=mendable)

        return report

    def all(self) -> tuple[DroppedPart, ...]:
        """Return all reported problems."""
        return tuple(self._problems)


class Citations:
    """Reads the sources (messages, with quotes) that a model names for an entry of its answer."""

    def __init__(self, prompt: Prompt) -> None:
        self._prompt = prompt

    def read(self, given: Any, report: Report) -> Sourced:
        """Return the cited messages that are new and contain the words quoted from them; report all other citations."""
        if not isinstance(given, list):
            report("unsourced", 'it has no list of "sources"', mendable=True)
            return []
        found: dict[str, tuple[Message, Cited]] = {}
        if len(given) > MOST_SOURCES:
            report("many", f"it names {len(given)} sources; the first {MOST_SOURCES} are read")
        for one in given[:MOST_SOURCES]:
            handle, quote = (one.get("message"), one.get("quote")) if isinstance(one, dict) else (one, None)
            cited = self._cited(handle, quote, report)
            if cited is not None and (str(handle) not in found or not found[str(handle)][1].quote):
                found[str(handle)] = cited
        if not found:
            # The model can correct a wrong handle. Entries that cite only context or wrong quotes stay out.
            strange = not any(self._is_shown(one) for one in given[:MOST_SOURCES])
            report("unsourced", "it cites no new message that was shown", mendable=strange)
        return list(found.values())

    def _is_shown(self, given: Any) -> bool:
        handle = given.get("message") if isinstance(given, dict) else given
        return isinstance(handle, str) and handle in self._prompt.messages

    def _cited(self, handle: Any, quote: Any, report: Report) -> tuple[Message, Cited] | None:
        message = self._prompt.messages.get(handle) if isinstance(handle, str) else None
        if message is None:
            report("unknown", f"no message {printable(handle)} was shown")
            return None
        if handle not in self._prompt.new:
            report("context", f"{handle} is context; cite new messages only")
            return None
        if quote is None or quote == "":
            return message, Cited(message=message.id)
        if not isinstance(quote, str) or not contains_words(message, quote):
            report("misquoted", f"the quote does not occur in {handle}")
            return None
        return message, Cited(message=message.id, quote=" ".join(text_of(quote).split())[:QUOTE_LENGTH])

    def candidates(self, given: Any, report: Report) -> list[str]:
        """Return those named handles that belong to memories in the prompt, each once."""
        named = given if isinstance(given, list) else [] if given is None else [given]
        known = []
        for handle in named[:MOST_SOURCES]:
            if isinstance(handle, str) and handle in self._prompt.candidates:
                known.append(handle)
            else:
                report("unknown", f"no memory {printable(handle)} was shown")
        return list(dict.fromkeys(known))


def contains_words(message: Message, words: str) -> bool:
    """True if a message, as the model saw it, contains these words."""
    wanted = _comparable(words)
    return bool(wanted) and wanted in _comparable(message.content)


def moment_of(
    words: Any, cited: Sourced, read: Callable[[str, datetime], datetime | None]
) -> datetime | None:
    """Return the time that the words name, relative to the cited message that contains them; else None."""
    if not isinstance(words, str) or len(words) > LONGEST:
        return None
    said = next((message for message, _ in cited if contains_words(message, words)), None)
    return None if said is None else read(words, said.observed_at)


def _comparable(text: str) -> str:
    return " ".join(normalised(fenced(text)).casefold().split())


def from_user(cited: Sourced) -> Sourced:
    """Return the citations of messages that the user wrote."""
    return [(message, one) for message, one in cited if is_from_user(message)]


def text_of(given: Any) -> str:
    """Return a text stripped of whitespace and unstorable characters; empty if no text was given."""
    if not isinstance(given, str):
        return ""
    return given.replace("\x00", "").encode("utf-8", "ignore").decode().strip()


def texts_of(given: Any) -> list[str]:
    """Return short one-line texts, such as tags."""
    texts = (
        [" ".join(text_of(one).split())[:100] for one in given[:MOST_ENTRIES]]
        if isinstance(given, list)
        else []
    )
    return [text for text in texts if text]
