"""Names of a package that are imported from its modules when they are first used (PEP 562)."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from threading import RLock
from types import ModuleType
from typing import Any

#: A package imports its modules, and they import it: two threads that begin at different ones would
#: wait for each other.
_loading = RLock()


def loaded(module: str) -> ModuleType:
    """Import a module of this package, by one thread at a time."""
    with _loading:
        return import_module(module)


def names_of(
    package: str, modules: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package whose modules have these names, with
    spaces between them.
    """
    homes = {name: module for module, names in modules.items() for name in names.split()}
    inside = vars(sys.modules[package])

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        inside[name] = found = getattr(loaded(homes[name]), name)
        return found

    return get, lambda: sorted({*inside, *homes})


def _begin_anew() -> None:
    """Forget, in a forked process, a lock that a thread of its parent may hold."""
    global _loading
    _loading = RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
