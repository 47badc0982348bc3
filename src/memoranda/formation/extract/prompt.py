"""The prompt for extraction: an agent's fixed instructions, then the conversation and records as
escaped data.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final

from memoranda.formation.extract.instructions import (
    answer_schema,
    fillable,
    instructions,
    summary_instructions,
)
from memoranda.formation.prompts.turn_lines import (
    TIME,
    label_of,
    newest_part,
    shown_turns,
    time_lines,
)
from memoranda.model.drafts import Reading, ReadMessage
from memoranda.model.experience_lines import ExperienceLine
from memoranda.model.language_models import FORMATION, Earlier, ModelRequest
from memoranda.model.memories import Memory
from memoranda.model.messages import Message
from memoranda.text.fence import fenced, in_brackets, in_quotes, one_line
from memoranda.text.origins import origin
from memoranda.text.token_count import Count, estimate
from memoranda.text.written_days import happened_words, validity_words

#: Shares of the budget for memories, and for profile and experience each.
_OF_MEMORIES: Final = 0.25
_OF_DOCUMENTS: Final = 0.15
#: The most characters of a memory's document that is shown; a longer one cannot be patched.
_DOCUMENT: Final = 2_000
#: Shares of the budget for the summary and for context messages each, and for any single message.
_OF_CONTEXT: Final = 0.1
_OF_ONE: Final = 0.5
#: The most new messages in one prompt: as many as notes that are read from one answer.
_MOST_NEW: Final = 50
#: The most characters in one token of meaningful text, for any tokenizer.
_CHARACTERS_A_TOKEN: Final = 16
_DAY: Final = "%Y-%m-%d"


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt, and the records that its handles (short names in the prompt) stand for."""

    #: The reading, with only the messages that are shown.
    reading: Reading
    #: Long, and the same for every conversation of an agent.
    instructions: str
    #: The data, fenced.
    content: str
    answer_schema: Mapping[str, Any]
    #: All shown messages by handle, as they are shown; the handles of the new ones.
    messages: Mapping[str, Message]
    new: frozenset[str]
    candidates: Mapping[str, Memory] = field(default_factory=lambda: MappingProxyType({}))
    #: Shown lines of the agent's experience by handle.
    lessons: Mapping[str, ExperienceLine] = field(default_factory=lambda: MappingProxyType({}))
    #: Names of the requested schemas: those that are due, except for documents too large to be
    #: shown.
    asked: frozenset[str] = frozenset()
    #: Handles of messages that are cut.
    cut: frozenset[str] = frozenset()
    #: The number of new messages that did not fit and are read later.
    waiting: int = 0

    @property
    def through(self) -> int:
        """The number, in the thread, of the last message in the prompt; 0 if there is none."""
        return max((message.seq for message in self.messages.values()), default=0)

    def request(self, largest: int, earlier: tuple[Earlier, ...] = ()) -> ModelRequest:
        """Return the request to a model; ``largest`` is the most tokens of its answer."""
        return ModelRequest(
            task=FORMATION,
            instructions=self.instructions,
            content=self.content,
            answer_schema=dict(self.answer_schema),
            largest=largest,
            earlier=earlier,
        )


def compose(reading: Reading, *, budget: int = 8_000, count: Count = estimate) -> Prompt | None:
    """Compose the prompt from what was read of a thread; None if there is no new message.

    The data takes about ``budget`` tokens: the oldest new messages are shown, and ``waiting``
    counts the others.
    """
    if not reading.new:
        return None
    writer = _Writer(count, max(int(budget * _OF_ONE), 1))
    profile = _profile(reading, count, budget * _OF_DOCUMENTS)
    known, candidates, lessons = _known_blocks(reading, writer, profile, budget)
    asked = [
        schema.name
        for schema in reading.schemas
        if schema.due and (schema.name in profile or reading.profile(schema.name) is None)
    ]
    told = summary_shown(reading.summary, budget, count)
    summary = [f"- [summary so far] {fenced(told)}"] if told else []
    room = budget - sum(map(count, (*known, *summary)))
    shown = _shown_messages(reading.messages, writer, room, int(budget * _OF_CONTEXT))
    entries = _dated_entries(shown)
    handles = {f"m{place}": read for place, (read, _, _) in enumerate(shown, start=1)}
    whole = {read.message.id: read for read in reading.messages}
    earlier = reading.thread.prepared if reading.prepares_episode else None
    if earlier is not None:
        summary.append(f"- [episode so far] {fenced(f'{earlier.goal}: {earlier.summary}')}")
    last = next(
        (handle for handle, read in handles.items() if read.message.seq == reading.summarises), ""
    )
    new = frozenset(handle for handle, read in handles.items() if not read.context)
    return Prompt(
        reading=reading.model_copy(
            update={"messages": tuple(whole[read.message.id] for read, _, _ in shown)}
        ),
        instructions=instructions(reading.schemas, reading.kinds),
        content="\n\n".join(
            [
                *known,
                _block("conversation", [*summary, *entries]),
                _closing_line(reading, asked, last),
            ]
        ),
        answer_schema=answer_schema(reading.schemas),
        messages={handle: read.message for handle, read in handles.items()},
        new=new,
        candidates=candidates,
        lessons=lessons,
        asked=frozenset(asked),
        cut=frozenset(f"m{place}" for place, (_, _, cut) in enumerate(shown, start=1) if cut),
        waiting=len(reading.new) - len(new),
    )


class _Writer:
    """Writes entries of stored text, each within a limit of tokens."""

    def __init__(self, count: Count, longest: int) -> None:
        self.count = count
        self._longest = longest

    def line(self, label: Iterable[str], text: str) -> tuple[str, int, bool]:
        """Return a record's entry in the prompt (without handle), its number of tokens, and True if
        it was cut.
        """
        head = in_brackets(" ".join(label))
        length = min(len(text), self._longest * _CHARACTERS_A_TOKEN)
        while True:
            shown = text if length == len(text) else text[:length].rstrip() + "… (cut)"
            line = f"{head}] {fenced(shown)}"
            tokens = self.count(line) + 4
            if tokens <= self._longest or not length:
                return line, tokens, length < len(text)
            length = min(length - 1, length * self._longest * 19 // (tokens * 20))


_Shown = tuple[ReadMessage, str, bool]


def _shown_messages(
    messages: Sequence[ReadMessage], writer: _Writer, room: int, context: int
) -> list[_Shown]:
    """Return the oldest new messages that fit (at least one), preceded by the newest context that
    fits.
    """
    turns = shown_turns([read.message for read in messages])
    messages = [
        read.model_copy(update={"message": one}) for read, one in zip(messages, turns, strict=True)
    ]
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
    label = label_of(read.message, read.called)
    return [*label, "context"] if read.context else label


def _dated_entries(shown: Sequence[_Shown]) -> list[str]:
    """Return the lines of the messages, with a line above those of a new day or after a pause that
    says when it was.
    """
    lines: list[str] = []
    told: datetime | None = None
    for place, (read, line, _) in enumerate(shown, start=1):
        lines += time_lines(read.message.observed_at, told)
        told = read.message.observed_at
        lines.append(f"- [m{place} {line}")
    return lines


def _profile(reading: Reading, count: Count, room: float) -> dict[str, str]:
    """Return the profile documents due for an update, by schema name; each is shown whole or not at
    all.
    """
    shown = {}
    for document in reading.profiles:
        name = in_brackets(document.schema_name)
        line = f"- [{name}] {fenced(json.dumps(document.body, ensure_ascii=False))}"
        if reading.due(document.schema_name) and (tokens := count(line)) <= room:
            room -= tokens
            shown[document.schema_name] = line
    return shown


def _known_blocks(
    reading: Reading, writer: _Writer, profile: Mapping[str, str], budget: int
) -> tuple[list[str], dict[str, Memory], dict[str, ExperienceLine]]:
    """Return the prompt's blocks of stored records, and the memories and lines of experience in
    them by handle.
    """
    kept = _fitting(
        reading.candidates,
        lambda memory: writer.line(_memory_label(memory), _memory_text(memory, reading)),
        budget * _OF_MEMORIES,
    )
    candidates = {f"c{place}": memory for place, (memory, _) in enumerate(kept, start=1)}
    memories = [f"- [c{place}, {line}" for place, (_, line) in enumerate(kept, start=1)]
    fitting = _fitting(
        reading.experience, lambda line: _lesson(line, writer), budget * _OF_DOCUMENTS
    )
    lessons = {f"e{place}": lesson for place, (lesson, _) in enumerate(fitting, start=1)}
    experience = [f"- [e{place}, {line}" for place, (_, line) in enumerate(fitting, start=1)]
    blocks = (
        ("agent_experience", experience),
        ("user_profile", profile.values()),
        ("memories", memories),
    )
    return [_block(tag, entries) for tag, entries in blocks if entries], candidates, lessons


def _fitting(
    records: Iterable[Any], write: Callable[[Any], tuple[str, int, bool]], room: float
) -> list[tuple[Any, str]]:
    """Return the records whose lines fit, with their lines; a record that would be cut is left
    out.
    """
    kept = []
    for record in records:
        line, tokens, cut = write(record)
        if not cut and tokens <= room:
            room -= tokens
            kept.append((record, line))
    return kept


def _lesson(line: ExperienceLine, writer: _Writer) -> tuple[str, int, bool]:
    return writer.line([line.field], line.line)


def _memory_label(memory: Memory) -> list[str]:
    label = [] if memory.valid_from else [f"{memory.observed_at:{_DAY}}"]
    label += validity_words(memory)
    label += [] if memory.happened is None else [happened_words(memory.happened)]
    label.append(memory.kind)
    key = own_key(memory)
    label += [] if key is None else [f"key: {in_quotes(key)}"]
    label += [] if memory.subject is None else [f"about {in_quotes(memory.subject)}"]
    return [", ".join([*label, *origin(memory)])]


def own_key(memory: Memory) -> str | None:
    """Return a memory's key as a model gives it: without the subject before it."""
    key = memory.key
    return key if key is None or memory.subject is None else key.removeprefix(f"{memory.subject}: ")


def _memory_text(memory: Memory, reading: Reading) -> str:
    """Return a memory's words, and its document as JSON if it has one that may be patched now."""
    applies = f" (applies when: {memory.applies_when})" if memory.applies_when else ""
    document = document_of(memory)
    if document is not None and reading.due(memory.data["schema"]) is not None:
        shown = json.dumps(document, ensure_ascii=False)
        if len(shown) <= _DOCUMENT:
            return f"{memory.content}{applies} {memory.data['schema']}: {shown}"
    return memory.content + applies


def document_of(memory: Memory, schema: str | None = None) -> dict[str, Any] | None:
    """Return the document of a memory that follows a schema, or None; ``schema`` names the only one
    that counts.
    """
    data = memory.data if isinstance(memory.data, dict) else {}
    document = data.get("document")
    named = isinstance(data.get("schema"), str) and schema in (None, data["schema"])
    return document if named and isinstance(document, dict) else None


def _block(tag: str, entries: Iterable[str]) -> str:
    return "\n".join([f"<{tag}>", *entries, f"</{tag}>"])


def summary_shown(summary: str, budget: int, count: Count = estimate) -> str:
    """Return as much of a thread's summary as a prompt with this budget shows."""
    return newest_part(summary, int(budget * _OF_CONTEXT), count)


def _closing_line(reading: Reading, names: Sequence[str], last: str) -> str:
    """Return the prompt's last line: today, and what to fill. It contains no stored text."""
    fields = [*fillable(names, reading.schemas), *(["summary"] if last else [])]
    wanted = "; ".join(fields) or "nothing"
    language = f" Write in this language: {one_line(reading.language)}." if reading.language else ""
    told = f"\n{summary_instructions(last)}" if last else ""
    return f"Today is {reading.now.strftime(TIME)}. Fill: {wanted}.{language}{told}"
