"""Compares what was extracted with what is stored, and makes the changes."""
