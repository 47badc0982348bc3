"""The trust of an episode: the agent's own, or the lowest trust of the tools and web pages that it
retells.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from memoranda.formation.extract.attribution import is_from_user
from memoranda.model.messages import Message
from memoranda.model.records import STRANGERS, Trust, lowest
from memoranda.text.similarity import (
    CONTAINED_COVERAGE,
    content_words,
    coverage,
    densest_coverage,
    sentences_of,
)

#: A sentence retells a tool or a page that has at least this share of its words, where the user
#: does not say it.
_RETOLD: Final = 0.5
#: A sentence of fewer words has them in common with any text.
_FEWEST: Final = 3
#: The most characters of tools and pages that are compared; with more, the episode has their trust.
_MOST: Final = 400_000


def episode_trust(goal: str, summary: str, said: Sequence[Message]) -> Trust:
    """Return the trust of an episode of these messages."""
    strangers = [message for message in said if message.trust in STRANGERS and message.content]
    if sum(len(message.content) for message in strangers) > _MOST:
        return lowest(message.trust for message in strangers)
    own = "\n".join(message.content for message in said if is_from_user(message))
    told = [
        one
        for one in [goal, *sentences_of(summary)]
        if len(content_words(one)) >= _FEWEST and coverage(one, own) < CONTAINED_COVERAGE
    ]
    retold = (
        message.trust
        for message in strangers
        if any(densest_coverage(one, message.content) >= _RETOLD for one in told)
    )
    return lowest([Trust.ASSISTANT, *retold])
