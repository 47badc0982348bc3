"""The databases behind the storage wall, one folder each; they do not know each other."""
