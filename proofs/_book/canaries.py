"""Canaries: unique words that name their owner and can be found in any output."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass

from pydantic import BaseModel

_LETTERS = "bcfghjkmnpqrtvwxz"
#: A word with this end has no other form in any language: stemmers make one word of "…zz" and "…zt".
_END = "l"
_OWNER, _AUDIENCE, _SERIAL = 2, 1, 5
PATTERN = re.compile(f"qz[{_LETTERS}]{{{_OWNER + _AUDIENCE + _SERIAL}}}{_END}")


class Mint:
    """A maker of canaries; each contains the numbers of its owner and its audience."""

    def __init__(self) -> None:
        self._made = 0

    def __call__(self, owner: int, audience: int = 0) -> str:
        self._made += 1
        return f"qz{_digits(owner, _OWNER)}{_digits(audience, _AUDIENCE)}{_digits(self._made, _SERIAL)}{_END}"


def canaries_in(output: object) -> frozenset[str]:
    """Return all canaries in a text, or anywhere in a value."""
    return frozenset(PATTERN.findall(_spelled(output)))


def _spelled(output: object) -> str:
    """Return a value with everything inside it as one text."""
    if isinstance(output, str):
        return output
    if isinstance(output, BaseModel):
        return output.model_dump_json()
    if isinstance(output, Mapping):
        return " ".join(map(_spelled, (*output.keys(), *output.values())))
    if isinstance(output, list | tuple | frozenset | set):
        return " ".join(map(_spelled, output))
    if is_dataclass(output):
        return " ".join(_spelled(getattr(output, part.name)) for part in fields(output))
    return repr(output)


def owner_of(canary: str) -> int:
    """Return the number of the canary's owner."""
    return _number(canary[2 : 2 + _OWNER])


def audience_of(canary: str) -> int:
    """Return the number of the canary's audience."""
    return _number(canary[2 + _OWNER : 2 + _OWNER + _AUDIENCE])


def _digits(number: int, width: int) -> str:
    base = len(_LETTERS)
    if number >= base**width:
        raise ValueError(f"{number} does not fit into {width} letters")
    return "".join(_LETTERS[number // base**place % base] for place in reversed(range(width)))


def _number(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * len(_LETTERS) + _LETTERS.index(letter)
    return number
