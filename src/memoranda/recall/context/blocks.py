"""The blocks of a context: records as lines of text, and their shares of a budget of tokens."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, NamedTuple
from uuid import UUID

from memoranda.first_use import dataclass, expression
from memoranda.model.experience_lines import ExperienceLine
from memoranda.model.memories import Memory
from memoranda.model.messages import Episode, Message, Thread
from memoranda.model.profiles import ProfileDocument, by_field
from memoranda.model.query import Hit
from memoranda.model.quotations import excerpt_at, quote
from memoranda.model.records import COMMITMENT, OwnerKind, Record, RecordType
from memoranda.text.excerpts import AnsweringPart
from memoranda.text.fence import BLOCKS, fenced, in_brackets, in_quotes, one_line
from memoranda.text.origins import needs_mark, origin
from memoranda.text.token_count import Count
from memoranda.text.written_days import happened_words, moment_words, since_words, validity_words

#: Most characters that one token stands for in a readable text.
_CHARACTERS_A_TOKEN = 16
#: In fewer characters a long message shows its beginning, not the part that answers.
_SHORTEST_PART = 80
#: Most characters of what an inserted document says besides its statement.
_DOCUMENT = 500
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_PLAIN_NAME = expression(r"[\w.-]+")


@dataclass(frozen=True, slots=True)
class ContextEntry:
    """A candidate for a block."""

    id: UUID
    type: RecordType
    #: Its label and its text, escaped so that it cannot leave its block.
    line: str
    #: Sorts the entries of a block in an order that is the same in every call.
    order: tuple[Any, ...]
    tokens: int
    #: True if its text was too long and was cut.
    cut: bool = False
    #: The parts of its line.
    label: str = ""
    text: str = ""
    #: The role in which a chat may repeat it: of a turn that the user or the assistant said; empty
    #: for everything else.
    role: str = ""


class EntryWriter:
    """Makes entries of records. Each is counted once, and cut if it is longer than a part of the
    budget.
    """

    def __init__(self, count: Count, longest: int) -> None:
        self._count = count
        self._longest = longest

    def experience(self, line: ExperienceLine) -> ContextEntry:
        """Make the entry of a line of experience."""
        return self._entry(
            line, [_day(line.observed_at), _name(line.field)], line.line, (line.id.int,)
        )

    def profile(
        self, documents: Sequence[ProfileDocument], twice: Collection[FieldPlace] = ()
    ) -> list[ContextEntry]:
        """Make an entry for each field of these documents; a narrower document's field replaces a
        wider one's.

        ``twice`` are the items of lists that memories tell, too: they are left out.
        """
        entries = []
        for (schema, field), document in merged(documents).items():
            value = document.body[field]
            if isinstance(value, (list, tuple)):
                value = [
                    item
                    for at, item in enumerate(value)
                    if FieldPlace(schema, field, at) not in twice
                ]
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            name = field if schema == "Profile" else f"{schema}.{field}"
            label = [_day(document.recorded_at), _name(name)]
            entries.append(self._entry(document, label, text, (schema, field)))
        return entries

    def memory(self, memory: Memory) -> ContextEntry:
        """Make a memory's entry, with when it applies and until when it is valid."""
        label = [_day(memory.observed_at), memory.kind]
        if memory.owner.kind is OwnerKind.GROUP:
            label.append(f"of group {in_quotes(memory.owner.id)}")
        if memory.key is not None:
            label.append(f"key: {in_quotes(memory.key)}")
        if memory.subject is not None:
            label.append(f"about {in_quotes(memory.subject)}")
        if memory.happened is not None:
            label.append(happened_words(memory.happened))
        if memory.kind == COMMITMENT:
            label += since_words(memory)
            label.append("open")
            label += [] if memory.valid_to is None else [f"due {_due(memory.valid_to)}"]
        else:
            label += validity_words(memory)
        text = memory.content
        if memory.applies_when:
            text += f" (applies when: {memory.applies_when})"
        if lines := memory.document_lines():
            text += f" ({quote('; '.join(lines), _DOCUMENT)})"
        order = (not memory.pinned, memory.id.int)
        return self._entry(memory, [*label, *origin(memory)], text, order)

    def episode(self, episode: Episode, hit: Hit | None = None) -> ContextEntry:
        """Make the entry of an episode: its goal, summary, tools and outcome. A long one is cut as
        a message is.
        """
        text = ": ".join(part for part in (episode.goal, episode.summary) if part)
        tools = dict.fromkeys(call.tool for call in episode.tool_calls)
        if tools:
            text += f" (tools: {', '.join(tools)})"
        label = [moment_words(episode.ended_at), episode.outcome.value, *origin(episode)]
        return self._entry(episode, label, text, (episode.ended_at, episode.id.int), hit=hit)

    def summary(self, thread: Thread, text: str) -> ContextEntry:
        """Make the entry of a thread's summary, which comes before the messages; a long one loses
        its oldest part.
        """
        order = (datetime.min.replace(tzinfo=UTC), thread.id.int, 0)
        return self._entry(thread, ["summary of earlier turns"], text, order, newest_last=True)

    def message(self, message: Message, mark: str = "", hit: Hit | None = None) -> ContextEntry:
        """Make the entry of a message; a mark goes into its label. A long one is cut to the part
        that made it a hit.
        """
        said = f"{moment_words(message.observed_at)}"
        label = [
            f"received {said}" if message.observed_assumed else said,
            *origin(message),
            *([] if message.feedback is None else [str(message.feedback)]),
            *([mark] if mark else []),
        ]
        order = (message.observed_at, message.thread.int, message.seq)
        return self._entry(message, label, message.content, order, hit=hit, role=_role(message))

    def _entry(
        self,
        record: Record,
        labels: Sequence[str],
        text: str,
        order: tuple[Any, ...],
        *,
        newest_last: bool = False,
        hit: Hit | None = None,
        role: str = "",
    ) -> ContextEntry:
        label = in_brackets(", ".join(labels))
        head = f"- [{label}] "
        line, tokens, cut = self._cut(head, text, hit, newest_last=newest_last)
        return ContextEntry(
            record.id, record.type, line, order, tokens, cut, label, line[len(head) :], role
        )

    def _cut(
        self, head: str, text: str, hit: Hit | None, *, newest_last: bool
    ) -> tuple[str, int, bool]:
        """Cut a line to the longest length allowed; return it with its number of tokens, and True
        if it was cut.

        The part that answers stays if there is one. Else its end is cut; its beginning where the
        newest stands at the end.
        """
        length, whole = len(text), len(text)
        part: AnsweringPart | None = None
        if length > self._longest * _CHARACTERS_A_TOKEN:
            length = self._longest * _CHARACTERS_A_TOKEN
        while True:
            if hit is not None and part is None and length < whole:
                part = AnsweringPart(text, hit.words, hit.near_words)
            shown = text if length == whole else _part(text, length, part, newest_last=newest_last)
            line = head + fenced(shown)
            tokens = self._count(line + "\n")
            if tokens <= self._longest or not length:
                return line, tokens, length < whole
            length = min(length - 1, length * self._longest * 19 // (tokens * 20))


def _part(text: str, length: int, part: AnsweringPart | None, *, newest_last: bool) -> str:
    """Cut a text to a length, and mark the cut."""
    if part is not None and length >= _SHORTEST_PART:
        return excerpt_at(text, *part.within(length)).text
    return (
        f"…{text[len(text) - length :].lstrip()}" if newest_last else f"{text[:length].rstrip()}…"
    )


def _role(message: Message) -> str:
    """Return the role in which a chat may repeat a message; empty for one that needs its label."""
    return message.role if message.role in ("user", "assistant") and not needs_mark(message) else ""


class FieldPlace(NamedTuple):
    """One item of a list in a profile."""

    schema: str
    field: str
    at: int


def merged(documents: Sequence[ProfileDocument]) -> dict[tuple[str, str], ProfileDocument]:
    """Return for each field that has a value the document it is taken from."""
    found = by_field(documents)
    return {
        place: found[place]
        for place in sorted(found)
        if found[place].body[place[1]] not in (None, "", [], {})
    }


def _name(field: str) -> str:
    """Return a field's name for a label, in quotation marks unless it is one plain word."""
    return field if _PLAIN_NAME.fullmatch(field) else in_quotes(field)


def now_line(moment: datetime, zone: tzinfo) -> str:
    """Return the line that tells an agent the time, in the reader's zone and in UTC."""
    local, utc = moment.astimezone(zone), moment.astimezone(UTC)
    line = (
        f"It is now {_WEEKDAYS[local.weekday()]}, {local:%Y-%m-%d %H:%M} in {one_line(str(zone))}"
    )
    return line + (f" ({utc:%Y-%m-%d %H:%M} UTC)." if local.utcoffset() else ".")


def _due(moment: datetime) -> str:
    """Write when a commitment is due: its day if it may be kept until the day's end, which is
    midnight after it.
    """
    last = moment - timedelta(seconds=1)
    return _day(last) if moment_words(moment) == _day(moment) else moment_words(moment)


def _day(moment: datetime) -> str:
    return moment.date().isoformat()


#: Blocks that depend little on the question come first: providers cache the beginning of a prompt.
STEADY = BLOCKS[:4]
LIVELY = BLOCKS[4:]
#: The shares of a budget that is too small for all blocks.
_WEIGHTS = dict(zip(BLOCKS, (1, 1, 3, 1, 1, 2, 2, 3), strict=True))
#: The steady blocks get more than half of the budget in steps of this fraction, so that a new turn
#: rarely changes them.
_STEPS = 8


def frame(block: str, lines: Sequence[str]) -> str:
    """Put the lines between the tags of a block."""
    return "\n".join([f"<{block}>", *lines, f"</{block}>"])


def share(budget: int, needs: Mapping[str, int]) -> dict[str, int]:
    """Return the tokens granted to each block: its need if all fit, else its share and what other
    blocks leave over.
    """
    if sum(needs.values()) <= budget:
        return dict(needs)
    steady = sum(needs[block] for block in STEADY)
    step = max(budget // _STEPS, 1)
    left = max(budget - budget // 2 - sum(needs[block] for block in LIVELY), 0)
    half = min(steady, budget // 2 + left // step * step)
    grants = _divided(half, {block: needs[block] for block in STEADY})
    rest = budget - sum(grants.values())
    return grants | _divided(rest, {block: needs[block] for block in LIVELY})


def _divided(budget: int, needs: Mapping[str, int]) -> dict[str, int]:
    """Grant blocks that need less than their share all they need, and divide the rest among the
    others.
    """
    grants = dict.fromkeys(needs, 0)
    wanting = [block for block in needs if needs[block]]
    while wanting:
        weight = sum(_WEIGHTS[block] for block in wanting)
        modest = [block for block in wanting if needs[block] * weight <= budget * _WEIGHTS[block]]
        if not modest:
            return grants | {block: budget * _WEIGHTS[block] // weight for block in wanting}
        for block in modest:
            grants[block] = needs[block]
            budget -= needs[block]
            wanting.remove(block)
    return grants


def take(entries: Sequence[ContextEntry], budget: int) -> list[ContextEntry]:
    """Return the entries that fit into a budget, taken in order; entries too long for the rest are
    skipped.
    """
    taken = []
    for entry in entries:
        if entry.tokens <= budget:
            taken.append(entry)
            budget -= entry.tokens
    return taken
