"""The entries of a model's answer: notes, memories, patches and lines, rewritten with the names that the prompt gives."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any, Final, get_args

from memoranda.formation.schemas.json_values import InvalidJson, pointer_to, read_json
from memoranda.model.experience_lines import ExperienceField

#: Other names of each field, without signs and in small letters.
_NOTE_FIELDS: Final = {
    "content": "text statement note fact",
    "sources": "source citations evidence messages",
    "kind": "type category",
    "valid_until": "validto until",
    "valid_from": "since",
    "supersedes": "supersede replaces superseded",
}
_ABOUT_FIELDS: Final = {
    "memory": "memories memoryid id handle handles",
    "sources": "source citations evidence messages",
}
_PATCH_FIELDS: Final = {
    "schema": "schemaname",
    "operations": "ops patch operation",
    "sources": "source citations evidence messages",
    "memory": "memoryid handle",
}
_LINE_FIELDS: Final = {
    "field": "category section",
    "line": "text content lesson",
    "sources": "source citations evidence messages",
}
_SOURCE_FIELDS: Final = {"message": "handle id source msg messageid", "quote": "quotes text words"}
_OPERATIONS: Final = {
    "add": "append insert push create",
    "replace": "set update change put modify",
    "remove": "delete unset drop",
}
_EXPERIENCE: Final = {
    "procedural_knowledge": "procedure procedures knowledge steps",
    "common_scenarios": "scenario scenarios",
    "effective_strategies": "strategy strategies do",
    "known_pitfalls": "pitfall pitfalls avoid dont",
    "tool_patterns": "tool tools toolpattern",
    "heuristics": "heuristic rule rules lesson lessons",
    "user_feedback": "feedback",
    "improvement_areas": "improvement improvements",
}
_SIGNS: Final = re.compile(r"[\W_]+")
#: A handle, alone or within brackets, with the rest of its label.
_HANDLE: Final = re.compile(
    r"\W*(?:message|memory|msg|line)?\W*([a-z]?)0*(\d{1,6})\W*(?:[,(].*)?", re.IGNORECASE | re.DOTALL
)
_HANDLES: Final = re.compile(r"\W*[a-z]\d{1,6}\b(?:\W+(?:and\W+)?[a-z]\d{1,6}\b)+\W*", re.IGNORECASE)
#: The largest number of a handle, and the longest text that may be one with its label.
_LARGEST, _LABEL = 1_000_000, 200


def plain(name: Any) -> str:
    return _SIGNS.sub("", str(name)).casefold()


def meant(name: Any, names: Mapping[str, str]) -> str | None:
    """Return the name that is meant by another one; None if none is."""
    given = plain(name)
    return next(
        (one for one, others in names.items() if given == plain(one) or given in others.split()), None
    )


def parsed(given: Any) -> Any:
    """Return the value of a text that is JSON itself; anything else as it is."""
    if not isinstance(given, str) or not given.lstrip().startswith(("{", "[")):
        return given
    try:
        return read_json(given)
    except InvalidJson:
        return given


def entries(part: str, given: Any, schema: str | None) -> Iterator[Any]:
    """Yield the entries of one part with the names of the prompt; what is no object is yielded as it is."""
    if part == "experience":
        yield from _lines(given)
        return
    read = _READERS[part]
    for one in _listed(given, _NOTE_FIELDS if part == "notes" else _ABOUT_FIELDS):
        if isinstance(one, Mapping):
            yield from read(one, schema)
        elif part != "notes" and _handle(one, "c") is not None:
            yield {"memory": _handle(one, "c")}
        else:
            yield one


def _listed(given: Any, fields: Mapping[str, str]) -> list[Any]:
    """Return a part as a list: one entry where a list belongs, or a list in a wrapper of its own."""
    if isinstance(given, list):
        return given
    if isinstance(given, Mapping) and not any(meant(name, fields) for name in given):
        inner = [*given.values()]
        if len(inner) == 1 and isinstance(inner[0], list):
            return inner[0]
        if inner and all(isinstance(one, Mapping) for one in inner):
            return inner
    return [given]


def _renamed(given: Mapping[Any, Any], fields: Mapping[str, str]) -> dict[str, Any]:
    """Return an object with the fields' own names; a name that is there already is never taken by another."""
    found = {str(name): inner for name, inner in given.items()}
    for name in [*found]:
        own = None if name in fields else meant(name, fields)
        if own is not None and own not in found:
            found[own] = found.pop(name)
    return found


def _note(given: Mapping[Any, Any], schema: str | None) -> Iterator[dict[str, Any]]:
    found = _with_sources(_renamed(given, _NOTE_FIELDS))
    if schema is not None:
        found.setdefault("schema", schema)
    if found.get("supersedes") is not None:
        found["supersedes"] = _handles(found["supersedes"])
    yield found


def _about(given: Mapping[Any, Any], _: str | None) -> Iterator[dict[str, Any]]:
    found = _with_sources(_renamed(given, _ABOUT_FIELDS))
    named = _handles(found.get("memory")) if "memory" in found else [None]
    for memory in named:
        yield {**found, "memory": memory}


_READERS: Final[Mapping[str, Callable[[Mapping[Any, Any], str | None], Iterator[dict[str, Any]]]]] = {
    "notes": _note,
    "repeats": _about,
    "retracts": _about,
}


def _handles(given: Any) -> list[Any]:
    """Return the handles of memories in any form; what is no handle stays as it is."""
    given = _split(given)
    listed = given if isinstance(given, list) else [given]
    return [_handle(one, "c") or one for one in listed]


def _split(given: Any) -> Any:
    """Return the handles of a text such as "m1, m2 and m3" as a list; anything else as it is."""
    if isinstance(given, str) and len(given) <= _LABEL and _HANDLES.fullmatch(given):
        return re.findall(r"[a-z]\d+", given, re.IGNORECASE)
    return given


def _handle(given: Any, letter: str) -> str | None:
    """Return a handle such as ``m3`` from ``[M3]``, ``3``, ``m3, user`` or an object that names it; else None."""
    if isinstance(given, Mapping):
        named = {**_SOURCE_FIELDS, "memory": "memoryid handle id"}
        given = next((inner for name, inner in given.items() if meant(name, named)), None)
    if isinstance(given, int) and not isinstance(given, bool):
        given = str(given) if abs(given) < _LARGEST else None
    if not isinstance(given, str) or len(given) > _LABEL:
        return None
    found = _HANDLE.fullmatch(given)
    return None if found is None else f"{found[1].casefold() or letter}{found[2]}"


def _with_sources(found: dict[str, Any]) -> dict[str, Any]:
    """Return an entry with a list of its sources, also if it names them among its own fields."""
    given = found.get("sources")
    if given is None and "message" in found:
        given = {name: found.pop(name) for name in ("message", "quote") if name in found}
    if given is None:
        return found
    return {**found, "sources": [*_sources(given)]}


def _sources(given: Any) -> Iterator[Any]:
    given = _split(given)
    if isinstance(given, Mapping) and not any(meant(name, _SOURCE_FIELDS) for name in given):
        named = [(_handle(name, "m"), quote) for name, quote in given.items()]
        if named and all(handle is not None for handle, _ in named):
            given = [{"message": handle, "quote": quote} for handle, quote in named]
    for one in given if isinstance(given, list) else [given]:
        if not isinstance(one, Mapping):
            yield _handle(one, "m") or one
            continue
        source = _renamed(one, _SOURCE_FIELDS)
        message = _handle(source.get("message"), "m") or source.get("message")
        quotes = source.get("quote")
        for quote in quotes if isinstance(quotes, list) and quotes else [quotes]:
            yield {"message": message, **({} if quote is None else {"quote": quote})}


def patches(given: Any, schema: str | None, only: str | None, modes: Mapping[str, str]) -> Iterator[Any]:
    """Yield patches, also where operations stand without one, or under the name of their schema."""
    if isinstance(given, Mapping):
        named = {name: next((one for one in modes if plain(one) == plain(name)), None) for name in given}
        if schema is None and named and all(named.values()):
            for name, inner in given.items():
                yield from patches(inner, named[name], only, modes)
            return
        given = [given]
    bare: dict[str | None, list[Any]] = {}
    for one in given if isinstance(given, list) else [given]:
        if isinstance(one, Mapping) and "op" in one:
            bare.setdefault(str(one["schema"]) if "schema" in one else schema or only, []).append(one)
        elif isinstance(one, Mapping):
            yield patch(one, schema)
        else:
            yield one
    for name, operations in bare.items():
        yield {"schema": name, "operations": [_operation(one, name) for one in operations]}


def patch(given: Mapping[Any, Any], schema: str | None) -> dict[str, Any]:
    """Return a patch with the names of the prompt; a document, or some of its fields, as operations that set them."""
    found = _renamed(given, _PATCH_FIELDS)
    if "operations" not in found and schema is not None:
        about: dict[str, Any] = {name: found[name] for name in ("sources", "memory") if name in found}
        rest = {name: inner for name, inner in found.items() if name not in ("schema", *about)}
        found = {"schema": schema, **about, "operations": [*_of_fields(rest)]}
    found = _with_sources(found)
    if schema is not None and not found.get("schema"):
        found["schema"] = schema
    if found.get("memory") is not None:
        found["memory"] = _handle(found["memory"], "c") or found["memory"]
    operations = parsed(found.get("operations"))
    if isinstance(operations, Mapping):
        operations = [operations] if "op" in operations else [*_of_fields(operations)]
    if isinstance(operations, list):
        found["operations"] = [
            _operation(one, found.get("schema")) if isinstance(one, Mapping) else one for one in operations
        ]
    return found


def with_fields(patch: Any, shown: Container[str]) -> Any:
    """Return a patch that sets fields where it replaces the whole of a document that is not there yet."""
    operations = patch.get("operations") if isinstance(patch, dict) else None
    if (
        not isinstance(operations, list)
        or str(patch.get("schema")) in shown
        or patch.get("memory") is not None
    ):
        return patch
    found: list[Any] = []
    for one in operations:
        value = one.get("value") if isinstance(one, dict) and one.get("path") in ("", "/") else None
        if isinstance(value, dict) and value and one.get("op") in ("add", "replace"):
            more = {"sources": one["sources"]} if "sources" in one else {}
            found += [{**each, **more} for each in _of_fields(value)]
        else:
            found.append(one)
    return {**patch, "operations": found}


def _of_fields(fields: Mapping[Any, Any]) -> Iterator[dict[str, Any]]:
    """Yield the operations that set fields; the items of a list are added to it."""
    for name, inner in fields.items():
        path = pointer_to((str(name),))
        if isinstance(inner, list):
            yield from ({"op": "add", "path": f"{path}/-", "value": one} for one in inner)
        else:
            yield {"op": "add", "path": path, "value": inner}


def _operation(given: Mapping[Any, Any], schema: Any) -> dict[str, Any]:
    """Return an operation with the names of JSON Patch, and its path as a pointer into the document."""
    found = _with_sources({str(name): inner for name, inner in given.items() if name != "schema"})
    found["op"] = meant(found.get("op"), _OPERATIONS) or found.get("op")
    path = found.get("path")
    if isinstance(path, str) and path:
        path = path if path.startswith("/") else "/" + path.removeprefix("$.")
        start = f"/{schema}/"
        found["path"] = path[len(start) - 1 :] if path.startswith(start) else path
    return found


def _lines(given: Any) -> Iterator[Any]:
    """Yield lines of experience, also those that are listed under their fields."""
    if isinstance(given, Mapping) and not any(name in ("line", "field") for name in given):
        for name, inner in given.items():
            for one in inner if isinstance(inner, list) else [inner]:
                line = one if isinstance(one, Mapping) else {"line": one}
                yield from _lines([{"field": name, **line}])
        return
    for one in given if isinstance(given, list) else [given]:
        if not isinstance(one, Mapping):
            yield one
            continue
        found = _with_sources(_renamed(one, _LINE_FIELDS))
        found["field"] = _experience_field(found.get("field"))
        if found.get("repeats") is not None:
            found["repeats"] = _handle(found["repeats"], "e") or found["repeats"]
        yield found


def _experience_field(given: Any) -> Any:
    if given in get_args(ExperienceField) or not isinstance(given, str):
        return given
    return meant(given, _EXPERIENCE) or given
