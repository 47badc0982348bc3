"""Masks in place of secrets: in texts and JSON values, and in records as models may see them or as
they are stored.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, TypeVar

from memoranda.first_use import expression
from memoranda.model.experience_lines import ExperienceLine
from memoranda.model.items import Item
from memoranda.model.memories import Cited, Memory
from memoranda.model.messages import (
    Episode,
    Message,
    Overflow,
    TaskSummary,
    Thread,
    ToolCall,
    WholeCall,
)
from memoranda.model.profiles import ProfileDocument
from memoranda.model.query import Folded, Hit, Source
from memoranda.model.records import Record
from memoranda.secrets.modes import SecretsMode
from memoranda.secrets.spans import Secret, SecretClass

#: What every mask is like; the name of the class stands after the colon.
MASK: Final = expression(rf"\[hidden: (?:{'|'.join(SecretClass)})\]")
#: Names in JSON that tell what the value is.
_TELLING: Final = expression(
    r"pass|pwd|secret|key|token|kennwort|contrase|clave|pin\b|puk\b|cvv|cvc|account|acct|konto|cuenta|iban|auth|ausweis|cookie|jwt|card",
    re.IGNORECASE,
)
#: Digits of the least number in JSON that may be a card's.
_LEAST_NUMBER: Final = 10**12
#: Hashes of texts without a secret, alone or with the name of the value, since recall shows the
#: same texts again; hashes are of this process alone and tell nothing.
_clean: set[int] = set()
_MOST_CLEAN: Final = 50_000


def mask(kind: SecretClass) -> str:
    """Return the mask of a class of secrets."""
    return f"[hidden: {kind.value}]"


def _secrets_in(text: str) -> list[Secret]:
    # Its patterns take long to compile, and a program that shows no text needs none of them.
    from memoranda.secrets.detection import find_secrets  # noqa: PLC0415

    return find_secrets(text)


def masked(text: str) -> str:
    """Return a text with a mask in place of each secret."""
    name = hash(text)
    if name in _clean:
        return text
    found = _secrets_in(text)
    if found:
        return _with_masks(text, found)
    _note_clean(name)
    return text


def _note_clean(name: int) -> None:
    if len(_clean) >= _MOST_CLEAN:
        _clean.clear()
    _clean.add(name)


def masked_value(name: str, text: str) -> str:
    """Return the text of a named value with masks; the name may tell that all of it is a secret."""
    shown = masked(text)
    if shown != text or not _TELLING.search(name):
        return shown
    both = hash((name, text))
    if both in _clean:
        return text
    head = f"{name}: "
    for mark in ("", '"'):
        if mark and (mark in text or "\n" in text or "\\" in text):
            break
        found = _secrets_in(f"{head}{mark}{text}{mark}")
        start = len(head) + len(mark)
        within = [
            Secret(one.kind, one.start - start, one.end - start)
            for one in found
            if one.start >= start
        ]
        if within:
            return _with_masks(text, within)
    _note_clean(both)
    return text


def masked_data(value: Any, name: str = "") -> Any:
    """Return a JSON value with a mask in place of each secret; the same value if it has none."""
    if isinstance(value, str):
        return masked_value(name, value) if name else masked(value)
    if isinstance(value, Mapping):
        inner = {masked(str(key)): masked_data(one, str(key)) for key, one in value.items()}
        return inner if inner != value else value
    if isinstance(value, (list, tuple)):
        items = [masked_data(one, name) for one in value]
        return type(value)(items) if items != list(value) else value
    if isinstance(value, int) and not isinstance(value, bool) and value >= _LEAST_NUMBER:
        shown = masked_value(name, str(value))
        return value if shown == str(value) else shown
    return value


def formed_data(value: Any, mode: SecretsMode) -> Any:
    """Return a text or JSON with masks in place of secrets, unless the settings keep those."""
    return value if mode == "keep" else masked_data(value)


def _with_masks(text: str, found: list[Secret]) -> str:
    parts, place = [], 0
    for one in found:
        parts += [text[place : one.start], mask(one.kind)]
        place = one.end
    return "".join([*parts, text[place:]])


#: The secrets of longer texts are looked for in another thread.
_LONG: Final = 50_000
R = TypeVar("R", bound=Record)
_Field = Callable[[Any], Any]


def masked_quotes(quotes: tuple[Cited, ...]) -> tuple[Cited, ...]:
    """Return quotes with masks in place of their secrets."""
    return tuple(one.model_copy(update={"quote": masked(one.quote)[:_QUOTE]}) for one in quotes)


def _call(call: ToolCall) -> ToolCall:
    return call.model_copy(
        update={"inputs": masked_data(call.inputs), "output": masked_data(call.output)}
    )


def masked_summary(made: TaskSummary) -> TaskSummary:
    """Return the summary of a task with masks in place of its secrets."""
    points, takeaways = tuple(map(masked, made.main_points)), tuple(map(masked, made.takeaways))
    return made.model_copy(
        update={"summary": masked(made.summary), "main_points": points, "takeaways": takeaways}
    )


#: The most characters of a quote, as ``Cited`` has it.
_QUOTE: Final = next(
    one.max_length for one in Cited.model_fields["quote"].metadata if hasattr(one, "max_length")
)


def _calls(calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
    return tuple(map(_call, calls))


def _whole_calls(calls: tuple[WholeCall, ...]) -> tuple[WholeCall, ...]:
    return tuple(one.model_copy(update={"call": _call(one.call)}) for one in calls)


def _tags(tags: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(masked, tags))


#: The fields of each type of record that hold text which people, programs or models wrote.
_FIELDS: Final[Mapping[type[Record], Mapping[str, _Field]]] = {
    Message: {"content": masked, "native": masked_data},
    Memory: {
        "content": masked, "applies_when": masked, "data": masked_data, "quotes": masked_quotes, "reason": masked, "tags": _tags
    },
    Episode: {"goal": masked, "summary": masked, "tool_calls": _calls, "tags": _tags},
    Overflow: {"calls": _whole_calls},
    Thread: {
        "title": masked, "state": masked_data, "result": masked_data, "summary": masked, "task_summary": masked_summary, "tags": _tags
    },
    ProfileDocument: {"body": masked_data},
    Item: {"value": masked_data},
    ExperienceLine: {"line": masked, "reason": masked},
}  # fmt: skip


def masked_record(record: R, *, native: bool = True) -> R:
    """Return a record with masks in place of its secrets; the same record if it has none.

    Without ``native`` a message's form of its framework stays as it is.
    """
    changed: dict[str, Any] = {}
    for name, masking in _FIELDS.get(type(record), {}).items():
        value = getattr(record, name)
        if value and (native or name != "native"):
            shown = masking(value)
            if shown != value:
                changed[name] = shown
    if isinstance(record, Memory) and record.key and "content" not in changed:
        shown = masked_value(record.key, record.content)
        changed |= {} if shown == record.content else {"content": shown}
    if isinstance(record, Item) and isinstance(record.value, str) and not changed:
        shown = masked_value(record.name, record.value)
        changed = {} if shown == record.value else {"value": shown}
    return record.changed(**changed) if changed else record


def shown(records: Iterable[R], mode: SecretsMode, *, native: bool = True) -> list[R]:
    """Return records as models may see them: with masks in place of secrets, unless the settings
    keep those.

    Without ``native`` the forms that frameworks gave to messages stay whole.
    """
    return (
        list(records) if mode == "keep" else [masked_record(one, native=native) for one in records]
    )


async def masked_hits(hits: list[Hit]) -> None:
    """Replace hits by what a model may see: their records, those folded into them, and quoted
    sources, with masks.
    """
    for place, hit in enumerate(hits):
        record = hit.record
        if type(record) is Message and not hit.folded and not hit.sources:
            if hash(record.content) in _clean:
                continue
            if len(record.content) > _LONG:
                hits[place] = await asyncio.to_thread(_masked_hit, hit)
                continue
        hits[place] = _masked_hit(hit)


def _masked_hit(hit: Hit) -> Hit:
    record = masked_record(hit.record, native=False)
    folded = tuple(_folded(one) for one in hit.folded)
    sources = tuple(_source(one) for one in hit.sources)
    if record is hit.record and folded == hit.folded and sources == hit.sources:
        return hit
    return replace(hit, record=record, folded=folded, sources=sources)


def _folded(one: Folded) -> Folded:
    record = masked_record(one.record, native=False)
    return one if record is one.record else replace(one, record=record)


def _source(one: Source) -> Source:
    quote = masked(one.quote)
    return replace(one, quote=quote) if quote != one.quote else one
