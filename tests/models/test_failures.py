"""Every way in which a model can fail is told as one of two, and tells nothing of what was
asked.
"""

from __future__ import annotations

import json
import pickle

import pytest
from pydantic_ai.exceptions import (
    FallbackExceptionGroup,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelHTTPError,
    ModelRateLimitError,
    ModelTimeoutError,
    UnexpectedModelBehavior,
    UserError,
)
from pydantic_ai.models.fallback import FallbackModel

from memoranda.errors import ModelDown, ModelFailed, ModelRefused
from memoranda.models import RemoteModels
from tests.models.questions import CANARY, GOOD, assert_tells_nothing, question
from tests.models.scripted import Gate, raises, says


@pytest.mark.parametrize(
    ("error", "wait"),
    [
        (ModelConnectionError("letters", f"no route to {CANARY}"), None),
        (ModelHTTPError(503, "letters", body=CANARY, headers={"Retry-After": "4"}), 4.0),
        (ModelRateLimitError("letters", CANARY, retry_after=1e12), 86_400.0),
        (ModelRateLimitError("letters", CANARY, retry_after=float("nan")), None),
        (UnexpectedModelBehavior("odd", body=CANARY), None),
        (ConnectionResetError(CANARY), None),
        (TimeoutError(CANARY), None),
        (ModelTimeoutError("letters", CANARY), None),
        (TypeError(CANARY), None),
        (
            FallbackExceptionGroup(CANARY, [UserError(CANARY), ModelConnectionError("b", CANARY)]),
            None,
        ),
    ],
    ids=[
        "connection",
        "status",
        "long wait",
        "no wait",
        "odd",
        "socket",
        "timeout",
        "own timeout",
        "client",
        "fallback",
    ],
)
async def test_a_provider_that_is_down_may_be_asked_later(
    error: Exception, wait: float | None
) -> None:
    with pytest.raises(ModelDown) as caught:
        await RemoteModels(raises(error)).ask(question())
    assert caught.value.retry_after == wait
    assert_tells_nothing(caught.value)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ModelAuthenticationError("letters", f"bad key for {CANARY}"), "credentials"),
        (ModelHTTPError(418, "letters", body=CANARY), "request"),
        (UserError(CANARY), "request"),
        (FallbackExceptionGroup(CANARY, [ModelAuthenticationError("a", CANARY)]), "credentials"),
    ],
    ids=["key", "status", "use", "fallback"],
)
async def test_a_provider_that_refuses_is_no_outage(error: Exception, reason: str) -> None:
    with pytest.raises(ModelRefused) as caught:
        await RemoteModels(raises(error)).ask(question())
    assert caught.value.reason == reason
    assert_tells_nothing(caught.value)


async def test_several_models_in_one_are_down_when_all_of_them_are() -> None:
    both = FallbackModel(
        raises(ModelConnectionError("a", CANARY)), raises(ModelHTTPError(500, "b", CANARY))
    )
    with pytest.raises(ModelDown) as caught:
        await RemoteModels(both).ask(question())
    assert_tells_nothing(caught.value)
    either = FallbackModel(raises(ModelConnectionError("a", CANARY)), says(json.dumps(GOOD)))
    assert (await RemoteModels(either).ask(question())).value == GOOD


def test_errors_survive_the_way_between_processes() -> None:
    down = pickle.loads(pickle.dumps(ModelDown("busy", retry_after=3)))
    refused = pickle.loads(pickle.dumps(ModelRefused("no", reason="quota")))
    assert (down.retry_after, refused.reason) == (3, "quota")
    assert isinstance(down, ModelFailed) and down.code == refused.code == "model"


async def test_a_model_that_does_not_answer_in_time_is_given_up() -> None:
    with pytest.raises(ModelDown, match=r"within 0\.01 s"):
        await RemoteModels(Gate().model, seconds=0.01).ask(question())
