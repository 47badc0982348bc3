"""Advice for developers: why a read found nothing, and what to do where an operation cannot be undone."""

from __future__ import annotations

import logging

from memoranda.errors import HasDependents, InvalidInput, MemorandaError
from memoranda.model.ledger import Verb
from memoranda.model.query import Filter
from memoranda.model.records import WHOLE, Owner, View
from memoranda.ports import Engine

_log = logging.getLogger("memoranda.view")


async def log_narrow_view(engine: Engine, owner: Owner, view: View, only: Filter, verb: str) -> None:
    """Log, for debugging, that a read found nothing although other views see such records of the owner."""
    if view.whole or not _log.isEnabledFor(logging.DEBUG):
        return
    there, seen = await engine.count(owner, WHOLE, only), await engine.count(owner, view, only)
    if there > seen:
        given = "no agent" if view.agent is None else f"agent {view.agent}"
        if view.groups:
            given += f" in {', '.join(view.groups)}"
        try_ = [] if view.agent else ["give agent=…"]
        try_ += ["give the agent's groups=…"] if view.agent and not view.groups else []
        advice = ", or ".join([*try_, "read with view='owner'"])
        _log.debug(
            "%s found nothing: the view of %s sees %d of %d such records; %s",
            verb,
            given,
            seen,
            there,
            advice,
        )


async def undo_advice(engine: Engine, owner: Owner, position: int, exc: MemorandaError) -> MemorandaError:
    """Return the error of an undo with what to do instead; other errors unchanged."""
    if isinstance(exc, HasDependents):
        said = [str(later) for later in exc.positions if await _appends(engine, owner, later)]
        if not said:
            return HasDependents(f"{exc}, with with_dependents=True", positions=exc.positions)
        return HasDependents(
            f"position {position} cannot be undone: later changes depend on it, and position {', '.join(said)} appended "
            "messages, which no undo removes; forget these messages or their thread instead",
            positions=exc.positions,
        )
    if not isinstance(exc, InvalidInput) or not str(exc).startswith("position: messages cannot"):
        return exc
    what = f"position {position}"
    if not await _appends(engine, owner, position):
        what = f"a later change that depends on position {position}"
    return InvalidInput(
        f"position: {what} appended messages, which cannot be undone; forget them by their ids, with what was concluded "
        "from them alone, or use retract_source to keep them and take back only what was concluded",
        field="position",
    )


async def _appends(engine: Engine, owner: Owner, position: int) -> bool:
    entries = await engine.entries(owner, position - 1, 1)
    return any(line.verb is Verb.APPEND for entry in entries for line in entry.lines)
