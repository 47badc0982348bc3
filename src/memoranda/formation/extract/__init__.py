"""Extracts statements from a conversation: by rules, or by a language model whose answers are
checked.
"""
