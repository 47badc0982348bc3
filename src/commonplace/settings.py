"""Reads settings from a file and the environment into whichever class a room gives; identity never comes from here."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from commonplace.errors import InvalidInput
from commonplace.model.values import refused

PREFIX = "COMMONPLACE_"

S = TypeVar("S", bound=BaseModel)


def read_file(path: str | Path) -> dict[str, Any]:
    """The sections of a settings file in TOML."""
    try:
        return tomllib.loads(Path(path).read_text("utf-8"))
    except FileNotFoundError:
        raise InvalidInput(f"settings: there is no file {path}", field="settings") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as exc:
        raise InvalidInput(f"settings: {path} is no TOML: {exc}", field="settings") from exc


def settings(
    section: str,
    of: type[S],
    file: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
) -> S:
    """One section: the class's defaults, then the file, then ``COMMONPLACE_<SECTION>_<FIELD>``."""
    values: dict[str, Any] = dict((file or {}).get(section, {}))
    surroundings = os.environ if environment is None else environment
    for name, field in of.model_fields.items():
        given = surroundings.get(f"{PREFIX}{section}_{name}".upper())
        if given is not None:
            several = str(field.annotation).startswith(("tuple", "list"))
            values[name] = tuple(part.strip() for part in given.split(",")) if several else given
    try:
        return of.model_validate(values)
    except ValidationError as exc:
        raise refused(exc, at=section) from exc
