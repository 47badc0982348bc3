"""Reads the settings of the service from a file and the environment."""

from __future__ import annotations

from pathlib import Path

from memoranda.access.service_settings import ServiceSettings
from memoranda.assembly.book_setup import SECTIONS
from memoranda.settings import read_file, settings


def service_settings(config: str | Path | None = None) -> ServiceSettings:
    """Return the settings of a file's section ``[service]`` and of variables
    ``MEMORANDA_SERVICE_<FIELD>``.
    """
    return settings(
        "service", ServiceSettings, {} if config is None else read_file(config, SECTIONS)
    )
