"""Pydantic classes as schemas: what Pydantic writes for a type is stored, and judges as Pydantic
does.
"""

from __future__ import annotations

import json
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from fractions import Fraction
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address
from pathlib import Path
from re import Pattern
from typing import Annotated, Any, Final, Generic, Literal, NamedTuple, NotRequired, TypeVar
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from pydantic import (
    UUID4,
    AnyUrl,
    AwareDatetime,
    Base64Bytes,
    BaseModel,
    ByteSize,
    ConfigDict,
    Discriminator,
    Field,
    FutureDate,
    HttpUrl,
    IPvAnyAddress,
    Json,
    JsonValue,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    PostgresDsn,
    RootModel,
    SecretStr,
    StrictBool,
    StringConstraints,
    Tag,
    ValidationError,
    WithJsonSchema,
    computed_field,
    conbytes,
    condecimal,
    confloat,
    conint,
    conlist,
    conset,
    constr,
    create_model,
)
from pydantic.json_schema import GenerateJsonSchema
from typing_extensions import TypedDict

import memoranda
from memoranda.formation.schemas.definitions import (
    FormationSchema,
    default_fields,
    parameters_of,
)
from memoranda.formation.schemas.formats import CHECKED_FORMATS, format_fault
from memoranda.formation.schemas.json_patch import apply_patch
from memoranda.formation.schemas.validation import Shape, document_faults

T = TypeVar("T")


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Mixed(Enum):
    WORD = "word"
    NUMBER = 7
    NOTHING = None


class Address(BaseModel):
    street: str = Field(min_length=1)
    town: str = "Bonn"


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")
    a: int


class Opened(BaseModel):
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, int] = Field(init=False)
    a: str = ""


class Cat(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["cat"] = "cat"
    lives: int = Field(9, ge=1)


class Dog(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["dog"] = "dog"
    tricks: list[str] = []


class Tree(BaseModel):
    name: str
    children: list[Tree] = []


class Left(BaseModel):
    right: Right | None = None


class Right(BaseModel):
    left: Left | None = None
    n: int = 0


class Point(NamedTuple):
    x: int
    y: float = 0.0


class Movie(TypedDict):
    title: str
    year: NotRequired[int]


@dataclass
class Job:
    title: str
    days: list[int] = field(default_factory=list)


class Page(BaseModel, Generic[T]):
    items: list[T]
    next: T | None = None


class Numbers(RootModel[list[int]]):
    pass


class Table(RootModel[dict[str, int]]):
    pass


class Aliased(BaseModel):
    first_name: str = Field(alias="firstName")


def _kind(value: Any) -> str:
    return value.get("kind", "cat") if isinstance(value, dict) else str(value.kind)


Pet = Annotated[Cat | Dog, Field(discriminator="kind")]
TaggedPet = Annotated[Annotated[Cat, Tag("cat")] | Annotated[Dog, Tag("dog")], Discriminator(_kind)]
UUIDS = ["9f1c2ab0-5d3e-4c77-8a54-0e6b1f2d3c4a"]

#: A type, values that it takes, and values that it refuses.
TYPES: dict[str, tuple[Any, list[Any], list[Any]]] = {
    "bool": (bool, [True, False], [1, "true", None]),
    "strict bool": (StrictBool, [True], ["yes"]),
    "int": (int, [0, -3], [1.5, "1", None, True]),
    "float": (float, [1, 1.5], ["1", None]),
    "str": (str, ["", "x"], [1, None, ["x"]]),
    "bytes": (bytes, ["abc"], [1]),
    "none": (None, [None], [0, ""]),
    "anything": (Any, [None, 1, [{}]], []),
    "object": (object, [None, "x"], []),
    "json value": (JsonValue, [None, 1, {"a": [1]}], []),
    "optional": (int | None, [1, None], ["x"]),
    "union": (int | str, [1, "x"], [None, []]),
    "union of lists": (list[int] | dict[str, int], [[1], {"a": 1}], [["x"], {"a": "x"}, 1]),
    "literal": (Literal["a"], ["a"], ["b", None]),
    "literals": (Literal["a", 1, None], ["a", 1, None], ["b", 2]),
    "text enum": (Colour, ["red"], ["green", 1]),
    "number enum": (Level, [1, 2], [3, "1"]),
    "mixed enum": (Mixed, ["word", 7, None], ["x", 8]),
    "optional enum": (Colour | None, ["red", None], ["x"]),
    "date": (date, ["2026-02-28"], ["2026-02-30", "28.02.2026", "", 7]),
    "datetime": (
        datetime,
        ["2026-02-28T10:00:00Z", "2026-02-28T10:00:00", "2026-02-28T10:00:00.5+02:00"],
        ["2026-02-28", "tomorrow", "2026-02-28T25:00:00Z"],
    ),
    "aware datetime": (AwareDatetime, ["2026-02-28T10:00:00Z"], ["x"]),
    "date or datetime": (date | datetime, ["2026-02-28", "2026-02-28T10:00:00"], ["x"]),
    "future date": (FutureDate, ["2999-02-28"], ["x"]),
    "time": (time, ["10:00:00", "10:00:00Z", "10:00:00.5+02:00"], ["24:00:00", "noon"]),
    "timedelta": (timedelta, ["P1D", "PT2H30M", "-P1DT0.5S"], ["P", "soon"]),
    "uuid": (UUID, UUIDS, ["x", UUIDS[0][:-1]]),
    "uuid 4": (UUID4, UUIDS, ["12345678-1234-1678-9234-567812345678"]),
    "url": (AnyUrl, ["https://a.org/b?c", "mailto:a@b.org"], ["a.org", "", "//a.org"]),
    "http url": (HttpUrl, ["https://a.org"], ["a", f"https://a.org/{'x' * 2083}"]),
    "dsn": (PostgresDsn, ["postgres://u@a:1,b:2/db"], [""]),
    "ipv4": (IPv4Address, ["192.0.2.1"], ["192.0.2.256", "::1"]),
    "ipv6": (IPv6Address, ["::1"], ["192.0.2.1"]),
    "ip": (IPvAnyAddress, ["::1", "192.0.2.1"], ["x"]),
    "network": (IPv4Network, ["192.0.2.0/24"], ["192.0.2.1/24"]),
    "interface": (IPv4Interface, ["192.0.2.1/24"], ["x"]),
    "path": (Path, ["/a/b"], [1]),
    "regular expression": (Pattern[str], ["^a+$"], [1]),
    "time zone": (ZoneInfo, ["Europe/Berlin"], [1]),
    "decimal": (Decimal, [1, 1.5, "1.50"], [None, []]),
    "bounded decimal": (condecimal(gt=0, max_digits=5, decimal_places=2), [1.5, "1.50"], [0, -1]),
    "fraction": (Fraction, ["1/3"], [[]]),
    "bytes of a size": (ByteSize, [1024, "3 MB"], [-1, "MB"]),
    "secret": (SecretStr, ["x"], [1]),
    "base64": (Base64Bytes, ["YWJj"], [1]),
    "json text": (Json[list[int]], ["[1, 2]"], ["[", '["x"]', [1]]),
    "any json text": (Json, ["{}"], ["{", {}]),
    "positive": (PositiveInt, [1], [0, -1]),
    "not negative": (NonNegativeInt, [0], [-1]),
    "positive float": (PositiveFloat, [0.1], [0.0]),
    "conint": (conint(ge=0, lt=10, multiple_of=5), [0, 5], [-5, 10, 3]),
    "confloat": (confloat(gt=0, le=1, multiple_of=0.25), [0.25, 1], [0, 1.25, 0.3]),
    "constr": (constr(min_length=2, max_length=3), ["ab", "äöü"], ["a", "abcd"]),
    "pattern": (constr(pattern=r"^[a-z]+\d$"), ["ab1"], ["ab", "1"]),
    "annotated": (Annotated[str, StringConstraints(max_length=1)], ["a"], ["ab"]),
    "conbytes": (conbytes(max_length=2), ["ab"], ["abc"]),
    "list": (list[int], [[], [1]], [["x"], {}, "x", [None]]),
    "conlist": (conlist(int, min_length=1, max_length=2), [[1], [1, 2]], [[], [1, 2, 3]]),
    "set": (set[int], [[], [1, 2]], [["x"], {}]),
    "frozen set": (frozenset[str], [["a"]], [[1]]),
    "conset": (conset(int, min_length=1), [[1]], [[]]),
    "tuple": (tuple[int, str], [[1, "a"]], [[1], [1, "a", 2], ["a", 1]]),
    "open tuple": (tuple[int, ...], [[], [1, 2]], [["a"]]),
    "empty tuple": (tuple[()], [[]], [[1]]),
    "named tuple": (Point, [[1], [1, 2.5]], [[], [1, 2, 3], ["x"]]),
    "deque": (deque[int], [[1]], [["x"]]),
    "sequence": (Sequence[int], [[1]], [["x"], 1]),
    "iterable": (Iterable[int], [[1]], [1]),
    "dict": (dict[str, int], [{}, {"a": 1}], [{"a": "x"}, []]),
    "dict of uuids": (dict[UUID, int], [{UUIDS[0]: 1}], [{"x": 1}]),
    "dict of dates": (dict[date, int], [{"2026-02-28": 1}], [{"x": 1}]),
    "dict of an enum": (dict[Colour, int], [{"red": 1}], [{"green": 1}]),
    "dict of literals": (dict[Literal["a", "b"], int], [{"a": 1}], [{"c": 1}]),
    "dict of lengths": (dict[Annotated[str, Field(min_length=2)], int], [{"ab": 1}], [{"a": 1}]),
    "dict of patterns": (
        dict[Annotated[str, Field(pattern="^x-")], int],
        [{"x-a": 1}],
        [{"x-a": "b"}],
    ),
    "bounded dict": (
        Annotated[dict[str, int], Field(min_length=1, max_length=2)],
        [{"a": 1}],
        [{}, {"a": 1, "b": 2, "c": 3}],
    ),
    "mapping": (Mapping[str, list[int]], [{"a": [1]}], [{"a": 1}]),
    "default dict": (defaultdict[str, list[int]], [{"a": [1]}], [{"a": ["x"]}]),
    "ordered dict": (OrderedDict[str, int], [{"a": 1}], [{"a": "x"}]),
    "counter": (Counter[str], [{"a": 1}], [{"a": "x"}]),
    "model": (Address, [{"street": "x"}], [{}, {"street": ""}, []]),
    "optional model": (Address | None, [None, {"street": "x"}], [{"street": 1}]),
    "models": (list[Address], [[{"street": "x"}]], [[{}]]),
    "closed model": (Closed, [{"a": 1}], [{"a": 1, "b": 2}]),
    "open model": (Opened, [{"a": "x", "b": 2}], [{"b": "x"}]),
    "generic model": (Page[int], [{"items": [1]}, {"items": [], "next": None}], [{"items": "x"}]),
    "aliased model": (Aliased, [{"firstName": "Ana"}], [{"first_name": "Ana"}]),
    "tagged union": (
        Pet,
        [{"kind": "cat", "lives": 3}, {"kind": "dog"}],
        [{"kind": "cow"}, {"kind": "cat", "lives": 0}, {"kind": "dog", "lives": 3}],
    ),
    "called tag": (TaggedPet, [{"kind": "dog", "tricks": []}], [{"kind": "cat", "tricks": []}]),
    "union of models": (Cat | Dog, [{"lives": 1}, {"tricks": ["sit"]}], [{"tricks": 1}]),
    "recursive": (
        Tree,
        [{"name": "a", "children": [{"name": "b", "children": []}]}],
        [{"name": "a", "children": [{}]}],
    ),
    "mutually recursive": (Left, [{"right": {"left": {}}}], [{"right": {"n": "x"}}]),
    "typed dict": (Movie, [{"title": "x"}], [{}, {"title": "x", "year": "y"}]),
    "data class": (Job, [{"title": "x", "days": [1]}], [{"days": []}]),
    "root list": (Numbers, [[1]], [["x"]]),
    "root dict": (Table, [{"a": 1}], [{"a": "x"}]),
    "type variable": (T, [1, None], []),
    "final": (Final[int], [1], ["x"]),
    "annotations": (
        Annotated[
            int,
            Field(
                title="t",
                description="d",
                examples=[1],
                deprecated=True,
                json_schema_extra={"readOnly": True, "example": 1, "x-order": 3, "$comment": "c"},
            ),
        ],
        [1],
        ["x"],
    ),
}


def schema_of_type(kind: Any) -> tuple[type[BaseModel], dict[str, Any]]:
    made = create_model("Given", x=(kind, ...))
    return made, parameters_of(made)


@pytest.mark.parametrize(("kind", "good", "bad"), TYPES.values(), ids=TYPES)
def test_a_document_is_judged_as_the_class_judges_it(kind: Any, good: list, bad: list):
    made, parameters = schema_of_type(kind)
    for value in good:
        made.model_validate_json(json.dumps({"x": value}), strict=True)
        assert document_faults(parameters, {"x": value}) == (), value
    for value in bad:
        with pytest.raises(ValidationError):
            made.model_validate_json(json.dumps({"x": value}), strict=True)
        found = document_faults(parameters, {"x": value})
        assert found and all(one.at.startswith("/x") and one.reason for one in found), value
    assert document_faults(parameters, {}) != ()


@pytest.mark.parametrize("name", [name for name in TYPES if "json text" not in name])
@pytest.mark.parametrize("mode", ["validation", "serialization"])
def test_a_document_is_judged_as_json_schema_says(name: str, mode: Any):
    jsonschema = pytest.importorskip("jsonschema")
    formats = jsonschema.FormatChecker(formats=())
    for one in CHECKED_FORMATS:
        formats.checks(one)(
            lambda text, one=one: not isinstance(text, str) or format_fault(one, text) is None
        )
    kind, good, bad = TYPES[name]
    parameters = parameters_of(create_model("Given", x=(kind, ...)).model_json_schema(mode=mode))
    oracle = jsonschema.Draft202012Validator(parameters, format_checker=formats)
    for value in [*good, *bad, None, True, 1.0, "x", [], [1, 1], {}, {"x-a": None}]:
        faults = document_faults(parameters, {"x": value})
        assert oracle.is_valid({"x": value}) is (faults == ()), value


class Ticket(BaseModel):
    """Has a default of every sort, beside fields without one."""

    title: str
    count: int = 1
    ratio: float = 0.5
    open: bool = True
    colour: Colour = Colour.RED
    level: Level = Level.HIGH
    born: date = date(2026, 2, 28)
    lasts: timedelta = timedelta(days=1)
    price: Decimal = Decimal("1.50")
    tags: set[str] = {"new"}
    pair: tuple[int, str] = (1, "a")
    address: Address = Address(street="Mill Lane")
    extra: dict[str, Address] = {}
    named: dict[Annotated[str, Field(pattern="^x-")], Address] = {}
    note: str | None = None
    pets: list[Pet] = []
    pet: Cat | Dog | None = None
    after: Ticket | None = None


@pytest.mark.parametrize(
    "given",
    [
        {"title": "x"},
        {"title": "x", "address": {"street": "Mill Lane"}, "extra": {"home": {"street": "x"}}},
        {
            "title": "x",
            "pets": [{"kind": "cat"}, {"kind": "dog"}, {"kind": "dog", "tricks": ["sit"]}],
        },
        {"title": "x", "pet": {"tricks": []}, "after": {"title": "y", "pet": {"lives": 3}}},
        {"title": "x", "after": {"title": "y", "pets": [{"kind": "dog"}]}},
        {"title": "x", "named": {"x-a": {"street": "z"}}},
    ],
)
def test_defaults_are_those_that_the_class_gives(given: dict):
    shape = Shape(parameters_of(Ticket))
    read = Ticket.model_validate_json(json.dumps(given), strict=True)
    assert shape.completed(given) == read.model_dump(mode="json", exclude_none=True)
    assert shape.faults(shape.completed(given)) == ()


def test_what_fits_no_alternative_gets_the_default_of_none():
    shape = Shape(parameters_of(Ticket))
    assert shape.completed({"title": "x", "pets": [{"kind": "cow"}]})["pets"] == [{"kind": "cow"}]


def test_a_class_that_contains_itself_has_its_fields_at_the_root():
    class Person(BaseModel):
        name: str = Field("", json_schema_extra={"x-memoranda-key": "name"})
        town: str = "Bonn"
        friends: list[Person] = []

    schema = FormationSchema("Person", "", parameters_of(Person), "patch")
    assert schema.unusable == () and schema.keys == {"name": "name"}
    assert default_fields(schema) == {"name": "", "town": "Bonn", "friends": []}
    assert schema.shape.faults({"friends": [{"friends": [{"name": 1}]}]})[0].at == (
        "/friends/0/friends/0/name"
    )


def test_a_union_of_classes_can_be_the_document():
    class Animal(RootModel[Pet]):
        pass

    shape = Shape(parameters_of(Animal))
    assert shape.faults({"kind": "cat", "lives": 1}) == ()
    assert [one.at for one in shape.faults({"kind": "cat", "lives": "x"})] == ["/lives"]
    assert shape.completed({"kind": "dog"}) == {"kind": "dog", "tricks": []}
    with pytest.raises(memoranda.InvalidInput, match="does not describe an object"):
        parameters_of(Numbers)


def test_the_alternative_that_a_tag_names_is_the_one_that_was_meant():
    shape = Shape(schema_of_type(list[Pet])[1])

    def told(pet: dict) -> list[tuple[str, str]]:
        return [(one.at, one.reason) for one in shape.faults({"x": [pet]})]

    assert told({"kind": "cat", "lives": 0}) == [("/x/0/lives", "is less than 1")]
    assert told({"kind": "dog", "lives": 3}) == [("/x/0/lives", "is not a field of this schema")]
    assert told({"kind": "cow"}) == [("/x/0/kind", "is not one of 'cat', 'dog'")]


def test_a_fault_of_a_format_shows_what_would_be_right():
    shape = Shape(schema_of_type(time)[1])
    assert shape.faults({"x": "noon"})[0].reason == "is not a valid time, such as 10:30:00"


@pytest.mark.parametrize(
    ("kind", "place", "words"),
    [
        (dict[Level, int], "/properties/x/propertyNames", "names are texts"),
        (Annotated[str, WithJsonSchema({"not": {}})], "/properties/x/not", "not a supported"),
        (
            Annotated[str, WithJsonSchema({"format": "phone"})],
            "/properties/x/format",
            "not a known",
        ),
        (
            Annotated[str, WithJsonSchema({"x-memoranda-kye": "name"})],
            "/properties/x/x-memoranda-kye",
            "not a supported",
        ),
        (
            Annotated[str, WithJsonSchema({"contentSchema": {}, "contentEncoding": "base64"})],
            "/properties/x/contentSchema",
            "only beside contentMediaType",
        ),
        (
            Annotated[str, Field(json_schema_extra={"pattern": "^(?!0)"})],
            "/properties/x/pattern",
            "lookaround",
        ),
        (
            Annotated[dict[str, int], WithJsonSchema({"patternProperties": {"(?=a)": {}}})],
            "/properties/x/patternProperties",
            "lookaround",
        ),
    ],
)
def test_what_cannot_be_checked_is_refused_by_its_name(kind: Any, place: str, words: str):
    with pytest.raises(memoranda.InvalidInput, match=words) as caught:
        parameters_of(create_model("Given", x=(kind, ...)))
    assert caught.value.field == f"parameters{place}"


def test_a_patch_makes_what_a_class_contains():
    shape = Shape(parameters_of(Ticket))
    operations: list[dict[str, Any]] = [
        {"op": "add", "path": "/address/street", "value": "x"},
        {"op": "add", "path": "/extra/home", "value": {"street": "x"}},
        {"op": "add", "path": "/pets/-", "value": {"kind": "dog"}},
        {"op": "add", "path": "/after/title", "value": "y"},
    ]
    patched = apply_patch({"title": "x"}, operations, shape)
    assert patched.faults == () and patched.document["after"] == {"title": "y"}
    refused = apply_patch({"title": "x"}, [{**operations[2], "value": {"kind": "cow"}}], shape)
    assert refused.faults[0].path == "/pets/0/kind"


def test_a_pattern_of_a_decimal_that_looks_ahead_is_left_out(monkeypatch: pytest.MonkeyPatch):
    text = {"type": "string", "pattern": r"^(?!^[-+.]*$)[+-]?0*\d*\.?\d*$"}
    written = {"anyOf": [{"type": "number"}, text]}
    monkeypatch.setattr(GenerateJsonSchema, "decimal_schema", lambda *_: written)
    assert document_faults(schema_of_type(Decimal)[1], {"x": "1.50"}) == ()


async def test_an_object_of_the_class_is_stored_as_its_schema_has_it(tmp_path):
    class Contact(BaseModel):
        model_config = ConfigDict(extra="forbid")
        first_name: str = Field(alias="firstName")
        seen: datetime = datetime.fromisoformat("2026-02-28T10:00:00")
        codes: Json[list[int]] = Field(default=[])

        @computed_field  # type: ignore[prop-decorator]
        @property
        def initial(self) -> str:
            return self.first_name[:1]

    ana = Contact.model_validate(
        {"firstName": "Ana", "seen": datetime.fromisoformat("2026-02-28T00:00:00"), "codes": "[1]"}
    )
    async with memoranda.open(tmp_path / "book.db") as book:
        await book.schemas.put("Contact", parameters=Contact)
        await book.profiles.put("ana", ana, schema="Contact", as_owner=True)
        found = await book.profiles.get("ana", schema="Contact", as_owner=True)
    assert found == {"firstName": "Ana", "seen": "2026-02-28T00:00:00", "codes": "[1]"}
    assert Contact.model_validate(found) == ana
