"""How Memoranda is extended: an operation, and a door for callers of another kind."""
