"""Schemas: their definitions, the validation of documents, and JSON Patch."""
