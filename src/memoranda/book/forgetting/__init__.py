"""Forgets facts: finds where they are told, shows what would go, and takes it out."""
