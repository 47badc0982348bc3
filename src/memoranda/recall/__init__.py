"""Recall: finds passages for a question, in an in-memory index that is kept up to date with the
book.
"""
