"""Corpora of questions in one form: LoCoMo's file, or a set of our own."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from memoranda.errors import InvalidInput

#: The file of LoCoMo that published figures use.
LOCOMO_SHA256 = "79fa87e9"
#: The conversations that may be used for tuning.
TUNED_ON = ("conv-26", "conv-30")
#: The category whose evidence is bait.
ADVERSARIAL = "5"

_SESSION = re.compile(r"session_(\d+)")
#: "D8:6"; and as annotators also wrote it: "D:11:26", "D30:05", "d 8 : 6".
_TURN = re.compile(r"[Dd]\s*:?\s*(\d+)\s*:\s*(\d+)")
_APART = re.compile(r"[;,\s]+")
_WHEN = ("%I:%M %p on %d %B, %Y", "%I:%M %p on %d %b, %Y", "%d %B, %Y", "%d %B %Y")


@dataclass(frozen=True, slots=True)
class Turn:
    """One document: what one speaker said at once, or one note."""

    id: str
    session: int
    #: None where the file does not say.
    at: datetime | None
    speaker: str | None
    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the turns that answer it."""

    text: str
    gold: frozenset[str]
    kind: str
    #: The answer in words; empty where the file has none.
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Conversation:
    """The turns of one owner, and the questions about them."""

    id: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Corpus:
    """The conversations of one file."""

    name: str
    sha256: str
    conversations: tuple[Conversation, ...]
    #: Parts of the file that could not be used, with their counts.
    left_out: Mapping[str, int]

    @property
    def asked(self) -> int:
        """Number of questions."""
        return sum(len(conversation.questions) for conversation in self.conversations)


def load(path: Path) -> Corpus:
    """Read the corpus in a file: LoCoMo's list of conversations, or an object with a name."""
    try:
        raw = path.read_bytes()
        found = json.loads(raw)
    except OSError as exc:
        raise _refused(f"{path} cannot be read: {exc.strerror or exc}") from exc
    except ValueError as exc:
        raise _refused(f"{path} is not JSON: {exc}") from exc
    left_out: Counter[str] = Counter()
    if isinstance(found, dict) and "conversations" in found:
        name, conversations = str(found.get("name", path.stem)), tuple(_own(found, left_out))
    elif isinstance(found, list) or (isinstance(found, dict) and "conversation" in found):
        name = "locomo"
        conversations = tuple(_locomo(found if isinstance(found, list) else [found], left_out))
    else:
        raise _refused(
            f"{path} is neither a list of conversations in LoCoMo's form nor a set with conversations"
        )
    corpus = Corpus(
        name, hashlib.sha256(raw).hexdigest(), conversations, dict(sorted(left_out.items()))
    )
    if not corpus.asked:
        why = ", ".join(f"{times} {reason}" for reason, times in corpus.left_out.items())
        raise _refused(f"{path} asks nothing that its own turns answer{f' ({why})' if why else ''}")
    return corpus


def _refused(message: str) -> InvalidInput:
    return InvalidInput(f"data: {message}", field="data")


# ── sets of our own ───────────────────────────────────────────────────────────────────────────────


def _own(found: dict[str, Any], left_out: Counter[str]) -> Iterator[Conversation]:
    try:
        for conversation in found["conversations"]:
            turns = tuple(_own_turn(turn) for turn in conversation["turns"])
            ids = {turn.id for turn in turns}
            questions = []
            for each in found["questions"]:
                if each["conversation"] == conversation["id"]:
                    if gold := frozenset(each["gold"]) & ids:
                        questions.append(Question(each["question"], gold, each["kind"]))
                    else:
                        left_out["questions whose answer is no turn"] += 1
            yield Conversation(str(conversation["id"]), turns, tuple(questions))
    except (KeyError, TypeError, ValueError) as exc:
        raise _refused(f"a set of our own has a place that cannot be read: {exc!r}") from exc


def _own_turn(turn: dict[str, Any]) -> Turn:
    said_by = turn["speaker"]
    return Turn(
        id=turn["id"],
        session=turn["session"],
        at=datetime.fromisoformat(turn["at"]),
        speaker=None,
        role=said_by if said_by in ("user", "assistant") else "user",
        text=turn["text"],
    )


# ── LoCoMo ────────────────────────────────────────────────────────────────────────────────────────


def _locomo(found: Sequence[Any], left_out: Counter[str]) -> Iterator[Conversation]:
    names: Counter[str] = Counter()
    for number, each in enumerate(found, 1):
        talk = each.get("conversation") if isinstance(each, dict) else None
        if not isinstance(talk, dict) or not any(_SESSION.fullmatch(name) for name in talk):
            raise _refused(f"the conversation at place {number} has no sessions as LoCoMo's have")
        name = _text(each.get("sample_id")) or f"conversation {number}"
        names[name] += 1
        turns = tuple(_turns(talk, left_out))
        asked = each.get("qa")
        yield Conversation(
            name if names[name] == 1 else f"{name} ({names[name]})",
            turns,
            tuple(_questions(asked if isinstance(asked, list) else (), turns, left_out)),
        )


def _questions(
    asked: Iterable[Any], turns: Sequence[Turn], left_out: Counter[str]
) -> Iterator[Question]:
    ids = {turn.id for turn in turns}
    for each in asked:
        about = each if isinstance(each, dict) else {}
        text = _text(about.get("question"))
        named = set(_evidence(about.get("evidence"), ids))
        if not text:
            left_out["questions without a text"] += 1
        elif not named:
            left_out["questions without evidence"] += 1
        elif not named & ids:
            left_out["questions whose evidence is no turn"] += 1
        else:
            left_out["pieces of evidence that are no turn"] += len(named - ids)
            yield Question(
                text,
                frozenset(named & ids),
                _category(about.get("category")),
                _text(about.get("answer")),
            )
    # Leave out counts of zero.
    for reason in [reason for reason, times in left_out.items() if not times]:
        del left_out[reason]


def _evidence(named: Any, ids: set[str]) -> Iterator[str]:
    """Return the ids in an annotator's text: "D8:6; D9:17" is two ids, "D:11:26" is D11:26,
    "D30:05" is D30:5.
    """
    for each in named if isinstance(named, list | tuple) else (named,):
        written = _text(each)
        if written in ids:
            yield written
        elif found := _TURN.findall(written):
            yield from (_turn_id(*numbers) for numbers in found)
        else:
            yield from (part for part in _APART.split(written) if part in ids)


def _turn_id(session: str | int, number: str | int) -> str:
    return f"D{int(session)}:{int(number)}"


def _category(found: Any) -> str:
    if isinstance(found, float) and found.is_integer():
        found = int(found)
    named = _text(found).lower()
    return ADVERSARIAL if named == "adversarial" else named or "none"


def _turns(talk: dict[str, Any], left_out: Counter[str]) -> Iterator[Turn]:
    seen: set[str] = set()
    asker = _text(talk.get("speaker_a"))
    for number in sorted(int(found[1]) for name in talk if (found := _SESSION.fullmatch(name))):
        said = talk[f"session_{number}"]
        if not isinstance(said, list):
            left_out["sessions that are no list"] += 1
            continue
        began = _moment(talk.get(f"session_{number}_date_time"))
        if began is None and said:
            left_out["dates of sessions"] += 1
        for place, each in enumerate(said):
            about = each if isinstance(each, dict) else {}
            text, speaker = _said(about), _text(about.get("speaker"))
            if not text:
                left_out["turns without a text"] += 1
                continue
            asker = asker or speaker
            yield Turn(
                id=_free(_id_of(about, number, place), seen),
                session=number,
                at=None if began is None else began + timedelta(seconds=place),
                speaker=speaker or None,
                role="user" if speaker == asker else "assistant",
                text=text,
            )


def _said(about: dict[str, Any]) -> str:
    text, caption = _text(about.get("text")), _text(about.get("blip_caption"))
    return f"{text} [shares {caption}]".strip() if caption else text


def _id_of(about: dict[str, Any], session: int, place: int) -> str:
    written = _text(about.get("dia_id"))
    found = _TURN.fullmatch(written)
    return _turn_id(*found.groups()) if found else written or _turn_id(session, place + 1)


def _free(id: str, seen: set[str]) -> str:
    """Return an id that no earlier turn of the conversation has."""
    free = next(
        name for name in (id, *(f"{id} ({n})" for n in range(2, len(seen) + 3))) if name not in seen
    )
    seen.add(free)
    return free


def _moment(found: Any) -> datetime | None:
    written = _text(found)
    for form in _WHEN:
        try:
            return datetime.strptime(written, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    try:
        read = datetime.fromisoformat(written)
    except ValueError:
        return None
    return read.astimezone(UTC) if read.tzinfo else read.replace(tzinfo=UTC)


def _text(found: Any) -> str:
    """Return a value as one text; a list of captions becomes one caption, and anything but text and
    numbers none.
    """
    if isinstance(found, list):
        return ", ".join(part for part in map(_text, found) if part)
    return str(found).strip() if isinstance(found, str | int | float) else ""
