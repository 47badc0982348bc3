"""The formats of JSON Schema: those that are checked, and those that are only shown to the model."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime
from uuid import UUID


def _is_date(text: str) -> bool:
    return _parses(date.fromisoformat, text) if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text) else False


def _is_moment(text: str) -> bool:
    shape = r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?([Zz]|[+-][0-9]{2}:[0-9]{2})"
    return _parses(datetime.fromisoformat, text.upper()) if re.fullmatch(shape, text) else False


def _is_uuid(text: str) -> bool:
    return _parses(UUID, text) if re.fullmatch(r"[0-9a-fA-F-]{36}", text) else False


def _parses(read: Callable[[str], object], text: str) -> bool:
    try:
        read(text)
    except ValueError:
        return False
    return True


#: Checked formats; a date-time needs its offset.
CHECKED_FORMATS: dict[str, Callable[[str], bool]] = {
    "date": _is_date,
    "date-time": _is_moment,
    "uuid": _is_uuid,
}
#: Formats that are shown to a model and not checked.
UNCHECKED_FORMATS = frozenset(
    {
        "time",
        "duration",
        "email",
        "idn-email",
        "hostname",
        "ipv4",
        "ipv6",
        "uri",
        "uri-reference",
        "iri",
        "path",
    }
    | {
        "file-path",
        "directory-path",
        "binary",
        "base64url",
        "password",
        "json-string",
        "regex",
        "json-pointer",
    }
)
