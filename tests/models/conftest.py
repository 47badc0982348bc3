"""A local provider, under the names by which it is asked in either of its protocols."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fakes import model_replies as replies
from tests.fakes.model_server import ModelServer
from tests.models.questions import GOOD


@pytest.fixture(params=["openai-chat:gpt-4o-mini", "openai:gpt-4o-mini"], ids=["chat", "responses"])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    with ModelServer([replies.answer(GOOD)]) as serving:
        for variable, value in serving.environment.items():
            monkeypatch.setenv(variable, value)
        yield serving
