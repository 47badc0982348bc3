"""Texts: terms for recall by words, estimated tokens, and escaping of stored text."""
