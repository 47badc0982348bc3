"""As whom a thread is read, and what comes of it written."""

from __future__ import annotations

from typing import Final
from uuid import uuid4

from memoranda.model.ledger import Actor
from memoranda.model.messages import Thread
from memoranda.model.owner import AudienceKind, View

#: Who writes it.
ACTOR: Final = Actor("system", "formation")
#: A view with groups needs the name of an agent; no agent has this one, and so nothing of its own.
_NOBODY: Final = f"formation {uuid4()}"


def view_of(thread: Thread) -> View:
    """As whom what is formed of a thread is written."""
    audience = thread.audience
    if audience.kind is AudienceKind.SELF:
        return View(agent=audience.agent)
    if audience.kind is AudienceKind.GROUP:
        return View(agent=thread.agent or _NOBODY, groups=audience.groups)
    return View(agent=thread.agent)


def readers_of(thread: Thread) -> View:
    """As whom it is read: what is shown to an extractor is seen by everyone who reads the thread, and no more is."""
    audience = thread.audience
    if audience.kind is AudienceKind.SELF:
        return View(agent=audience.agent)
    if audience.kind is AudienceKind.GROUP:
        return View(agent=_NOBODY, groups=audience.groups)
    return View()
