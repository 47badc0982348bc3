"""Setup of formation (turning threads into memories): connects its objects with models and
budgets.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from memoranda.book.forgetting.decisions import ForgetSettings
from memoranda.book.forming_jobs import REFORM
from memoranda.door import Door
from memoranda.embedding import VectorMaker
from memoranda.formation.budget import BudgetCheck, Budgets
from memoranda.formation.close import Closer
from memoranda.formation.extract.model_calls import ModelCalls
from memoranda.formation.formation_settings import QUIET, FormingSettings
from memoranda.formation.gather import ThreadReader
from memoranda.formation.privacy.line_checks import PrivacyGuard
from memoranda.formation.privacy.unkept import UnkeptWords
from memoranda.formation.quiet_threads import QuietThreads
from memoranda.formation.run import FormationRunner
from memoranda.formation.task_summaries import TaskSummaries
from memoranda.formation.who_forms import WhoForms
from memoranda.model.changes import FORM, FORM_LATE, Job
from memoranda.model.messages import Message
from memoranda.model.records import Limits
from memoranda.ports import Clock, Engine, Finder, Models
from memoranda.recall.context.turns import choose, is_users_turn
from memoranda.secrets.modes import SecretsMode
from memoranda.text.token_count import estimate
from memoranda.worker import Handler

#: One formation run writes the results of a whole conversation; the limits of an owner still apply.
_WRITES_PER_RUN: Final = 1_000
#: Tokens that a turn costs in a window in addition to its text.
_AROUND: Final = 4


def former_of(
    engine: Engine,
    finder: Finder,
    maker: VectorMaker | None,
    models: Models | None,
    who_forms: WhoForms,
    limits: Limits,
    settings: FormingSettings,
    budgets: Budgets,
    secrets: SecretsMode,
    tenant: str,
    clock: Clock,
) -> FormationRunner:
    """Build the object that forms the threads of a book (turns their messages into memories)."""
    door, reader, model_calls = _parts(
        engine, finder, maker, models, limits, budgets, secrets, tenant, clock
    )
    closer = Closer(door, reader, model_calls, _window_start)
    quiet = QuietThreads(door, reader)
    return FormationRunner(
        door, reader, model_calls, closer, quiet, PrivacyGuard(engine), who_forms, settings, clock
    )


def summaries_of(
    engine: Engine,
    finder: Finder,
    models: Models | None,
    limits: Limits,
    settings: FormingSettings,
    budgets: Budgets,
    secrets: SecretsMode,
    tenant: str,
    clock: Clock,
) -> TaskSummaries:
    """Build the object that summarises threads on demand."""
    door, reader, model_calls = _parts(
        engine, finder, None, models, limits, budgets, secrets, tenant, clock
    )
    return TaskSummaries(door, reader, model_calls, settings)


def _parts(
    engine: Engine,
    finder: Finder,
    maker: VectorMaker | None,
    models: Models | None,
    limits: Limits,
    budgets: Budgets,
    secrets: SecretsMode,
    tenant: str,
    clock: Clock,
) -> tuple[Door, ThreadReader, ModelCalls | None]:
    wide = limits.model_copy(update={"writes_per_run": max(_WRITES_PER_RUN, limits.writes_per_run)})
    door = Door(engine, wide, clock, secrets)
    reader = ThreadReader(engine, finder, maker, tenant, limits.experience_min_users, secrets)
    if models is None:
        return door, reader, None
    return door, reader, calls_of(engine, models, budgets, clock)


def calls_of(engine: Engine, models: Models, budgets: Budgets, clock: Clock) -> ModelCalls:
    """Build the object that calls models within budgets."""
    return ModelCalls(models, engine, BudgetCheck(engine, budgets, clock), clock, engine)


def handlers(former: FormationRunner, hiding: Handler) -> dict[str, Handler]:
    """Return the handlers of formation's jobs; ``hiding`` is done after a thread is formed."""

    def before_hiding(form: Handler) -> Handler:
        async def handle(job: Job) -> None:
            await form(job)
            await hiding(job)

        return handle

    return {
        FORM: before_hiding(former.form),
        REFORM: before_hiding(former.reform),
        QUIET: former.report_quiet,
        FORM_LATE: before_hiding(former.form_late),
    }


def hiding_unkept(
    engine: Engine, limits: Limits, clock: Clock, settings: ForgetSettings
) -> Handler:
    """Return the handler that hides what a thread's users asked not to keep; it is erased after the
    hours of grace.
    """
    return UnkeptWords(engine, Door(engine, limits, clock), settings.tool_grace_hours).hide


def _window_start(messages: Sequence[Message], budget: int) -> int:
    """Return the position of the message at which a window of the newest ``budget`` tokens
    begins.
    """
    chosen = choose(
        messages, budget, lambda message: estimate(message.content) + _AROUND, whole=True
    )
    if chosen is not None:
        return chosen.start
    # Not even the user's newest turn fits: the window begins there anyway.
    return max(
        (place for place, message in enumerate(messages) if is_users_turn(message)), default=0
    )
