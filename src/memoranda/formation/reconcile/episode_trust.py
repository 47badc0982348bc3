"""Trust of an episode: sentences that retell a tool or a web page are marked; the agent's own words are its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from memoranda.formation.extract.attribution import is_from_user
from memoranda.model.messages import Message
from memoranda.model.records import STRANGERS, Trust, lowest
from memoranda.text.origins import stranger
from memoranda.text.similarity import (
    CONTAINED_COVERAGE,
    content_words,
    coverage,
    densest_coverage,
    sentences_of,
)

#: A sentence retells a tool or a page that has at least this share of its words, where the user does not say it.
_RETOLD: Final = 0.5
#: A sentence of fewer words has them in common with any text.
_FEWEST: Final = 3
_MARK: Final = re.compile(r"\(from (?:tool|web)\) ")
#: The most characters of tools and pages that are compared; with more, the whole episode has their trust.
_MOST: Final = 400_000


def judged_summary(goal: str, summary: str, said: Sequence[Message]) -> tuple[str, Trust]:
    """Return an episode's summary with marked sentences, and the trust of the episode.

    A sentence that retells a tool or a page begins with "(from tool)" or "(from web)". If the goal retells one, or
    there is too much to compare, the episode has the trust of what it retells.
    """
    summary = _MARK.sub("", summary)
    strangers = [message for message in said if message.trust in STRANGERS and message.content]
    if sum(len(message.content) for message in strangers) > _MOST:
        return summary, lowest(message.trust for message in strangers)
    own = "\n".join(message.content for message in said if is_from_user(message))
    tellers = _tellers([goal, *sentences_of(summary)], strangers, own)
    for sentence, trust in tellers.items():
        if sentence in summary:
            summary = summary.replace(sentence, f"({stranger(trust)[0]}) {sentence.lstrip()}", 1)
    return summary, tellers.get(goal, Trust.ASSISTANT)


def _tellers(sentences: Iterable[str], strangers: Sequence[Message], own: str) -> dict[str, Trust]:
    """Return the sentences that retell a stranger, each with the lowest trust of those that say it."""
    open_ones = [
        sentence
        for sentence in dict.fromkeys(sentences)
        if len(content_words(sentence)) >= _FEWEST and coverage(sentence, own) < CONTAINED_COVERAGE
    ]
    found: dict[str, Trust] = {}
    for message in strangers:
        for sentence in open_ones:
            if densest_coverage(sentence, message.content) >= _RETOLD:
                found[sentence] = lowest([found.get(sentence, message.trust), message.trust])
    return found
