"""Limits of single agents: the tenant's, replaced by the agent's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from memoranda.errors import InvalidInput
from memoranda.formation.formation_settings import LIMITS, own_settings, replaced_by
from memoranda.model.profiles import Agent
from memoranda.model.records import Limits

#: The limits that an agent may have of its own. All others are about a call, an owner or all agents
#: together.
AGENT_LIMITS: Final = frozenset(
    {
        "kinds",
        "kind_days",
        "key_length",
        "content_length",
        "message_length",
        "writes_per_run",
        "memories_per_agent",
        "memories_per_owner",
        "at_capacity",
        "tool_output_length",
        "tool_calls",
        "overflow_length",
    }
)
_AT: Final = f"settings.{LIMITS}"


def limits_for_agent(limits: Limits, agent: Agent | None) -> Limits:
    """Return the limits of what an agent writes; the tenant's if its own cannot be read."""
    if agent is None or LIMITS not in agent.settings:
        return limits
    try:
        return checked_limits(limits, agent.settings)
    except InvalidInput:
        return limits


def checked_limits(limits: Limits, settings: Mapping[str, Any]) -> Limits:
    """Return these limits with an agent's own; raise ``InvalidInput`` if those cannot be used."""
    own = own_settings(settings, LIMITS, "{'writes_per_run': 5}")
    for name in own:
        if name not in AGENT_LIMITS:
            known = ", ".join(sorted(AGENT_LIMITS))
            raise InvalidInput(
                f"{_AT}.{name}: an agent has no such limit of its own; known are {known}",
                field=f"{_AT}.{name}",
            )
    return replaced_by(limits, own, _AT)
