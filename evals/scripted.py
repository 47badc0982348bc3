"""Scripted models for labelled pairs of statements: each answer follows from the labels by one rule
for each relation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal

from memoranda.formation.extract.prompt import Prompt
from memoranda.model.memories import QUOTE_LENGTH
from memoranda.model.records import DEFAULT_KINDS

#: What a model notes under a key, where one value holds at a time.
KEY: Final = "what changes"
#: Relations whose second statement takes the first one's place, or the first one out.
_RETIRING: Final = frozenset({"supersede", "retract-old"})
#: By relation, fields of the notes of both statements; a relation that is not here has none.
_OF_BOTH: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "replacement": MappingProxyType({"key": KEY, "cardinality": "one"}),
        "recurring": MappingProxyType({"cardinality": "recurring"}),
    }
)
_END: Final = re.compile(r"\b(?:until|till)\b.*", re.IGNORECASE)
_BOUND: Final = re.compile(
    r"\b(?:during|while|when|whenever|only|except|for|at|on|in|over|this|next)\b.*", re.IGNORECASE
)
_ONE: Final = re.compile(r"^(?:the )?user\b(?!')\s+", re.IGNORECASE)
_WHOSE: Final = re.compile(r"\b(?:the )?user(?:'s|’s)", re.IGNORECASE)
_WHOM: Final = re.compile(r"\b(?:the )?user\b", re.IGNORECASE)
_LITTLE: Final = frozenset("always also never now no longer only still usually often".split())
_FORMS: Final = MappingProxyType({"is": "am", "has": "have", "does": "do", "was": "was"})
#: What an ending in "-es" follows that is more than a bare "s".
_HISSING: Final = ("sses", "shes", "ches", "xes", "zes", "oes")


@dataclass(frozen=True, slots=True)
class Way:
    """The behaviour of one scripted model."""

    name: str
    about: str
    #: Whether it names under "supersedes" what is to be retired, whatever it is shown, or nothing.
    supersedes: Literal["right", "always", "never"] = "right"
    #: Whether it notices what is said again.
    repeats: bool = True
    #: Whether it gives every statement the same key.
    keys: bool = False
    #: Whether the first statement is said a second time, word for word, in the place of the second.
    again: bool = False


WAYS: Final = (
    Way("competent", "names what is repeated and what is replaced, as the labels have it"),
    Way("never", "names nothing, and notes all as new", supersedes="never", repeats=False),
    Way(
        "again",
        "the first statement twice, noted as new",
        supersedes="never",
        repeats=False,
        again=True,
    ),
    Way("always", "names whatever it is shown as replaced", supersedes="always", repeats=False),
    Way(
        "keys", "gives all one key and names nothing", supersedes="never", repeats=False, keys=True
    ),
)


def answer(way: Way, item: Mapping[str, Any], which: str, prompt: Prompt) -> dict[str, Any]:
    """Return the answer to a prompt whose one new message is the ``old`` or the ``new`` statement
    of a pair.
    """
    statement, shown = item[which], list(prompt.candidates)
    (handle,) = prompt.new
    quote = " ".join(prompt.messages[handle].content.split())[:QUOTE_LENGTH]
    sources = [{"message": handle, "quote": quote}]
    expected = item["expect"]
    if way.repeats and shown and expected == "confirm":
        return {"repeats": [{"memory": shown[0], "sources": sources}]}
    note = {
        "content": statement["content"],
        "kind": statement["kind"] if statement["kind"] in DEFAULT_KINDS else "fact",
        "subject": statement["subject"],
        "key": statement["key"],
        **_OF_BOTH.get(item["relation"], {}),
        "sources": sources,
    }
    if way.keys:
        note["key"] = KEY
    if item["relation"] == "bounded" and which == "new":
        note |= bounds(statement["content"], prompt.messages[handle].content)
    if way.supersedes == "always" or (way.supersedes == "right" and expected in _RETIRING):
        note["supersedes"] = shown
    return {"notes": [note]}


def bounds(content: str, message: str) -> dict[str, str]:
    """Return the words that limit a statement: until when it is true, else when it applies, else
    all of it.
    """
    end = _END.search(message)
    if end is not None:
        return {"valid_until": end.group().rstrip(".")}
    bound = _BOUND.search(content)
    return {"applies_when": (content if bound is None else bound.group()).rstrip(".")}


def spoken(content: str) -> str:
    """Return a note as its user would say it: "User's dog drinks" as "My dog drinks", "User likes"
    as "I like".
    """
    text = content
    one = _ONE.match(text)
    if one is not None:
        text = " ".join(["I", *_said(text[one.end() :].split())])
    text = _WHOM.sub("I", _WHOSE.sub("my", text))
    return text[:1].upper() + text[1:]


def _said(words: Sequence[str]) -> list[str]:
    """Return the words after "user", with the first verb changed to fit "I"."""
    place = next((place for place, word in enumerate(words) if word not in _LITTLE), 0)
    return [*words[:place], _first_person(words[place]), *words[place + 1 :]] if words else []


def _first_person(word: str) -> str:
    verb = word.rstrip(".,!")
    return _plain_form(verb) + word[len(verb) :]


def _plain_form(verb: str) -> str:
    if verb in _FORMS:
        return _FORMS[verb]
    if verb.endswith("ies"):
        return f"{verb[:-3]}y"
    if verb.endswith(_HISSING):
        return verb[:-2]
    return verb[:-1] if verb.endswith("s") and not verb.endswith("ss") else verb
