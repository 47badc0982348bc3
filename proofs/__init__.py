"""The long proofs: kills, power cuts, races and random programs. Each is a module with a seed, a count and one result line."""
