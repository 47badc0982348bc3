"""The conformance suite, one module for each promise of an engine."""
