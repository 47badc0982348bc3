"""Decides what a batch of changes does, by pure rules: one module for each kind of change."""
