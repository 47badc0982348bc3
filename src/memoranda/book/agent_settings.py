"""Settings of single agents: when their threads are formed, who reads what they write, their
limits, and their contexts.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple, get_args

from pydantic import Field

from memoranda.book.dream.dream_settings import DreamSettings
from memoranda.errors import InvalidInput
from memoranda.formation.agent_limits import checked_limits, limits_for_agent
from memoranda.formation.formation_settings import (
    CONTEXT,
    DREAM,
    SHARING,
    FormingSettings,
    agent_named,
    own_settings,
    replaced_by,
)
from memoranda.model.profiles import Agent
from memoranda.model.query import Filter
from memoranda.model.records import (
    EVERYONE,
    WHOLE,
    Audience,
    Limits,
    Owner,
    RecordType,
    View,
    those_of,
)
from memoranda.model.values import Name, Value
from memoranda.ports import Records

#: Other processes may change an agent's settings: they are read again after so long.
_KNOWN_SECONDS: Final = 30.0
_MOST_KNOWN: Final = 1_000
_AGENTS: Final = Filter(types=frozenset({RecordType.AGENT}))
_Audience = Literal["self", "group", "global"]
_AUDIENCES: Final[tuple[str, ...]] = get_args(_Audience)


class SharingSettings(Value):
    """The audience of an agent's threads and statements that name none: the agent alone, its
    groups, or all agents.
    """

    default: _Audience = Field(
        default="self",
        description="Who reads what an agent writes without naming an audience: self (that agent), group (its groups) or global (all agents of the owner).",
    )

    def preferring(self, audience: str | None) -> SharingSettings:
        """Return these settings with the audience that opening the book names, if it names one."""
        if audience is None:
            return self
        if audience not in _AUDIENCES:
            raise InvalidInput(
                f"audience: {audience!r} is not one of {', '.join(_AUDIENCES)}", field="audience"
            )
        return SharingSettings.model_validate({"default": audience})

    def for_agent(self, agent: Agent | None) -> SharingSettings:
        """Return these settings, replaced by the agent's own where it has some; what cannot be read
        widens nothing.
        """
        if agent is None or SHARING not in agent.settings:
            return self
        try:
            return self.check(agent.settings)
        except InvalidInput:
            return SharingSettings()

    def check(self, settings: Mapping[str, Any]) -> SharingSettings:
        """Return these settings with an agent's own; raise ``InvalidInput`` if those cannot be
        used.
        """
        own = own_settings(settings, SHARING, "{'default': 'self'}")
        return replaced_by(self, own, f"settings.{SHARING}")


class ContextSettings(Value):
    """The defaults of a context; an agent may have its own."""

    budget: int = Field(default=2000, ge=1, lt=2**62, description="Most tokens of a context.")
    limit: int | None = Field(
        default=None,
        ge=1,
        le=1000,
        description="Most hits and memories in a context; unset: as many as fit into the budget.",
    )
    types: tuple[Name, ...] | None = Field(
        default=None, description="Types of records in a context; unset: all."
    )
    kinds: tuple[Name, ...] | None = Field(
        default=None, description="Kinds of memories in a context; unset: all."
    )
    time_zone: Name | None = Field(
        default=None,
        description="A time zone such as Europe/Lisbon, in which a context tells the time; unset: it does not.",
    )
    order: Literal["most_recent", "most_accessed"] = Field(
        default="most_recent",
        description="The order in which EDDI's /visible gives an agent its entries, where a request names none.",
    )

    def for_agent(self, agent: Agent | None) -> ContextSettings:
        """Return these settings, replaced by the agent's own where it has some and they can be
        read.
        """
        try:
            return self if agent is None else self.check(agent.settings)
        except InvalidInput:
            return self

    def check(self, settings: Mapping[str, Any]) -> ContextSettings:
        """Return these settings with an agent's own; raise ``InvalidInput`` if those cannot be
        used.
        """
        own = own_settings(settings, CONTEXT, "{'budget': 1000}")
        return replaced_by(self, own, f"settings.{CONTEXT}")


class OneAgent(NamedTuple):
    """The settings of one agent."""

    forming: FormingSettings
    sharing: SharingSettings
    limits: Limits
    context: ContextSettings
    dream: DreamSettings
    #: When they were read.
    read_at: float


class AgentSettings:
    """The settings of a tenant's agents: the tenant's, replaced by the agent's own."""

    def __init__(
        self,
        records: Records,
        tenant: Owner,
        forming: FormingSettings,
        sharing: SharingSettings,
        limits: Limits,
        dream: DreamSettings,
    ) -> None:
        self._records = records
        self._tenant = tenant
        self._forming = forming
        self.sharing = sharing
        self._limits = limits
        self._dream = dream
        self._context = ContextSettings()
        #: Agent → its settings.
        self._known: dict[str, OneAgent] = {}

    def check(self, settings: Mapping[str, Any]) -> ContextSettings:
        """Raise ``InvalidInput`` if an agent's settings cannot be used; return those of contexts,
        which are checked further.
        """
        self._forming.check(settings)
        self.sharing.check(settings)
        checked_limits(self._limits, settings)
        self._dream.check(settings)
        return self._context.check(settings)

    async def forming(self, agent: str | None) -> FormingSettings:
        """Return when an agent's threads are formed."""
        return self._forming if agent is None else (await self._of(agent)).forming

    async def limits(self, agent: str | None) -> Limits:
        """Return the limits of what an agent writes."""
        return self._limits if agent is None else (await self._of(agent)).limits

    async def context(self, agent: str | None) -> ContextSettings:
        """Return what an agent's contexts have where a call does not say it."""
        return self._context if agent is None else (await self._of(agent)).context

    async def dreams(self, agent: str | None) -> tuple[DreamSettings, frozenset[str]]:
        """Return what a night does with an agent's memories, and without an agent the ones that
        have settings of their own.
        """
        if agent is not None:
            return (await self._of(agent)).dream, frozenset()
        page = await self._records.scan(self._tenant, WHOLE, _AGENTS, None, _MOST_KNOWN)
        return self._dream, frozenset(
            one.name for one in those_of(Agent, page.records) if DREAM in one.settings
        )

    async def common_audience(self, view: View) -> Audience | None:
        """Return the audience of what a view's agent writes without naming one; None if the agent
        keeps to itself.
        """
        default = "self" if view.agent is None else (await self._of(view.agent)).sharing.default
        if default == "global":
            return EVERYONE
        # An agent in no group shares with none.
        return Audience.of_groups(view.groups) if default == "group" and view.groups else None

    def changed(self, agent: str | None = None) -> None:
        """Forget the cached settings of one agent, or of all agents, because they may have
        changed.
        """
        if agent is None:
            self._known.clear()
        else:
            self._known.pop(agent, None)

    async def _of(self, agent: str) -> OneAgent:
        at = time.monotonic()
        known = self._known.get(agent)
        if known is not None and at - known.read_at < _KNOWN_SECONDS:
            return known
        record = await agent_named(self._records, self._tenant, agent)
        found = OneAgent(
            self._forming.for_agent(record),
            self.sharing.for_agent(record),
            limits_for_agent(self._limits, record),
            self._context.for_agent(record),
            self._dream.for_agent(record),
            at,
        )
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        self._known[agent] = found
        return found
