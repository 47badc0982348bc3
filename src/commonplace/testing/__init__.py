"""What engines are tested with; it needs pytest, pytest-asyncio and nothing else that Commonplace does not bring."""

import pytest

pytest.register_assert_rewrite("commonplace.testing")

from commonplace.testing.store_suite import StoreSuite  # noqa: E402

__all__ = ["StoreSuite"]
