"""Restrictions, uses of keys, lines about reads, and a server's settings: facts outside the owners' records."""
