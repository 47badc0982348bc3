"""The privacy guard: compares a line of experience (an agent's lesson) with all records of the user
it came from.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from memoranda.formation.privacy.distinctive import LineFeatures, features_of
from memoranda.formation.privacy.traces import Traces
from memoranda.model.changes import AddEvidence, AddExperience
from memoranda.model.experience_lines import Evidence, ExperienceLine
from memoranda.model.query import Filter
from memoranda.model.records import WHOLE, Owner, Record, RecordType
from memoranda.paging import every_page
from memoranda.ports import Records

#: The most records and characters of a user that are read; if there are more, no line passes.
MOST_RECORDS: Final = 20_000
MOST_CHARACTERS: Final = 4_000_000
_AT_A_TIME: Final = 500
#: Longer lines never pass.
_LONGEST: Final = 2_000
_EXAMINED: Final = Filter(
    types=frozenset(
        {
            RecordType.PROFILE,
            RecordType.MEMORY,
            RecordType.MESSAGE,
            RecordType.THREAD,
            RecordType.EPISODE,
            RecordType.OVERFLOW,
        }
    )
)


class PrivacyGuard:
    """Decides whether a line of experience reveals anything about a user."""

    def __init__(
        self,
        records: Records,
        *,
        most_records: int = MOST_RECORDS,
        most_characters: int = MOST_CHARACTERS,
        beside: Sequence[Record] = (),
    ) -> None:
        self._records = records
        #: Records that are about to be stored.
        self._beside = beside
        self._most_records = most_records
        self._most_characters = most_characters

    async def passes(self, line: str, owner: Owner) -> bool:
        """True if a line of experience contains no name, contact, number or rare word from this
        user's records.
        """
        return (await self.check_lines([line], owner))[0]

    async def check_lines(self, lines: Sequence[str], owner: Owner) -> list[bool]:
        """Return for each line of experience if it passes; if the user's records cannot all be
        read, none does.
        """
        if all(len(line) > _LONGEST for line in lines):
            return [False] * len(lines)
        tellings = [features_of(line[:_LONGEST]) for line in lines]
        traces = await self._traces(owner, tellings)
        if traces is None:
            return [False] * len(lines)
        return [
            len(line) <= _LONGEST and not traces.reveals(telling)
            for line, telling in zip(lines, tellings, strict=True)
        ]

    async def with_results(
        self,
        changes: Sequence[AddExperience | AddEvidence],
        known: Iterable[ExperienceLine],
        now: datetime,
    ) -> list[AddExperience | AddEvidence]:
        """Add the guard's results to the changes; ``known`` are the stored lines that get more
        evidence.
        """
        texts: dict[UUID, str] = {line.id: line.line for line in known}
        asked = [
            (
                part.owner,
                change.line.line
                if isinstance(change, AddExperience)
                else texts.get(change.line, ""),
            )
            for change in changes
            for part in _evidence_of(change)
        ]
        passed: set[tuple[Owner, str]] = set()
        for owner in dict.fromkeys(owner for owner, _ in asked):
            lines = list(dict.fromkeys(line for whose, line in asked if whose == owner and line))
            answers = await self.check_lines(lines, owner) if lines else []
            passed |= {(owner, line) for line, answer in zip(lines, answers, strict=True) if answer}
        return [_with_result(change, texts, passed, now) for change in changes]

    async def _traces(self, owner: Owner, tellings: Sequence[LineFeatures]) -> Traces | None:
        """Collect names, words and numbers from the user's records; None if there are too many
        records to read.
        """
        traces = Traces(owner, tellings)
        read, characters = 0, _take(traces, self._beside)
        async for page in every_page(self._records, owner, WHOLE, _EXAMINED, _AT_A_TIME):
            characters += await asyncio.to_thread(_take, traces, page.records)
            read += len(page.records)
            if read > self._most_records or characters > self._most_characters:
                return None
        return traces


def _take(traces: Traces, records: Sequence[Record]) -> int:
    return sum(traces.add(record) for record in records)


def _evidence_of(change: AddExperience | AddEvidence) -> tuple[Evidence, ...]:
    return change.line.evidence if isinstance(change, AddExperience) else (change.evidence,)


def _with_result(
    change: AddExperience | AddEvidence,
    texts: dict[UUID, str],
    passed: set[tuple[Owner, str]],
    now: datetime,
) -> AddExperience | AddEvidence:
    def answered(part: Evidence, text: str) -> Evidence:
        return part.model_copy(update={"guarded_at": now if (part.owner, text) in passed else None})

    if isinstance(change, AddEvidence):
        return AddEvidence(change.line, answered(change.evidence, texts.get(change.line, "")))
    parts = tuple(answered(part, change.line.line) for part in change.line.evidence)
    return AddExperience(change.line.changed(evidence=parts))
