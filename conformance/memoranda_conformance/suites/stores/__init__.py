"""Conformance tests of items and of conditions on their values."""
