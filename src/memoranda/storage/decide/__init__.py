"""Decides what a batch does, by pure rules: one module for each kind of change."""
