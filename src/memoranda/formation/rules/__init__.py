"""Rules: what a user says of themselves, found without a language model."""

from memoranda.formation.rules.reading import LANGUAGES, extract
from memoranda.formation.rules.stated import TOPICS, Stated, Topic

__all__ = ["LANGUAGES", "TOPICS", "Stated", "Topic", "extract"]
