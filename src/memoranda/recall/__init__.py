"""Recall: a question finds passages, by an index in memory that follows the book."""
