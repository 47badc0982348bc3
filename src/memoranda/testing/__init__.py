"""What engines are tested with; it needs pytest and pytest-asyncio beside what Memoranda itself brings."""

from pkgutil import iter_modules

import pytest

pytest.register_assert_rewrite(*(f"{__name__}.{module.name}" for module in iter_modules(__path__)))

from memoranda.testing.store_suite import StoreSuite  # noqa: E402

__all__ = ["StoreSuite"]
