"""Citations: the sources and quotes that a model names, checked against what it saw, and the
problems of its answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from memoranda.formation.extract.answer import Report
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


#: Cited messages, each with its citation.
Sourced = list[tuple[Message, Cited]]


class Problems:
    """The parts of a model's answer that were left out, with reasons."""

    def __init__(self) -> None:
        self._problems: list[DroppedPart] = []

    def add(
        self, at: str, code: str, reason: str, *, mendable: bool = False, once: bool = False
    ) -> None:
        """Report one problem; problems beyond the limit are dropped."""
        if len(self._problems) < MOST_PROBLEMS:
            self._problems.append(
                DroppedPart(
                    part=printable(at), code=code, reason=reason, mendable=mendable, once=once
                )
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

    def read(self, given: Sequence[Mapping[str, str]] | None, report: Report) -> Sourced:
        """Return the cited messages that are new and contain the words quoted from them; report all
        other citations.
        """
        given = given or []
        found: dict[str, tuple[Message, Cited]] = {}
        if len(given) > MOST_SOURCES:
            report("many", f"it names {len(given)} sources; the first {MOST_SOURCES} are read")
        for one in given[:MOST_SOURCES]:
            handle = one["message"]
            cited = self._cited(handle, one.get("quote", ""), report)
            if cited is not None and (handle not in found or not found[handle][1].quote):
                found[handle] = cited
        if not found:
            # The model can correct a wrong handle. Entries that cite only context or wrong quotes
            # stay out.
            strange = not any(
                one["message"] in self._prompt.messages for one in given[:MOST_SOURCES]
            )
            report("unsourced", "it cites no new message that was shown", mendable=strange)
        return list(found.values())

    def with_message(self, cited: Sourced, message: Message | None) -> Sourced:
        """Return citations with one more message, if it is new and not among them."""
        new = {self._prompt.messages[handle].id for handle in self._prompt.new}
        if (
            message is None
            or message.id not in new
            or any(one.id == message.id for one, _ in cited)
        ):
            return cited
        return [(message, Cited(message=message.id)), *cited]

    def _cited(self, handle: str, quote: str, report: Report) -> tuple[Message, Cited] | None:
        message = self._prompt.messages.get(handle)
        if message is None:
            report("unknown", f"no message {printable(handle)} was shown")
            return None
        if handle not in self._prompt.new:
            report("context", f"{handle} is context; cite new messages only")
            return None
        if not quote:
            return message, Cited(message=message.id)
        if CUT in quote or not contains_words(message, quote):
            # If the model does not mend it, the source stays without a quote.
            reason = f"the quote does not occur in {handle}; copy its words letter for letter"
            report("misquoted", reason, mendable=True, once=True)
            return message, Cited(message=message.id)
        return message, Cited(message=message.id, quote=_on_one_line(quote))

    def candidates(self, named: Sequence[str], report: Report) -> list[str]:
        """Return those named handles that belong to memories in the prompt, each once."""
        known = []
        for handle in named[:MOST_SOURCES]:
            if handle in self._prompt.candidates:
                known.append(handle)
            else:
                report("unknown", f"no memory {printable(handle)} was shown")
        return list(dict.fromkeys(known))


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
    """Return a text stripped of whitespace and unstorable characters; empty if no text was
    given.
    """
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
