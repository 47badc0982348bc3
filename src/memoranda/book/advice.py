"""Advice for developers whose read found nothing because of its view."""

from __future__ import annotations

import logging

from memoranda.model.query import Filter
from memoranda.model.records import WHOLE, Owner, View
from memoranda.ports import Engine

_log = logging.getLogger("memoranda.view")


async def log_narrow_view(
    engine: Engine, owner: Owner, view: View, only: Filter, verb: str
) -> None:
    """Log, for debugging, that a read found nothing although other views see such records of the
    owner.
    """
    if view.whole or not _log.isEnabledFor(logging.DEBUG):
        return
    there, seen = await engine.count(owner, WHOLE, only), await engine.count(owner, view, only)
    if there > seen:
        given = "no agent" if view.agent is None else f"agent {view.agent}"
        if view.groups:
            given += f" in {', '.join(view.groups)}"
        try_ = [] if view.agent else ["give agent=…"]
        try_ += ["give the agent's groups=…"] if view.agent and not view.groups else []
        advice = ", or ".join([*try_, "read with as_owner=True"])
        _log.debug(
            "%s found nothing: the view of %s sees %d of %d such records; %s",
            verb,
            given,
            seen,
            there,
            advice,
        )
