"""The classes of secrets, and the span of one in a text."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple


class SecretClass(StrEnum):
    """The classes of secrets; each is named in its mask."""

    KEY = "key"
    TOKEN = "token"
    PASSWORD = "password"
    PRIVATE_KEY = "private key"
    CARD = "card number"
    ACCOUNT = "account number"
    PASSPORT = "passport number"
    IDENTITY = "identity number"


class Secret(NamedTuple):
    """A secret in a text: its class, and where it begins and ends."""

    kind: SecretClass
    start: int
    end: int


def united(found: Iterable[Secret]) -> list[Secret]:
    """Return secrets in the order of the text; those that overlap become one, of the class that
    begins first or is longer.
    """
    made: list[Secret] = []
    for one in sorted(found, key=lambda each: (each.start, -each.end)):
        if made and one.start < made[-1].end:
            last = made[-1]
            longer = last if last.end - last.start >= one.end - one.start else one
            made[-1] = Secret(longer.kind, last.start, max(last.end, one.end))
        else:
            made.append(one)
    return made
