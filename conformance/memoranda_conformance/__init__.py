"""The tests that every storage engine passes: ``validate`` runs them and prints a report."""

from pkgutil import iter_modules

import pytest

pytest.register_assert_rewrite(*(f"{__name__}.{module.name}" for module in iter_modules(__path__)))

from memoranda_conformance.report import Report, validate  # noqa: E402
from memoranda_conformance.store_suite import StoreSuite  # noqa: E402

__all__ = ["Report", "StoreSuite", "validate"]
