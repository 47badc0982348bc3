"""A LoCoMo conversation session by session, each with the annotators' observations."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.corpora import Turn, load
from memoranda.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Session:
    """The turns of one session, and the annotators' observations."""

    number: int
    turns: tuple[Turn, ...]
    #: The person, the observation, and the turn that it comes from.
    observed: tuple[tuple[str, str, str], ...]


def sessions_of(path: Path, name: str) -> list[Session]:
    """Return one LoCoMo conversation, session by session, with its observations."""
    conversation = next((one for one in load(path).conversations if one.id == name), None)
    if conversation is None:
        raise InvalidInput(f"data: {path} has no conversation {name}", field="data")
    raw = json.loads(path.read_text("utf-8"))
    about = next(one for one in raw if one.get("sample_id") == name).get("observation", {})
    numbers = sorted({turn.session for turn in conversation.turns})
    return [
        Session(
            number,
            tuple(turn for turn in conversation.turns if turn.session == number),
            tuple(_observed(about.get(f"session_{number}_observation", {}))),
        )
        for number in numbers
    ]


def _observed(about: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    for who, told in about.items():
        for text, turn in told:
            yield who, str(text), str(turn if isinstance(turn, str) else turn[0])


def spoken_sessions(path: Path, name: str, number: int) -> Iterator[dict[str, Any]]:
    """Yield the first sessions of a LoCoMo conversation as threads with messages."""
    for session in sessions_of(path, name)[:number]:
        start = session.turns[0].at
        assert start is not None
        yield {
            "thread": str(session.number),
            "messages": [
                {
                    "role": turn.role,
                    "content": turn.text,
                    "speaker": turn.speaker,
                    "at": (turn.at or start).isoformat(),
                }
                for turn in session.turns
            ],
        }
