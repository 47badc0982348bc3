"""The ways of each language to take something back, and to play somebody else."""
