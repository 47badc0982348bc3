"""Names of a package that are imported from its modules when they are first used (PEP 562)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def names_of(
    package: str, modules: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package whose modules have these names, with spaces between them."""
    homes = {name: module for module, names in modules.items() for name in names.split()}
    inside = vars(sys.modules[package])

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        inside[name] = found = getattr(import_module(homes[name]), name)
        return found

    return get, lambda: sorted({*inside, *homes})
