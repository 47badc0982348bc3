"""The door: the checks that every write passes. It checks limits, computes search terms, and
applies the changes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from memoranda import telemetry
from memoranda.errors import InvalidInput, LimitReached
from memoranda.model import changes as c
from memoranda.model.changes import JobDraft
from memoranda.model.items import Item, PutItem, path_fault
from memoranda.model.ledger import Actor, Receipt
from memoranda.model.memories import SOURCES, Memory, searched_text
from memoranda.model.messages import Episode, Message, SummariseThread, Thread
from memoranda.model.records import Limits, Owner, Record, View
from memoranda.model.values import NAME_LENGTH, canonical, json_text, request_digest, text_fault
from memoranda.ports import Clock, Records
from memoranda.secrets.modes import SecretsMode
from memoranda.storage.decide.thread_changes import cut
from memoranda.text.terms import pack_text

#: The terms of longer texts are computed in another thread.
_LONG = 50_000


class Door:
    """The only way to write records: it checks each change before the engine applies it."""

    def __init__(
        self, records: Records, limits: Limits, clock: Clock, secrets: SecretsMode = "hide"
    ) -> None:
        self._records = records
        self.limits = limits
        self.clock = clock
        #: What is done with secrets: only ``mask`` changes what is written.
        self.secrets: SecretsMode = secrets

    def within(self, limits: Limits) -> Door:
        """Return a door with these limits."""
        return (
            self if limits is self.limits else Door(self._records, limits, self.clock, self.secrets)
        )

    async def write(
        self,
        owner: Owner,
        view: View,
        actor: Actor,
        changes: Sequence[c.Change],
        *,
        request: Any,
        operation: str | None = None,
        expect: c.Expect = c.NOTHING_EXPECTED,
        jobs: tuple[JobDraft, ...] = (),
        era: UUID | None = None,
        note: Mapping[str, Any] | None = None,
        dry_run: bool = False,
        also: tuple[Owner, Sequence[c.Change]] | None = None,
    ) -> Receipt:
        """Check changes, compute their search terms, and apply all of them or none; with
        ``dry_run`` only decide them.

        ``also`` has changes to what another owner has for all users, in the same transaction.
        """
        own = len(changes)
        changes = (*changes, *(also[1] if also else ()))
        if operation is not None:
            check_operation(operation)
        if self.secrets == "mask":
            changes, request = await self._masked(changes, request, given=operation is not None)
        self._check(changes)
        ready = await self._with_terms(changes)
        batch = c.Batch(
            owner=owner,
            view=view,
            actor=actor,
            at=self.clock(),
            changes=tuple(ready[:own]),
            limits=self.limits,
            jobs=jobs,
            expect=expect,
            operation=operation,
            # Who asks is part of the request: another agent's may not be taken for this one's.
            request=b""
            if operation is None
            else request_digest(canonical([view.agent, view.groups, view.whole, request])),
            era=era,
            note=note or {},
            dry_run=dry_run,
            also=also and (also[0], tuple(ready[own:])),
        )
        with telemetry.span("write"):
            receipt = await self._records.apply(batch)
        if not dry_run:
            telemetry.count("writes")
        return receipt

    async def _masked(
        self, changes: Sequence[c.Change], request: Any, *, given: bool
    ) -> tuple[Sequence[c.Change], Any]:
        """Return changes with masks in place of secrets, and so the request if its digest is
        stored.
        """
        # Most books store secrets as they are, and need none of this.
        from memoranda.secrets.masked_changes import masked_change  # noqa: PLC0415
        from memoranda.secrets.masks import masked_data  # noqa: PLC0415

        def mask() -> tuple[Sequence[c.Change], Any]:
            return list(map(masked_change, changes)), masked_data(request) if given else request

        return await asyncio.to_thread(mask) if sum(map(_length, changes)) > _LONG else mask()

    def _check(self, changes: Sequence[c.Change]) -> None:
        limits = self.limits
        size = sum(
            len(change.messages) if isinstance(change, c.Append) else 1 for change in changes
        )
        if size > limits.batch:
            raise LimitReached(
                f"batch: {size} changes in one call; send at most {limits.batch} at a time",
                field="batch",
            )
        refused = [
            error for place, change in enumerate(changes) for error in self._refusals(place, change)
        ]
        if refused:
            refused[0].errors = tuple(refused)
            raise refused[0]

    def _refusals(self, place: int, change: c.Change) -> list[InvalidInput]:
        match change:
            case c.Append():
                found = [
                    _too_long(m.content, self.limits.message_length, f"messages[{i}].content", i)
                    for i, m in enumerate(change.messages)
                ]
            case c.Remember():
                found = self._memory(change.memory, place)
            case c.Retract() | c.RetractSource() | c.RetireExperience():
                found = [_unfit(change.reason, self.limits.content_length, "reason", place)]
            case c.Amend():
                given = change.fields.get("applies_when")
                found = (
                    [_unfit(given, self.limits.content_length, "applies_when", place)]
                    if given
                    else []
                )
            case SummariseThread():
                found = [_unfit(change.summary, self.limits.message_length, "summary", place)]
            case c.RecordEpisode():
                found = self._episode(change.episode, place)
            case c.CloseThread() if change.episode is not None:
                found = self._episode(change.episode, place)
            case c.Import():
                found = self._imported(change.record, place)
            case PutItem():
                found = self._item(change.item, place)
            case c.PatchProfile():
                found = [_too_many(change.sources, "sources", place)]
            case c.Confirm():
                found = [_too_many(change.sources, "sources", place)]
            case c.AddExperience():
                found = [_too_long(change.line.line, self.limits.content_length, "line", place)]
            case _:
                found = []
        return [error for error in found if error is not None]

    def _imported(self, record: Record, place: int) -> list[InvalidInput | None]:
        """Check an imported record's lengths and kind; the limit of memories per owner is not
        applied here.
        """
        if isinstance(record, Memory):
            return self._memory(record, place)
        if isinstance(record, Item):
            return self._item(record, place)
        if isinstance(record, Episode):
            return self._episode(record, place)
        if isinstance(record, Message):
            return [_too_long(record.content, self.limits.message_length, "content", place)]
        if isinstance(record, Thread):
            return [_too_long(record.summary, self.limits.message_length, "summary", place)]
        return []

    def _episode(self, episode: Episode, place: int) -> list[InvalidInput | None]:
        return [
            _too_long(episode.goal, self.limits.content_length, "goal", place),
            _too_long(episode.summary, self.limits.message_length, "summary", place),
        ]

    def _item(self, item: Item, place: int) -> list[InvalidInput | None]:
        size = len(json_text(item.value).encode())
        found: list[InvalidInput | None] = [
            InvalidInput(f"index: {fault}", field="index", item=place)
            for path in item.index or ()
            if (fault := path_fault(path))
        ]
        if size > self.limits.item_size:
            found.append(
                LimitReached(
                    f"value: too large, {size} bytes as JSON. Maximum {self.limits.item_size} (limits.item_size).",
                    field="value",
                    item=place,
                )
            )
        return found

    def _memory(self, memory: Memory, place: int) -> list[InvalidInput | None]:
        limits = self.limits
        found = [
            _too_long(memory.content, limits.content_length, "content", place),
            _too_long(memory.applies_when, limits.content_length, "applies_when", place),
        ]
        if memory.key is not None:
            found.append(_too_long(memory.key, limits.key_length, "key", place))
        if memory.kind not in limits.kinds:
            allowed = ", ".join(limits.kinds)
            message = f"kind: {memory.kind!r} is not kept here. Allowed: {allowed}"
            found.append(LimitReached(message, field="kind", item=place))
        return found

    async def _with_terms(self, changes: Sequence[c.Change]) -> list[c.Change]:
        if sum(map(_length, changes)) > _LONG:
            return await asyncio.to_thread(lambda: [self._filled(change) for change in changes])
        return [self._filled(change) for change in changes]

    def _filled(self, change: c.Change) -> c.Change:
        match change:
            case c.Append():
                return replace(
                    change, terms=tuple(pack_terms(message) or b"" for message in change.messages)
                )
            case c.Remember():
                return replace(change, terms=pack_terms(change.memory) or b"")
            case PutItem():
                return replace(change, terms=pack_terms(change.item) or b"")
            case c.RecordEpisode():
                episode, overflow = cut(change.episode, self.limits)
                return replace(
                    change, episode=episode, overflow=overflow, terms=pack_terms(episode) or b""
                )
            case c.CloseThread() if change.episode is not None:
                episode, overflow = cut(change.episode, self.limits)
                return replace(
                    change, episode=episode, overflow=overflow, terms=pack_terms(episode) or b""
                )
            case c.Import():
                return replace(change, terms=pack_terms(change.record))
            case _:
                return change


def check_operation(operation: object) -> str:
    """Check an operation id and return it."""
    if (
        not isinstance(operation, str)
        or not 0 < len(operation) <= NAME_LENGTH
        or text_fault(operation)
    ):
        raise InvalidInput(
            f"operation: an operation id is a text of 1 to {NAME_LENGTH} characters",
            field="operation",
        )
    return operation


def pack_terms(record: Record) -> bytes | None:
    """Return the packed search terms of a record; None if it is not a passage."""
    text = searched_text(record)
    return None if text is None else pack_text(text)


def _unfit(text: object, limit: int, field: str, item: int) -> InvalidInput | None:
    if not isinstance(text, str):
        return InvalidInput(f"{field}: give a text", field=field, item=item)
    fault = text_fault(text)
    if fault is not None:
        return InvalidInput(f"{field}: {fault}", field=field, item=item)
    return _too_long(text, limit, field, item)


def _too_long(text: str, limit: int, field: str, item: int) -> InvalidInput | None:
    if len(text) <= limit:
        return None
    return LimitReached(
        f"{field}: too long, {len(text)} characters. Maximum {limit}.", field=field, item=item
    )


def _too_many(sources: Sequence[UUID], field: str, item: int) -> InvalidInput | None:
    if len(sources) <= SOURCES:
        return None
    return LimitReached(
        f"{field}: {len(sources)} given. Maximum {SOURCES}.", field=field, item=item
    )


def _length(change: c.Change) -> int:
    if isinstance(change, c.Append):
        return sum(len(message.content) for message in change.messages)
    if isinstance(change, PutItem):
        return len(change.item.passage_text())
    return len(change.record.passage_text() or "") if isinstance(change, c.Import) else 0


def explained_limit(exc: LimitReached, limit: int) -> LimitReached:
    """Return the error of too many statements in one run with the setting's name, and what a run
    is; others unchanged.
    """
    if exc.field != "statements":
        return exc
    return LimitReached(
        f"{exc} The setting limits.writes_per_run allows {limit} statements in a run: all with the same run=; without it, in a "
        "thread what follows the user's newest message, and elsewhere one call. Split the call, or raise the setting.",
        field=exc.field,
        item=exc.item,
    )
