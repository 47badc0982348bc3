"""Values that the talks are made of: facts in pools, items placed in sessions, turns, questions and
shelves.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

Half = Literal["open", "held"]

#: Words for the letters that pools use.
SOURCES = {"u": "user", "a": "assistant", "t": "tool", "d": "document"} | dict.fromkeys(
    "pqr", "other"
)
#: Letters for people of a group other than its owner; their names fill the slots of these letters.
OTHERS = ("p", "q", "r")


@dataclass(slots=True)
class Fact:
    """One thing that a pool can say and ask, with values that change from owner to owner."""

    id: str
    kind: str
    source: str
    domain: str
    #: The form of a tool's output or of a document that carries the fact.
    form: str = ""
    values: dict[str, list[str]] = field(default_factory=dict)
    prompts: list[str] = field(default_factory=list)
    #: "s", or "1" to "4" for parts in sessions of their own; each with its source and its wordings.
    says: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    #: Language ("" for that of the pool) and wording.
    asks: list[tuple[str, str]] = field(default_factory=list)
    near: list[tuple[str, str]] = field(default_factory=list)
    answer: str = ""
    keys: str = ""


@dataclass(slots=True)
class Domain:
    """A subject of talk: what is said about it besides facts."""

    name: str
    #: Lines by their mark: "~" an assistant's sentence, "?" a user's request, "-" a user's aside.
    lines: dict[str, list[str]] = field(default_factory=dict)
    lists: dict[str, list[str]] = field(default_factory=dict)


@dataclass(slots=True)
class Item:
    """A required piece of text for a turn of one session."""

    source: str
    domain: str
    form: str
    text: str
    prompt: str
    #: Turns are named after the shelf is built; None until then.
    turn: str | None = None
    #: Who says it in a group.
    speaker: str | None = None


@dataclass(frozen=True, slots=True)
class ShapeTurn:
    """One turn of a shelf."""

    id: str
    session: int
    at: datetime
    role: str
    speaker: str | None
    text: str


@dataclass(frozen=True, slots=True)
class ShapeQuestion:
    """A question with its labels; without evidence it has no answer on the shelf."""

    id: str
    text: str
    kind: str
    gold: tuple[str, ...]
    answer: str
    #: Words that stand in the evidence, letter by letter.
    keys: tuple[str, ...]
    #: The sentences of the evidence that answer, one a turn.
    quotes: tuple[str, ...]
    source: str
    long: bool
    language: str
    evidence_language: str
    fact: str


@dataclass(frozen=True, slots=True)
class Shelf:
    """The turns of one owner, with the questions asked about them."""

    corpus: str
    owner: str
    half: Half
    turns: tuple[ShapeTurn, ...]
    questions: tuple[ShapeQuestion, ...]

    def as_line(self) -> dict[str, Any]:
        """Return the shelf as it is written to a file of JSON lines."""
        return {
            "corpus": self.corpus,
            "owner": self.owner,
            "half": self.half,
            "turns": [
                {
                    "id": turn.id,
                    "session": turn.session,
                    "at": turn.at.isoformat(),
                    "role": turn.role,
                    "speaker": turn.speaker,
                    "text": turn.text,
                }
                for turn in self.turns
            ],
            "questions": [
                {
                    "id": each.id,
                    "question": each.text,
                    "kind": each.kind,
                    "gold": list(each.gold),
                    "answer": each.answer,
                    "keys": list(each.keys),
                    "quotes": list(each.quotes),
                    "source": each.source,
                    "long": each.long,
                    "language": each.language,
                    "evidence_language": each.evidence_language,
                    "fact": each.fact,
                }
                for each in self.questions
            ],
        }
