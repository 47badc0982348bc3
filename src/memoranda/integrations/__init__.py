"""Frameworks that agents are built with, each served by a book in a module of its own."""
