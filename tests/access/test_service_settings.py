"""Tests of the settings of the service."""

from __future__ import annotations

from pathlib import Path

import pytest

import memoranda
from memoranda import InvalidInput
from memoranda.access.service_settings import ServiceSettings
from memoranda.assembly import service_settings

TOKENS = {
    "token_issuer": "https://id.example.com",
    "token_audience": "memoranda",
    "token_jwks": "https://id.example.com/jwks",
}


def written(folder: Path, **given: str) -> Path:
    path = folder / "settings.toml"
    lines = [f"{name} = {value}" for name, value in given.items()]
    path.write_text("\n".join(["[service]", *lines]), "utf-8")
    return path


def test_without_settings_no_token_is_taken_and_reads_are_noted() -> None:
    given = service_settings()
    assert not given.takes_tokens
    assert given.audit
    assert given.cors_origins == given.allowed_hosts == ()


async def test_a_book_opens_with_a_file_that_has_settings_of_the_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, audit_days="30", cors_origins='["https://app.example.com"]')
    monkeypatch.setenv("MEMORANDA_SERVICE_ALLOWED_HOSTS", "memory.example.com, localhost")
    async with memoranda.open("memory://", config=path):
        given = service_settings(path)
    assert (given.audit_days, given.cors_origins) == (30, ("https://app.example.com",))
    assert given.allowed_hosts == ("memory.example.com", "localhost")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"token_issuer": "https://id.example.com"}, "token_audience, token_jwks"),
        ({**TOKENS, "token_algorithms": ("HS256",)}, "'HS256', which is not asymmetric"),
        ({**TOKENS, "token_algorithms": ("none",)}, "'none', which is not asymmetric"),
        ({**TOKENS, "token_algorithms": ()}, "names none"),
        ({**TOKENS, "token_jwks": "http://id.example.com/jwks"}, "without TLS"),
        ({"cors_origins": ("*",)}, "write each origin whole"),
        ({"body_bytes": 0}, "greater than or equal"),
    ],
)
def test_settings_that_would_open_the_service_too_wide_are_refused(
    given: dict[str, object], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        ServiceSettings.model_validate(given)


def test_a_wrong_setting_is_refused_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"service\.token_algorithms: names 'HS256'"):
        service_settings(written(tmp_path, token_algorithms='["HS256"]'))
