"""A book in one SQLite file, with nothing but the standard library."""
