"""The tests that ``validate`` runs; it gives them the engine."""

from memoranda_conformance.store_suite import StoreSuite


class TestEngine(StoreSuite):
    """All conformance tests of the engine to validate."""
