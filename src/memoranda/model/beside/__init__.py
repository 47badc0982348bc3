"""Restrictions, uses of keys and lines about reads: rows outside the owners' records."""
