"""Frozen dataclasses and regular expressions that cost little until they are first used.

``dataclasses`` compiles six functions for each class, which was a third of the time that a program
took to open a book. The methods here are the same ones, made by ``dataclasses`` later; a type
checker sees ``dataclasses.dataclass`` itself.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from copy import copy
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(*, frozen: bool, slots: bool) -> Callable[[type[T]], type[T]]:
        """Make a class a frozen dataclass with slots; there are no other ones here."""
        assert frozen and slots
        return _defined


T = TypeVar("T")


def expression(source: str | Callable[[], str], flags: int = 0) -> re.Pattern[str]:
    """Return a regular expression that is compiled when it is first used; a function gives its text
    only then.
    """
    return cast("re.Pattern[str]", _Expression(source, flags))


class _Expression:
    def __init__(self, source: str | Callable[[], str], flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        # ``re`` keeps what it compiled. What is found is kept here, so that a second use finds it
        # at once.
        source = self._source if isinstance(self._source, str) else self._source()
        found = getattr(re.compile(source, self._flags), name)
        setattr(self, name, found)
        return found


#: The methods that are made later, with the option of ``dataclasses`` that makes each.
_LATER = {"__init__": "init", "__repr__": "repr", "__eq__": "eq", "__hash__": "eq"}


def _defined(cls: type[T]) -> type[T]:
    own = vars(cls)
    made = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True)(cls)
    for name in _LATER:
        # A class that compares in its own way has no hash yet: Python has set it to None.
        if own.get(name) is None:
            setattr(made, name, _made_at_first_call(made, name))
    for shared in (_refuse_setting, _refuse_deleting, _state, _restore):
        setattr(made, shared.__name__, shared)
    return made


def _made_at_first_call(cls: type, name: str) -> Callable[..., Any]:
    def method(self: Any, *given: Any, **named: Any) -> Any:
        return _make(cls, name)(self, *given, **named)

    return method


def _make(cls: Any, name: str) -> Callable[..., Any]:
    """Put the method that ``dataclasses`` makes in its place, and return it; two threads may do the
    same at once.
    """
    options: dict[str, Any] = dict.fromkeys(_LATER.values(), False) | {_LATER[name]: True}
    kept = {"__post_init__": cls.__post_init__} if hasattr(cls, "__post_init__") else {}
    parts = [(part.name, part.type, copy(part)) for part in dataclasses.fields(cls)]
    model = dataclasses.make_dataclass(cls.__name__, parts, namespace=kept, frozen=True, **options)
    method: Callable[..., Any] = vars(model)[name]
    method.__qualname__ = f"{cls.__qualname__}.{name}"
    setattr(cls, name, method)
    return method


def _refuse_setting(self: Any, name: str, value: object) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deleting(self: Any, name: str) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    """Return what a pickle of this value holds."""
    return [getattr(self, part.name) for part in dataclasses.fields(self)]


def _restore(self: Any, state: list[Any]) -> None:
    for part, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, part.name, value)


_refuse_setting.__name__, _refuse_deleting.__name__ = "__setattr__", "__delattr__"
_state.__name__, _restore.__name__ = "__getstate__", "__setstate__"
