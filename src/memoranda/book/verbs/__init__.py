"""The verbs of an open book, grouped by what they work on."""
