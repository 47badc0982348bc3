"""A PostgreSQL server for one proof: it is started, killed, and its files are searched."""
