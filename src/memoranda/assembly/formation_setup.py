"""Wires formation: who reads what was said, with which model, at whose expense."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final

from memoranda.book.forming import FORM, REFORM
from memoranda.door import Door
from memoranda.embedding import VectorMaker
from memoranda.formation.closing import Closer
from memoranda.formation.gathering import ThreadReader
from memoranda.formation.guard import Guard
from memoranda.formation.money import BudgetCheck, Budgets
from memoranda.formation.oracle import ModelCalls
from memoranda.formation.run import FormationRunner
from memoranda.formation.wishes import FormingSettings
from memoranda.model.messages import Message
from memoranda.model.trust import Limits
from memoranda.models import NONE, ModelsSettings
from memoranda.models import find as find_models
from memoranda.ports import Clock, Engine, Finder, Models
from memoranda.recall.context.window import choose, is_users_turn
from memoranda.text.tokens import estimate
from memoranda.worker import Handler

#: What the settings name; that is none, where they name none.
AUTO: Final = "auto"
#: One run writes what came of a whole conversation; what an owner may hold stays bounded.
_WRITES_PER_RUN: Final = 1_000
#: What a turn costs in a window beside its text.
_AROUND: Final = 4


async def models_of(wish: Any, settings: ModelsSettings) -> Models | None:
    """The models that are wished for; looking for them may load a provider's client."""
    if wish is None or wish == NONE:
        return None
    return await asyncio.to_thread(find_models, None if wish == AUTO else wish, settings)


def former_of(
    engine: Engine,
    finder: Finder,
    maker: VectorMaker | None,
    models: Models | None,
    limits: Limits,
    settings: FormingSettings,
    budgets: Budgets,
    tenant: str,
    clock: Clock,
) -> FormationRunner:
    """Who forms the threads of a book."""
    wide = limits.model_copy(update={"writes_per_run": max(_WRITES_PER_RUN, limits.writes_per_run)})
    door = Door(engine, wide, clock)
    reader = ThreadReader(engine, finder, maker, tenant, limits.experience_min_users)
    model_calls = (
        None
        if models is None
        else ModelCalls(models, engine, BudgetCheck(engine, budgets, clock), wide, clock)
    )
    closer = Closer(door, reader, model_calls, _window_start)
    return FormationRunner(door, reader, model_calls, closer, Guard(engine), settings, clock)


def handlers(former: FormationRunner) -> dict[str, Handler]:
    """What workers do of it."""
    return {FORM: former.form, REFORM: former.reform}


def _window_start(messages: Sequence[Message], budget: int) -> int:
    """Where a window of so many tokens begins in a thread."""
    chosen = choose(messages, budget, lambda message: estimate(message.content) + _AROUND, whole=True)
    if chosen is not None:
        return chosen.start
    # Not even the user's newest turn fits; it stays as it was said.
    return max((place for place, message in enumerate(messages) if is_users_turn(message)), default=0)
