"""The conformance suite: tests that every engine must pass, one module for each promise."""
