"""Reads a model's answers: checks them against what the model saw, and combines an answer with its
corrections.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from pydantic import ValidationError

from memoranda.formation.extract.answer import LISTS, GivenEpisode, entry_of, parts_of
from memoranda.formation.extract.attribution import Attribution
from memoranda.formation.extract.citations import (
    MOST_ENTRIES,
    Citations,
    Problems,
    text_of,
    texts_of,
)
from memoranda.formation.extract.instructions import inserted_names
from memoranda.formation.extract.lessons import LessonReader
from memoranda.formation.extract.notes import NoteReader
from memoranda.formation.extract.patches import PatchReader
from memoranda.formation.extract.prompt import Prompt
from memoranda.formation.extract.summary import summary_in, title_of
from memoranda.formation.privacy.withheld import Withheld
from memoranda.formation.schemas.definitions import EPISODE, EXPERIENCE, NOTE, PROFILE
from memoranda.formation.schemas.json_values import InvalidJson, printable
from memoranda.model.drafts import (
    Confirmation,
    Draft,
    DroppedPart,
    Formed,
    ProfilePatch,
    TakenBack,
)
from memoranda.model.language_models import Earlier, ModelAnswer, ModelRequest
from memoranda.model.messages import EpisodeDraft
from memoranda.model.records import Limits
from memoranda.model.values import refused

SUMMARY_LENGTH: Final = 20_000
_EPISODE: Final = "episode"
_TITLE: Final = "title"


def read_answer(
    value: Mapping[str, Any] | None,
    prompt: Prompt,
    *,
    limits: Limits = Limits(),  # noqa: B008
    earlier: str = "",
) -> Formed:
    """Return the valid parts of a model's parsed answer. Never raises: problems are listed in
    ``left_out``.

    ``earlier`` has the model's earlier answers to the same question.
    """
    return _AnswerReader(prompt, limits, earlier).read({} if value is None else value)


class _AnswerReader:
    def __init__(self, prompt: Prompt, limits: Limits, earlier: str) -> None:
        self._prompt = prompt
        self._reading = prompt.reading
        self._problems = Problems()
        self._citations = Citations(prompt)
        self._attribution = Attribution(prompt.reading)
        self._notes = NoteReader(
            prompt, limits, self._citations, self._attribution, self._problems, earlier
        )
        self._patches = PatchReader(
            prompt, limits, self._citations, self._attribution, self._problems
        )
        self._lessons = LessonReader(prompt, self._citations, self._attribution, self._problems)
        said = (read.message for read in prompt.reading.messages)
        self._withheld = Withheld(said, keeps_secrets=prompt.reading.keeps_secrets)

    def read(self, value: Any) -> Formed:
        if not isinstance(value, Mapping):
            self._problems.add("", "shape", "the answer is not a JSON object", mendable=True)
            value = {}
        value, unread, remarks = parts_of(value)
        for name in unread[:MOST_ENTRIES]:
            # The whole answer is to be given again: what was lost may belong to any part.
            self._problems.add(
                "", "field", f"{printable(name)} is not a field of an answer", mendable=True
            )
        for name in remarks[:MOST_ENTRIES]:
            self._problems.add(printable(name), "field", "is not a field of an answer")
        patches, changed = self._patches.read(self._entries(value, "patches"))
        for patch in patches:
            if (name := patch.value_of("/name")) and patch.schema_name == PROFILE.name:
                self._attribution.also_called(name)
        takes_notes = bool(self._prompt.asked & {NOTE.name, *inserted_names(self._reading.schemas)})
        notes = [
            note
            for at, given in self._entries(value, "notes", takes_notes)
            if (note := self._notes.note(at, given))
        ]
        again = [
            one
            for at, given in self._entries(value, "repeats", takes_notes)
            if (one := self._notes.repeat(at, given))
        ]
        back = [
            denied
            for at, given in self._entries(value, "retracts", takes_notes)
            if (denied := self._notes.retraction(at, given))
        ]
        back += self._notes.settled
        lessons = self._entries(value, "experience", EXPERIENCE.name in self._prompt.asked)
        return Formed(
            notes=(*notes, *changed),
            confirmations=tuple({one.memory: one for one in reversed(again)}.values()),
            taken_back=tuple({one.memory: one for one in reversed(back)}.values()),
            patches=patches,
            experience=tuple(
                made for at, given in lessons if (made := self._lessons.lesson(at, given))
            ),
            episode=self._episode(self._withheld.masked(value.get(_EPISODE))),
            title=title_of(text_of(self._withheld.masked(value.get(_TITLE)))),
            summary=summary_in(self._withheld.masked(dict(value)))
            if self._reading.summarises
            else "",
            left_out=self._problems.all(),
        )

    def _entries(
        self, value: Mapping[str, Any], part: str, asked: bool = True
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the objects in one part of the model's answer with their paths, up to the limit."""
        given = value.get(part, [])
        if not given:
            return
        if not asked:
            self._problems.add(part, "unasked", "was not asked for")
            return
        if len(given) > MOST_ENTRIES:
            self._problems.add(
                part, "many", f"has {len(given)} entries; the first {MOST_ENTRIES} are read"
            )
        for place, one in enumerate(given[:MOST_ENTRIES]):
            report = self._problems.reporter(f"{part}[{place}]")
            if not isinstance(one, dict):
                report("shape", "is not an object", mendable=True)
                continue
            entry = entry_of(LISTS[part], one, report)
            if entry is None:
                continue
            kept = self._withheld.screened(part, entry, self._prompt.messages, report)
            if kept is not None:
                yield f"{part}[{place}]", kept
            elif part == "notes":
                self._take_back(f"{part}[{place}]", entry)

    def _take_back(self, at: str, note: Mapping[str, Any]) -> None:
        """Take back what a note that is not kept would have ended: "don't keep the code" ends the
        memory of the code.
        """
        for memory in note.get("supersedes", ()):
            denied = self._notes.retraction(at, {"memory": memory, "sources": note.get("sources")})
            if denied is not None:
                self._notes.settled.append(denied)

    def _episode(self, given: Any) -> EpisodeDraft | None:
        if given is None or given == {}:
            return None
        if EPISODE.name not in self._prompt.asked:
            self._problems.add("episode", "unasked", "was not asked for")
            return None
        report = self._problems.reporter("episode")
        fields = entry_of(GivenEpisode, given, report) if isinstance(given, dict) else None
        if fields is None:
            if not isinstance(given, dict):
                report("shape", "is not an object", mendable=True)
            return None
        try:
            if any(len(fields.get(name, "")) > SUMMARY_LENGTH for name in ("goal", "summary")):
                raise InvalidJson(f"is longer than {SUMMARY_LENGTH} characters")
            return EpisodeDraft.model_validate(
                {**fields, "tags": tuple(texts_of(fields.get("tags")))}
            )
        except ValidationError as exc:
            report("invalid", str(refused(exc)), mendable=True)
        except InvalidJson as exc:
            report("invalid", str(exc), mendable=True)
        return None


#: Part of an answer → the field of what was read.
_FIELDS: Final = {
    "notes": "notes",
    "repeats": "confirmations",
    "retracts": "taken_back",
    "patches": "patches",
    "experience": "experience",
    "episode": "episode",
}
#: How often a model is asked to correct its answer.
MOST_CORRECTIONS: Final = 2
#: The most faults that are sent back to the model.
_MOST_FAULTS: Final = 20


@dataclass(frozen=True, slots=True)
class AnswerState:
    """The combined result of a model's answers to one prompt so far."""

    #: The valid parts of all answers; None if none could be read.
    formed: Formed | None
    #: Faults to send back to the model; empty if there are none or it was asked often enough.
    faults: tuple[str, ...] = ()
    #: The model refused to answer; asking again would cost the same and change nothing.
    refused: bool = False


def evaluate_answers(prompt: Prompt, answers: Sequence[ModelAnswer], limits: Limits) -> AnswerState:
    """Combine the model's answers so far; the same answers always give the same state."""
    formed: Formed | None = None
    faults: tuple[str, ...] = ()
    wanting: frozenset[str] = frozenset()
    for place, answer in enumerate(answers):
        if answer.refused:
            return AnswerState(None if _empty(formed) else formed, refused=_empty(formed))
        if answer.fault or answer.value is None:
            faults = (answer.fault or "the answer is not a JSON object",)
            continue
        earlier = "\n".join(one.text for one in answers[:place])
        read = read_answer(answer.value, prompt, limits=limits, earlier=earlier)
        mendable = [one for one in read.left_out if one.mendable and not (one.once and place)]
        formed = read if formed is None else _merged(formed, read, wanting)
        wanting = frozenset(map(_part, mendable))
        faults = tuple(f"{one.part}: {one.reason}" for one in mendable[:_MOST_FAULTS])
    if len(answers) > MOST_CORRECTIONS:
        # If nothing in the answers is valid, there is no result.
        return AnswerState(None if faults and _empty(formed) else formed)
    return AnswerState(formed, faults)


def next_request(
    prompt: Prompt, answers: Sequence[ModelAnswer], faults: Sequence[str], largest: int
) -> ModelRequest:
    """Return the next request to the model; after a faulty answer it contains this answer and its
    faults.
    """
    earlier = (
        (Earlier(answer=answers[-1].text, faults=tuple(faults)),) if answers and faults else ()
    )
    return prompt.request(largest, earlier)


def _empty(formed: Formed | None) -> bool:
    return formed is None or formed.empty


def _part(left: DroppedPart) -> str:
    """Return the name of the part of an answer that a fault is in: notes, patches and so on."""
    return left.part.split("[")[0].split(".")[0]


#: What is asked once and costs only a field of its entry.
_OF_A_FIELD: Final = frozenset({"time", "misquoted"})
About = TypeVar("About", bound=Confirmation | TakenBack)


def _with_new(
    first: tuple[About, ...], again: tuple[About, ...], mended: bool
) -> tuple[About, ...]:
    known = {one.memory for one in first}
    return (*first, *(one for one in again if mended and one.memory not in known))


def _with_notes(
    first: tuple[Draft, ...], again: tuple[Draft, ...], mended: bool, patched: bool
) -> tuple[Draft, ...]:
    """Return the notes with those of the newer answer; of a document that both change, the newer
    change.
    """
    newer = [n for n in again if (patched if n.changed_by else mended) and n not in first]
    changed = {n.carries for n in newer if n.changed_by}
    # The model gives a note again with what it corrected in it.
    mended_notes = {(n.content, n.subject) for n in newer if not n.changed_by}
    kept = (n for n in first if not (n.changed_by and n.carries in changed))
    return (
        *(n for n in kept if n.changed_by or (n.content, n.subject) not in mended_notes),
        *newer,
    )


def _with_operations(
    first: tuple[ProfilePatch, ...], again: tuple[ProfilePatch, ...]
) -> tuple[ProfilePatch, ...]:
    """Return the patches with those operations of the newer answer that the older one does not
    have.
    """
    found = {patch.schema_name: patch for patch in first}
    for patch in again:
        held = found.get(patch.schema_name)
        found[patch.schema_name] = patch if held is None else held.followed_by(patch)
    return tuple(found.values())


def _merged(first: Formed, again: Formed, wanting: frozenset[str]) -> Formed:
    """Replace the parts that had faults with those of the newer answer, whose other parts are
    ignored.
    """
    everything = "" in wanting

    def mended(part: str) -> bool:
        return everything or part in wanting

    merged = first.model_copy(
        update={
            "notes": _with_notes(first.notes, again.notes, mended("notes"), mended("patches")),
            "confirmations": _with_new(first.confirmations, again.confirmations, mended("repeats")),
            "taken_back": _with_new(first.taken_back, again.taken_back, mended("retracts")),
            "patches": _with_operations(first.patches, again.patches if mended("patches") else ()),
            "experience": (
                *first.experience,
                *(
                    one
                    for one in again.experience
                    if mended("experience") and one not in first.experience
                ),
            ),
            "title": first.title or again.title,
            "summary": first.summary or again.summary,
            "episode": first.episode or (again.episode if mended("episode") else None),
        }
    )
    asked_once = [one for one in first.left_out if one.once and one.code not in _OF_A_FIELD]
    # As many as the newer answer did not correct stay refused.
    refused_still = asked_once[max(_ended(merged) - _ended(first), 0) :]
    # So does what the newer answer says nothing of.
    unanswered = [
        one
        for one in first.left_out
        if one.mendable and one not in asked_once and not _grew(one, first, merged)
    ]
    kept = [one for one in first.left_out if not one.mendable]
    left_out = (*kept, *refused_still, *unanswered, *again.left_out)
    return merged.model_copy(update={"left_out": tuple(dict.fromkeys(left_out))})


def _grew(left: DroppedPart, first: Formed, merged: Formed) -> bool:
    """True if a newer answer added something to the part of an answer that had a fault."""
    name = _FIELDS.get(_part(left))
    if name is None:
        return merged.model_copy(update={"left_out": ()}) != first.model_copy(
            update={"left_out": ()}
        )
    return bool(getattr(merged, name) != getattr(first, name))


def _ended(formed: Formed) -> int:
    """Return how many memories an answer ends."""
    return sum(len(note.supersedes) for note in formed.notes) + len(formed.taken_back)
