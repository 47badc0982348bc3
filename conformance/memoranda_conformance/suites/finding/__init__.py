"""Conformance suites of lists, counts and groups of passages, and of filters over data."""
