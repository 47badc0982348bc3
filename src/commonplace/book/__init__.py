"""The book: one façade with the verbs that applications use, over rooms that it was given."""

from commonplace.book.book import Book
from commonplace.book.threads import ThreadHandle

__all__ = ["Book", "ThreadHandle"]
