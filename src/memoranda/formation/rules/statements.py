"""The statements that rules find, and their topics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from memoranda.model.memories import Cardinality


@dataclass(frozen=True, slots=True)
class Topic:
    """How statements of one topic are stored: the kind of memory, and its key if only one can be
    true at a time.
    """

    kind: str
    key: str | None = None


#: All topics, for every language. Without a key, a newer statement replaces no other.
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
        "health": Topic("fact"),
        "diet": Topic("preference"),
        "likes": Topic("preference"),
        "dislikes": Topic("preference"),
        "instruction": Topic("instruction"),
        "remember": Topic("note"),
    }
)


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a user about themselves, or something they asked to remember."""

    #: The topic: one of `TOPICS`.
    about: str
    #: The kind of memory it becomes.
    kind: str
    #: The value as it was said: "walnuts".
    value: str
    #: A sentence that can be read alone: "Is allergic to walnuts".
    content: str
    #: With a key, only one statement can be true at a time.
    key: str | None
    cardinality: Cardinality
    #: Its place in the text.
    span: tuple[int, int]
    #: Since when, until when, and when it applies, in the user's words; `language.times` turns
    #: them into dates.
    valid_from: str | None = None
    valid_to: str | None = None
    applies_when: str = ""
