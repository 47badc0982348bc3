"""Rules that find, without a language model, what users state about themselves."""

from memoranda.formation.rules.grammar import TOPICS, Statement, Topic
from memoranda.formation.rules.matcher import LANGUAGES, LONGEST_GAME, extract
from memoranda.formation.rules.taking_back import (
    Denial,
    Known,
    may_take_back,
    opposed,
    same_words,
    taken_back,
)

__all__ = [
    "LANGUAGES",
    "LONGEST_GAME",
    "TOPICS",
    "Denial",
    "Known",
    "Statement",
    "Topic",
    "extract",
    "may_take_back",
    "opposed",
    "same_words",
    "taken_back",
]
