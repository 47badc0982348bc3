"""The verbs of an open book, grouped by the records they read and write."""
