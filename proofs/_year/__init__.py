"""A simulated year of one owner, for the proof of dreams."""
