"""Corpora of questions as one shape: LoCoMo's file, or a set of our own."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from commonplace.errors import InvalidInput

#: The file of LoCoMo that published figures are of.
LOCOMO_SHA256 = "79fa87e9"
#: The conversations that anything may be tuned on.
TUNED_ON = ("conv-26", "conv-30")
#: The category whose evidence is bait.
ADVERSARIAL = "5"

_TURN = re.compile(r"D:?(\d+):0*(\d+)")
_WHEN = "%I:%M %p on %d %B, %Y"


@dataclass(frozen=True, slots=True)
class Turn:
    """One document: what one speaker said at once, or one note."""

    id: str
    session: int
    at: datetime
    speaker: str | None
    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the turns that answer it."""

    text: str
    gold: frozenset[str]
    kind: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """What one owner said, and what is asked about it."""

    id: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Corpus:
    """Conversations of one file."""

    name: str
    sha256: str
    conversations: tuple[Conversation, ...]


def load(path: Path) -> Corpus:
    """The corpus in a file: LoCoMo's list of conversations, or an object with a name."""
    raw = path.read_bytes()
    digest = hashlib.sha256(raw).hexdigest()
    found = json.loads(raw)
    if isinstance(found, list):
        return Corpus("locomo", digest, tuple(_locomo(each) for each in found))
    if not isinstance(found, dict) or "conversations" not in found:
        raise InvalidInput(
            f"data: {path} is neither LoCoMo's file nor a set with conversations", field="data"
        )
    return Corpus(found["name"], digest, tuple(_own(found)))


def _own(found: dict[str, Any]) -> Iterator[Conversation]:
    for conversation in found["conversations"]:
        turns = tuple(
            Turn(
                id=turn["id"],
                session=turn["session"],
                at=datetime.fromisoformat(turn["at"]),
                speaker=None,
                role=turn["speaker"] if turn["speaker"] in ("user", "assistant") else "user",
                text=turn["text"],
            )
            for turn in conversation["turns"]
        )
        questions = tuple(
            Question(each["question"], frozenset(each["gold"]), each["kind"])
            for each in found["questions"]
            if each["conversation"] == conversation["id"]
        )
        yield Conversation(conversation["id"], turns, questions)


def _locomo(found: dict[str, Any]) -> Conversation:
    talk = found["conversation"]
    turns = tuple(_turns(talk))
    ids = {turn.id for turn in turns}
    questions = []
    for asked in found["qa"]:
        # "D8:6; D9:17" is two ids, "D:11:26" is D11:26, "D30:05" is D30:5.
        named = _TURN.findall(" ".join(asked.get("evidence", ())))
        gold = frozenset(f"D{session}:{number}" for session, number in named) & ids
        if gold:
            questions.append(Question(str(asked["question"]), gold, str(asked["category"])))
    return Conversation(found["sample_id"], turns, tuple(questions))


def _turns(talk: dict[str, Any]) -> Iterator[Turn]:
    numbers = sorted(int(name.split("_")[1]) for name in talk if re.fullmatch(r"session_\d+", name))
    for number in numbers:
        began = datetime.strptime(talk[f"session_{number}_date_time"], _WHEN).replace(tzinfo=UTC)
        for place, said in enumerate(talk[f"session_{number}"]):
            caption = said.get("blip_caption")
            text = f"{said['text']} [shares {caption}]" if caption else said["text"]
            yield Turn(
                id=said["dia_id"],
                session=number,
                at=began + timedelta(seconds=place),
                speaker=said["speaker"],
                role="user" if said["speaker"] == talk["speaker_a"] else "assistant",
                text=text,
            )
