"""A PostgreSQL server of a proof's own: started, killed, and looked into byte by byte."""
