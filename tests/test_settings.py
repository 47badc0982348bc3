"""Tests that misspelt, malformed and unreadable settings are refused with a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

import memoranda
from memoranda import InvalidInput, Limits
from memoranda.access.service_settings import ServiceSettings
from memoranda.settings import read_file, settings


def written(folder: Path, text: str) -> Path:
    path = folder / "settings.toml"
    path.write_text(text, "utf-8")
    return path


async def refused(**how: object) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        await memoranda.open("memory://", **how)  # type: ignore[arg-type]
    return caught.value


@pytest.mark.parametrize(
    ("text", "field", "words"),
    [
        (
            "[limit]\nbatch = 5",
            "limit",
            "known are budgets, dream, embedding, forget, forming, limits, models, recall, retention",
        ),
        ("batch = 5", "batch", "no such section"),
        ("limits = 5", "limits", r"write a section \[limits\]"),
        (
            "[limits]\nbatchh = 5",
            "limits.batchh",
            "known are archived_per_owner, at_capacity, batch",
        ),
        ("[limits]\nbatch = true", "limits.batch", "give a number, not True"),
        ('[limits]\nbatch = "5"', "limits.batch", "give a number"),
        ("[limits]\nbatch = 1.5", "limits.batch", "integer"),
        ("[limits", "settings", "not valid TOML"),
        ("[forming]\nwindow_hours = inf", "forming.window_hours", "less than or equal|finite"),
        ("[forming]\nwindow_hours = 1e308", "forming.window_hours", "less than or equal"),
        ("[models]\ntimeout_seconds = inf", "models.timeout_seconds", "less than or equal|finite"),
        ("[models]\ntimeout_seconds = 1e308", "models.timeout_seconds", "less than or equal"),
        ("[embedding]\ntimeout_seconds = 1e308", "embedding.timeout_seconds", "less than or equal"),
        ("[budgets]\nrun_tokens = 9999999999999999999", "budgets.run_tokens", "less than or equal"),
        ("[budgets]\nrun_price = 1e308", "budgets.run_price", "less than or equal"),
        ("[budgets]\nrun_price = nan", "budgets.run_price", "finite"),
    ],
)
async def test_a_malformed_file_is_refused_by_name(
    tmp_path: Path, text: str, field: str, words: str
):
    error = await refused(config=written(tmp_path, text))
    assert error.field == field
    with pytest.raises(InvalidInput, match=words):
        raise error


@pytest.mark.parametrize("name", ["", "missing.toml", "with\0nul"])
async def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, name: str):
    assert (await refused(config=f"{tmp_path}/{name}")).field == "settings"


async def test_a_config_that_is_no_path_is_refused():
    assert (await refused(config=5)).field == "settings"


@pytest.mark.parametrize("given", [{"batch": 1}, 5, False])
async def test_limits_are_limits(given: object):
    assert (await refused(limits=given)).field == "limits"


@pytest.mark.parametrize("name", ["BOOK", "DEBUG", "KEY", "PRIVATE_HOSTS"])
async def test_a_documented_variable_of_no_section_stops_no_book(
    monkeypatch: pytest.MonkeyPatch, name: str
):
    monkeypatch.setenv(f"MEMORANDA_{name}", "its value")
    async with memoranda.open("memory://"):
        pass


async def test_an_unknown_variable_of_a_known_section_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MEMORANDA_LIMITS_BATCHH", "5")
    error = await refused()
    assert error.field == "limits.batchh" and "MEMORANDA_LIMITS_BATCHH" in str(error)


@pytest.mark.parametrize(
    ("variable", "words"),
    [
        ("MEMORANDA_LIMIT_BATCH", "did you mean MEMORANDA_LIMITS_BATCH"),
        (
            "MEMORANDA_WORKER",
            "nothing reads this variable.*budgets, dream, embedding, forget, forming",
        ),
        ("memoranda_retentoin_messages_days", "did you mean MEMORANDA_RETENTION_MESSAGES_DAYS"),
    ],
)
async def test_a_variable_that_nothing_reads_is_refused(
    monkeypatch: pytest.MonkeyPatch, variable: str, words: str
):
    monkeypatch.setenv(variable, "its value")
    error = await refused()
    assert error.field == variable and "its value" not in str(error)
    with pytest.raises(InvalidInput, match=words):
        raise error


def test_the_environment_wins_over_the_file_and_speaks_in_texts(tmp_path: Path):
    file = read_file(
        written(tmp_path, '[limits]\nbatch = 7\nkinds = ["a"]\nkey_length = 9'), {"limits"}
    )
    surroundings = {
        "MEMORANDA_LIMITS_BATCH": "5",
        "MEMORANDA_LIMITS_KINDS": "fact, note",
        "MEMORANDA_BOOK": "/somewhere",
        "MEMORANDA_OTHER_THING": "1",
    }
    found = settings("limits", Limits, file, surroundings)
    assert (found.batch, found.kinds, found.key_length) == (5, ("fact", "note"), 9)


@pytest.mark.parametrize(
    "given", ["fact, note", '["fact", "note"]', ' ["fact","note"]', "fact,note,"]
)
def test_a_list_in_a_variable_has_commas_or_is_json(given: str):
    assert settings("limits", Limits, {}, {"MEMORANDA_LIMITS_KINDS": given}).kinds == (
        "fact",
        "note",
    )


def test_an_empty_variable_is_an_empty_list_and_a_broken_one_is_refused():
    variable = "MEMORANDA_SERVICE_ALLOWED_HOSTS"
    assert settings("service", ServiceSettings, {}, {variable: ""}).allowed_hosts == ()
    with pytest.raises(InvalidInput, match="separate the parts by commas") as caught:
        settings("service", ServiceSettings, {}, {variable: "[memory.example.com]"})
    assert caught.value.field == variable


def test_a_variable_that_is_no_number_is_refused_by_its_field():
    with pytest.raises(InvalidInput) as caught:
        settings("limits", Limits, {}, {"MEMORANDA_LIMITS_BATCH": "many"})
    assert caught.value.field == "limits.batch"


def test_a_value_under_its_earlier_name_is_refused_with_the_new_one():
    for how in (
        lambda: settings("limits", Limits, {"limits": {"at_capacity": "evict"}}, {}),
        lambda: settings("limits", Limits, {}, {"MEMORANDA_LIMITS_AT_CAPACITY": "evict"}),
        lambda: Limits(at_capacity="evict"),  # type: ignore[arg-type]
    ):
        with pytest.raises(InvalidInput, match="evict_oldest") as caught:
            how()
        assert caught.value.field == "limits.at_capacity"


def test_the_limit_of_a_whole_owner_is_off_unless_it_is_set():
    found = settings("limits", Limits, {}, {"MEMORANDA_LIMITS_MEMORIES_PER_OWNER": "500"})
    assert (found.memories_per_owner, found.memories_per_agent) == (500, 5000)
    assert Limits().memories_per_owner is None and Limits().at_capacity == "evict_weakest"
