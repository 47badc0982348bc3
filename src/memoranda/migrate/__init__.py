"""The way in from collections of other programs; only the command ``migrate`` loads it."""
