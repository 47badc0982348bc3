"""The verbs of a book over agents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

from memoranda.book.context_requests import check_context_settings
from memoranda.book.dream.schedule import next_night
from memoranda.book.input import as_text
from memoranda.book.nouns.named_records import Named
from memoranda.book.verb_fields import AgentFields, spelled_out
from memoranda.formation.formation_settings import DREAM
from memoranda.model.ledger import Receipt
from memoranda.model.profiles import Agent
from memoranda.model.records import Limits
from memoranda.operations import Names, Part, Role, W, offer

_NAMED_AGENTS = "it tells of agents that the credential may name, and hides other agents' prompts"


@spelled_out
class Agents(Named[Agent], Part[W]):
    """The tenant's agents; an agent with malformed settings is refused."""

    @offer(Role.VIEWER, "GET /v1/agents/{name}", safe=_NAMED_AGENTS, names={"name": Names.AGENT})
    async def get(self, name: str) -> Agent | None:
        """Return the record of that name, or None."""
        return await self._get(name)

    @offer(Role.VIEWER, "GET /v1/agents", command="doctor", safe=_NAMED_AGENTS)
    async def list(self, limit: int = 1000) -> list[Agent]:
        """Return all records, in the order in which they were created."""
        return await self._list(limit)

    @offer(Role.ADMIN, "PUT /v1/agents/{name}", names={"name": Names.AGENT})
    async def put(
        self,
        name: str,
        *,
        new: bool = False,
        operation: str | None = None,
        **fields: Unpack[AgentFields],
    ) -> Receipt:
        """Store an agent, or change the one of that name; fields that are left out stay as they
        are.

        ``new`` refuses a name that is taken. ``settings["forming"]`` says when the agent's threads
        are formed, ``settings["sharing"]`` who reads them, ``settings["limits"]`` what it may
        write, ``settings["context"]`` what its contexts have, and ``settings["dream"]`` what its
        nights do.
        """
        given = fields.get("settings")
        if isinstance(given, Mapping):
            chosen = self._services.forming.of_agents.check(given)
            check_context_settings(chosen)
        receipt = await self._put(name, dict(fields), operation, new=new, patch=True)
        of_agents, now = self._services.forming.of_agents, self._services.door.clock()
        of_agents.changed(name)
        if (
            isinstance(given, Mapping)
            and DREAM in given
            and (dreaming := (await of_agents.dreams(name))[0]).enabled
        ):
            await self._services.engine.put(next_night(name, dreaming, now), now)
        return receipt

    @offer(
        Role.VIEWER, "GET /v1/agents/{name}/limits", safe=_NAMED_AGENTS, names={"name": Names.AGENT}
    )
    async def limits(self, name: str) -> Limits:
        """Return the limits of what an agent writes: the tenant's, replaced by those in its
        settings.
        """
        return await self._services.forming.of_agents.limits(as_text(name, "name"))
