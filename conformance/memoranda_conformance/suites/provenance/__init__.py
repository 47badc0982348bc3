"""Tests of the callers' own ids, and of the links from memories to episodes."""
