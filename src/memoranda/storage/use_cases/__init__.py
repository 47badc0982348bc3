"""Use cases of the store, each written once over questions and writes."""
