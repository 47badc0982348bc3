"""The asker: whose memory a server's tools read and write, and the book as this credential may use
it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from memoranda.access.principal import GuardedBook
from memoranda.model.records import Audience, Record
from memoranda.secrets.masks import formed_data, shown

R = TypeVar("R", bound=Record)


@dataclass(frozen=True, slots=True)
class Whose:
    """The owner, the agent and its groups; the credential or the command line names them, never a
    model.
    """

    owner: str
    agent: str
    groups: tuple[str, ...] = ()
    #: Who reads what ``remember`` stores: ``self``, ``group``, ``global`` or an audience; None: the
    #: book's setting.
    audience: str | Audience | None = None


@dataclass(frozen=True, slots=True)
class Asker:
    """The caller of one request."""

    guard: GuardedBook
    whose: Whose

    async def call(self, verb: str, /, **arguments: Any) -> Any:
        """Call a verb for the owner, as the agent."""
        whose = self.whose
        return await self.guard.call(
            verb, owner=whose.owner, agent=whose.agent, groups=whose.groups, **arguments
        )

    def shown(self, records: Iterable[R]) -> list[R]:
        """Return records as a model may see them."""
        return shown(records, self.guard.secrets, native=False)

    def shown_text(self, text: str) -> str:
        """Return a text as a model may see it."""
        made: str = formed_data(text, self.guard.secrets)
        return made


#: Returns the asker of the request that is being answered.
Asking = Callable[[], Asker]
