"""Rules that find, without a language model, what users state about themselves."""

from memoranda.formation.rules.grammar import TOPICS, Statement, Topic
from memoranda.formation.rules.matcher import LANGUAGES, extract

__all__ = ["LANGUAGES", "TOPICS", "Statement", "Topic", "extract"]
