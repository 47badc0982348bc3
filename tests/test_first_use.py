"""Dataclasses, regular expressions and names of packages that cost little until they are used
behave as the usual ones do.
"""

from __future__ import annotations

import ast
import copy
import dataclasses
import pickle
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError, field
from importlib import import_module
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

import memoranda
from memoranda.first_use import dataclass, expression

SOURCE = Path(memoranda.__file__).parent
LAZY = sorted(path for path in SOURCE.rglob("__init__.py") if "names_of" in path.read_text("utf-8"))


@dataclass(frozen=True, slots=True)
class Early:
    """A point."""

    x: int
    y: str = "a"
    more: tuple[int, ...] = ()
    seen: list[int] = field(default_factory=list, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.x < 0:
            raise ValueError("x is negative")


@dataclass(frozen=True, slots=True)
class Late(Early):
    """A point with a name."""

    name: str = "late"


@dataclasses.dataclass(frozen=True, slots=True)
class Usual:
    """A point."""

    x: int
    y: str = "a"
    more: tuple[int, ...] = ()
    seen: list[int] = field(default_factory=list, compare=False, repr=False)


@pytest.mark.parametrize("kind", [Early, Usual])
def test_a_dataclass_compares_hashes_and_prints_as_the_usual_one(kind: Any) -> None:
    one, same, other = kind(1, seen=[3]), kind(1), kind(1, "b")
    assert one == same and hash(one) == hash(same) and one != other and one != (1, "a", ())
    assert (
        repr(one) == f"{kind.__name__}(x=1, y='a', more=())" and one.seen == [3] and same.seen == []
    )
    assert hash(one) == hash((1, "a", ()))
    assert not hasattr(one, "__dict__") and kind.__match_args__ == ("x", "y", "more", "seen")
    assert dataclasses.replace(one, y="c") == kind(1, "c")
    assert dataclasses.asdict(one) == {"x": 1, "y": "a", "more": (), "seen": [3]}
    for copied in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert copied == one and copied.seen == [3] and type(copied) is kind


@pytest.mark.parametrize("kind", [Early, Usual])
def test_a_dataclass_refuses_what_the_usual_one_refuses(kind: Any) -> None:
    one = kind(1)
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
        one.x = 2
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'x'"):
        del one.x
    with pytest.raises(
        TypeError, match=r"__init__\(\) missing 1 required positional argument: 'x'"
    ):
        kind()
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        kind(1, z=2)
    assert one == kind(1)


def test_a_dataclass_runs_what_follows_its_fields_and_is_inherited() -> None:
    with pytest.raises(ValueError, match="x is negative"):
        Late(-1)
    assert Late(1) == Late(1, name="late") and Late(1) != Early(1)
    assert repr(Late(1)).endswith("Late(x=1, y='a', more=(), name='late')")


def test_several_threads_may_use_a_dataclass_first() -> None:
    @dataclass(frozen=True, slots=True)
    class New:
        x: int

    together = Barrier(8)

    def first(_: int) -> tuple[object, str]:
        together.wait()
        return New(1), repr(New(1))

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(first, range(8)))
    assert {one for one, _ in found} == {New(1)} and len({text for _, text in found}) == 1


def test_an_expression_is_compiled_when_it_is_used() -> None:
    asked = []

    def source() -> str:
        asked.append(1)
        return "a+"

    late = expression(source, re.IGNORECASE)
    assert not asked
    assert late.findall("xAay") == ["Aa"] and late.sub("-", "aab") == "-b" and late.pattern == "a+"
    expression("(")  # a mistake shows when it is used
    with pytest.raises(re.error):
        expression("(").search("a")


@pytest.mark.parametrize("path", LAZY, ids=lambda path: path.parent.name)
def test_a_type_checker_sees_the_names_that_are_loaded_at_their_first_use(path: Path) -> None:
    (guard,) = (
        node for node in ast.parse(path.read_text("utf-8")).body if isinstance(node, ast.If)
    )
    seen = {
        (alias.name, node.module)
        for node in guard.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    (call,) = (
        node for node in ast.walk(ast.Module(guard.orelse, [])) if isinstance(node, ast.Call)
    )
    table = ast.literal_eval(call.args[1])
    assert {(name, module) for module, names in table.items() for name in names.split()} == seen
    package = import_module(".".join(("memoranda", *path.parent.relative_to(SOURCE).parts)))
    for name, module in seen:
        assert getattr(package, name) is getattr(import_module(str(module)), name), name
    assert {name for name, _ in seen} - {"__version__"} == set(package.__all__) <= set(dir(package))


def test_the_package_gives_its_names_as_if_they_were_all_imported() -> None:
    everything: dict[str, Any] = {}
    exec("from memoranda import *", everything)
    assert everything.keys() - {"__builtins__"} == set(memoranda.__all__)
    assert "__version__" in dir(memoranda) and memoranda.__version__[0].isdigit()
    for given in (
        memoranda.Trust.OPERATOR,
        memoranda.NotFound("gone"),
        memoranda.Owner(tenant="t", id="i"),
    ):
        assert str(pickle.loads(pickle.dumps(given))) == str(given)
    with pytest.raises(AttributeError, match="module 'memoranda' has no attribute 'remember'"):
        memoranda.remember  # type: ignore[attr-defined] # noqa: B018
