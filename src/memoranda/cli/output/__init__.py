"""Everything that a command writes: text and tables for people, JSON for programs."""
