"""Notes in an answer: which of them hold, on what they rest, and how far they are to be believed."""

from __future__ import annotations

from typing import Any, Final

from pydantic import ValidationError

from memoranda.formation.citing import (
    MOST,
    Citations,
    Sourced,
    Tell,
    Told,
    moment_of,
    own,
    text_of,
    texts_of,
)
from memoranda.formation.documents import Copier, Unfit, shown
from memoranda.formation.echo import DIRECTING, Verdict, Witness, another
from memoranda.formation.prompt import Prompt
from memoranda.formation.schemas import NOTE, known
from memoranda.formation.validity import since, until
from memoranda.model.forming import Confirmation, Draft, TakenBack, WantedSchema
from memoranda.model.memories import Cardinality
from memoranda.model.trust import Limits
from memoranda.model.values import refused

_NOTE_FIELDS: Final = frozenset(
    {*NOTE.parameters["properties"], "sources", "supersedes", "language", "valid_from", "valid_until"}
    | {"schema", "data"}
)
#: Where the model names a kind that is not kept here.
_ANY_KIND: Final = "fact"


class Notes:
    """Reads notes, and what was said again."""

    def __init__(
        self,
        prompt: Prompt,
        limits: Limits,
        citations: Citations,
        witness: Witness,
        told: Told,
    ) -> None:
        self._prompt = prompt
        self._limits = limits
        self._citations = citations
        self._witness = witness
        self._told = told

    def note(self, at: str, given: dict[str, Any]) -> Draft | None:
        """A note, where it holds."""
        tell = self._told.teller(at)
        for name in sorted(map(str, set(given) - _NOTE_FIELDS))[:MOST]:
            tell("field", f"{shown(name)} is no field of a note; ids and times are not a model's to give")
        content = text_of(given.get("content"))
        if not content or len(content) > self._limits.content_length:
            tell("content", f"a note says something in at most {self._limits.content_length} characters")
            return None
        cited = self._citations.read(given.get("sources"), tell)
        if not cited:
            return None
        kind = self._kind(given.get("kind"), tell)
        subject = self._witness.other(text_of(given.get("subject"))) or _spoken_by_another(cited)
        verdict = self._witness.judge(content, [message for message, _ in cited], kind=kind, subject=subject)
        if verdict.code:
            tell(verdict.code, verdict.reason)
            return None
        applies_when = self._applies_when(given.get("applies_when"), cited, verdict, tell)
        sourced = own(cited) if verdict.own else cited
        return self._draft(at, given, sourced, verdict, content, kind, subject, applies_when)

    def _draft(
        self,
        at: str,
        given: dict[str, Any],
        cited: Sourced,
        verdict: Verdict,
        content: str,
        kind: str,
        subject: str | None,
        applies_when: str,
    ) -> Draft | None:
        tell = self._told.teller(at)
        schema, data = self._data(given, tell)
        named = self._citations.candidates(given.get("supersedes"), tell)
        starts, ends = (
            moment_of(given.get("valid_from"), cited, since),
            moment_of(given.get("valid_until"), cited, until),
        )
        for name, moment in (("valid_from", starts), ("valid_until", ends)):
            if given.get(name) and moment is None:
                tell("time", f"the words of {name} tell no time in a message that is cited")
        if starts is not None and ends is not None and ends < starts:
            tell("time", "it would end before it begins")
            starts = ends = None
        try:
            return Draft(
                content=content,
                kind=kind,
                key=self._key(given.get("key"), tell),
                subject=subject,
                cardinality=_cardinality(given.get("cardinality"), given.get("key")),
                applies_when=applies_when,
                tags=tuple(dict.fromkeys(texts_of(given.get("tags"))))[:MOST],
                valid_from=starts,
                valid_to=ends,
                supersedes=tuple(self._prompt.candidates[handle].id for handle in named),
                schema_name=schema,
                data=data,
                trust=verdict.trust,
                observed_at=max(message.observed_at for message, _ in cited),
                language=text_of(given.get("language"))[:35] or None,
                cited=tuple(one for _, one in cited),
            )
        except ValidationError as exc:
            tell("invalid", str(refused(exc)))
            return None

    def _applies_when(self, given: Any, cited: Sourced, verdict: Verdict, tell: Tell) -> str:
        """When a note applies, unless it is longer than a note, or a stranger's words in the user's note."""
        text = text_of(given)
        if not text or len(text) > self._limits.content_length:
            return ""
        judged = self._witness.judge(text, [message for message, _ in cited], kind="instruction")
        if verdict.own and judged.code == "stranger":
            tell(judged.code, judged.reason)
            return ""
        return text

    def _kind(self, given: Any, tell: Tell) -> str:
        kinds = self._limits.kinds
        kind = text_of(given).casefold()
        if kind in kinds:
            return kind
        if kind:
            tell("kind", f"{shown(kind)} is none of {', '.join(kinds)}")
        return (
            _ANY_KIND
            if _ANY_KIND in kinds
            else next((one for one in kinds if one not in DIRECTING), kinds[0])
        )

    def _key(self, given: Any, tell: Tell) -> str | None:
        key = " ".join(text_of(given).casefold().split())
        if len(key) > self._limits.key_length:
            tell("key", f"a key has at most {self._limits.key_length} characters")
            return None
        return key or None

    def _data(self, given: dict[str, Any], tell: Tell) -> tuple[str | None, dict[str, Any] | None]:
        """The fields of a note that follows a schema, where they are as the schema says."""
        name = given.get("schema")
        if name is None:
            return None, None
        schema = asked(self._prompt, name, "insert")
        if schema is None:
            tell("unknown", f"no schema {shown(name)} for notes was asked for")
            return None, None
        try:
            data = Copier().copy(given.get("data"))
        except Unfit as exc:
            tell("data", f"data {exc}")
            return None, None
        faults = known(schema).shape.faults(data)
        if faults or not isinstance(data, dict):
            reason = f"{faults[0].at} {faults[0].reason}" if faults else "is no object"
            tell("data", f"data {shown(reason)}")
            return None, None
        return schema.name, data

    def again(self, at: str, given: dict[str, Any]) -> Confirmation | None:
        """A memory that was said again, where a user did."""
        tell = self._told.teller(at)
        named = self._citations.candidates(given.get("memory"), tell)
        cited = self._citations.read(given.get("sources"), tell) if named else []
        if not cited:
            return None
        memory = self._prompt.candidates[named[0]]
        if not self._witness.repeated(memory.content, [message for message, _ in cited]):
            tell("echo", "no user said it again")
            return None
        return Confirmation(memory=memory.id, cited=tuple(one for _, one in own(cited)))

    def taken_back(self, at: str, given: dict[str, Any]) -> TakenBack | None:
        """A memory that a user takes back, in words of their own that speak of it."""
        tell = self._told.teller(at)
        named = self._citations.candidates(given.get("memory"), tell)
        cited = own(self._citations.read(given.get("sources"), tell)) if named else []
        if not cited:
            return None
        memory = self._prompt.candidates[named[0]]
        if not self._witness.repeated(memory.content, [message for message, _ in cited]):
            tell("claimed", "no user's words speak of it")
            return None
        return TakenBack(memory=memory.id, cited=tuple(one for _, one in cited))


def _spoken_by_another(cited: Sourced) -> str | None:
    """Whom a note without a subject is about, where only others than the owner say it."""
    speakers = [another(message) for message, _ in own(cited)]
    return speakers[0] if speakers and None not in speakers else None


def asked(prompt: Prompt, name: Any, mode: str) -> WantedSchema | None:
    """The schema of that name and sort, where it was asked for."""
    if not isinstance(name, str) or name not in prompt.asked:
        return None
    schema = prompt.reading.due(name)
    return schema if schema is not None and schema.update_mode == mode else None


def _cardinality(given: Any, key: Any) -> Cardinality:
    named = next((one for one in Cardinality if one.value == given), None)
    if named is not None:
        return named
    return Cardinality.ONE if text_of(key) else Cardinality.MANY
