"""Citations: the sources and quotes that a model names, checked against what it saw, and the problems of its answer."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import Any, Final, Protocol

from memoranda.formation.extract.attribution import is_from_user
from memoranda.formation.extract.prompt import Prompt
from memoranda.formation.prompts.turn_lines import CUT
from memoranda.formation.schemas.json_values import printable
from memoranda.model.drafts import DroppedPart
from memoranda.model.memories import QUOTE_LENGTH, Cited
from memoranda.model.messages import Message
from memoranda.text.fence import fenced
from memoranda.text.scripts import normalised

#: The most entries of each part that are read from one answer; a conversation has fewer.
MOST_ENTRIES: Final = 50
#: The most problems that are reported for one answer.
MOST_PROBLEMS: Final = 100
#: The most sources that one entry may name.
MOST_SOURCES: Final = 20


class Report(Protocol):
    """Reports a problem: a stable code, and a reason that a model can be shown."""

    def __call__(self, code: str, reason: str, *, mendable: bool = False, once: bool = False) -> None: ...


#: Signs around a quote, the speaker before it, and signs for words that are left out.
_MARKS: Final = " \t\r\n\"'`“”„‟‘’‚«»‹›….,;:!?"
_SPEAKER: Final = re.compile(
    r"\A[\s\"'“„«]*(?:user|assistant|tool|system)(?:,? [\w.-]{1,40})?:\s+", re.IGNORECASE
)
_OMITTED: Final = re.compile(r"…|\.{3,}|\[\s*…?\s*\]")
#: The fewest words that a quote and a message share in one run, and the characters of a message that are compared.
_LEAST_SHARED: Final = 3
_MOST_ALIGNED: Final = 8_000

#: Cited messages, each with its citation.
Sourced = list[tuple[Message, Cited]]


class Problems:
    """The parts of a model's answer that were left out, with reasons."""

    def __init__(self) -> None:
        self._problems: list[DroppedPart] = []

    def add(self, at: str, code: str, reason: str, *, mendable: bool = False, once: bool = False) -> None:
        """Report one problem; problems beyond the limit are dropped."""
        if len(self._problems) < MOST_PROBLEMS:
            self._problems.append(
                DroppedPart(part=printable(at), code=code, reason=reason, mendable=mendable, once=once)
            )

    def reporter(self, at: str) -> Report:
        """Return a function that reports problems at one path of the answer."""

        def report(code: str, reason: str, *, mendable: bool = False, once: bool = False) -> None:
            self.add(at, code, reason, mendable=mendable, once=once)

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

    def with_message(self, cited: Sourced, message: Message | None) -> Sourced:
        """Return citations with one more message, if it is new and not among them."""
        new = {self._prompt.messages[handle].id for handle in self._prompt.new}
        if message is None or message.id not in new or any(one.id == message.id for one, _ in cited):
            return cited
        return [(message, Cited(message=message.id)), *cited]

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
        words = own_words(message, quote) if isinstance(quote, str) and CUT not in quote else ""
        if not words:
            # A quote that is not there costs the quote; a source without a quote is as welcome.
            report("misquoted", f"the quote does not occur in {handle}, and is left out")
        return message, Cited(message=message.id, quote=words)

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


def own_words(message: Message, quote: str) -> str:
    """Return the message's own words for an inexact quote; empty if it is unclear which they are.

    A quote may stand in quotation marks, begin with the speaker, or leave words out with "…"; of the pieces around it
    the longest counts. A quote with other words than the message stands for the longest run of words that both have.
    """
    if contains_words(message, quote):
        return _on_one_line(quote)
    spoken = _SPEAKER.sub("", quote)
    whole, *pieces = (piece.strip(_MARKS) for piece in (spoken, *_OMITTED.split(spoken)))
    there = [piece for piece in (whole, *pieces) if piece == whole or len(piece.split()) > 1]
    there = [piece for piece in there if contains_words(message, piece)]
    if there:
        return _on_one_line(max(there, key=len))
    return _common_run(message, quote)


def _common_run(message: Message, quote: str) -> str:
    """Return the longest run of words that a message and a quote share, if it is most of the quote and stands once."""
    said, quoted = message.content[:_MOST_ALIGNED].split(), quote[:QUOTE_LENGTH].split()
    forms = [_comparable(word).strip(_MARKS) for word in said]
    wanted = [_comparable(word).strip(_MARKS) for word in quoted]
    found = SequenceMatcher(None, forms, wanted, autojunk=False).find_longest_match()
    run = forms[found.a : found.a + found.size]
    places = [place for place in range(len(forms)) if forms[place : place + found.size] == run]
    if found.size < _LEAST_SHARED or 2 * found.size < len(wanted) or len(places) > 1:
        return ""
    return _on_one_line(" ".join(said[found.a : found.a + found.size]))


def _on_one_line(quote: str) -> str:
    return " ".join(text_of(quote).split())[:QUOTE_LENGTH]


def contains_words(message: Message, words: str) -> bool:
    """True if a message, as the model saw it, contains these words."""
    wanted = _comparable(words)
    return bool(wanted) and wanted in _comparable(message.content)


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
