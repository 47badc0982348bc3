"""Finds statements in a user's message, clause by clause, and the value of each match."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from memoranda.formation.rules.patterns import LANGUAGES, NEVER, Language, Rule, language_of
from memoranda.formation.rules.sentences import (
    Sentence,
    letter_start,
    mask_quoted,
    readable_text,
    sentences,
)
from memoranda.formation.rules.statements import TOPICS, Statement, Topic
from memoranda.model.memories import Cardinality

#: The most items of one list.
_MOST_LISTED: Final = 12
#: The most words of a list item, and of the first phrase of a list.
_LONGEST_ITEM: Final = 4
_LONGEST_PHRASE: Final = 9
_HARD_END: Final = re.compile(r"[,;:!?()\n…—–]|\.(?:\s|$)|\s-\s")
_EDGES: Final = " \t,;:.!?\"'“”„«»`…()"


@dataclass(frozen=True, slots=True)
class ValueSpan:
    """A value with its start and end in the sentence."""

    value: str
    start: int
    end: int


def phrase_end(text: str, start: int, language: Language) -> int:
    """Return where the phrase that begins at ``start`` ends."""
    hard = _HARD_END.search(text, start)
    end = len(text) if hard is None else hard.start()
    soft = language["phrase_end"].search(text, start, end)
    while (
        soft is not None
        and language["pairs"].search(text, start, end)
        and _inside_pair(text, start, soft, language)
    ):
        soft = language["phrase_end"].search(text, soft.end(), end)
    return end if soft is None else soft.start()


def _inside_pair(text: str, start: int, cut: re.Match[str], language: Language) -> bool:
    return any(
        pair.start() <= cut.start() < pair.end() for pair in language["pairs"].finditer(text, start)
    )


def list_spans(
    text: str, start: int, language: Language, tail: re.Match[str] | None = None
) -> list[tuple[int, int]]:
    """Return the spans of the items of a list: the first item, and all further ones if "and" comes
    before the last.

    They are one span if a tail after the last one tells of all: without it, the others would say
    something else.
    """
    cut = len(text) if tail is None else tail.start("tail")
    end = phrase_end(text, start, language)
    if len(text[start:end].split()) > _LONGEST_PHRASE:
        return []
    spans, closed = [(start, end)], False
    others: list[tuple[int, int]] = []
    while len(others) < _MOST_LISTED and (link := language["listing"].match(text, end)) is not None:
        begin, end = link.end(), phrase_end(text, link.end(), language)
        item = text[begin : min(end, max(begin, cut))].strip()
        if not item or len(item.split()) > _LONGEST_ITEM or language["no_item"].match(item):
            break
        others.append((begin, end))
        closed = closed or link.group().strip(" ,") != ""
        if closed:
            spans += others
            others = []
    if len(spans) > 1 and tail is not None and spans[-1][0] < cut <= spans[-1][1]:
        return [(start, phrase_end(text, tail.end(), language))]
    return spans


def trim(text: str, span: tuple[int, int], about: str, language: Language) -> tuple[int, int]:
    """Return the span without meaningless words and punctuation at its ends."""
    start, end = span
    for _ in range(4):
        before = (start, end)
        while start < end and text[start] in _EDGES:
            start += 1
        while start < end and text[end - 1] in _EDGES and not _closes_a_quote(text, start, end):
            end -= 1
        for topic in ("any", about):
            if (match := language[f"before.{topic}"].match(text, start, end)) is not None:
                start = match.end()
            if (match := language[f"after.{topic}"].search(text, start, end)) is not None:
                end = match.start()
        if before == (start, end):
            break
    return start, end


def _closes_a_quote(text: str, start: int, end: int) -> bool:
    return text[end - 1] in '"”“»' and bool(re.search(r"[\"“„«]", text[start : end - 1]))


def key_of(rule: Rule, groups: Mapping[str, str], topic: Topic) -> str | None:
    """Return the statement's key (one statement at a time has it): that of its rule, else that of
    its topic.
    """
    if rule.key is None:
        return topic.key
    return rule.key.format(**groups).strip().lower() or None


def content_of(rule: Rule, groups: Mapping[str, str], value: str, language: Language) -> str:
    """Return the statement as a sentence that can be read alone."""
    if rule.about == "remember" and language["own_words"].search(value):
        return language.text("asked_to_keep").format(value=value)
    said = groups.get("phrase", "") or value
    old = groups["value"]
    if value not in said:
        # What the user corrected at once stands in the same place: "in Ghent, no wait, Antwerp".
        said = said.removesuffix(old) + value if len(old) > 1 and said.endswith(old) else value
    content = rule.content.format(**{**groups, "value": value, "phrase": said}).replace(" :", ":")
    return content[:1].upper() + content[1:]


#: The most statements of one message; longer texts are pasted, not said.
MOST_STATEMENTS: Final = 32
#: The most clauses of one sentence.
_MOST_CLAUSES: Final = 40
#: Topics after which an addition is about the same person: "My name is Gus, 71".
_OF_ONESELF: Final = frozenset({"name", "age", "work", "diet"})
#: The most characters between two clauses that share a subject: ", and".
_AND: Final = 5


def extract(
    text: str, *, language: str | None = None, earlier: Sequence[str] = ()
) -> list[Statement]:
    """Return what users state about themselves in a message; questions, quotations and fiction are
    skipped.

    Give only the user's own text: never that of an assistant, a tool or a web page. Without
    `language`, all supported languages are tried; an unsupported one finds nothing. ``earlier`` are
    the user's messages before it, oldest first: a game in which the user plays somebody goes on.
    """
    wanted = (one for one in LANGUAGES if language in (None, one))
    start = readable_text(in_own_words(text, earlier))
    found: dict[tuple[str, str], Statement] = {}
    for one in map(language_of, wanted):
        if one["hint"].search(start):
            for stated in _read(start, one):
                if stated.about != "origin" or all(one.about != "origin" for one in found.values()):
                    found.setdefault((stated.about, stated.value.casefold()), stated)
    return sorted(found.values(), key=lambda stated: stated.span)[:MOST_STATEMENTS]


#: A game is taken for over after so many further messages of the user.
LONGEST_GAME: Final = 8


def in_own_words(text: str, earlier: Sequence[str]) -> str:
    """Return a message without what its user plays or passes on since an earlier message; places do
    not change.
    """
    recent = [readable_text(before) for before in earlier[-LONGEST_GAME:]]
    plays = False
    for before in recent:
        plays = (plays and not _ends(before, "over")) or bool(_ends(before, "play"))
    if not plays and not (recent and _ends(recent[-1], "announced")):
        return text
    over = _ends(readable_text(text), "over") if plays else []
    own = min(over, default=len(text))
    return " " * own + text[own:]


def _ends(text: str, name: str) -> list[int]:
    """Return where each language first finds a pattern in a text."""
    found = (language_of(code)[name].search(text) for code in LANGUAGES)
    return [match.end() for match in found if match is not None]


def _read(text: str, language: Language) -> Iterator[Statement]:
    masked = mask_quoted(text)
    if language["made_up"].search(masked) or language["ironic_text"].search(text):
        return
    frame = language["frame"].search(masked)
    end = min(len(masked) if frame is None else frame.start(), letter_start(masked))
    small = not any(letter.isupper() for letter in re.sub(r"\bI\b", "", masked))
    before: Sentence | None = None
    rules = language.small_rules if small else language.rules
    for sentence in sentences(masked[:end], language.listed("abbreviations")):
        if before is not None and language["points_back"].match(sentence.text):
            sentence = _join_sentences(before, sentence, masked)
        before = sentence
        colon = speech_colon(sentence.text, language)
        said = Sentence(sentence.text[:colon], sentence.start, sentence.asks and colon is None)
        yield from _SentenceReader(text, said, language, rules).statements()
        if colon is not None:
            return


def _join_sentences(before: Sentence, sentence: Sentence, text: str) -> Sentence:
    return Sentence(
        text[before.start : sentence.start + len(sentence.text)], before.start, asks=False
    )


def speech_colon(text: str, language: Language) -> int | None:
    """Return the index of a colon after which the text is somebody else's."""
    for colon in re.finditer(r":(?=\s|$|\ue000)", text):
        if language["speech"].search(text, 0, colon.start()):
            return colon.start()
    return None


@dataclass(slots=True)
class _SentenceReader:
    """Reads one sentence, and remembers what its earlier clauses stated."""

    whole: str
    sentence: Sentence
    language: Language
    rules: tuple[Rule, ...]
    #: The subject of the last statement, and its end.
    subject: str | None = None
    end: int = 0

    @property
    def _shown(self) -> str:
        """The sentence with its quotations."""
        return self.whole[self.sentence.start : self.sentence.start + len(self.sentence.text)]

    def statements(self) -> Iterator[Statement]:
        text = self.sentence.text
        if self.language["ironic"].search(text):
            return
        unreal = self.language["unreal"].search(text)
        limit = len(text) if unreal is None else unreal.start()
        for place in self._places():
            if place > limit:
                break
            if place >= self.end or place == 0:
                yield from self._clause(place)
        yield from self._anywhere(limit)

    def _anywhere(self, limit: int) -> Iterator[Statement]:
        """Yield statements that may stand anywhere in a sentence: the relatives and the animals
        that it names.
        """
        for one in self.rules:
            if one.anywhere and not self._is_excluded(one):
                for match in one.full.finditer(self.sentence.text, 0, limit):
                    yield from self._statements_of(one, match)

    def _places(self) -> Iterator[int]:
        """Yield the indices at which clauses begin."""
        text = self.sentence.text
        seen = set()
        for boundary in [None, *self.language["boundary"].finditer(text)][:_MOST_CLAUSES]:
            place = 0 if boundary is None else boundary.end()
            lead = self.language["leads"].match(text, place)
            for start in (place, place if lead is None else lead.end()):
                if start not in seen and start < len(text):
                    seen.add(start)
                    yield start

    def _clause(self, place: int) -> Iterator[Statement]:
        for one in self.rules:
            if one.anywhere:
                continue
            match = one.full.match(self.sentence.text, place) or self._match_without_subject(
                one, place
            )
            if match is None or self._is_asked(match, one) or self._is_excluded(one):
                continue
            stated = self._inside_remember(one, match) or list(self._statements_of(one, match))
            if stated:
                self.subject = one.subject or (
                    self.language.text("oneself") if one.about in _OF_ONESELF else ""
                )
                yield from stated
                return

    def _match_without_subject(self, one: Rule, place: int) -> re.Match[str] | None:
        """Match a rule without its subject if the previous clause had this subject: "I'm vegan and
        live in Graz".
        """
        if self.subject is None or place == 0:
            return None
        between = self.sentence.text[self.end : place]
        if one.subject == self.language.text("carried"):
            same = self.language["others"].search(between) is None
        else:
            same = one.subject == self.subject and len(between.strip()) <= _AND
        return one.short.match(self.sentence.text, place) if same else None

    def _inside_remember(self, one: Rule, match: re.Match[str]) -> list[Statement]:
        """Return the statements inside "remember that …": "remember that I'm vegan" states a
        diet.
        """
        return list(self._clause(match.start("value"))) if one.about == "remember" else []

    def _is_asked(self, match: re.Match[str], one: Rule) -> bool:
        """True if the sentence asks whether the statement is true."""
        if not self.sentence.asks or one.asked:
            return False
        text = self.sentence.text
        goes_on = self.language["goes_on"].search(text, match.end("value")) is not None
        explains = self.language["explains"].search(text, 0, match.start()) is not None
        return not (goes_on or explains) or self.language["tag"].search(text) is not None

    def _is_excluded(self, one: Rule) -> bool:
        return self.language[f"unless.{one.about}"].search(self.sentence.text) is not None

    def _statements_of(self, rule: Rule, match: re.Match[str]) -> Iterator[Statement]:
        text = self.sentence.text
        start, end = match.span("value")
        if start < 0:
            return
        if rule.reach == "list":
            spans = list_spans(
                text, start, self.language, self.language["shared_tail"].search(text, match.start())
            )
        elif rule.reach == "one":
            spans = [(start, phrase_end(text, start, self.language))]
        elif rule.reach == "all":
            spans = [(start, len(text))]
        else:
            spans = [(start, end)]
        if len(spans) == 1 and (slip := self.language["slip"].match(text, spans[0][1])) is not None:
            spans = [slip.span("value")]
        listed = self.language[f"listed.{rule.about}"]
        for place, span in enumerate(spans):
            said = self._value(rule.about, span)
            if (
                said is None
                or self._is_denied(rule.about, said)
                or (place and listed is not NEVER and listed.match(said.value) is None)
            ):
                return
            self.end = max(self.end, span[1], match.end())
            yield self._statement(rule, match, said)

    def _is_denied(self, about: str, said: ValueSpan) -> bool:
        """True if words after a value deny it; topics that are negations themselves are said with
        such words.
        """
        denied = self.language["denied"].match(self.sentence.text, said.end)
        return denied is not None and about not in (
            "dislikes",
            "allergies",
            "diet",
            "instruction",
            "remember",
        )

    def _value(self, about: str, span: tuple[int, int]) -> ValueSpan | None:
        """Return the trimmed value; None if it is not acceptable."""
        start, end = trim(self._shown, span, about, self.language)
        value = self._shown[start:end]
        if any(self.language[f"refused.{topic}"].match(value) for topic in ("any", about)):
            return None
        return (
            ValueSpan(value, start, end) if re.search(r"\w", value) and len(value) <= 255 else None
        )

    def _statement(self, rule: Rule, match: re.Match[str], said: ValueSpan) -> Statement:
        offset = self.sentence.start
        times = self.language["times"].match(self.sentence.text, said.end)
        when = {} if times is None else times.groupdict()
        topic = TOPICS[rule.about]
        places = {name: match.span(name) for name in match.groupdict()}
        groups = {name: self._shown[slice(*place)].strip() for name, place in places.items()}
        key = key_of(rule, groups, topic)
        return Statement(
            about=rule.about,
            kind=topic.kind,
            value=said.value,
            content=content_of(rule, groups, said.value, self.language),
            key=key,
            cardinality=Cardinality.MANY if key is None else Cardinality.ONE,
            span=(offset + match.start(), offset + max(said.end, match.start())),
            valid_from=when.get("since"),
            valid_to=when.get("until"),
            applies_when=when.get("applies") or "",
        )
