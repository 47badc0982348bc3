"""Restrictions, uses of keys, lines about reads, a server's settings, and quotations: outside the owners' records."""
