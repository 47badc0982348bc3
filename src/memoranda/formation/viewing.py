"""The views with which formation reads a thread and writes its results."""

from __future__ import annotations

from typing import Final
from uuid import uuid4

from memoranda.model.ledger import Actor
from memoranda.model.messages import Thread
from memoranda.model.owner import AudienceKind, View

#: The actor of all changes by formation.
ACTOR: Final = Actor("system", "formation")
#: A view with groups needs the name of an agent. No agent has this name, so the view shows no agent's own records.
_NOBODY: Final = f"formation {uuid4()}"


def writing_view(thread: Thread) -> View:
    """Return the view with which the results of a thread are written."""
    audience = thread.audience
    if audience.kind is AudienceKind.SELF:
        return View(agent=audience.agent)
    if audience.kind is AudienceKind.GROUP:
        return View(agent=thread.agent or _NOBODY, groups=audience.groups)
    return View(agent=thread.agent)


def reading_view(thread: Thread) -> View:
    """Return the view for reading: it shows only what every reader of the thread may read."""
    audience = thread.audience
    if audience.kind is AudienceKind.SELF:
        return View(agent=audience.agent)
    if audience.kind is AudienceKind.GROUP:
        return View(agent=_NOBODY, groups=audience.groups)
    return View()
