"""The form of a model's answer: an answer under other names or in other wrappers, rewritten as the prompt asks for it."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from memoranda.formation.extract.answers.answer_entries import (
    entries,
    meant,
    parsed,
    patch,
    patches,
    plain,
    with_fields,
)
from memoranda.formation.schemas.definitions import EPISODE, EXPERIENCE, NOTE, PROFILE
from memoranda.model.drafts import WantedSchema
from memoranda.model.messages import Outcome

#: The parts of an answer that are lists, and those that are one value.
LISTS: Final = ("notes", "repeats", "retracts", "patches", "experience")
SINGLE: Final = ("episode", "title", "summary")

#: Other names of each part, without signs and in small letters.
_PARTS: Final = {
    "notes": "note notes memory memories newnotes fact facts statement statements",
    "repeats": "repeat repeats repeated confirm confirms confirmed confirmations",
    "retracts": "retract retracts retracted retraction retractions takenback",
    "patches": "patch patches profile profiles profilepatch profilepatches documents",
    "experience": "experience experiences agentexperience lesson lessons learnings",
    "episode": "episode episodes",
    "title": "title titles",
}
_OUTCOMES: Final = {
    Outcome.SUCCEEDED.value: "success successful succeeded completed complete done ok solved resolved",
    Outcome.FAILED.value: "failure fail failed error unsuccessful unsolved",
    Outcome.ABANDONED.value: "abandoned cancelled canceled aborted givenup unfinished",
}
#: A model's remarks about its answer, which hold nothing to keep.
_REMARKS: Final = frozenset(
    "reasoning thoughts thinking thought explanation explanations comment comments analysis remarks language tags schema "
    "confidence type status summaryofchanges plannededits".split()
)
_MOST_WRAPPERS: Final = 3


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """An answer as the prompt asks for it."""

    value: dict[str, Any]
    #: The names of parts with content that could not be read.
    unread: tuple[str, ...] = ()
    #: The names of parts without content, such as a model's remarks.
    ignored: tuple[str, ...] = ()


def canonical_answer(given: Any, schemas: Iterable[WantedSchema], shown: Container[str] = ()) -> AnswerForm:
    """Return an answer with the names and shapes of the prompt, where it is plain which of them is meant; it adds nothing.

    ``shown`` has the names of the schemas whose document was shown.
    """
    modes = {schema.name: schema.update_mode for schema in schemas}
    patched = [name for name, mode in modes.items() if mode == "patch"]
    only = patched[0] if len(patched) == 1 else None
    found: dict[str, Any] = {}
    unread: list[str] = []
    ignored: list[str] = []
    parts = _unwrapped(given, modes)
    if not parts and given:
        unread.append("the whole answer")
    for name, value in parts.items():
        inner = parsed(value)
        part, schema = _part_of(name, modes)
        if part is None:
            remark = plain(name) in _REMARKS or not _has_content(inner)
            (ignored if remark else unread).append(str(name))
        elif part in SINGLE:
            found.setdefault(part, _single(inner))
        elif inner not in (None, [], {}):
            read = patches(inner, schema, only, modes) if part == "patches" else entries(part, inner, schema)
            for entry in read:
                # A note of a schema that changes the document of a memory is a patch.
                moved = part == "notes" and isinstance(entry, dict) and "operations" in entry
                one = patch(entry, schema) if moved else entry
                found.setdefault("patches" if moved else part, []).append(one)
    if isinstance(found.get("episode"), dict):
        found["episode"] = _with_outcome(found["episode"])
    found["patches"] = [with_fields(one, shown) for one in found.get("patches", ())]
    return AnswerForm(found, tuple(unread), tuple(ignored))


def _unwrapped(given: Any, modes: Mapping[str, str]) -> Mapping[Any, Any]:
    """Return the object with the parts: without wrappers around it, and of a bare list the part that it is."""
    inner = given
    for _ in range(_MOST_WRAPPERS):
        inner = parsed(inner)
        if isinstance(inner, list):
            inner = inner[0] if len(inner) == 1 and not _bare(inner) else _bare(inner)
        if not isinstance(inner, Mapping):
            break
        if _is_answer(inner, modes):
            return inner
        if "content" in inner and "sources" in inner:
            return {"notes": [inner]}
        found = [parsed(one) for name, one in inner.items() if plain(name) not in _REMARKS]
        wrapped = [one for one in found if _has_content(one)]
        if len(wrapped) != 1:
            break
        inner = wrapped[0]
    return given if isinstance(given, Mapping) else {}


def _is_answer(given: Any, modes: Mapping[str, str]) -> bool:
    return isinstance(given, Mapping) and any(_part_of(name, modes)[0] is not None for name in given)


def _bare(given: list[Any]) -> dict[str, Any]:
    """Return a bare list as the part whose entries it holds: notes, patches or lines of experience."""
    for part, names in (
        ("notes", ("content",)),
        ("patches", ("operations", "op")),
        ("experience", ("line",)),
    ):
        if given and all(isinstance(one, Mapping) and any(name in one for name in names) for one in given):
            return {part: given}
    return {}


def _part_of(name: Any, modes: Mapping[str, str]) -> tuple[str | None, str | None]:
    """Return the part of an answer that a name means, and the name of the schema if it is one."""
    fixed = {NOTE.name: "notes", EXPERIENCE.name: "experience", EPISODE.name: "episode"}
    if name in LISTS or name in SINGLE:
        return name, None
    schema = next((one for one in modes if plain(one) == plain(name)), None)
    if schema in fixed:
        return fixed[schema], None
    if schema is not None:
        return ("patches" if modes[schema] == "patch" else "notes"), schema
    part = meant(name, _PARTS)
    if part == "patches" and plain(name) in ("profile", "profiles"):
        return part, PROFILE.name
    return part, None


def _has_content(inner: Any) -> bool:
    return bool(inner) and (isinstance(inner, (dict, list)) or str(inner).lstrip().startswith(("{", "[")))


def _single(given: Any) -> Any:
    return given[0] if isinstance(given, list) and len(given) == 1 else given


def _with_outcome(given: Mapping[str, Any]) -> dict[str, Any]:
    outcome = given.get("outcome")
    return {**given, "outcome": meant(outcome, _OUTCOMES) or outcome} if outcome else dict(given)
