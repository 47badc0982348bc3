"""Extracts statements from a conversation by rules, without a language model."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

from memoranda.formation.extract.attribution import is_from_user, other_speaker
from memoranda.formation.extract.validity import since, until
from memoranda.formation.rules import TOPICS, Statement, extract
from memoranda.formation.schemas.definitions import NOTE, PROFILE
from memoranda.formation.schemas.json_patch import apply_patch
from memoranda.model.drafts import Draft, Formed, ProfilePatch, Reading
from memoranda.model.memories import QUOTE_LENGTH, Cited
from memoranda.model.messages import Message
from memoranda.model.records import Limits

#: Topic → field of the profile; ``/-`` appends to a list.
_FIELDS: Final = {
    "name": "name",
    "age": "age",
    "home": "home",
    "moved": "home",
    "work": "occupation",
    "likes": "interests/-",
    "nickname": "conversation_preferences/-",
    "instruction": "conversation_preferences/-",
}
_AGES: Final = range(151)
_KIND: Final = "fact"


def formed_by_rules(reading: Reading, limits: Limits) -> Formed:
    """Extract what users state about themselves in the new messages, each statement with its source."""
    said = [
        (message, stated)
        for message in reading.new
        if is_from_user(message)
        for stated in extract(message.content)
        if len(stated.content) <= limits.content_length
    ]
    notes = [_draft(message, stated, limits) for message, stated in said] if reading.due(NOTE.name) else []
    return Formed(notes=tuple(notes), patches=tuple(_patches(reading, said)))


def _draft(message: Message, stated: Statement, limits: Limits) -> Draft:
    starts, ends = (
        _moment(stated.valid_from, since, message),
        _moment(stated.valid_to, until, message),
    )
    if starts is not None and ends is not None and ends < starts:
        starts = ends = None
    kind = stated.kind if stated.kind in limits.kinds else _KIND
    return Draft(
        content=stated.content,
        kind=kind if kind in limits.kinds else limits.kinds[0],
        key=stated.key,
        subject=other_speaker(message),
        cardinality=stated.cardinality,
        applies_when=stated.applies_when[: limits.content_length],
        valid_from=starts,
        valid_to=ends,
        cited=(_cited(message, stated),),
        trust=message.trust,
        observed_at=message.observed_at,
    )


def _moment(words: str | None, read: Any, message: Message) -> datetime | None:
    found: datetime | None = None if words is None else read(words, message.observed_at)
    return found


def _cited(message: Message, stated: Statement) -> Cited:
    start, end = stated.span
    return Cited(message=message.id, quote=" ".join(message.content[start:end].split())[:QUOTE_LENGTH])


def _patches(reading: Reading, said: list[tuple[Message, Statement]]) -> Iterator[ProfilePatch]:
    """Yield a patch of the user's profile with the statements that always hold, not only for a time or on occasions."""
    if reading.due(PROFILE.name) is None:
        return
    document = reading.profile(PROFILE.name)
    body: dict[str, Any] = {} if document is None else document.body
    pinned = () if document is None else document.pinned
    operations: list[dict[str, Any]] = []
    cited: dict[Any, Cited] = {}
    for message, stated in said:
        if stated.applies_when or stated.valid_from or stated.valid_to or other_speaker(message) is not None:
            continue
        operation = _operation(stated)
        if operation is None:
            continue
        tried = apply_patch(body, [*operations, operation], PROFILE.shape, pinned=pinned)
        if not tried.faults and tried.changed:
            operations.append(operation)
            cited.setdefault(message.id, _cited(message, stated))
    if operations:
        yield ProfilePatch(
            schema_name=PROFILE.name, operations=tuple(operations), cited=tuple(cited.values())
        )


def _operation(stated: Statement) -> dict[str, Any] | None:
    field = _FIELDS.get(stated.about)
    if field is None or stated.about not in TOPICS:
        return None
    value: Any = stated.content if stated.about in ("nickname", "instruction") else stated.value
    if field == "age":
        digits = "".join(filter(str.isdecimal, stated.value))
        if not digits or int(digits) not in _AGES:
            return None
        value = int(digits)
    return {"op": "add", "path": f"/{field}", "value": value}
