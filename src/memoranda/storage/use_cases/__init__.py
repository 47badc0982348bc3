"""The use cases of an engine, each written once over questions and writes."""
