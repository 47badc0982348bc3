"""Traces of facts, and the verbs that forget them."""
