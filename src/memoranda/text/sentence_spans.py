"""Places of sentences and clauses in a text, and the part to cut so that the text around them stays
as it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from memoranda.first_use import expression

#: A place in a text: from one character up to another.
Place = tuple[int, int]

_END: Final = expression(
    r"(?<=[.!?…؟।])[\"'”’»)\]]*\s+|(?<=[。！？])[」』”]*|\s*[\n\r\u2028\u2029]\s*"
)
#: A full stop behind these ends no sentence: abbreviations, initials, and the numbers of days and
#: of points in a list.
_NO_END: Final = expression(
    r"(?:(?<![^\s(\"'])(?:dr|mr|mrs|ms|prof|st|ste|sr|sra|srta|dra|mme|mlle|hr|fr|jr|mt|ft|ave|rd|blvd|apt|no|nr|núm|vs|ca|bzw"
    r"|z\.\s?b|d\.\s?h|e\.g|i\.e|u\.a|usw|etc|p\.ej|approx|inc|ltd|str|tel|geb)|(?<!\S)(?-i:[A-ZÀ-Ý])"
    r"|(?:\b(?:(?<!\bi\s)am|der|dem|den|des|vom|zum|bis)\s|^)\d{1,2})\.$",
    re.IGNORECASE,
)
_POINT: Final = expression(r"\s*(?:[-*•‣·–—>#|]|\d{1,2}[.)])")
#: Words that begin a clause which can stand alone: its subject, or in Spanish often its verb.
_SUBJECT: Final = (
    r"(?:i|i'm|i'd|i've|i'll|i’m|i’d|i’ve|i’ll|we|we're|we've|my|our|you|you're|you've|your|please|"
    r"ich|wir|mein\w*|unsere?\w*|du|dein\w*|bitte|"
    r"yo|mi|mis|me|nos|soy|estoy|tengo|trabajo|vivo|nací|prefiero|quiero|odio|hablo|uso|necesito|tú|tu|tus|"
    r"je|nous|mon|ma|mes|notre|vous|votre|vos)\b|j['’]"
)
_JOIN: Final = expression(
    r"(?:\s*[,;]\s*|\s+[–—-]\s+|\s+)(?:(?:and|but|so|or|also|und|aber|oder|denn|y|e|pero|et|mais|ou)\s+(?:also\s+|auch\s+)?)?"
    rf"(?={_SUBJECT})",
    re.IGNORECASE,
)
#: What joins the parts of a sentence and the items of a list, which cannot all stand alone.
_PARTS: Final = expression(
    r"\s*;\s*|,\s+(?:(?:and|but|und|aber|sowie|y|e|pero|et|mais|puis|ma|mas|en|maar)\s+)?|\s+(?:and|but|und|aber|y|e|pero|et|mais|ma|mas|because|weil|porque|parce que)\s+"
    r"|\s+[–—|·•-]\s+|:\s+[\"“„«]?(?!\W)",
    re.IGNORECASE,
)
#: The sign of a point in a list, and an opening quotation mark: they stay before what is cut.
_LEAD: Final = expression(r"(?:(?:[-*•‣·–—]|\d{1,2}[.)])\s+)?[\"“„«]?(?=\w)")
_MARKS: Final = '"“”„«»'
#: The words before a clause that say in what capacity or where: “As a nurse you ...”.
_OPENING: Final = expression(
    r"(?:with|as|at|als|bei|mit|con|como|en|comme|chez|avec)\s(?!(?:you|i|du|ich|tú|yo|tu|je|vous)\b)[^,;:.!?]{2,60}?\s"
    r"(?=(?:you|kannst|können|sollte?s?t?|sollten|darfst|dürfen|bekommst|bekommen|musst|müssen|puede[sn]?|quizás?|podrías?|tienes?|debe[sn]?|vous|tu)\s)",
    re.IGNORECASE,
)
_BRACKETS: Final = expression(r"\((?=[^()]*\s)[^()]*\)\s*")
_CLOSING: Final = expression(rf"[.!?…]*[{_MARKS}]")
_CELL: Final = expression(r"[^|\n]*[^|\s][^|\n]*")
_JOINING: Final = expression(
    r"[,;–—-]|\b(?:and|but|so|or|und|aber|oder|denn|y|e|pero|et|mais|ou)\b", re.IGNORECASE
)
#: Words before a clause on which it depends, such as "I think" and "because": what follows them
#: cannot stay without them.
_DEPENDENT: Final = expression(
    r"\b(?:that|because|since|if|when|while|where|who|which|as|although|dass|weil|da|wenn|ob|wo|während|que|porque|cuando|si|donde"
    r"|parce que|quand|où)\s*$",
    re.IGNORECASE,
)

#: "My sister and I": two subjects of one clause.
_HALF_A_SUBJECT: Final = expression(
    r"\W*(?:my|our|your|mein\w*|unsere?|dein\w*|mi|mis|tu|tus|mon|ma|mes|notre|nos|ton|ta|tes)(?:\s+(?!(?:is|are|was|were|has|have|had|will|can|ist"
    r"|sind|war|hat|haben|heißt|es|son|está|están|tiene|tienen|se|est|sont|a|ont)\b)[^\W\d_]+){1,4}\s*",
    re.IGNORECASE,
)


def sentence_places(text: str) -> Iterator[Place]:
    """Yield the places of a text's sentences and lines, without the white space around them."""
    start = 0
    for end in _END.finditer(text):
        closing = len(end[0]) - len(end[0].lstrip("\"'”’»)]」』"))
        upto = end.start() + closing
        broken = any(sign in end[0] for sign in "\n\r\u2028\u2029")
        if not broken and _NO_END.search(
            text[start:upto][-12:] if upto - start > 12 else text[start:upto]
        ):
            continue
        if text[start:upto].strip():
            yield _trimmed(text, start, upto)
        start = end.end()
    if text[start:].strip():
        yield _trimmed(text, start, len(text))


def wrapped_places(text: str, places: list[Place]) -> Iterator[Place]:
    """Yield the places of two lines that may be one sentence, wrapped at the end of the first
    line.
    """
    for (start, upto), (after, end) in pairwise(places):
        gap = text[upto:after]
        is_wrapped = gap.count("\n") == 1 and text[upto - 1] not in ".!?…:;。！？"
        if is_wrapped and not _POINT.match(text[start:upto]) and not _POINT.match(text[after:end]):
            yield start, end


def is_row(line: str) -> bool:
    """True if a line is a row of a table."""
    return line.lstrip().startswith("|") and line.count("|") > 2


def cell_places(text: str, row: Place) -> list[Place]:
    """Return the places of the cells of a table's row, without the white space around them."""
    return [_trimmed(text, cell.start(), cell.end()) for cell in _CELL.finditer(text, *row)]


def part_places(text: str, sentence: Place) -> list[Place]:
    """Return the places of the parts of a sentence between commas, conjunctions and the like, each
    up to where the next begins.
    """
    lead = _LEAD.match(text, *sentence)
    start = lead.end() if lead else sentence[0]
    opening = _OPENING.match(text, start, sentence[1])
    brackets = [found.span() for found in _BRACKETS.finditer(text, *sentence)]
    joins = {
        join.end()
        for join in _PARTS.finditer(text, *sentence)
        if join.start() > start and not any(first < join.end() < last for first, last in brackets)
    }
    joins.update(one for place in brackets for one in place if one > start)
    joins.update([opening.end()] if opening else [])
    return list(pairwise([start, *sorted(end for end in joins if end < sentence[1]), sentence[1]]))


def clause_places(text: str, sentence: Place) -> list[Place]:
    """Return the places of the parts of a sentence that can stand alone, each up to where the next
    one begins.
    """
    start, end = sentence
    begins = [start]
    for join in _JOIN.finditer(text, start, end):
        is_joined = _JOINING.search(join[0]) is not None
        before = text[begins[-1] : join.start()]
        if (
            is_joined
            and before
            and not _DEPENDENT.search(before)
            and not _HALF_A_SUBJECT.fullmatch(before)
        ):
            begins.append(join.end())
    return list(pairwise([*begins, end]))


def cut_parts(text: str, sentence: Place, first: Place, last: Place) -> Place:
    """Return the place to cut so that a sentence loses its parts from ``first`` to ``last``, and no
    others.
    """
    if last[1] < sentence[1]:
        # The next clause begins where the last one ends, so the word that joined the two goes, too.
        return (first[0], last[1])
    joins = [join for by in (_PARTS, _JOIN) for join in by.finditer(text, *sentence)]
    start = next((join.start() for join in joins if join.end() == first[0]), first[0])
    closing = len(text[: last[1]]) - len(text[: last[1]].rstrip(".!?…。！？\"'”’»)]"))
    return (start, last[1] - closing)


def with_marks(text: str, place: Place) -> Place:
    """Return a place with the quotation mark beside it if it has only one of the two."""
    start, end = place
    if sum(sign in _MARKS for sign in text[start:end]) % 2:
        if start and text[start - 1] in _MARKS:
            return (start - 1, end)
        if closing := _CLOSING.match(text, end):
            return (start, closing.end())
    return place


def with_white_space(text: str, place: Place) -> Place:
    """Return a place with the white space on one side of it, so that what is left is separated as
    it was.
    """
    start, end = place
    before = len(text[:start]) - len(text[:start].rstrip())
    after = len(text[end:]) - len(text[end:].lstrip())
    if start == before:
        return (start, end + after)
    if not text[end:].strip():
        return (start - before, end)
    breaks_before, breaks_after = (
        text[start - before : start].count("\n"),
        text[end : end + after].count("\n"),
    )
    # The wider gap stays: a new paragraph is still one.
    return (start - before, end) if breaks_after > breaks_before else (start, end + after)


def _trimmed(text: str, start: int, end: int) -> Place:
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), end - (len(part) - len(part.rstrip()))
