"""Conformance tests of background work: jobs, waiting, formation and spending."""
