"""Measurements of a book's speed and size, through the public API only."""
