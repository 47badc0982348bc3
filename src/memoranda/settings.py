"""Reads a section of the settings, from a file and the environment, into the class that declares
it; a caller's identity is never read from here.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from memoranda.errors import InvalidInput
from memoranda.model.values import refused

PREFIX = "MEMORANDA_"
S = TypeVar("S", bound=BaseModel)


def read_file(path: str | Path, sections: Collection[str]) -> dict[str, Any]:
    """Return the sections of a TOML settings file; an unknown section is an error."""
    if not isinstance(path, (str, Path)):
        raise InvalidInput(f"settings: give a path, not {type(path).__name__}", field="settings")
    import tomllib  # noqa: PLC0415 - many programs have no file of settings

    try:
        found = tomllib.loads(Path(path).read_text("utf-8"))
    except FileNotFoundError:
        raise InvalidInput(
            f"settings: there is no file {path}; check the path", field="settings"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as exc:
        raise InvalidInput(f"settings: {path} is not valid TOML: {exc}", field="settings") from exc
    except (OSError, ValueError) as exc:
        # A ValueError is a path that no system takes, such as one with a NUL.
        raise InvalidInput(f"settings: {path} cannot be read: {exc}", field="settings") from exc
    for name, section in found.items():
        if name not in sections:
            known = ", ".join(sorted(sections))
            raise InvalidInput(f"{name}: {path} has no such section; known are {known}", field=name)
        if not isinstance(section, dict):
            raise InvalidInput(
                f"{name}: write a section [{name}] in {path}, not one value", field=name
            )
    return found


def refuse_unknown(
    sections: Collection[str], others: Collection[str], environment: Mapping[str, str] | None = None
) -> None:
    """Raise InvalidInput for a variable with our prefix that nothing reads: it names no section,
    and is not among ``others``.
    """
    given = os.environ if environment is None else environment
    known = sorted(sections)
    for variable in sorted(given):
        name = variable.upper().removeprefix(PREFIX).lower()
        if not variable.upper().startswith(PREFIX) or name in others:
            continue
        if not name.startswith(tuple(f"{section}_" for section in known)):
            from difflib import get_close_matches  # noqa: PLC0415 - only for this message

            section, _, field = name.partition("_")
            near = get_close_matches(section, known, 1)
            meant = f"; did you mean {f'{PREFIX}{near[0]}_{field}'.upper()}?" if near else ""
            raise InvalidInput(
                f"{variable}: nothing reads this variable; settings are named {PREFIX}<SECTION>_<FIELD>, and the sections "
                f"are {', '.join(known)}{meant}",
                field=variable,
            )


def settings(
    section: str,
    of: type[S],
    file: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
) -> S:
    """Return one section: the class's defaults, then the file, then
    ``MEMORANDA_<SECTION>_<FIELD>``.
    """
    values: dict[str, Any] = dict((file or {}).get(section, {}))
    for name, value in values.items():
        _check_field(section, name, name, of)
        if _is_number(of.model_fields[name]) and type(value) not in (int, float):
            raise InvalidInput(
                f"{section}.{name}: give a number, not {value!r}", field=f"{section}.{name}"
            )
    values |= _surroundings(section, of, os.environ if environment is None else environment)
    try:
        return of.model_validate(values)
    except ValidationError as exc:
        raise refused(exc, at=section) from exc


def _surroundings(
    section: str, of: type[BaseModel], environment: Mapping[str, str]
) -> dict[str, Any]:
    """Return a section's settings from the environment."""
    prefix = f"{PREFIX}{section}_".upper()
    values: dict[str, Any] = {}
    for variable, given in environment.items():
        if variable.upper().startswith(prefix):
            name = variable[len(prefix) :].lower()
            _check_field(section, name, variable, of)
            several = str(of.model_fields[name].annotation).startswith(("tuple", "list"))
            values[name] = _list(given, variable) if several else given
    return values


def _list(given: str, variable: str) -> list[Any]:
    """Return the parts of a list: separated by commas, or written as JSON."""
    if not given.lstrip().startswith("["):
        return [part.strip() for part in given.split(",") if part.strip()]
    try:
        return list(json.loads(given))
    except ValueError:
        raise InvalidInput(
            f"{variable}: separate the parts by commas, or write a list of JSON", field=variable
        ) from None


def _check_field(section: str, name: str, written: str, of: type[BaseModel]) -> None:
    if name not in of.model_fields:
        known = ", ".join(sorted(of.model_fields))
        raise InvalidInput(
            f"{written}: {section} has no such setting; known are {known}",
            field=f"{section}.{name}",
        )


def _is_number(field: FieldInfo) -> bool:
    kinds = {field.annotation, *get_args(field.annotation)}
    return bool(kinds & {int, float}) and not kinds & {bool, str}
