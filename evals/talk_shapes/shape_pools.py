"""Pools of hand-written text: read from their files, and turned into sentences."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from evals.talk_shapes.shape_values import SOURCES, Domain, Fact

_POOLS = Path(__file__).parent / "pools"
_CHOICE = re.compile(r"\{([^{}|]*\|[^{}]*)\}")
_HEX = re.compile(r"hex(\d+)")
_SLOT = re.compile(r"\[([A-Za-z]\w*|\d+-\d+)\]")
_MARKS = "~?-"


@dataclass(slots=True)
class Pool:
    """Everything that one file of text offers."""

    domains: dict[str, Domain] = field(default_factory=dict)
    facts: list[Fact] = field(default_factory=list)
    #: Lines that belong to no domain, by section: leads of long questions, openings, ends …
    sections: dict[str, list[str]] = field(default_factory=dict)
    lists: dict[str, list[str]] = field(default_factory=dict)


@cache
def read_pool(*names: str) -> Pool:
    """Read the pools of these names into one."""
    pool = Pool()
    for name in names:
        _read(pool, name)
    return pool


def _read(pool: Pool, name: str) -> None:
    domain: Domain | None = None
    fact: Fact | None = None
    section: list[str] | None = None
    for number, line in enumerate(
        (_POOLS / f"{name}.txt").read_text(encoding="utf-8").splitlines(), 1
    ):
        if not line.strip() or (line.startswith("# ") and section is None):
            continue
        mark, _, rest = line.partition(" ")
        rest = rest.replace("\\n", "\n").replace("\\{", "{").replace("\\t", "\t").rstrip(" ")
        if mark == "@domain":
            domain, fact, section = pool.domains.setdefault(rest, Domain(rest)), None, None
        elif mark.startswith("@") and mark != "@@":
            domain, fact, section = None, None, pool.sections.setdefault(mark[1:], [])
        elif section is not None:
            section.append(rest if mark == "~" else line.replace("\\n", "\n").replace("\\t", "\t"))
        elif mark == "*":
            id, kind, source, subject, *form = (part.strip() for part in rest.split("|"))
            fact = Fact(id, kind, source, subject, form[0] if form else "")
            pool.facts.append(fact)
        elif mark == "+":
            fact = next(each for each in pool.facts if each.id == rest)
        elif fact is not None:
            _add_to(fact, mark, rest, f"{name}.txt, line {number}")
        elif mark.startswith("="):
            (domain.lists if domain else pool.lists)[mark[1:]] = _values(rest)
        elif domain is not None and mark in _MARKS:
            domain.lines.setdefault(mark, []).append(rest)
        else:
            raise ValueError(f"{name}.txt, line {number}: {mark!r} is no mark of a pool")


def _values(text: str) -> list[str]:
    return [value.strip() for value in text.split(";") if value.strip()]


def _add_to(fact: Fact, mark: str, rest: str, where: str) -> None:
    key, _, language = mark.partition(".")
    if mark.startswith("="):
        fact.values[mark[1:]] = _values(rest)
    elif key == ">":
        fact.prompts.append(rest)
    elif key in ("q", "Q"):
        fact.asks.append((language, rest))
    elif key == "l":
        # A question in the words of the evidence stands in for half of the others.
        fact.asks += [(language, rest)] * 2
    elif key[0] in "s1234" and key[1:] in ("", *SOURCES):
        fact.says.setdefault(key[0], []).append((key[1:] or fact.source, rest))
    elif key[0] == "n" and key[1:] in ("", *SOURCES):
        fact.near.append((key[1:] or fact.source, rest))
    elif key == "a":
        fact.answer = rest
    elif key == "k":
        fact.keys = rest
    else:
        raise ValueError(f"{where}: {mark!r} is no mark of a fact")


def fill(
    text: str, rng: random.Random, *bound: Mapping[str, str], lists: Mapping[str, list[str]]
) -> str:
    """Return a text with one of each {choice|of these}, and its [slots] filled."""
    for _ in range(6):
        text, changed = _CHOICE.subn(lambda found: rng.choice(found[1].split("|")), text)
        text = _SLOT.sub(lambda found: _slot(found[1], rng, bound, lists), text)
        if not changed and not _CHOICE.search(text):
            break
    # Spanish contracts what a slot may put beside each other.
    return text.replace(" de el ", " del ").replace(" a el ", " al ")


def _slot(
    name: str,
    rng: random.Random,
    bound: tuple[Mapping[str, str], ...],
    lists: Mapping[str, list[str]],
) -> str:
    for each in bound:
        if name in each:
            return each[name]
    if name in lists:
        return rng.choice(lists[name])
    if name[0].isdigit():
        low, high = name.split("-")
        return str(rng.randint(int(low), int(high)))
    if digits := _HEX.fullmatch(name):
        return "".join(rng.choice("0123456789abcdef") for _ in range(int(digits[1])))
    return f"[{name}]"
