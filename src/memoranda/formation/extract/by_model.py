"""Reads a model's answers: checks them against what the model saw, and combines an answer with its corrections."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar, get_args

from pydantic import ValidationError

from memoranda.formation.extract.attribution import Attribution
from memoranda.formation.extract.citations import (
    MOST_ENTRIES,
    Citations,
    Problems,
    from_user,
    text_of,
    texts_of,
)
from memoranda.formation.extract.notes import NoteReader, requested_schema
from memoranda.formation.extract.prompt import Prompt
from memoranda.formation.extract.summary import title_of
from memoranda.formation.schemas.definitions import EPISODE, EXPERIENCE, NOTE, schema_of
from memoranda.formation.schemas.json_patch import apply_patch as patched_by
from memoranda.formation.schemas.json_values import Copier, InvalidJson, printable
from memoranda.model.drafts import (
    Confirmation,
    DroppedPart,
    Formed,
    Lesson,
    ProfilePatch,
    TakenBack,
    WantedSchema,
)
from memoranda.model.experience_lines import ExperienceField
from memoranda.model.language_models import Earlier, ModelAnswer, ModelRequest
from memoranda.model.messages import EpisodeDraft
from memoranda.model.records import Limits
from memoranda.model.values import refused
from memoranda.storage.decide.strangers import other_speaker

LINE_LENGTH: Final = 500
SUMMARY_LENGTH: Final = 20_000
_PARTS: Final = ("notes", "repeats", "retracts", "patches", "experience")
_EPISODE: Final = "episode"
_TITLE: Final = "title"


def read_answer(
    value: Mapping[str, Any] | None,
    prompt: Prompt,
    *,
    limits: Limits = Limits(),  # noqa: B008
) -> Formed:
    """Return the valid parts of a model's parsed answer. Never raises: problems are listed in ``left_out``."""
    return _AnswerReader(prompt, limits).read({} if value is None else value)


class _AnswerReader:
    def __init__(self, prompt: Prompt, limits: Limits) -> None:
        self._prompt = prompt
        self._reading = prompt.reading
        self._problems = Problems()
        self._citations = Citations(prompt)
        self._attribution = Attribution(prompt.reading)
        self._notes = NoteReader(prompt, limits, self._citations, self._attribution, self._problems)

    def read(self, value: Any) -> Formed:
        if not isinstance(value, Mapping):
            self._problems.add("", "shape", "the answer is not a JSON object", mendable=True)
            value = {}
        for name in list(value)[:MOST_ENTRIES]:
            if name not in (_EPISODE, _TITLE, *_PARTS):
                self._problems.add(printable(name), "field", "is not a field of an answer")
        notes = [
            note
            for at, given in self._entries(value, "notes", NOTE.name)
            if (note := self._notes.note(at, given))
        ]
        again = [
            one
            for at, given in self._entries(value, "repeats", NOTE.name)
            if (one := self._notes.repeat(at, given))
        ]
        back = [
            denied
            for at, given in self._entries(value, "retracts", NOTE.name)
            if (denied := self._notes.retraction(at, given))
        ]
        patches: dict[str, ProfilePatch] = {}
        for at, given in self._entries(value, "patches", None):
            patch = self._patch(at, given, patches)
            if patch is not None:
                patches[patch.schema_name] = patch
        lessons = self._entries(value, "experience", EXPERIENCE.name)
        return Formed(
            notes=tuple(notes),
            confirmations=tuple({one.memory: one for one in reversed(again)}.values()),
            taken_back=tuple({one.memory: one for one in reversed(back)}.values()),
            patches=tuple(patches.values()),
            experience=tuple(made for at, given in lessons if (made := self._lesson(at, given))),
            episode=self._episode(value.get(_EPISODE)),
            title=title_of(text_of(value.get(_TITLE))),
            left_out=self._problems.all(),
        )

    def _entries(
        self, value: Mapping[str, Any], part: str, schema: str | None
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the objects in one part of the model's answer with their paths, up to the limit."""
        given = value.get(part)
        if given is None or given == []:
            return
        if not isinstance(given, list):
            self._problems.add(part, "shape", "is not a list", mendable=True)
            return
        if schema is not None and schema not in self._prompt.asked:
            self._problems.add(part, "unasked", "was not asked for")
            return
        if len(given) > MOST_ENTRIES:
            self._problems.add(part, "many", f"has {len(given)} entries; the first {MOST_ENTRIES} are read")
        for place, one in enumerate(given[:MOST_ENTRIES]):
            if isinstance(one, dict):
                yield f"{part}[{place}]", one
            else:
                self._problems.add(f"{part}[{place}]", "shape", "is not an object", mendable=True)

    def _patch(self, at: str, given: dict[str, Any], made: Mapping[str, ProfilePatch]) -> ProfilePatch | None:
        report = self._problems.reporter(at)
        schema = requested_schema(self._prompt, given.get("schema"), "patch")
        if schema is None or schema.name in made:
            report(
                "unknown",
                f"{printable(given.get('schema'))} is not a document that was asked for, or appears twice",
            )
            return None
        operations = given.get("operations")
        if operations in (None, []):
            return None
        said = from_user(self._citations.read(given.get("sources"), report))
        cited = [(message, one) for message, one in said if other_speaker(message) is None]
        if not cited:
            report("claimed", "only the user's own new words change a document")
            return None
        if not self._applies(at, schema, operations):
            return None
        for statement in _written_values(operations):
            verdict = self._attribution.judge(
                statement, [message for message, _ in cited], kind="instruction"
            )
            if verdict.code:
                report(verdict.code, verdict.reason)
                return None
        kept = tuple(Copier().copy(one) for one in operations)
        return ProfilePatch(schema_name=schema.name, operations=kept, cited=tuple(one for _, one in cited))

    def _applies(self, at: str, schema: WantedSchema, operations: Any) -> bool:
        """True if the operations can be applied to the document that the model saw; otherwise report why not."""
        document = self._reading.profile(schema.name)
        body, pinned = (None, ()) if document is None else (document.body, document.pinned)
        if not isinstance(operations, list):
            self._problems.add(at, "patch", "operations is not a list", mendable=True)
            return False
        patched = patched_by(body, operations, schema_of(schema).shape, pinned=pinned)
        for fault in patched.faults:
            place = "" if fault.index is None else f".operations[{fault.index}]"
            self._problems.add(f"{at}{place}", "patch", f"{fault.path} {fault.reason}", mendable=True)
        for fault in patched.left_out:
            self._problems.add(f"{at}.operations[{fault.index}]", "pinned", fault.reason)
        return not patched.faults and patched.changed

    def _lesson(self, at: str, given: dict[str, Any]) -> Lesson | None:
        report = self._problems.reporter(at)
        field, line = given.get("field"), text_of(given.get("line"))
        if (
            not isinstance(field, str)
            or field not in get_args(ExperienceField)
            or not line
            or len(line) > LINE_LENGTH
        ):
            report("line", f"a line needs a known field and a text of at most {LINE_LENGTH} characters")
            return None
        cited = self._citations.read(given.get("sources"), report)
        if not cited:
            return None
        if self._attribution.is_from_stranger(line):
            report("stranger", "statements of a tool or a web page are not experience of the agent")
            return None
        try:
            return Lesson.model_validate(
                {"field": field, "line": line, "cited": tuple(one for _, one in cited)}
            )
        except ValidationError as exc:
            report("invalid", str(refused(exc)))
            return None

    def _episode(self, given: Any) -> EpisodeDraft | None:
        if given is None or given == {}:
            return None
        if EPISODE.name not in self._prompt.asked:
            self._problems.add("episode", "unasked", "was not asked for")
            return None
        names = EPISODE.parameters["properties"]
        fields = {name: given[name] for name in names if name in given} if isinstance(given, dict) else {}
        fields["tags"] = tuple(texts_of(fields.get("tags")))[:MOST_ENTRIES]
        try:
            if any(len(text_of(fields.get(name))) > SUMMARY_LENGTH for name in ("goal", "summary")):
                raise InvalidJson(f"is longer than {SUMMARY_LENGTH} characters")
            return EpisodeDraft.model_validate(fields)
        except ValidationError as exc:
            self._problems.add("episode", "invalid", str(refused(exc)), mendable=True)
        except InvalidJson as exc:
            self._problems.add("episode", "invalid", str(exc), mendable=True)
        return None


def _written_values(value: Any) -> Iterator[str]:
    """Yield the texts and numbers that the operations of a patch write."""
    pending: list[Any] = [one["value"] for one in value if isinstance(one, dict) and "value" in one]
    while pending:
        inner = pending.pop()
        if isinstance(inner, dict):
            pending.extend(inner.values())
        elif isinstance(inner, Sequence) and not isinstance(inner, str):
            pending.extend(inner)
        elif isinstance(inner, str):
            yield inner
        elif inner is not None and not isinstance(inner, bool):
            yield str(inner)


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
    for answer in answers:
        if answer.refused:
            return AnswerState(None if _empty(formed) else formed, refused=_empty(formed))
        if answer.fault or answer.value is None:
            faults = (answer.fault or "the answer is not a JSON object",)
            continue
        read = read_answer(answer.value, prompt, limits=limits)
        mendable = [one for one in read.left_out if one.mendable]
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
    """Return the next request to the model; after a faulty answer it contains this answer and its faults."""
    earlier = (Earlier(answer=answers[-1].text, faults=tuple(faults)),) if answers and faults else ()
    return prompt.request(largest, earlier)


def _empty(formed: Formed | None) -> bool:
    return formed is None or formed.empty


def _part(left: DroppedPart) -> str:
    """Return the name of the part of an answer that a fault is in: notes, patches and so on."""
    return left.part.split("[")[0].split(".")[0]


About = TypeVar("About", bound=Confirmation | TakenBack)


def _with_new(first: tuple[About, ...], again: tuple[About, ...], mended: bool) -> tuple[About, ...]:
    known = {one.memory for one in first}
    return (*first, *(one for one in again if mended and one.memory not in known))


def _merged(first: Formed, again: Formed, wanting: frozenset[str]) -> Formed:
    """Replace the parts that had faults with those of the newer answer, whose other parts are ignored."""
    everything = "" in wanting
    patched = {patch.schema_name for patch in first.patches}

    def mended(part: str) -> bool:
        return everything or part in wanting

    return first.model_copy(
        update={
            "notes": (*first.notes, *(n for n in again.notes if mended("notes") and n not in first.notes)),
            "confirmations": _with_new(first.confirmations, again.confirmations, mended("repeats")),
            "taken_back": _with_new(first.taken_back, again.taken_back, mended("retracts")),
            "patches": (
                *first.patches,
                *(p for p in again.patches if mended("patches") and p.schema_name not in patched),
            ),
            "experience": (
                *first.experience,
                *(one for one in again.experience if mended("experience") and one not in first.experience),
            ),
            "title": first.title or again.title,
            "episode": first.episode or (again.episode if mended("episode") else None),
            "left_out": tuple(
                dict.fromkeys((*(one for one in first.left_out if not one.mendable), *again.left_out))
            ),
        }
    )
