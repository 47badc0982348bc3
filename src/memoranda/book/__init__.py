"""The book: one façade with the verbs that applications use, over rooms that it was given."""

from memoranda.book.book import Book
from memoranda.book.verbs.thread_handle import ThreadHandle

__all__ = ["Book", "ThreadHandle"]
