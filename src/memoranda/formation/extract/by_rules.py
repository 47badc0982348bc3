"""Extracts statements from a conversation by rules, without a language model."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final
from uuid import UUID

from memoranda.formation.extract.attribution import is_from_user
from memoranda.formation.extract.said_times import validity
from memoranda.formation.privacy.withheld import UNWANTED, Fault, Withheld
from memoranda.formation.rules import (
    LONGEST_GAME,
    TOPICS,
    Corrected,
    Denial,
    Known,
    Statement,
    answered,
    corrected,
    extract,
    in_own_words,
    may_correct,
    may_take_back,
    opposed,
    same_words,
    taken_back,
)
from memoranda.formation.said_before import said_before
from memoranda.formation.schemas.definitions import NOTE, PROFILE, schema_of
from memoranda.formation.schemas.json_patch import apply_patch
from memoranda.language.times.time_context import Role
from memoranda.language.times.time_reader import days_said
from memoranda.model.drafts import Draft, DroppedPart, Formed, ProfilePatch, Reading, TakenBack
from memoranda.model.memories import QUOTE_LENGTH, Cardinality, Cited, DaySpan
from memoranda.model.messages import Message
from memoranda.model.profiles import ProfileDocument
from memoranda.model.records import Limits
from memoranda.storage.decide.strangers import other_speaker
from memoranda.text.scripts import comparable_text

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
#: How a statement begins that says for whom the user works, and not as what.
_EMPLOYER: Final = re.compile(
    r"(?:Works (?:at|for|with)|Arbeitet (?:bei|für)|Travaille (?:chez|pour)|Trabaja (?:para|con))\b"
    r"(?!.* (?:as an?|als|comme|como) )"
)
_KIND: Final = "fact"
#: Topics whose statements end those of the other.
_OPPOSED: Final = frozenset({"likes", "dislikes"})


@dataclass(frozen=True, slots=True)
class Wanted:
    """The memories that rules need to see beside new messages."""

    #: True if something may be taken back, which could be any memory.
    all: bool = False
    #: The values of new likes and dislikes, which may end an earlier one.
    values: tuple[str, ...] = ()


def wanted_memories(reading: Reading) -> Wanted:
    """Return which memories the new messages may end."""
    values: list[str] = []
    #: Messages that were read; a user may say the same many times.
    read: set[_Said] = set()
    for said in _user_turns(reading):
        if said not in read:
            read.add(said)
            if may_take_back(said.text, said.earlier) or said.corrections():
                return Wanted(all=True)
            values += [one.value for one in said.stated() if one.about in _OPPOSED]
    return Wanted(values=tuple(dict.fromkeys(values)))


@dataclass(frozen=True, slots=True)
class _Said:
    """A user's message with all that has a part in how it is read; it is equal to another that
    reads the same.
    """

    text: str
    #: The user's messages before it.
    earlier: tuple[str, ...]
    message: Message = field(compare=False)
    #: The assistant's turn that it follows.
    turn: str = ""
    #: The speaker's message before it, if nobody but the assistant spoke between the two.
    last: _Said | None = None

    def stated(self, text: str | None = None) -> tuple[Statement, ...]:
        """Return what the message states, or would state if it had another text."""
        text = self.text if text is None else text
        found = extract(text, earlier=self.earlier)
        return tuple(found or answered(self.turn, text, earlier=self.earlier))

    def corrections(self) -> list[Corrected]:
        """Return which statements of the last message this one corrects."""
        own = in_own_words(self.text, self.earlier)
        if self.last is None or not may_correct(own):
            return []
        return corrected(
            own,
            self.last.stated(),
            previous=self.last.text,
            turn=self.turn,
            read=self.last.stated,
        )


def _user_turns(reading: Reading) -> Iterator[_Said]:
    """Yield the new messages of the user, oldest first."""
    earlier: list[str] = []
    before: Message | None = None
    last: _Said | None = None
    for read in reading.messages:
        message = read.message
        if is_from_user(message):
            same = last is not None and other_speaker(last.message) == other_speaker(message)
            said = _Said(
                text=message.content,
                earlier=tuple(earlier[-LONGEST_GAME:]),
                message=message,
                turn=before.content if before is not None and before.role == "assistant" else "",
                last=last if same else None,
            )
            if not read.context:
                yield said
            earlier.append(message.content)
            last = replace(said, last=None)
        elif message.role != "assistant":
            last = None
        before = message


def formed_by_rules(
    reading: Reading, limits: Limits, texts: Mapping[UUID, str] | None = None
) -> Formed:
    """Extract what users state about themselves in the new messages, and what they take back, each
    with its source.

    ``texts`` are the messages that the candidates of the reading were formed from.
    """
    found = _Reader(reading, limits, texts or {}).read()
    patches = tuple(_patches(reading, found))
    if reading.due(NOTE.name) is None:
        return Formed(patches=patches, left_out=tuple(found.left_out))
    return Formed(
        notes=tuple(_drafts(reading, found.kept, limits)),
        taken_back=tuple(
            TakenBack(memory=id, cited=(_cited(message, denial.span),))
            for id, (message, denial) in found.back.items()
        ),
        patches=patches,
        left_out=tuple(found.left_out),
    )


@dataclass(slots=True)
class _Entry:
    """A statement of a new message."""

    message: Message
    stated: Statement
    #: Words that it corrects, which are a source as well.
    corrects: Cited | None = None
    #: Existing memories that it replaces, with their values.
    replaces: dict[UUID, Known] = field(default_factory=dict)
    #: True if a later message took it back.
    gone: bool = False


@dataclass(slots=True)
class _Found:
    """The statements of the new messages, and the memories that they take back."""

    entries: list[_Entry] = field(default_factory=list)
    #: Existing memory → the message that takes it back, and how.
    back: dict[UUID, tuple[Message, Denial]] = field(default_factory=dict)
    #: Statements that are not kept, and why.
    left_out: list[DroppedPart] = field(default_factory=list)

    @property
    def kept(self) -> list[_Entry]:
        return [one for one in self.entries if not one.gone]


class _Reader:
    """Reads the new messages in their order, each with what was known before it."""

    def __init__(self, reading: Reading, limits: Limits, texts: Mapping[UUID, str]) -> None:
        self._reading = reading
        self._limits = limits
        self._found = _Found()
        said = (read.message for read in reading.messages)
        self._withheld = Withheld(said, keeps_secrets=reading.keeps_secrets)
        subjects = {memory.id: memory.subject for memory in reading.candidates}
        self._before = [
            (one, subjects[one.id])
            for one in said_before(reading.candidates, texts)
            if isinstance(one.id, UUID)
        ]

    def read(self) -> _Found:
        read: dict[_Said, tuple[Statement, ...]] = {}
        for said in _user_turns(self._reading):
            message = said.message
            if said not in read:
                read[said] = said.stated()
            stated = [one for one in read[said] if self._is_kept(message, one)]
            known = self._known(message)
            first = len(self._found.entries)
            self._found.entries += [_Entry(message, one) for one in stated]
            new = [
                Known(first + place, one.about, one.value, one.span[1])
                for place, one in enumerate(stated)
            ]
            if known or new:
                for denial in taken_back(said.text, [*known, *new], earlier=said.earlier):
                    self._deny(message, denial, first)
            self._oppose(first, known)
            if known:
                self._correct(said, first)
        return self._found

    def _correct(self, said: _Said, first: int) -> None:
        """End or replace what was formed of the speaker's last message, where this one says that it
        was wrong.
        """
        message, last = said.message, said.last
        for one in said.corrections():
            assert last is not None
            held = self._formed_of(last, one.was)
            again = any(
                entry.stated.key == one.was.key is not None for entry in self._found.entries[first:]
            )
            if not held or (again and one.instead is not None):
                continue
            if one.instead is not None and self._is_kept(message, one.instead):
                entry = _Entry(message, one.instead, _cited(last.message, one.was.span))
                self._found.entries.append(entry)
                entry.replaces |= {known.id: known for known in held if isinstance(known.id, UUID)}
                ended = [known for known in held if known.id not in entry.replaces]
            else:
                ended = [*held]
            for known in ended:
                self._end(message, known, Denial(known, (0, len(message.content))))

    def _formed_of(self, said: _Said, was: Statement) -> list[Known]:
        """Return what was formed of a statement of a message alone, and nobody touched since."""
        wanted = comparable_text(was.content)
        stored = [
            Known(one.id, was.about, was.value)
            for one in self._reading.candidates
            if one.version == 1
            and one.sources == (said.message.id,)
            and comparable_text(one.content) == wanted
            and one.id not in self._found.back
        ]
        return stored + [
            Known(place, was.about, was.value)
            for place, one in enumerate(self._found.entries)
            if not one.gone and one.message.id == said.message.id and one.stated == was
        ]

    def _is_kept(self, message: Message, stated: Statement) -> bool:
        """True unless a statement is too long, only a secret, or what the user asks not to keep."""
        if len(stated.content) > self._limits.content_length:
            return False
        fault = self._withheld.fault(stated.content, [message])
        if fault is None and self._withheld.overlaps(message.id, stated.span):
            fault = Fault(*UNWANTED)
        if fault is not None:
            at = f"message {message.seq}"
            self._found.left_out.append(DroppedPart(part=at, code=fault.code, reason=fault.reason))
        return fault is None

    def _known(self, message: Message) -> list[Known]:
        """Return what the speaker of a message said before it and has not taken back."""
        speaker = other_speaker(message)
        return [
            *(
                one
                for one, subject in self._before
                if subject == speaker and one.id not in self._found.back
            ),
            *(
                Known(place, one.stated.about, one.stated.value)
                for place, one in enumerate(self._found.entries)
                if not one.gone and other_speaker(one.message) == speaker
            ),
        ]

    def _deny(self, message: Message, denial: Denial, first: int) -> None:
        known = denial.known
        corrected = _corrected(denial) if denial.instead else None
        if corrected is not None:
            same_key = [
                one for one in self._found.entries[first:] if one.stated.key == corrected.key
            ]
            entry = next(iter(same_key), None)
            if entry is None:
                entry = _Entry(message, corrected)
                self._found.entries.append(entry)
            if isinstance(known.id, UUID):
                entry.replaces[known.id] = known
                return
        self._end(message, known, denial)

    def _end(self, message: Message, known: Known, denial: Denial) -> None:
        if isinstance(known.id, UUID):
            self._found.back[known.id] = (message, denial)
        elif isinstance(known.id, int):
            self._found.entries[known.id].gone = True

    def _oppose(self, first: int, known: list[Known]) -> None:
        """End an earlier like by a new dislike of the same, and the other way round."""
        for entry in self._found.entries[first:]:
            for one in opposed(entry.stated.about, entry.stated.value, known):
                if isinstance(one.id, UUID):
                    entry.replaces[one.id] = one
                elif isinstance(one.id, int):
                    self._found.entries[one.id].gone = True


def _corrected(denial: Denial) -> Statement:
    topic = TOPICS[denial.known.about]
    return Statement(
        about=denial.known.about,
        kind=topic.kind,
        value=denial.instead,
        content=denial.content,
        key=topic.key,
        cardinality=Cardinality.MANY if topic.key is None else Cardinality.ONE,
        span=denial.span,
    )


def _drafts(reading: Reading, entries: Sequence[_Entry], limits: Limits) -> Iterator[Draft]:
    """Yield the notes; those that say a bound field of the profile have its key and value."""
    wanted = reading.due(PROFILE.name)
    bound = {} if wanted is None else schema_of(wanted).keys
    fields = [_operation(one.stated) for one in entries]
    # A user may have several occupations; the field has the last one.
    last = max(
        (at for at, one in enumerate(entries) if one.stated.about == "work" and fields[at]),
        default=-1,
    )
    for at, (entry, operation) in enumerate(zip(entries, fields, strict=True)):
        key = bound.get("" if operation is None else operation["path"][1:])
        own = at == last if entry.stated.about == "work" else entry.stated.key == key
        said = key is not None and own and not entry.stated.applies_when
        if operation is None or not said or other_speaker(entry.message) is not None:
            yield _draft(entry, limits)
        else:
            single = {"key": key, "value": operation["value"], "cardinality": Cardinality.ONE}
            yield _draft(entry, limits).model_copy(update=single)


def _draft(entry: _Entry, limits: Limits) -> Draft:
    message, stated = entry.message, entry.stated
    starts, ends = (
        _days(stated.valid_from, Role.VALID_FROM, message),
        _days(stated.valid_to, Role.VALID_UNTIL, message),
    )
    kind = stated.kind if stated.kind in limits.kinds else _KIND
    return Draft(
        content=stated.content,
        kind=kind if kind in limits.kinds else limits.kinds[0],
        key=stated.key,
        subject=other_speaker(message),
        cardinality=stated.cardinality,
        applies_when=stated.applies_when[: limits.content_length],
        supersedes=tuple(entry.replaces)[:100],
        cited=(
            *(() if entry.corrects is None else (entry.corrects,)),
            _cited(message, stated.span),
        ),
        trust=message.trust,
        observed_at=message.observed_at,
        # What a user asks to remember may tell of a day; other topics are states.
        happened=_days(stated.value, Role.HAPPENED, message)
        if stated.about == "remember"
        else None,
        **validity(starts, ends),
    )


def _days(words: str | None, role: Role, message: Message) -> DaySpan | None:
    return (
        None
        if words is None
        else days_said(words, message.observed_at, role, around=message.content)
    )


def _cited(message: Message, span: tuple[int, int]) -> Cited:
    quote = " ".join(message.content[slice(*span)].split())[:QUOTE_LENGTH]
    return Cited(message=message.id, quote=quote)


def _patches(reading: Reading, found: _Found) -> Iterator[ProfilePatch]:
    """Yield a patch of the user's profile: statements that always hold are added, what was taken
    back is removed.
    """
    if reading.due(PROFILE.name) is None:
        return
    patch = _Patch(reading.profile(PROFILE.name))
    for message, known, span in _ended(found):
        if other_speaker(message) is None:
            patch.remove(known, _cited(message, span))
    for entry in found.kept:
        stated = entry.stated
        if (
            stated.applies_when
            or stated.valid_from
            or stated.valid_to
            or other_speaker(entry.message) is not None
        ):
            continue
        operation = _operation(stated)
        if operation is not None:
            patch.apply(operation, _cited(entry.message, stated.span))
    if patch.operations:
        yield ProfilePatch(
            schema_name=PROFILE.name,
            operations=tuple(patch.operations),
            cited=tuple(patch.cited.values()),
            sources_of=tuple(map(tuple, patch.sources)),
        )


def _ended(found: _Found) -> Iterator[tuple[Message, Known, tuple[int, int]]]:
    for message, denial in found.back.values():
        yield message, denial.known, denial.span
    for entry in found.kept:
        for known in entry.replaces.values():
            yield entry.message, known, entry.stated.span


class _Patch:
    """A patch of the user's profile as it grows; an operation that changes nothing, or fails, is
    left out.
    """

    def __init__(self, document: ProfileDocument | None) -> None:
        self._body: dict[str, Any] = {} if document is None else document.body
        self._pinned = () if document is None else document.pinned
        #: The body with all operations so far.
        self._now: Any = self._body
        self.operations: list[dict[str, Any]] = []
        self.cited: dict[Hashable, Cited] = {}
        #: The sources of each operation.
        self.sources: list[dict[UUID, None]] = []
        self._removes = False

    def apply(self, operation: dict[str, Any], cited: Cited) -> None:
        """Add an operation; one that was added before only gets another source."""
        if operation["op"] == "add" and operation in self.operations and not self._removes:
            self.cited.setdefault(cited.message, cited)
            self.sources[self.operations.index(operation)].setdefault(cited.message)
            return
        tried = apply_patch(
            self._body, [*self.operations, operation], PROFILE.shape, pinned=self._pinned
        )
        if not tried.faults and tried.changed:
            self.operations.append(operation)
            self.sources.append({cited.message: None})
            self.cited.setdefault(cited.message, cited)
            self._now = tried.document
            self._removes |= operation["op"] == "remove"

    def remove(self, known: Known, cited: Cited) -> None:
        """Remove the value of a statement that was taken back, where the profile has it."""
        name = _FIELDS.get(known.about, "").removesuffix("/-")
        held = self._now.get(name) if name and isinstance(self._now, Mapping) else None
        if isinstance(held, list):
            at = [place for place, one in enumerate(held) if same_words(str(one), known.value)]
            for place in reversed(at):
                self.apply({"op": "remove", "path": f"/{name}/{place}"}, cited)
        elif held is not None and same_words(str(held), known.value):
            self.apply({"op": "remove", "path": f"/{name}"}, cited)


def _operation(stated: Statement) -> dict[str, Any] | None:
    field = _FIELDS.get(stated.about)
    if field is None or stated.about not in TOPICS or _EMPLOYER.match(stated.content):
        return None
    value: Any = stated.content if stated.about in ("nickname", "instruction") else stated.value
    if field == "age":
        digits = "".join(filter(str.isdecimal, stated.value))
        if not digits or int(digits) not in _AGES:
            return None
        value = int(digits)
    return {"op": "add", "path": f"/{field}", "value": value}


def with_ended(reading: Reading, formed: Formed) -> Reading:
    """Return the reading with only those candidates that the results end."""
    ended = {one.memory for one in formed.taken_back} | {
        id for note in formed.notes for id in note.supersedes
    }
    candidates = tuple(one for one in reading.candidates if one.id in ended)
    return reading.model_copy(update={"candidates": candidates})
