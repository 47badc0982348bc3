"""Checks of this checkout that no other tool makes: sizes, plain words, links, hosts."""
