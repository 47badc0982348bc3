"""The answer: what a model gave back, held against what it was shown; what does not hold is left out and told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, get_args

from pydantic import ValidationError

from memoranda.formation.citing import MOST, Citations, Told, own, text_of, texts_of
from memoranda.formation.documents import Copier, Unfit, shown
from memoranda.formation.echo import Witness, another
from memoranda.formation.notes import Notes, asked
from memoranda.formation.patching import patch as patched_by
from memoranda.formation.prompt import Prompt
from memoranda.formation.schemas import EPISODE, EXPERIENCE, NOTE, known
from memoranda.model.experience import ExperienceField
from memoranda.model.forming import EpisodeDraft, Formed, Lesson, ProfilePatch, WantedSchema
from memoranda.model.trust import Limits
from memoranda.model.values import refused

LINE_LENGTH: Final = 500
SUMMARY_LENGTH: Final = 20_000
_PARTS: Final = ("notes", "repeats", "retracts", "patches", "experience")
_EPISODE: Final = "episode"


def read_answer(
    value: Mapping[str, Any] | None,
    prompt: Prompt,
    *,
    limits: Limits = Limits(),  # noqa: B008
) -> Formed:
    """What a parsed answer says, as far as it holds. Never raises for what a model gave: all of that is told."""
    return _Answer(prompt, limits).read({} if value is None else value)


class _Answer:
    def __init__(self, prompt: Prompt, limits: Limits) -> None:
        self._prompt = prompt
        self._reading = prompt.reading
        self._told = Told()
        self._citations = Citations(prompt)
        self._witness = Witness(prompt.reading)
        self._notes = Notes(prompt, limits, self._citations, self._witness, self._told)

    def read(self, value: Any) -> Formed:
        if not isinstance(value, Mapping):
            self._told.add("", "shape", "the answer is no JSON object", mendable=True)
            value = {}
        for name in list(value)[:MOST]:
            if name != _EPISODE and name not in _PARTS:
                self._told.add(shown(name), "field", "is no part of an answer")
        notes = [
            note
            for at, given in self._each(value, "notes", NOTE.name)
            if (note := self._notes.note(at, given))
        ]
        again = [
            one
            for at, given in self._each(value, "repeats", NOTE.name)
            if (one := self._notes.again(at, given))
        ]
        back = [
            denied
            for at, given in self._each(value, "retracts", NOTE.name)
            if (denied := self._notes.taken_back(at, given))
        ]
        patches: dict[str, ProfilePatch] = {}
        for at, given in self._each(value, "patches", None):
            patch = self._patch(at, given, patches)
            if patch is not None:
                patches[patch.schema_name] = patch
        lessons = self._each(value, "experience", EXPERIENCE.name)
        return Formed(
            notes=tuple(notes),
            confirmations=tuple({one.memory: one for one in reversed(again)}.values()),
            taken_back=tuple({one.memory: one for one in reversed(back)}.values()),
            patches=tuple(patches.values()),
            experience=tuple(made for at, given in lessons if (made := self._lesson(at, given))),
            episode=self._episode(value.get(_EPISODE)),
            left_out=self._told.all(),
        )

    def _each(
        self, value: Mapping[str, Any], part: str, schema: str | None
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """The objects of one part of the answer with their places, as many as are read."""
        given = value.get(part)
        if given is None or given == []:
            return
        if not isinstance(given, list):
            self._told.add(part, "shape", "is no list", mendable=True)
            return
        if schema is not None and schema not in self._prompt.asked:
            self._told.add(part, "unasked", "was not asked for")
            return
        if len(given) > MOST:
            self._told.add(part, "many", f"has {len(given)} entries; the first {MOST} are read")
        for place, one in enumerate(given[:MOST]):
            if isinstance(one, dict):
                yield f"{part}[{place}]", one
            else:
                self._told.add(f"{part}[{place}]", "shape", "is no object", mendable=True)

    def _patch(self, at: str, given: dict[str, Any], made: Mapping[str, ProfilePatch]) -> ProfilePatch | None:
        tell = self._told.teller(at)
        schema = asked(self._prompt, given.get("schema"), "patch")
        if schema is None or schema.name in made:
            tell(
                "unknown",
                f"{shown(given.get('schema'))} is no document that was asked for, or is there twice",
            )
            return None
        operations = given.get("operations")
        if operations in (None, []):
            return None
        said = own(self._citations.read(given.get("sources"), tell))
        cited = [(message, one) for message, one in said if another(message) is None]
        if not cited:
            tell("claimed", "only the user's own new words change a document")
            return None
        if not self._patches(at, schema, operations):
            return None
        for statement in _leaves(operations):
            verdict = self._witness.judge(statement, [message for message, _ in cited], kind="instruction")
            if verdict.code:
                tell(verdict.code, verdict.reason)
                return None
        kept = tuple(Copier().copy(one) for one in operations)
        return ProfilePatch(schema_name=schema.name, operations=kept, cited=tuple(one for _, one in cited))

    def _patches(self, at: str, schema: WantedSchema, operations: Any) -> bool:
        """Whether the operations can be applied to the document as it was shown; all that is wrong is told."""
        held = self._reading.profile(schema.name)
        body, pinned = (None, ()) if held is None else (held.body, held.pinned)
        if not isinstance(operations, list):
            self._told.add(at, "patch", "operations is no list", mendable=True)
            return False
        patched = patched_by(body, operations, known(schema).shape, pinned=pinned)
        for fault in patched.faults:
            place = "" if fault.index is None else f".operations[{fault.index}]"
            self._told.add(f"{at}{place}", "patch", f"{fault.path} {fault.reason}", mendable=True)
        for fault in patched.left_out:
            self._told.add(f"{at}.operations[{fault.index}]", "pinned", fault.reason)
        return not patched.faults and patched.changed

    def _lesson(self, at: str, given: dict[str, Any]) -> Lesson | None:
        tell = self._told.teller(at)
        field, line = given.get("field"), text_of(given.get("line"))
        if (
            not isinstance(field, str)
            or field not in get_args(ExperienceField)
            or not line
            or len(line) > LINE_LENGTH
        ):
            tell("line", f"a line has a field that is known and at most {LINE_LENGTH} characters")
            return None
        cited = self._citations.read(given.get("sources"), tell)
        if not cited:
            return None
        if self._witness.strange(line):
            tell("stranger", "what a tool or a page says is nothing that the agent has learnt")
            return None
        try:
            return Lesson.model_validate(
                {"field": field, "line": line, "cited": tuple(one for _, one in cited)}
            )
        except ValidationError as exc:
            tell("invalid", str(refused(exc)))
            return None

    def _episode(self, given: Any) -> EpisodeDraft | None:
        if given is None or given == {}:
            return None
        if EPISODE.name not in self._prompt.asked:
            self._told.add("episode", "unasked", "was not asked for")
            return None
        names = EPISODE.parameters["properties"]
        fields = {name: given[name] for name in names if name in given} if isinstance(given, dict) else {}
        fields["tags"] = tuple(texts_of(fields.get("tags")))[:MOST]
        try:
            if any(len(text_of(fields.get(name))) > SUMMARY_LENGTH for name in ("goal", "summary")):
                raise Unfit(f"is longer than {SUMMARY_LENGTH} characters")
            return EpisodeDraft.model_validate(fields)
        except ValidationError as exc:
            self._told.add("episode", "invalid", str(refused(exc)), mendable=True)
        except Unfit as exc:
            self._told.add("episode", "invalid", str(exc), mendable=True)
        return None


def _leaves(value: Any) -> Iterator[str]:
    """The texts and numbers that operations write."""
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
