"""Parts of passages: which of a message's words a memory already tells, and whether the question
found the message by them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final, Literal
from uuid import UUID

from memoranda.first_use import expression
from memoranda.model.memories import Memory, MemoryStatus
from memoranda.model.messages import Message
from memoranda.text.similarity import (
    CONTAINED_COVERAGE,
    coverage,
    sentences_of,
    terms_in,
    words_with_forms,
)

#: Why a passage is left out, or the mark that its label gets.
PartReason = Literal["covered_by_memory", "outdated"]
#: The marks of a passage that tells more than what no longer holds.
MARKS: Final = {
    MemoryStatus.SUPERSEDED: "partly replaced since",
    MemoryStatus.RETRACTED: "partly taken back since",
}
_SPACE: Final = expression(r"\s+")


class PassageParts:
    """Judges passages by the memories that cite them: those of the context, and those that no
    longer hold.
    """

    def __init__(
        self, question: str | None, memories: Iterable[Memory], ended: Iterable[Memory]
    ) -> None:
        self._question = question or ""
        self._asked: list[frozenset[int]] | None = None
        self._judged: dict[tuple[UUID, UUID], bool] = {}
        self._citing: dict[UUID, list[Memory]] = {}
        self._ended: dict[UUID, list[Memory]] = {}
        known = {memory.id: memory for memory in memories}
        for memory in known.values():
            for source in memory.sources:
                self._citing.setdefault(source, []).append(memory)
        for memory in ended:
            successor = None if memory.superseded_by is None else known.get(memory.superseded_by)
            for source in memory.sources:
                # What replaced it may rest on the same message: then the message is not outdated.
                if successor is None or source not in successor.sources:
                    self._ended.setdefault(source, []).append(memory)

    def mark(self, message: Message) -> str:
        """Return the mark of a message of which some no longer holds; empty if all of it may."""
        return next((MARKS[memory.status] for memory in self._ended.get(message.id, ())), "")

    def outdated(self, message: Message) -> bool:
        """True if the question found the message by what no longer holds."""
        return any(self._is_why(message, memory) for memory in self._ended.get(message.id, ()))

    def covered(self, message: Message, placed: Collection[UUID]) -> bool:
        """True if the question found the message by what a placed memory tells."""
        citing = [memory for memory in self._citing.get(message.id, ()) if memory.id in placed]
        return any(self._is_why(message, memory) for memory in citing)

    def _is_why(self, message: Message, memory: Memory) -> bool:
        pair = message.id, memory.id
        if pair not in self._judged:
            self._judged[pair] = self._judge(message, memory)
        return self._judged[pair]

    def _judge(self, message: Message, memory: Memory) -> bool:
        parts = _parts(message, memory)
        if not parts:
            return False
        if self._asked is None:
            self._asked = [forms for _, forms in words_with_forms(self._question)]
        told, rest = terms_in("\n".join(parts)), terms_in(_without(message.content, parts))
        held = [forms for forms in self._asked if not forms.isdisjoint(told | rest)]
        if not held:
            # Found by its meaning, or by the time: the part is why only where it is all that there
            # is.
            return not words_with_forms(_without(message.content, parts))
        return not any(forms.isdisjoint(told) for forms in held)


def _parts(message: Message, memory: Memory) -> Sequence[str]:
    """Return the quotes that a memory has of a message; without any, the sentences that say the
    same.
    """
    quotes = [one.quote for one in memory.quotes if one.message == message.id and one.quote]
    if quotes:
        return quotes
    ended = memory.status in MARKS
    return [part for part in sentences_of(message.content) if _tells(memory, part, loosely=ended)]


def _tells(memory: Memory, sentence: str, *, loosely: bool) -> bool:
    """True if a memory tells all that a sentence says; ``loosely``, if the sentence says what the
    memory does.
    """
    if loosely:
        return coverage(memory.content, sentence) >= CONTAINED_COVERAGE
    words = words_with_forms(sentence)
    terms = terms_in(
        f"{memory.content} {memory.applies_when} {memory.key or ''} {memory.subject or ''}"
    )
    missing = [word for word, forms in words if forms.isdisjoint(terms)]
    if len(words) - len(missing) < CONTAINED_COVERAGE * len(words):
        return False
    return not any(any(map(str.isdigit, word)) or word[0].isupper() for word in missing)


def _without(text: str, parts: Iterable[str]) -> str:
    """Return a text without these parts, however their spaces are written."""
    text = _SPACE.sub(" ", text)
    for part in parts:
        text = text.replace(_SPACE.sub(" ", part).strip(), " ")
    return text
