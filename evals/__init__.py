"""How well Memoranda finds and forms: sets of its own, and what measures on them."""
