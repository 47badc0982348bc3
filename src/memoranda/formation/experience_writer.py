"""Writes an agent's new experience: the agent is another owner, so it is another commit."""

from __future__ import annotations

from memoranda.door import Door
from memoranda.formation.extract.model_calls import Portion
from memoranda.formation.gather import ACTOR
from memoranda.formation.privacy.line_checks import PrivacyGuard
from memoranda.formation.reconcile.reconciler import CurrentRecords, Reconciled
from memoranda.model.records import WHOLE, Owner, OwnerKind


class ExperienceWriter:
    """Writes lines of experience that the privacy guard has checked."""

    def __init__(self, door: Door, guard: PrivacyGuard) -> None:
        self._door = door
        self._guard = guard

    async def write(
        self, portion: Portion, made: Reconciled, current: CurrentRecords, operation: str
    ) -> None:
        """Write the agent's experience; it is written once even if the worker is killed and the
        work is repeated.
        """
        thread = portion.reading.thread
        if not made.experience or thread.agent is None:
            return
        agent = Owner(tenant=thread.owner.tenant, kind=OwnerKind.AGENT, id=thread.agent)
        learnt = await self._guard.with_results(made.experience, current.experience, portion.now)
        await self._door.write(
            agent, WHOLE, ACTOR, learnt, request=[operation], operation=operation
        )
