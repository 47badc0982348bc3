"""The long proofs: kills, power cuts, races and fuzz, each a module here with a seed, a count and one result line."""
