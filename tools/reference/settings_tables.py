"""Tables of settings, limits and sizes, from the classes that declare them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_type_hints

from pydantic import BaseModel
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from memoranda.access.service_settings import ServiceSettings
from memoranda.assembly.book_setup import BookSettings
from memoranda.book.agent_settings import ContextSettings
from memoranda.book.dream.dream_settings import DreamSettings
from memoranda.book.nouns.items import MOST_NAMES
from memoranda.formation.agent_limits import AGENT_LIMITS
from memoranda.formation.formation_settings import AGENT_SETTINGS, FormingSettings
from memoranda.formation.schemas.formats import CHECKED_FORMATS, UNCHECKED_FORMATS
from memoranda.formation.schemas.json_patch import OPERATIONS
from memoranda.formation.schemas.patterns import PATTERN_LENGTH, PATTERN_WEIGHT, TEXT_LENGTH
from memoranda.formation.schemas.schema_check import (
    ANNOTATIONS,
    CHAIN,
    KNOWN,
    PATTERNS,
    PROPERTIES,
    SCHEMA_BYTES,
)
from memoranda.model.data_filters import (
    MOST_CHOICES,
    MOST_CONDITIONS,
    MOST_PARTS,
    MOST_PATH,
    OPERAND_SIZE,
)
from memoranda.model.experience_lines import MOST_USERS
from memoranda.model.memories import MOST_QUOTES
from memoranda.model.records import Limits
from memoranda.model.unlisted import MOST_LISTED
from memoranda.model.values import DATA_DEPTH
from memoranda.model.vectors import LARGEST_DIMENSION

#: The class of each section of a settings file.
CLASSES: dict[str, type[BaseModel]] = {**get_type_hints(BookSettings), "service": ServiceSettings}


def settings() -> str:
    """Return a table for each section."""
    parts = []
    for section, of in CLASSES.items():
        rows = ["| setting | default | meaning |", "|---|---|---|"]
        rows += [
            f"| `{section}.{name}` | {_default(field)} | {field.description} |"
            for name, field in of.model_fields.items()
        ]
        parts.append(f"## {section}\n\n" + "\n".join(rows))
    return "\n\n".join(parts)


def of_agents() -> str:
    """Return the settings that one agent may have, by section."""
    named = {
        "limits": [name for name in Limits.model_fields if name in AGENT_LIMITS],
        "context": list(ContextSettings.model_fields),
        "forming": [name for name in FormingSettings.model_fields if name in AGENT_SETTINGS],
        "dream": [to_camel(name) for name in DreamSettings.model_fields],
        "sharing": ["default"],
    }
    rows = ["| section | an agent's own |", "|---|---|"]
    rows += [
        f"| `{section}` | {', '.join(f'`{name}`' for name in names)} |"
        for section, names in named.items()
    ]
    context = ["| setting of `context` | default | meaning |", "|---|---|---|"]
    context += [
        f"| `{name}` | {_default(field)} | {field.description} |"
        for name, field in ContextSettings.model_fields.items()
    ]
    return "\n".join(rows) + "\n\n" + "\n".join(context)


def limits() -> str:
    """Return the values that each setting with a bound may have."""
    rows = ["| setting | default | from | to |", "|---|--:|--:|--:|"]
    for section, of in CLASSES.items():
        for name, field in of.model_fields.items():
            low, high = _bounds(field)
            if low or high:
                rows.append(
                    f"| `{section}.{name}` | {_default(field)} | {low or '–'} | {high or '–'} |"
                )
    return "\n".join(rows)


def sizes() -> str:
    """Return the sizes that no setting changes."""
    rows = ["| what | most |", "|---|--:|"]
    rows += [f"| {what} | {most:,} |" for what, most in _sizes()]
    return "\n".join(rows)


def keywords() -> str:
    """Return the keywords that a schema may use, by what becomes of them."""
    checked = sorted(KNOWN - ANNOTATIONS - {"definitions", "x-memoranda-key"})
    rows = [
        ("checked", checked),
        ("shown to the model, not checked", sorted(ANNOTATIONS)),
        ("of Memoranda: the memory with this key holds the field", ["x-memoranda-key"]),
        ("formats that are checked", sorted(CHECKED_FORMATS)),
        ("formats that are shown to the model", sorted(UNCHECKED_FORMATS)),
    ]
    text = [f"| {what} | {', '.join(f'`{name}`' for name in names)} |" for what, names in rows]
    return "\n".join(["| what | keywords |", "|---|---|", *text])


def _sizes() -> Iterator[tuple[str, int]]:
    yield "characters of an owner's, an agent's or a group's name, and of an external id", 255
    yield "levels of a JSON value", DATA_DEPTH
    yield (
        "sources that a memory lists; further ones are counted, and `why` shows them in pages",
        MOST_LISTED,
    )
    yield "quotes of a memory", MOST_QUOTES
    yield "users whose evidence a line of experience keeps", MOST_USERS
    yield "names in one `items.get_many`", MOST_NAMES
    yield "numbers in a vector", LARGEST_DIMENSION
    yield "conditions on data in one filter", MOST_CONDITIONS
    yield "parts of a path of a filter", MOST_PARTS
    yield "characters of a path of a filter", MOST_PATH
    yield "values after `in` in a filter", MOST_CHOICES
    yield "characters of an operand of a filter, as JSON", OPERAND_SIZE
    yield "bytes of a schema, as JSON", SCHEMA_BYTES
    yield "fields of a schema", PROPERTIES
    yield "references and alternatives of a schema in a chain", CHAIN
    yield "patterns of a schema", PATTERNS
    yield "characters of a pattern", PATTERN_LENGTH
    yield "places of a pattern with its repetitions written out", PATTERN_WEIGHT
    yield "operations of one patch of a document", OPERATIONS
    yield "characters of a text that a pattern is matched against", TEXT_LENGTH


def _default(field: FieldInfo) -> str:
    value: Any = field.get_default(call_default_factory=True)
    if value is PydanticUndefined or value is None or value in ("", (), {}):
        return "–"
    if isinstance(value, tuple):
        return ", ".join(f"`{one}`" for one in value)
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return _number(value) if isinstance(value, (int, float)) else f"`{value}`"


def _bounds(field: FieldInfo) -> tuple[str, str]:
    low = high = ""
    for bound in field.metadata:
        for name in ("ge", "gt"):
            if (value := getattr(bound, name, None)) is not None:
                low = _number(value) if name == "ge" else f"above {_number(value)}"
        for name in ("le", "lt"):
            if (value := getattr(bound, name, None)) is not None:
                high = _number(value) if name == "le" else f"below {_number(value)}"
    return low, high


def _number(value: Any) -> str:
    return f"{int(value):,}" if float(value).is_integer() else f"{value:,}"
