"""A wish or the settings name the models, and nothing is imported before one is."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from pydantic_ai.models.test import TestModel

from memoranda.errors import InvalidInput
from memoranda.models import DEFAULT, ModelsSettings, RemoteModels, find
from memoranda.settings import settings
from memoranda.testing.scripted_models import ScriptedModels
from tests.models.questions import question


@pytest.mark.parametrize("wish", [None, "none"])
def test_without_a_wish_there_is_no_model(wish: str | None) -> None:
    assert find(wish) is None


async def test_models_of_ones_own_are_taken_and_closed_by_the_book() -> None:
    own = ScriptedModels([{"by": "own"}])
    found = find(own)
    assert found is not None and found.named("memories") == "scripted:scripted"
    assert (await found.ask(question())).value == {"by": "own"}
    await found.close()
    assert own.closed


async def test_a_wish_counts_before_the_settings_and_none_of_them_is_asked_for_by_name() -> None:
    assert find("none", ModelsSettings(use="test")) is None
    assert isinstance(find(None, ModelsSettings(use="test")), RemoteModels)


async def test_tasks_have_models_by_wish_and_by_settings() -> None:
    by_wish = find({DEFAULT: "test", "summary": TestModel(custom_output_text='{"by": 2}')})
    assert by_wish is not None
    assert (await by_wish.ask(question(task="summary"))).value == {"by": 2}
    assert (await by_wish.ask(question())).value is None
    by_settings = find(None, ModelsSettings(use="test", tasks=("summary = test",)))
    assert isinstance(by_settings, RemoteModels)


@pytest.mark.parametrize(
    ("wish", "chosen"),
    [
        ({"summary": "test"}, ModelsSettings()),
        (None, ModelsSettings(use="test", tasks=("summary",))),
        (None, ModelsSettings(use="test", tasks=("=test",))),
        (None, ModelsSettings(use="no-such-provider:model")),
        (7, ModelsSettings()),
    ],
    ids=["no default", "no model", "no task", "no provider", "number"],
)
def test_what_names_no_model_is_refused_in_words(wish: Any, chosen: ModelsSettings) -> None:
    with pytest.raises(InvalidInput, match=r"^models"):
        find(wish, chosen)


def test_a_model_without_its_provider_is_told_how_models_are_named() -> None:
    with pytest.raises(InvalidInput, match="name it as provider:model, such as openai:gpt-5-mini"):
        find("gpt-5")


def test_settings_are_read_from_file_and_environment() -> None:
    read = settings(
        "models",
        ModelsSettings,
        {"models": {"use": "openai:gpt-5-mini", "max_concurrent": 2}},
        {"MEMORANDA_MODELS_TASKS": "summary=test, episode=test"},
    )
    assert (read.use, read.max_concurrent, read.tasks) == (
        "openai:gpt-5-mini",
        2,
        ("summary=test", "episode=test"),
    )


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import memoranda, memoranda.models; print('pydantic_ai' in sys.modules)", "False"),
        (
            """sys.modules['pydantic_ai'] = None; from memoranda.models import find
try: find('openai:x')
except ValueError as exc: print(exc)""",
            "pip install 'PATH[models]'",
        ),
    ],
    ids=["lazily", "missing"],
)
def test_pydantic_ai_comes_only_when_a_model_is_named(code: str, said: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; {code}"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert said in done.stdout
