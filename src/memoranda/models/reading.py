"""Finds the one JSON object in what a model wrote, or says why there is none; nothing is ever completed or guessed."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from pydantic import TypeAdapter, ValidationError

from memoranda.model.values import Document

#: Characters of an answer that are read.
LONGEST_ANSWER = 1_000_000

#: Where JSON begins in prose: a brace before a name, or a list of objects.
_START = re.compile(r'\{\s*"|\[\s*\{')
#: Prose may well hold two braces; an empty object has nothing beside it but a fence.
_EMPTY = re.compile(r"(?:```\w*\s*)?\{\s*\}(?:\s*```)?")
#: What some models write before they answer; a thought may hold drafts.
_THOUGHT = re.compile(r"\A\s*<(think|thinking)>.*?</\1>", re.DOTALL)
_DOCUMENT = TypeAdapter(Document)


class Unreadable(ValueError):
    """There is no value; the message is for the model, and holds nothing of what it wrote."""


def read_json(text: str) -> dict[str, Any]:
    """The object, which may stand in prose or in a fence, but stands there alone and whole."""
    if len(text) > LONGEST_ANSWER:
        raise Unreadable(f"the answer is longer than {LONGEST_ANSWER} characters")
    answer = _THOUGHT.sub("", text, count=1).strip()
    if not answer:
        raise Unreadable("the answer is empty")
    if _EMPTY.fullmatch(answer):
        return {}
    found = _found(answer)
    if not found:
        raise Unreadable("the answer holds no JSON object")
    if any(value != found[0] for value in found[1:]):
        raise Unreadable(f"the answer holds {len(found)} different JSON values; give one object")
    if not isinstance(found[0], dict):
        raise Unreadable("the answer is a JSON list; give one object")
    return _kept(found[0])


def _found(answer: str) -> list[Any]:
    """Every value that begins outside of another."""
    found = []
    at = 0
    while match := _START.search(answer, at):
        value, at = _decoded(answer, match.start())
        found.append(value)
    return found


def _decoded(answer: str, start: int) -> tuple[Any, int]:
    try:
        return _decoder.raw_decode(answer, start)
    except json.JSONDecodeError as exc:
        if exc.pos >= len(answer) or exc.msg.startswith("Unterminated"):
            raise Unreadable("the JSON of the answer is cut off: it has no end") from None
        raise Unreadable(
            f"the answer is no valid JSON: {exc.msg} at line {exc.lineno}, column {exc.colno}"
        ) from None
    except RecursionError:
        raise Unreadable("the JSON of the answer is nested too deeply") from None
    except Unreadable:
        raise
    except ValueError:
        raise Unreadable("the answer is no valid JSON: a number has too many digits") from None


def _kept(value: dict[str, Any]) -> dict[str, Any]:
    """The object as it can be stored."""
    try:
        return _DOCUMENT.validate_python(value)
    except ValidationError as exc:
        first = exc.errors(include_url=False, include_context=False, include_input=False)[0]
        raise Unreadable(
            f"the JSON of the answer cannot be kept: it {first['msg'].removeprefix('Value error, ')}"
        ) from None


def _fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise Unreadable("the JSON of the answer names a field twice in one object")
    return fields


def _no_number(_: str) -> NoReturn:
    raise Unreadable("the JSON of the answer holds NaN or Infinity, which are no JSON numbers")


_decoder = json.JSONDecoder(object_pairs_hook=_fields, parse_constant=_no_number)
