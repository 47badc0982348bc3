"""Replacement: may a new statement take the place of a stored one? Trust, time, subject, polarity
and occasions decide.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from memoranda.model.drafts import Draft
from memoranda.model.memories import Cardinality, Memory
from memoranda.model.records import COMMITMENT, STRANGERS, lowest
from memoranda.text.polarity import denies_an_end, ends_something
from memoranda.text.scripts import comparable_text
from memoranda.text.similarity import coverage, words_with_forms

#: Words that make a statement one more beside another.
_BESIDE: Final = re.compile(
    r"\b(?:too(?=\W*$|\s*[.,;!)])|as well(?! as)|in addition|additionally|on top of|auch|zusätzlich|außerdem|también|además|aussi|également|en plus)\b",
    re.IGNORECASE,
)
#: Kinds that say what to do; a condition is a part of the rule.
_RULES: Final = frozenset({"instruction", "preference"})
#: A condition under which something would be true; it is not true yet.
_IF: Final = re.compile(r"\b(?:if|unless|provided|falls|sofern|si|siempre que)\b", re.IGNORECASE)
#: Words that bound no occasion.
_GENERAL: Final = frozenset(
    "anything something everything thing things matter matters case cases situation time times every any when whenever".split()
)

#: A stable code, and the reason in words.
Reason = tuple[str, str]


def reason_against(
    memory: Memory | Draft,
    other: Memory,
    names: Collection[str],
    said: str = "",
    *,
    by_key: bool = False,
) -> Reason | None:
    """Return why a new statement may not replace another one; None if it may.

    ``names`` are those of the owner, and ``said`` are the messages from which the new memory was
    made. With ``by_key`` only the keys say that one takes the other's place.
    """
    if memory.cardinality is Cardinality.RECURRING:
        return "recurring", "a recurring event replaces nothing"
    if memory.observed_at < other.observed_at:
        return "older", "the memory it would replace was said later"
    if memory.trust in STRANGERS and memory.trust is not other.trust:
        return "trust", "a report replaces only an earlier report of the same source"
    if memory.trust is not other.trust and lowest((memory.trust, other.trust)) is memory.trust:
        return "trust", "the memory it would replace has higher trust"
    if memory.valid_to is not None and other.valid_to is None and other.kind != COMMITMENT:
        return "bounded", "a temporary statement does not replace a permanent one"
    if not _same_occasion(memory.applies_when, other.applies_when, by_key=by_key):
        return "partial", "a statement for some occasions does not replace one for others"
    if memory.kind not in _RULES and _IF.search(memory.content) and not _IF.search(other.content):
        return "partial", "it is true only under a condition"
    if not _same_subject(memory, other, names, said):
        return (
            "subject",
            "it is about somebody or something else, and does not name the other one's subject",
        )
    if _BESIDE.search(memory.content) and not ends_something(memory.content):
        return "beside", "it says that both hold"
    if denies_an_end(memory.content) and 2 * coverage(other.content, memory.content) >= 1:
        return "polarity", "it says that the other one still holds"
    return None


def _same_occasion(new: str, old: str, *, by_key: bool) -> bool:
    """True if a statement for the new occasions covers the old ones: the same in other words, or
    more general.
    """
    if comparable_text(new) == comparable_text(old):
        return True
    if not new or not old:
        return not new and not by_key
    first, second = _content(new), _content(old)
    missing = [
        word for word, forms in first if all(forms.isdisjoint(others) for _, others in second)
    ]
    spare = [word for word, forms in second if all(forms.isdisjoint(others) for _, others in first)]
    if len(missing) == 1 and len(first) > 1 and missing[0].endswith("ing"):
        # Another verb for the same thing: touching, changing.
        doing = [word for word in spare if word.endswith("ing")]
        missing, spare = missing[len(doing) :], spare[len(doing) :]
    return not missing and not (by_key and spare)


def _content(occasion: str) -> Sequence[tuple[str, frozenset[int]]]:
    found = words_with_forms(occasion)
    return [(word, forms) for word, forms in found if word.casefold() not in _GENERAL] or found


def _same_subject(memory: Memory | Draft, other: Memory, names: Collection[str], said: str) -> bool:
    """True if two memories have one subject, or one of them names that of the other, or what was
    said names it.
    """
    if comparable_text(memory.subject or "") == comparable_text(other.subject or ""):
        return True
    if (
        other.subject is None
        and memory.subject
        and _is_a_relative(memory.subject, other.content, names)
    ):
        return ends_something(memory.content)
    if _names(memory.content, other.subject, names) or (
        other.subject and _names(said, other.subject, ())
    ):
        return True
    return memory.subject is not None and _names(other.content, memory.subject, names)


def _is_a_relative(subject: str, told: str, names: Collection[str]) -> bool:
    """True if a subject is somebody of the owner's ("Ann's brother"), and a text tells something of
    the owner alone.
    """
    plain, text = comparable_text(subject), comparable_text(told)
    return any(
        re.search(rf"\b{re.escape(name)}['’]s\b", plain)
        and re.search(rf"\b{re.escape(name)}\b(?!['’]s)", text)
        for name in map(comparable_text, names)
        if name
    )


def _names(content: str, subject: str | None, names: Collection[str]) -> bool:
    wanted = names if subject is None else [subject]
    return any(coverage(name, content) > 0 for name in wanted)
