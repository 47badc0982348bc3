"""Text: what the words of a text are, for recall to compare."""
