"""The prompt: what an extractor's model is asked, the same words for every conversation of an agent, then the fenced data."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from memoranda.formation.asking import answer_schema, instructions
from memoranda.model.asking import Earlier, ModelRequest
from memoranda.model.experience import ExperienceLine
from memoranda.model.forming import Reading, ReadMessage
from memoranda.model.memories import Memory
from memoranda.model.messages import Message
from memoranda.model.trust import STRANGERS
from memoranda.text.fence import fenced, in_brackets, one_line
from memoranda.text.tokens import Count, estimate

#: What the answer is for, where another model is named for another task.
TASK: Final = "formation"
#: Parts of the budget that what is known may take: memories, then profile and experience.
_OF_MEMORIES: Final = 0.25
_OF_DOCUMENTS: Final = 0.15
#: Parts that the context of new messages may take, and any single message.
_OF_CONTEXT: Final = 0.1
_OF_ONE: Final = 0.5
#: New messages that are shown at a time: each may bring a note, and so many notes are read of one answer.
_MOST_NEW: Final = 50
#: No tokenizer makes more characters than this one token of a text that is worth reading.
_CHARACTERS_A_TOKEN: Final = 16
_TIME: Final = "%Y-%m-%d %H:%M"


@dataclass(frozen=True, slots=True)
class Prompt:
    """One question to a model, and what its handles stand for."""

    #: What was to be read, with the messages that are shown and no others.
    reading: Reading
    #: Long, and the same for every conversation of an agent.
    instructions: str
    #: The data, fenced.
    content: str
    answer_schema: Mapping[str, Any]
    #: By handle: every message that is shown, and those of them that are new.
    messages: Mapping[str, Message]
    new: frozenset[str]
    candidates: Mapping[str, Memory] = field(default_factory=lambda: MappingProxyType({}))
    #: Names of the schemas that are asked for: those that are due, but for documents too large to be shown.
    asked: frozenset[str] = frozenset()
    #: Handles of messages of which only the beginning is shown.
    cut: frozenset[str] = frozenset()
    #: New messages that did not fit, and are to be read another time.
    waiting: int = 0

    @property
    def through(self) -> int:
        """The place of the last message that is shown; 0 where none is."""
        return max((message.seq for message in self.messages.values()), default=0)

    def request(self, largest: int, earlier: tuple[Earlier, ...] = ()) -> ModelRequest:
        """The question as it is put to a model; ``largest`` is the most tokens that its answer may have."""
        return ModelRequest(
            task=TASK,
            instructions=self.instructions,
            content=self.content,
            answer_schema=dict(self.answer_schema),
            largest=largest,
            earlier=earlier,
        )


def compose(reading: Reading, *, budget: int = 8_000, count: Count = estimate) -> Prompt | None:
    """The question for this reading; None where there is no new message, and so nothing to ask.

    The data takes about ``budget`` tokens: the oldest new messages are shown, and how many wait is told.
    """
    if not reading.new:
        return None
    writer = _Writer(count, max(int(budget * _OF_ONE), 1))
    profile = _profile(reading, count, budget * _OF_DOCUMENTS)
    known, candidates = _known(reading, writer, profile, budget)
    asked = [
        schema.name
        for schema in reading.schemas
        if schema.due and (schema.name in profile or reading.profile(schema.name) is None)
    ]
    room = budget - sum(map(count, known))
    shown = _chosen(reading.messages, writer, room, int(budget * _OF_CONTEXT))
    entries = [_entry(f"m{place}", line) for place, (_, line, _) in enumerate(shown, start=1)]
    handles = {f"m{place}": read for place, (read, _, _) in enumerate(shown, start=1)}
    summary = [f"- [summary so far] {fenced(reading.summary)}"] if reading.summary else []
    new = frozenset(handle for handle, read in handles.items() if not read.context)
    return Prompt(
        reading=reading.model_copy(update={"messages": tuple(read for read, _, _ in shown)}),
        instructions=instructions(reading.schemas),
        content="\n\n".join([*known, _block("conversation", [*summary, *entries]), _asked(reading, asked)]),
        answer_schema=answer_schema(reading.schemas),
        messages={handle: read.message for handle, read in handles.items()},
        new=new,
        candidates=candidates,
        asked=frozenset(asked),
        cut=frozenset(f"m{place}" for place, (_, _, cut) in enumerate(shown, start=1) if cut),
        waiting=len(reading.new) - len(new),
    )


class _Writer:
    """Writes stored text on lines of its own, none longer than what one may take."""

    def __init__(self, count: Count, longest: int) -> None:
        self.count = count
        self._longest = longest

    def line(self, label: Iterable[str], text: str) -> tuple[str, int, bool]:
        """The entry without its handle, its tokens, and whether it was cut."""
        head = in_brackets(", ".join(label))
        length = min(len(text), self._longest * _CHARACTERS_A_TOKEN)
        while True:
            shown = text if length == len(text) else text[:length].rstrip() + "… (cut)"
            line = f"{head}] {fenced(shown)}"
            tokens = self.count(line) + 4
            if tokens <= self._longest or not length:
                return line, tokens, length < len(text)
            length = min(length - 1, length * self._longest * 19 // (tokens * 20))


_Shown = tuple[ReadMessage, str, bool]


def _chosen(messages: Sequence[ReadMessage], writer: _Writer, room: int, context: int) -> list[_Shown]:
    """The oldest new messages that fit, at least one, and before them the newest context that does."""
    new: list[_Shown] = []
    for read in messages:
        if read.context:
            continue
        line, tokens, cut = writer.line(_label(read), read.message.content)
        room -= tokens
        if new and (room < 0 or len(new) == _MOST_NEW):
            break
        new.append((read, line, cut))
    before: list[_Shown] = []
    room = min(max(room, 0), context)
    for read in reversed([read for read in messages if read.context]):
        line, tokens, cut = writer.line(_label(read), read.message.content)
        room -= tokens
        if room < 0:
            break
        before.append((read, line, cut))
    return [*reversed(before), *new]


def _label(read: ReadMessage) -> list[str]:
    message = read.message
    said = message.observed_at.strftime(_TIME)
    label = [f"received {said}" if message.observed_assumed else said]
    label.append(message.role if message.speaker is None else f"{message.role} {message.speaker}")
    if message.trust in STRANGERS:
        label.append(f"from {message.trust.value}")
    return [*label, "context"] if read.context else label


def _profile(reading: Reading, count: Count, room: float) -> dict[str, str]:
    """The documents that are due, by the names of their schemas: each whole, or not at all."""
    shown = {}
    for document in reading.profiles:
        name = in_brackets(document.schema_name)
        line = f"- [{name}] {fenced(json.dumps(document.body, ensure_ascii=False))}"
        if reading.due(document.schema_name) and (tokens := count(line)) <= room:
            room -= tokens
            shown[document.schema_name] = line
    return shown


def _known(
    reading: Reading, writer: _Writer, profile: Mapping[str, str], budget: int
) -> tuple[list[str], dict[str, Memory]]:
    """The blocks of what is known, and the candidates by their handles."""
    kept = _within(
        reading.candidates, lambda memory: writer.line(_about(memory), _stated(memory)), budget * _OF_MEMORIES
    )
    candidates = {f"c{place}": memory for place, (memory, _) in enumerate(kept, start=1)}
    memories = [_entry(f"c{place}", line) for place, (_, line) in enumerate(kept, start=1)]
    lessons = _within(reading.experience, lambda line: _lesson(line, writer), budget * _OF_DOCUMENTS)
    experience = [f"- [{line}" for _, line in lessons]
    blocks = (("agent_experience", experience), ("user_profile", profile.values()), ("memories", memories))
    return [_block(tag, entries) for tag, entries in blocks if entries], candidates


def _within(
    records: Iterable[Any], write: Callable[[Any], tuple[str, int, bool]], room: float
) -> list[tuple[Any, str]]:
    """The first records whose lines fit, each with its line; what was cut could not be judged, and is not shown."""
    kept = []
    for record in records:
        line, tokens, cut = write(record)
        if not cut and tokens <= room:
            room -= tokens
            kept.append((record, line))
    return kept


def _lesson(line: ExperienceLine, writer: _Writer) -> tuple[str, int, bool]:
    return writer.line([line.field], line.line)


def _about(memory: Memory) -> list[str]:
    label = [memory.observed_at.strftime("%Y-%m-%d"), memory.kind]
    label += [] if memory.key is None else [f"key {memory.key}"]
    label += [] if memory.subject is None else [f"about {memory.subject}"]
    return [*label, f"from {memory.trust.value}"] if memory.trust in STRANGERS else label


def _stated(memory: Memory) -> str:
    return (
        f"{memory.content} (applies when: {memory.applies_when})" if memory.applies_when else memory.content
    )


def _entry(handle: str, line: str) -> str:
    return f"- [{handle}, {line}"


def _block(tag: str, entries: Iterable[str]) -> str:
    return "\n".join([f"<{tag}>", *entries, f"</{tag}>"])


def _asked(reading: Reading, names: Sequence[str]) -> str:
    """What is to be formed this time, behind all data; only names of schemas and our own words."""
    wanted = f"Asked for now: {', '.join(names) or 'nothing'}."
    language = f" Write notes in this language: {one_line(reading.language)}." if reading.language else ""
    return f"{wanted}{language}"
