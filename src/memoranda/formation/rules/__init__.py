"""Rules that find, without a language model, what users state about themselves."""

from memoranda.formation.rules.reading import LANGUAGES, extract
from memoranda.formation.rules.stated import TOPICS, Statement, Topic

__all__ = ["LANGUAGES", "TOPICS", "Statement", "Topic", "extract"]
