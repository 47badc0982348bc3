"""The conformance tests for engines, with their helpers; they need pytest and pytest-asyncio."""

from pkgutil import iter_modules

import pytest

pytest.register_assert_rewrite(*(f"{__name__}.{module.name}" for module in iter_modules(__path__)))

from memoranda.testing.store_suite import StoreSuite  # noqa: E402

__all__ = ["StoreSuite"]
