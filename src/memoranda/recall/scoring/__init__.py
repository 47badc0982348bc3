"""Scoring: finds the best passages for a question in the arrays of the index."""
