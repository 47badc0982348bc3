"""Rules that find, without a language model, what users state about themselves."""

from memoranda.formation.rules.correcting import Corrected, corrected, may_correct
from memoranda.formation.rules.dialogue import answered, read_stored
from memoranda.formation.rules.matcher import LONGEST_GAME, extract, in_own_words
from memoranda.formation.rules.patterns import LANGUAGES
from memoranda.formation.rules.statements import TOPICS, Statement, Topic
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
    "Corrected",
    "Denial",
    "Known",
    "Statement",
    "Topic",
    "answered",
    "corrected",
    "extract",
    "in_own_words",
    "may_correct",
    "may_take_back",
    "opposed",
    "read_stored",
    "same_words",
    "taken_back",
]
