"""Example programs; each can be run as it is."""
