"""How Memoranda is extended: an operation, a door for callers of another kind, and an engine for
another database.
"""
