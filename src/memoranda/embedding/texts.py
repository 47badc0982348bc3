"""Repair of texts before a model reads them."""

from __future__ import annotations


def wellformed(text: str) -> str:
    """Replace lone halves of surrogate pairs, which cannot be encoded, and join pairs into their character."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
