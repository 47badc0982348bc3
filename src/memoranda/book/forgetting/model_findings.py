"""Asks a language model of records without the value of a fact if they still tell it; only where
the caller wants that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

from memoranda.book.forgetting.facts import Fact
from memoranda.book.services import AskModel
from memoranda.errors import InvalidInput, ModelFailed
from memoranda.formation.prompts import prompt_file
from memoranda.model.language_models import ModelRequest
from memoranda.model.messages import Message
from memoranda.model.records import Owner, Record
from memoranda.model.redactions import BY_MODEL, Asking, Telling
from memoranda.model.values import Span
from memoranda.secrets.masks import masked
from memoranda.text.fence import fenced, one_line
from memoranda.text.sentence_spans import sentence_places, with_white_space
from memoranda.text.similarity import terms_in
from memoranda.text.token_count import estimate

TASK: Final = "forgetting"
#: The most records that are asked about, and how many in one call.
MOST: Final = 60
_AT_ONCE: Final = 20
#: Characters of a record that the model sees, and the most tokens of an answer.
_SHOWN: Final = 2_000
_TOKENS: Final = 1_000
_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "told": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"record": {"type": "string"}, "words": {"type": "string"}},
                "required": ["record", "words"],
            },
        }
    },
    "required": ["told"],
}
_NAME: Final = re.compile(r"([0-9a-f-]{36}):(\d+)-(\d+)(/.*)?#(\d+)", re.DOTALL)


class Text(NamedTuple):
    """One text of a record that a model may be asked about."""

    record: Record
    #: Its JSON pointer; None for the text of a message or a memory.
    path: str | None
    text: str

    def part(self, start: int, end: int) -> Telling:
        """Return a part of it as one that a model found."""
        span = Span(start=start, end=end, path=self.path)
        record = self.record
        return Telling(record.id, record.version, span, self.text[start:end], BY_MODEL, record.type)


def is_near(fact: Fact, text: str) -> bool:
    """True if a text shares a word or a topic with a fact."""
    shared = fact.forms | fact.value.forms | fact.value.common
    return fact.value.is_said_by(text) or (
        fact.may_be_in(text) and not shared.isdisjoint(terms_in(text))
    )


def price(said: Sequence[str], texts: Sequence[Text], left_out: int, *, asked: bool) -> Asking:
    """Return what it costs to ask about these texts."""
    requests = [_request(said, some) for some in _portions(texts)]
    tokens = sum(
        estimate(one.instructions) + estimate(one.content) + one.largest for one in requests
    )
    return Asking(len(texts), left_out, len(requests), tokens, asked)


async def told_by_model(
    ask: AskModel, owner: Owner, said: Sequence[str], texts: Sequence[Text]
) -> list[tuple[Text, Telling]]:
    """Return the texts that still tell one of the statements, each with its sentences that do;
    raise ``ModelFailed`` if no model says so.
    """
    found = []
    for some in _portions(texts):
        answer = await ask(owner, _request(said, some))
        found += [(one, _sentences(one, words)) for one, words in _read(answer.value, some)]
    return found


def named_part(name: str) -> tuple[UUID, int, Span] | None:
    """Return the record, its version and the part that the name of a model's finding means; None
    for another name.
    """
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    try:
        span = Span(start=int(found[2]), end=int(found[3]), path=found[4])
        return UUID(found[1]), int(found[5]), span
    except ValueError:
        raise InvalidInput(
            f"take: {name!r} names no part; copy it from the plan", field="take"
        ) from None


def _portions(texts: Sequence[Text]) -> Iterator[Sequence[Text]]:
    for start in range(0, len(texts), _AT_ONCE):
        yield texts[start : start + _AT_ONCE]


def _request(said: Sequence[str], texts: Sequence[Text]) -> ModelRequest:
    facts = "\n".join(f"- {one_line(masked(one))}" for one in said)
    shown = "\n".join(
        f"- [r{place}, {_sort(one.record)}] {fenced(masked(one.text[:_SHOWN]))}"
        for place, one in enumerate(texts, 1)
    )
    return ModelRequest(
        task=TASK,
        instructions=prompt_file("forgetting").sections["task"],
        content=f"<facts>\n{facts}\n</facts>\n\n<records>\n{shown}\n</records>",
        answer_schema=_SCHEMA,
        largest=_TOKENS,
    )


def _sort(record: Record) -> str:
    return record.role if isinstance(record, Message) else record.type.value


def _read(value: Any, texts: Sequence[Text]) -> Iterator[tuple[Text, str]]:
    """Yield each text that an answer names, once, with the words that it copies."""
    given = value.get("told") if isinstance(value, dict) else None
    if not isinstance(given, list):
        raise ModelFailed(
            "the model's answer does not list what is told; ask again, or use another model"
        )
    named = {f"r{place}": one for place, one in enumerate(texts, 1)}
    for entry in given:
        words = entry.get("words") if isinstance(entry, dict) else None
        one = (
            named.pop(str(entry["record"]), None)
            if isinstance(words, str) and "record" in entry
            else None
        )
        if one is not None and isinstance(words, str):
            yield one, words


def _sentences(one: Text, words: str) -> Telling:
    """Return the sentences of a text that have some words; the whole text if it does not have them
    to the letter.
    """
    wanted = re.compile(r"\s+".join(map(re.escape, words.split())) or r"(?!)", re.IGNORECASE)
    found = wanted.search(one.text)
    start, end = (0, len(one.text)) if found is None else found.span()
    places = [place for place in sentence_places(one.text) if place[0] < end and start < place[1]]
    start, end = (
        min((start, *(first for first, _ in places))),
        max((end, *(last for _, last in places))),
    )
    return one.part(*with_white_space(one.text, (start, end)))
