"""Formats of texts in schemas: those that are checked, as Pydantic reads them, and those that are
only shown.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta
from functools import cache
from ipaddress import (
    IPv4Address,
    IPv4Interface,
    IPv4Network,
    IPv6Address,
    IPv6Interface,
    IPv6Network,
)
from typing import Any, Final
from uuid import UUID

from pydantic import (
    AnyUrl,
    IPvAnyAddress,
    IPvAnyInterface,
    IPvAnyNetwork,
    TypeAdapter,
    ValidationError,
)

_UUID: Final = "9f1c2ab0-5d3e-4c77-8a54-0e6b1f2d3c4a"

#: Of each checked format: the type that reads it, how its texts begin, and an example.
_CHECKED: Final[dict[str, tuple[Any, str, str]]] = {
    "date": (date, "", "2026-02-28"),
    # Pydantic reads a number as a moment, too.
    "date-time": (datetime, r"\d{4}-", "2026-02-28T10:30:00Z"),
    "time": (time, "", "10:30:00"),
    "duration": (timedelta, "[-+]?P", "P1DT2H30M"),
    "uuid": (UUID, r"[\da-fA-F-]{36}$", _UUID),
    **{
        f"uuid{version}": (UUID, rf".{{14}}{version}.{{4}}[89abAB].{{16}}$", _UUID)
        for version in range(1, 9)
    },
    "email": (str, r"\S+@[^\s@]+$", "ana@example.com"),
    "uri": (AnyUrl, "", "https://example.com/page"),
    "ipv4": (IPv4Address, "", "192.0.2.1"),
    "ipv6": (IPv6Address, "", "2001:db8::1"),
    "ipv4network": (IPv4Network, "", "192.0.2.0/24"),
    "ipv6network": (IPv6Network, "", "2001:db8::/32"),
    "ipv4interface": (IPv4Interface, "", "192.0.2.1/24"),
    "ipv6interface": (IPv6Interface, "", "2001:db8::1/32"),
    "ipvanyaddress": (IPvAnyAddress, "", "192.0.2.1"),
    "ipvanynetwork": (IPvAnyNetwork, "", "192.0.2.0/24"),
    "ipvanyinterface": (IPvAnyInterface, "", "192.0.2.1/24"),
}
CHECKED_FORMATS: Final = frozenset(_CHECKED)
#: Formats that are shown to a model and not checked.
UNCHECKED_FORMATS: Final = frozenset(
    "base64 base64url binary color directory-path file-path fraction hostname idn-email iri "
    "json-pointer json-string multi-host-uri name-email password path regex uri-reference "
    "zoneinfo".split()
)


@cache
def _reader(name: str) -> TypeAdapter[Any]:
    return TypeAdapter(_CHECKED[name][0])


def format_fault(name: str, text: str) -> str | None:
    """Return why a text does not have a checked format; None if it does."""
    _, beginning, example = _CHECKED[name]
    try:
        if re.match(beginning, text):
            _reader(name).validate_strings(text, strict=True)
            return None
    except ValidationError:
        pass
    return f"is not a valid {name}, such as {example}"
