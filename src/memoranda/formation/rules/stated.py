"""What a sentence was understood to say, and what of it the book keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from memoranda.model.memories import Cardinality


@dataclass(frozen=True, slots=True)
class Topic:
    """How statements about one thing are kept: a memory's kind, and its key where one holds at a time."""

    kind: str
    key: str | None = None


#: What statements can be about, in every language. Without a key, a newer statement takes no other's place.
TOPICS: Final[Mapping[str, Topic]] = MappingProxyType(
    {
        "name": Topic("fact", "name"),
        "nickname": Topic("preference", "nickname"),
        "age": Topic("fact", "age"),
        "birthday": Topic("fact", "birthday"),
        "home": Topic("fact", "home"),
        "moved": Topic("fact", "home"),
        "origin": Topic("fact", "origin"),
        "work": Topic("fact"),
        "language": Topic("fact"),
        "family": Topic("fact"),
        "pet": Topic("fact"),
        "possession": Topic("fact"),
        "allergies": Topic("fact"),
        "diet": Topic("preference"),
        "likes": Topic("preference"),
        "dislikes": Topic("preference"),
        "instruction": Topic("instruction"),
        "remember": Topic("note"),
    }
)


@dataclass(frozen=True, slots=True)
class Stated:
    """One thing that a user stated of themselves, or asked to have kept."""

    #: What it is about: one of `TOPICS`.
    about: str
    #: What sort of memory it becomes.
    kind: str
    #: The heart of it, as it was said: "walnuts".
    value: str
    #: A sentence that stands by itself: "Is allergic to walnuts".
    content: str
    #: With a key, one statement holds at a time.
    key: str | None
    cardinality: Cardinality
    #: Where in the text it was said.
    span: tuple[int, int]
    #: From when and until when, and when it applies, in the words that were used; dates are counted elsewhere.
    valid_from: str | None = None
    valid_to: str | None = None
    applies_when: str = ""
