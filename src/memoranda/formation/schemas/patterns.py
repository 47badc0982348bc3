"""Regular expressions of schemas, matched in time linear in the text, for untrusted patterns
too.
"""

from __future__ import annotations

import re
from functools import lru_cache

from pydantic_core import SchemaError, SchemaValidator, ValidationError, core_schema

from memoranda.formation.schemas.json_values import printable

#: The most characters of a pattern, and of a text that is matched.
PATTERN_LENGTH = 200
TEXT_LENGTH = 500
#: The most places of a pattern when its repetitions are written out.
PATTERN_WEIGHT = 2_000
#: The weight of a character class, in places.
_CLASS = 10

_COUNTS = re.compile(r"\{\s*([0-9]+)\s*(?:,\s*([0-9]*)\s*)?\}")
#: Flags could change the meaning of the rest of a pattern, so that counting would be wrong.
_FLAGS = re.compile(r"\(\?(?!:|P?<)")
_OPENING = re.compile(r"\[\^?\]?")
_ESCAPE = re.compile(r"\\(?:[pPxuU]\{[^}]*\}|.)", re.DOTALL)


def matches(pattern: str, text: str) -> bool:
    """True if a valid pattern matches anywhere in a text."""
    try:
        _compiled(pattern).validate_python(text)
    except ValidationError:
        return False
    return True


def pattern_fault(given: object) -> str | None:
    """Return why a pattern cannot be used; None if it can."""
    if not isinstance(given, str) or len(given) > PATTERN_LENGTH:
        return f"is not a text of at most {PATTERN_LENGTH} characters"
    if _FLAGS.search(given):
        return "uses flags or lookaround; write it without (?"
    if pattern_weight(given) > PATTERN_WEIGHT:
        return f"repeats too much: more than {PATTERN_WEIGHT} places when written out"
    try:
        _compiled(given)
    except SchemaError as exc:
        return f"is not a pattern that can be matched in linear time: {printable(str(exc).strip().splitlines()[-1])}"
    return None


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> SchemaValidator:
    # This engine never backtracks, so it supports neither back-references nor lookaround.
    return SchemaValidator(
        core_schema.str_schema(pattern=pattern, regex_engine="rust-regex", strict=True)
    )


def pattern_weight(pattern: str) -> int:
    """Return the places of a pattern with counted repetitions written out; stops counting beyond
    the limit.
    """
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
            # The repeated part may be repeated again by a count.
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
    """Return the length of the next atom of a pattern: an escape, a class, or one character."""
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
            # A closing bracket right after the opening one is a literal.
            place += len(_OPENING.findall(pattern, place)[0])
            continue
        depth -= pattern[place] == "]"
        place += 1
        if not depth:
            break
    return place - start
