"""Conditions on the data of records."""
