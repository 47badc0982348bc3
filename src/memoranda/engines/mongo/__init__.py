"""The engine for books in a database of a MongoDB replica set."""
