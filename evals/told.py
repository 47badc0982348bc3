"""Cases of several messages: gives a book the messages, older memories and a model's answer, and
reports the memories afterwards.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, get_args

from evals.case_books import CaseBook
from memoranda.formation.extract.by_model import read_answer
from memoranda.formation.extract.prompt import Prompt
from memoranda.formation.schemas.definitions import DEFAULTS, PROFILE
from memoranda.formation.schemas.request_schemas import wanted
from memoranda.model.changes import Append, OpenThread, Remember
from memoranda.model.drafts import Formed
from memoranda.model.experience_lines import ExperienceField
from memoranda.model.memories import Memory
from memoranda.model.records import TRUST_OF_ROLE, WHOLE, Owner, Trust
from memoranda.ports import Engine
from memoranda_conformance.builders import a_memory, a_message, a_thread

_BEFORE: Final = datetime(2026, 5, 1, 9, tzinfo=UTC)
_FIRST: Final = datetime(2026, 6, 8, 9, tzinfo=UTC)
_NOW: Final = _FIRST + timedelta(hours=1)
#: The owner of cases that name none.
_OWNER: Final = "owner"
_FIELDS: Final = get_args(ExperienceField)
_SCHEMAS: Final = tuple(map(wanted, DEFAULTS.values()))


@dataclass(frozen=True, slots=True)
class Told:
    """The outcome of one case."""

    #: The older memories by the handles that the case gives them.
    old: Mapping[str, Memory]
    #: The memories that were made, active ones only.
    made: tuple[Memory, ...]
    #: What was read from the answer.
    formed: Formed
    #: Codes of parts that were left out.
    codes: tuple[str, ...]

    @property
    def retired(self) -> frozenset[str]:
        """Return the handles of the older memories that are no longer active."""
        return frozenset(handle for handle, memory in self.old.items() if not memory.active)


def load(path: Path) -> list[dict[str, Any]]:
    """Return the cases in a file, one JSON object a line."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


async def tell(case: Mapping[str, Any], engine: Engine) -> Told:
    """Store a case's memories and messages, then form them with its answer."""
    owner = Owner(tenant=str(case["id"]), id=case.get("owner") or _OWNER)
    book = CaseBook(engine, owner, _NOW)
    old = await _remembered(book, case.get("old") or case.get("held_memories") or ())
    reading = await book.say(case["messages"], _FIRST, schemas=_SCHEMAS, candidates=[*old.values()])

    def answered(prompt: Prompt) -> Formed:
        handles = {str(memory.id): handle for handle, memory in prompt.candidates.items()}
        answer = _renamed(
            case["answer"], {handle: handles[str(one.id)] for handle, one in old.items()}
        )
        return read_answer(answer, prompt)

    formed, codes = await book.form(reading, answered)
    known = {memory.id: memory for memory in await book.memories()}
    ids = {memory.id for memory in old.values()}
    return Told(
        old={handle: known[memory.id] for handle, memory in old.items()},
        made=tuple(one for id, one in known.items() if id not in ids and one.active),
        formed=formed,
        codes=codes,
    )


async def _remembered(book: CaseBook, given: Sequence[Mapping[str, Any]]) -> dict[str, Memory]:
    """Write older memories, each with a message that says it, and return them by handle."""
    kept = {}
    for place, one in enumerate(given, start=1):
        at = _BEFORE + timedelta(minutes=place)
        trust = Trust(one.get("trust") or Trust.USER)
        thread = a_thread(book.owner, at)
        role = next(
            role for role, usual in TRUST_OF_ROLE.items() if usual is trust or role == "tool"
        )
        said = a_message(book.owner, thread.id, one["content"], at, role=role, trust=trust)
        ends = one.get("valid_until")
        memory = a_memory(
            book.owner,
            one["content"],
            at,
            kind=one["kind"],
            key=_key(one),
            subject=one.get("subject") or None,
            applies_when=one.get("applies_when") or "",
            valid_to=datetime.fromisoformat(ends).replace(tzinfo=UTC) if ends else None,
            sources=(said.id,),
            thread=thread.id,
            trust=trust,
        )
        await book.write(OpenThread(thread))
        await book.write(Append(thread.id, (said,)), Remember(memory, audience=thread.audience))
        found = await book.engine.get(book.owner, WHOLE, [memory.id])
        stored = found[memory.id]
        assert isinstance(stored, Memory)
        kept[f"c{place}"] = stored
    return kept


def _key(given: Mapping[str, Any]) -> str | None:
    """Return the key as forming stores it: that of another subject names the subject."""
    key, subject = given.get("key"), given.get("subject")
    return f"{subject}: {key}" if key and subject else key or None


def _renamed(answer: Mapping[str, Any], handles: Mapping[str, str]) -> dict[str, Any]:
    """Return an answer with the handles of the prompt, and with fields and paths that exist."""
    found: dict[str, Any] = json.loads(json.dumps(answer))
    for note in found.get("notes") or ():
        note["supersedes"] = [handles.get(one, one) for one in note.get("supersedes") or ()]
    for part in ("repeats", "retracts"):
        for one in found.get(part) or ():
            one["memory"] = handles.get(one["memory"], one["memory"])
    for lesson in found.get("experience") or ():
        if lesson.get("field") not in _FIELDS:
            lesson["field"] = _FIELDS[0]
    for patch in found.get("patches") or ():
        for operation in patch["operations"]:
            if operation["path"].split("/")[1] not in PROFILE.parameters["properties"]:
                operation["path"] = "/conversation_preferences/-"
    return found
