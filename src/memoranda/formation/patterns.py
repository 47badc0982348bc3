"""Patterns of texts, matched in time that grows with the text and no faster, whoever wrote the pattern."""

from __future__ import annotations

import re
from functools import lru_cache

from pydantic_core import SchemaError, SchemaValidator, ValidationError, core_schema

from memoranda.formation.documents import shown

#: Characters of one pattern, and of a text that is held against one.
PATTERN_LENGTH = 200
TEXT_LENGTH = 500
#: How many places a pattern may have, with all that it repeats written out.
PATTERN_WEIGHT = 2_000
#: A class of characters counts as so many places.
_CLASS = 10

_COUNTS = re.compile(r"\{\s*([0-9]+)\s*(?:,\s*([0-9]*)\s*)?\}")
#: Flags could change what the rest of a pattern means to a reader who counts.
_FLAGS = re.compile(r"\(\?(?!:|P?<)")
_OPENING = re.compile(r"\[\^?\]?")
_ESCAPE = re.compile(r"\\(?:[pPxuU]\{[^}]*\}|.)", re.DOTALL)


def matches(pattern: str, text: str) -> bool:
    """Whether a pattern in which nothing was found wrong is somewhere in a text."""
    try:
        _compiled(pattern).validate_python(text)
    except ValidationError:
        return False
    return True


def pattern_fault(given: object) -> str | None:
    """Why something is no pattern that may be used; None where it is one."""
    if not isinstance(given, str) or len(given) > PATTERN_LENGTH:
        return f"is no text of at most {PATTERN_LENGTH} characters"
    if _FLAGS.search(given):
        return "sets flags or looks around; write it without (?"
    if weight(given) > PATTERN_WEIGHT:
        return f"repeats too much: more than {PATTERN_WEIGHT} places when written out"
    try:
        _compiled(given)
    except SchemaError as exc:
        return f"is no pattern that is matched in linear time: {shown(str(exc).strip().splitlines()[-1])}"
    return None


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> SchemaValidator:
    # This engine never goes back in the text, and so knows neither backreferences nor looking around.
    return SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex", strict=True))


def weight(pattern: str) -> int:
    """How many places a pattern has with its counted repetitions written out; more than enough is not told apart."""
    totals, last, place = [0], 0, 0
    while place < len(pattern):
        character, step = pattern[place], 1
        counts = _COUNTS.match(pattern, place)
        if counts:
            most = max(int(counts[1]), int(counts[2] or 0), 1)
            totals[-1] += last * (most - 1)
            last, step = last * most, len(counts[0])
        elif character == "(":
            totals.append(0)
            last = 0
        elif character == ")" and len(totals) > 1:
            last = totals.pop()
            totals[-1] += last
        elif character in "*+?":
            # What is repeated so may be repeated again by a count.
            totals[-1] += 1
        else:
            step = _atom(pattern, place)
            last = _CLASS if character in "\\[." else 1
            totals[-1] += last
        place += step
        if sum(totals) > PATTERN_WEIGHT:
            break
    return sum(totals)


def _atom(pattern: str, start: int) -> int:
    """How many characters of a pattern stand for one place: an escape, a class, or one of them."""
    escape = _ESCAPE.match(pattern, start)
    if escape:
        return len(escape[0])
    if pattern[start] != "[":
        return 1
    place, depth = start, 0
    while place < len(pattern):
        escape = _ESCAPE.match(pattern, place)
        if escape:
            place += len(escape[0])
            continue
        if pattern[place] == "[":
            depth += 1
            # A bracket that closes nothing yet stands for itself.
            place += len(_OPENING.findall(pattern, place)[0])
            continue
        depth -= pattern[place] == "]"
        place += 1
        if not depth:
            break
    return place - start
