"""Checks of this checkout that no other tool makes: sizes, links, hosts."""
