"""Scoring: from the arrays of a shelf to the best passages for a question."""
