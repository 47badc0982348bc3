"""The book: one object with the verbs that applications use."""

from memoranda.book.book import Book
from memoranda.book.nouns.threads import ThreadHandle

__all__ = ["Book", "ThreadHandle"]
