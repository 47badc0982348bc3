"""Reads the notes (new statements) in a model's answer, and checks the sources and the trust of
each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from pydantic import ValidationError

from memoranda.formation.extract.answer import Report
from memoranda.formation.extract.attribution import DIRECTING, Attribution, Verdict
from memoranda.formation.extract.citations import (
    MOST_ENTRIES,
    Citations,
    Problems,
    Sourced,
    from_user,
    text_of,
    texts_of,
)
from memoranda.formation.extract.commitments import Commitments
from memoranda.formation.extract.dated_content import dated
from memoranda.formation.extract.prompt import Prompt, document_of
from memoranda.formation.extract.said_times import times_of
from memoranda.formation.owner_names import owner_names
from memoranda.formation.replacement import reason_against
from memoranda.formation.schemas.definitions import NOTE, schema_of
from memoranda.formation.schemas.json_values import Copier, InvalidJson, printable
from memoranda.model.drafts import Confirmation, Draft, TakenBack, WantedSchema
from memoranda.model.memories import Cardinality, Memory
from memoranda.model.records import COMMITMENT, STRANGERS, Limits, Trust
from memoranda.model.values import refused
from memoranda.storage.decide.strangers import other_speaker

#: The kind of a note whose kind is unknown, and of what the user alone intends.
_DEFAULT_KIND: Final = "fact"
_PLAN_KIND: Final = "context"


class NoteReader:
    """Reads a model's answer: new statements (notes), memories said again (repeats) and taken back
    (retracts).
    """

    def __init__(
        self,
        prompt: Prompt,
        limits: Limits,
        citations: Citations,
        attribution: Attribution,
        problems: Problems,
        earlier: str = "",
    ) -> None:
        #: The model's earlier answers to the same question.
        self._earlier = earlier
        self._prompt = prompt
        self._owner_names = owner_names(prompt.reading)
        self._limits = limits
        self._citations = citations
        self._attribution = attribution
        self._problems = problems
        self._commitments = Commitments(prompt.reading)
        #: Commitments that the notes read so far end.
        self.settled: list[TakenBack] = []

    def note(self, at: str, given: dict[str, Any]) -> Draft | None:
        """Return the draft of a note if it is valid; otherwise report why not."""
        report = self._problems.reporter(at)
        content = text_of(given.get("content"))
        if not content or len(content) > self._limits.content_length:
            reason = f"a note needs content of at most {self._limits.content_length} characters"
            report("content", reason, mendable=not content)
            return None
        cited = self._citations.read(given.get("sources"), report)
        if not cited:
            return None
        kind = self._kind(given.get("kind"), report)
        messages = [message for message, _ in cited]
        named = self._citations.candidates(given.get("supersedes", ()), report)
        replaced = [self._prompt.candidates[handle] for handle in named]
        if kind == COMMITMENT:
            if self._commitments.is_promised(messages):
                return self._commitment(at, given, content, cited, replaced)
            kind = self._kind(_PLAN_KIND, report)
        replaced = self._settle(replaced, cited)
        subject = self._attribution.other_subject(
            text_of(given.get("subject"))
        ) or _only_other_speaker(cited)
        if kind == "preference" and subject is not None:
            # What others like directs nobody.
            kind = self._kind(_DEFAULT_KIND, report)
        verdict = self._attribution.judge(
            content, messages, kind=kind, subject=subject, replaces=replaced
        )
        if verdict.code:
            again = bool(replaced) and verdict.code != "stranger"
            report(verdict.code, verdict.reason, mendable=again, once=again)
            return None
        if replaced and self._attribution.is_denied(content, messages):
            report(
                "polarity",
                "the cited words say the opposite; it replaces nothing",
                mendable=True,
                once=True,
            )
            replaced = []
        applies_when = self._applies_when(given.get("applies_when"), cited, verdict, report)
        sourced = from_user(cited) if verdict.own else cited
        return self._draft(
            at, given, sourced, verdict, content, kind, subject, applies_when, replaced, cited
        )

    def _commitment(
        self,
        at: str,
        given: dict[str, Any],
        content: str,
        cited: Sourced,
        replaced: Sequence[Memory],
    ) -> Draft | None:
        """Return the draft of what the assistant promised: open until it is due, without a key,
        directing nobody.
        """
        report = self._problems.reporter(at)
        messages = [message for message, _ in cited]
        verdict = self._commitments.judge(content, messages)
        if verdict.code:
            report(verdict.code, verdict.reason)
            return None
        said = self._citations.with_message(cited, self._commitments.request_of(messages))
        sourced = [(message, one) for message, one in said if message.trust not in STRANGERS]
        plain = {**given, "key": None, "cardinality": Cardinality.MANY.value, "schema": None}
        earlier = [memory for memory in replaced if memory.kind == COMMITMENT]
        return self._draft(at, plain, sourced, verdict, content, COMMITMENT, None, "", earlier)

    def _settle(self, replaced: Sequence[Memory], cited: Sourced) -> list[Memory]:
        """Return the memories that a note replaces without commitments, which end if user or
        assistant say so.

        They end also where the note itself is not kept.
        """
        closing = tuple(one for _, one in self._commitments.closing(cited))
        for memory in replaced if closing else ():
            if memory.kind == COMMITMENT:
                self.settled.append(TakenBack(memory=memory.id, cited=closing))
        return [memory for memory in replaced if memory.kind != COMMITMENT]

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
        replaced: Sequence[Memory],
        told: Sourced | None = None,
    ) -> Draft | None:
        report = self._problems.reporter(at)
        follows = self._data(given, replaced, report)
        if follows is None:
            return None
        schema, data, carries = follows
        # An assistant's words may say when what the user confirmed is to begin.
        said = [*cited, *(one for one in told or () if one not in cited)]
        times = times_of(given, said, report, self._earlier)
        if (
            given.get("valid_until")
            and times["valid_to"] is None
            and any(one.valid_to is None for one in replaced)
        ):
            report("bounded", "a temporary statement does not replace a permanent one")
            replaced = [one for one in replaced if one.valid_to is not None]
        try:
            draft = Draft(
                content=dated(
                    content, cited, times["happened"], report, longest=self._limits.content_length
                ),
                kind=kind,
                key=self._key(given.get("key"), verdict.trust, subject, report),
                subject=subject,
                cardinality=_cardinality(given.get("cardinality"), given.get("key")),
                applies_when=applies_when,
                tags=tuple(dict.fromkeys(texts_of(given.get("tags"))))[:MOST_ENTRIES],
                supersedes=tuple(one.id for one in replaced),
                schema_name=schema,
                data=data,
                carries=carries,
                trust=verdict.trust,
                observed_at=max(message.observed_at for message, _ in cited),
                language=text_of(given.get("language"))[:35] or None,
                cited=tuple(one for _, one in cited),
                **times,
            )
        except ValidationError as exc:
            report("invalid", str(refused(exc)))
            return None
        return draft.model_copy(
            update={"supersedes": self._replaceable(draft, replaced, cited, report)}
        )

    def _replaceable(
        self, draft: Draft, replaced: Sequence[Memory], cited: Sourced, report: Report
    ) -> tuple[UUID, ...]:
        """Return the named memories that a note may replace; report the others, which the model may
        correct once.
        """
        found = []
        for memory in replaced:
            said = "\n".join(message.content for message, _ in cited)
            reason = reason_against(draft, memory, self._owner_names, said)
            if reason is None:
                found.append(memory.id)
            else:
                again = draft.trust not in STRANGERS
                report(*reason, mendable=again, once=again)
        return tuple(found)

    def _applies_when(self, given: Any, cited: Sourced, verdict: Verdict, report: Report) -> str:
        """Return the occasions a note is for; empty if too long, or if a stranger's words limit a
        user's note.
        """
        text = text_of(given)
        if not text or len(text) > self._limits.content_length:
            return ""
        if verdict.own and self._attribution.is_strangers_occasion(
            text, [message for message, _ in cited]
        ):
            report("stranger", "the words of a tool or a web page do not limit what the user says")
            return ""
        return text

    def _kind(self, given: Any, report: Report) -> str:
        kinds = self._limits.kinds
        kind = text_of(given).casefold()
        if kind in kinds:
            return kind
        if kind:
            report("kind", f"{printable(kind)} is not one of {', '.join(kinds)}")
        return (
            _DEFAULT_KIND
            if _DEFAULT_KIND in kinds
            else next((one for one in kinds if one not in DIRECTING), kinds[0])
        )

    def _key(self, given: Any, trust: Trust, subject: str | None, report: Report) -> str | None:
        key = " ".join(text_of(given).casefold().split())
        if key and trust in STRANGERS and subject is None:
            report("reported", "what a tool or a web page says of the user has no key")
            return None
        if len(key) > self._limits.key_length:
            report("key", f"a key has at most {self._limits.key_length} characters")
            return None
        return key or None

    def _data(
        self, given: dict[str, Any], replaced: Sequence[Memory], report: Report
    ) -> tuple[str | None, dict[str, Any] | None, UUID | None] | None:
        """Return the schema and the data of a note that follows one, and the memory whose fields it
        carries on.

        None if the data does not follow it: such a note goes back to the model, and is never kept
        as a plain one.
        """
        name = given.get("schema")
        if name is None or (name == NOTE.name and not given.get("data")):
            if NOTE.name in self._prompt.asked:
                return None, None, None
            report("unasked", "only notes of a schema were asked for")
            return None
        schema = requested_schema(self._prompt, name, "insert")
        if schema is None:
            report(
                "unknown",
                f"no schema {printable(name)} for notes was asked for",
                mendable=bool(given.get("data")),
            )
            return (
                None
                if given.get("data") or NOTE.name not in self._prompt.asked
                else (None, None, None)
            )
        try:
            data = Copier().copy(given.get("data"))
        except InvalidJson as exc:
            report("data", f"data {exc}", mendable=True)
            return None
        shape = schema_of(schema).shape
        earlier = [
            (one.id, document)
            for one in replaced
            if (document := document_of(one, schema.name)) is not None
        ]
        carries = None
        if len(earlier) == 1 and isinstance(data, dict) and not earlier[0][1].keys() <= data.keys():
            # Fields that the note does not name stay as they are.
            data, carries = {**earlier[0][1], **data}, earlier[0][0]
        data = shape.completed(data)
        faults = shape.faults(data)
        if faults or not isinstance(data, dict):
            reason = f"{faults[0].at} {faults[0].reason}" if faults else "is not an object"
            report("data", f"data {printable(reason)}", mendable=True)
            return None
        return schema.name, data, carries

    def repeat(self, at: str, given: dict[str, Any]) -> Confirmation | None:
        """Return a confirmation of a memory if a user repeated it; otherwise report why not."""
        report = self._problems.reporter(at)
        named = self._citations.candidates([given["memory"]], report)
        cited = self._citations.read(given.get("sources"), report) if named else []
        if not cited:
            return None
        memory = self._prompt.candidates[named[0]]
        if not self._attribution.is_repeated(memory.content, [message for message, _ in cited]):
            report("echo", "no user repeated it")
            return None
        return Confirmation(memory=memory.id, cited=tuple(one for _, one in from_user(cited)))

    def retraction(self, at: str, given: dict[str, Any]) -> TakenBack | None:
        """Return a retraction if a user's own words are about the memory; otherwise report why
        not.
        """
        report = self._problems.reporter(at)
        named = self._citations.candidates([given["memory"]], report)
        read = self._citations.read(given.get("sources"), report) if named else []
        memory = self._prompt.candidates[named[0]] if named else None
        if memory is not None and memory.kind == COMMITMENT:
            closing = self._commitments.closing(read)
            if not closing:
                report("claimed", "neither user nor assistant says that it is done")
                return None
            return TakenBack(memory=memory.id, cited=tuple(one for _, one in closing))
        cited = from_user(read)
        if memory is None or not cited:
            return None
        if not self._attribution.is_ended(memory.content, [message for message, _ in cited]):
            report("claimed", "no user's words are about it", mendable=True, once=True)
            return None
        return TakenBack(memory=memory.id, cited=tuple(one for _, one in cited))


def _only_other_speaker(cited: Sourced) -> str | None:
    """Return the speaker of a note without a subject if only people other than the owner said
    it.
    """
    speakers = [other_speaker(message) for message, _ in from_user(cited)]
    return speakers[0] if speakers and None not in speakers else None


def requested_schema(prompt: Prompt, name: Any, mode: str) -> WantedSchema | None:
    """Return the schema with that name and update mode, if the prompt asked for it."""
    if name not in prompt.asked:
        return None
    schema = prompt.reading.due(name)
    return schema if schema is not None and schema.update_mode == mode else None


def _cardinality(given: Any, key: Any) -> Cardinality:
    return Cardinality(given or (Cardinality.ONE if text_of(key) else Cardinality.MANY))
