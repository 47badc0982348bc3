"""Citing: the handles that a model names and the words that it quotes, held against what it was shown."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final, Protocol

from memoranda.formation.documents import shown
from memoranda.formation.echo import speaks
from memoranda.formation.prompt import Prompt
from memoranda.formation.validity import LONGEST
from memoranda.model.cited import QUOTE_LENGTH, Cited
from memoranda.model.forming import LeftOut
from memoranda.model.messages import Message
from memoranda.text.fence import fenced
from memoranda.text.scripts import normalised

#: Of each sort, so many are read of one answer; a conversation has fewer.
MOST: Final = 50
#: Reasons that are told; behind them, there are more.
MOST_TOLD: Final = 100
#: Sources that one thing may name; more are pasted, not meant.
MOST_SOURCES: Final = 20


class Tell(Protocol):
    """Tells the code of what was left out, and why in words that a model can be shown."""

    def __call__(self, code: str, reason: str, *, mendable: bool = False) -> None: ...


#: Messages, each with what was quoted of it.
Sourced = list[tuple[Message, Cited]]


class Told:
    """What was left out of an answer, and why."""

    def __init__(self) -> None:
        self._told: list[LeftOut] = []

    def add(self, at: str, code: str, reason: str, *, mendable: bool = False) -> None:
        """Tell one thing; what comes behind the most that is told is let go of."""
        if len(self._told) < MOST_TOLD:
            self._told.append(LeftOut(part=shown(at), code=code, reason=reason, mendable=mendable))

    def teller(self, at: str) -> Tell:
        """Tells of one place."""

        def tell(code: str, reason: str, *, mendable: bool = False) -> None:
            self.add(at, code, reason, mendable=mendable)

        return tell

    def all(self) -> tuple[LeftOut, ...]:
        """All that was told."""
        return tuple(self._told)


class Citations:
    """Reads what a model says that something rests on."""

    def __init__(self, prompt: Prompt) -> None:
        self._prompt = prompt

    def read(self, given: Any, tell: Tell) -> Sourced:
        """The new messages that are cited and do say what is quoted; all else is told."""
        if not isinstance(given, list):
            tell("unsourced", 'it has no list of "sources"', mendable=True)
            return []
        found: dict[str, tuple[Message, Cited]] = {}
        if len(given) > MOST_SOURCES:
            tell("many", f"it names {len(given)} sources; the first {MOST_SOURCES} are read")
        for one in given[:MOST_SOURCES]:
            handle, quote = (one.get("message"), one.get("quote")) if isinstance(one, dict) else (one, None)
            cited = self._cited(handle, quote, tell)
            if cited is not None and (str(handle) not in found or not found[str(handle)][1].quote):
                found[str(handle)] = cited
        if not found:
            # A slip in the naming; what rests on context alone, or on words that nobody said, stays out.
            strange = not any(self._is_shown(one) for one in given[:MOST_SOURCES])
            tell("unsourced", "it rests on no new message that was shown", mendable=strange)
        return list(found.values())

    def _is_shown(self, given: Any) -> bool:
        handle = given.get("message") if isinstance(given, dict) else given
        return isinstance(handle, str) and handle in self._prompt.messages

    def _cited(self, handle: Any, quote: Any, tell: Tell) -> tuple[Message, Cited] | None:
        message = self._prompt.messages.get(handle) if isinstance(handle, str) else None
        if message is None:
            tell("unknown", f"no message {shown(handle)} was shown")
            return None
        if handle not in self._prompt.new:
            tell("context", f"{handle} is context and bears nothing new")
            return None
        if quote is None or quote == "":
            return message, Cited(message=message.id)
        if not isinstance(quote, str) or not says(message, quote):
            tell("misquoted", f"what is quoted does not stand in {handle}")
            return None
        return message, Cited(message=message.id, quote=" ".join(text_of(quote).split())[:QUOTE_LENGTH])

    def candidates(self, given: Any, tell: Tell) -> list[str]:
        """The handles of memories that were shown, each once."""
        named = given if isinstance(given, list) else [] if given is None else [given]
        known = []
        for handle in named[:MOST_SOURCES]:
            if isinstance(handle, str) and handle in self._prompt.candidates:
                known.append(handle)
            else:
                tell("unknown", f"no memory {shown(handle)} was shown")
        return list(dict.fromkeys(known))


def says(message: Message, words: str) -> bool:
    """Whether these words stand in a message, as whoever was shown it could have read them."""
    wanted = _plain(words)
    return bool(wanted) and wanted in _plain(message.content)


def moment_of(
    words: Any, cited: Sourced, read: Callable[[str, datetime], datetime | None]
) -> datetime | None:
    """The moment that words of a cited message tell, counted from when that message was said; else None."""
    if not isinstance(words, str) or len(words) > LONGEST:
        return None
    said = next((message for message, _ in cited if says(message, words)), None)
    return None if said is None else read(words, said.observed_at)


def _plain(text: str) -> str:
    return " ".join(normalised(fenced(text)).casefold().split())


def own(cited: Sourced) -> Sourced:
    """What a user said, of all that is cited."""
    return [(message, one) for message, one in cited if speaks(message)]


def text_of(given: Any) -> str:
    """A text without what surrounds it and what cannot be kept; empty where no text was given."""
    if not isinstance(given, str):
        return ""
    return given.replace("\x00", "").encode("utf-8", "ignore").decode().strip()


def texts_of(given: Any) -> list[str]:
    """Short texts on one line each, such as tags."""
    texts = [" ".join(text_of(one).split())[:100] for one in given[:MOST]] if isinstance(given, list) else []
    return [text for text in texts if text]
