"""The PostgreSQL engine: the same book on a server, for many processes and many users."""
