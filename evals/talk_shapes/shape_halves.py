"""The corpora by name, their halves, and the file form that evaluations read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal

from evals.corpora import Conversation, Corpus, Question, Turn
from evals.talk_shapes import (
    assistant_talks,
    coding_sessions,
    german_talks,
    group_chats,
    mixed_languages,
    pasted_documents,
)
from evals.talk_shapes.shape_values import Half, Shelf

#: Change it, and every text changes.
SEED: Final = "talk-shapes-1"

_WRITERS: Final[dict[str, tuple[int, Callable[[int, Half, str], Shelf]]]] = {
    module.NAME: (module.OWNERS, module.write_shelf)
    for module in (
        assistant_talks,
        coding_sessions,
        mixed_languages,
        pasted_documents,
        group_chats,
        german_talks,
    )
}
NAMES: Final = tuple(_WRITERS)


class HeldHalf(Exception):
    """The held half was asked for without saying so."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A corpus as evaluations take it, with the questions that have no answer."""

    corpus: Corpus
    #: Conversation id and text of each question without evidence.
    unanswerable: tuple[tuple[str, str], ...]


def half_of(number: int) -> Half:
    """Return the half of an owner: odd numbers are open, even numbers are held."""
    return "open" if number % 2 else "held"


def write_half(name: str, half: Literal["open", "held"], *, held: bool = False) -> Iterator[Shelf]:
    """Write the shelves of one half of a corpus; the held half only with held=True."""
    _check(half, held)
    owners, write = _WRITERS[name]
    for number in range(1, owners + 1):
        if half_of(number) == half:
            yield write(number, half, SEED)


def write_file(name: str, half: Half, folder: Path, *, held: bool = False) -> Path:
    """Write one half of a corpus to a file of JSON lines, one owner a line."""
    path = folder / f"{name}.{half}.jsonl"
    lines = [
        json.dumps(shelf.as_line(), ensure_ascii=False)
        for shelf in write_half(name, half, held=held)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def load_file(path: Path, *, held: bool = False) -> Loaded:
    """Read a file of JSON lines; refuse a file with held owners unless held=True."""
    raw = path.read_bytes()
    owners = [json.loads(line) for line in raw.splitlines() if line]
    for owner in owners:
        _check(owner["half"], held)
    conversations = tuple(as_conversation(owner) for owner in owners)
    none = tuple(
        (owner["owner"], each["question"])
        for owner in owners
        for each in owner["questions"]
        if not each["gold"]
    )
    name = f"{owners[0]['corpus']}.{owners[0]['half']}"
    return Loaded(Corpus(name, hashlib.sha256(raw).hexdigest(), conversations, {}), none)


def _check(half: str, held: bool) -> None:
    if half == "held" and not held:
        raise HeldHalf(
            "These are owners of the held half, which is opened once, for the final figures. "
            "Use the open half while you work; say --held (held=True) if this is the final measurement."
        )


def as_conversation(owner: dict[str, Any]) -> Conversation:
    """Return an owner's line of a file as evaluations take it."""
    turns = tuple(
        Turn(
            turn["id"],
            turn["session"],
            datetime.fromisoformat(turn["at"]),
            turn["speaker"],
            turn["role"],
            turn["text"],
        )
        for turn in owner["turns"]
    )
    questions = tuple(
        Question(each["question"], frozenset(each["gold"]), each["kind"], each["answer"])
        for each in owner["questions"]
        if each["gold"]
    )
    return Conversation(owner["owner"], turns, questions)
