"""What is done to every text before a model reads it."""

from __future__ import annotations


def wellformed(text: str) -> str:
    """The text without halves of surrogate pairs, which no encoding can carry; both halves become their character."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
