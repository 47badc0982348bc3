"""The reference of Python, REST, MCP and the routes of other products, from what is declared in the
code.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import memoranda
from memoranda.access.service_settings import ServiceSettings
from memoranda.book.about import About, Known
from memoranda.book.all_operations import NOT_OFFERED, OPERATIONS
from memoranda.book.verb_fields import MemoryFields, MessageFields
from memoranda.compatible.mounted_routes import compatible_routes
from memoranda.compatible.user_memory_tools import UserMemoryTools
from memoranda.mcp_server.agent_tools import ANNOTATIONS, AdminTools, AgentTools
from memoranda.model.forming_results import FormingReport
from memoranda.model.memories import Memory
from memoranda.model.messages import Episode, Message
from memoranda.operations import Operation, first_paragraph
from memoranda.wire.verb_shapes import wire_name

_WIDTH = 110
#: Stands for a space at which no line is broken.
_KEPT = "\0"
#: Who asks: the same three arguments at the end of nearly every signature, with their annotations
#: and how they are shown.
_WHO = {
    "agent": ("str | None", "agent=None"),
    "groups": ("Sequence[str]", "groups=()"),
    "as_owner": ("bool", "as_owner=False"),
}
#: The classes whose attributes programs read, in the order of the page.
_RESULTS = (
    memoranda.Receipt,
    memoranda.Hit,
    memoranda.Hits,
    memoranda.Context,
    Memory,
    Message,
    Episode,
    memoranda.Item,
    FormingReport,
    About,
    Known,
    memoranda.Why,
    memoranda.Page,
    memoranda.Window,
    memoranda.ErasureReceipt,
    memoranda.CopyReport,
)


def operations() -> str:
    """Return every function of a book, part by part, with its arguments and its words."""
    parts = [
        _function(f"memoranda.{name}", getattr(memoranda, name))
        for name in ("open", "copy", "cancel_copy")
    ]
    text = ["## Opening and copying\n", *parts]
    for part, group in _by_part():
        text.append(f"## {part or 'book'}\n" if part else "## The ten operations of every day\n")
        text += [_function(_called(one), one.function) for one in group]
    text.append("## Not over a service, and at no shell\n\n| function | why |\n|---|---|")
    text[-1] += "".join(f"\n| `{name}` | {why} |" for name, why in sorted(NOT_OFFERED.items()))
    fields = [("Fields of a memory", MemoryFields), ("Fields of a message", MessageFields)]
    text += [f"## {title}\n\n{_attributes(of)}" for title, of in fields]
    return "\n\n".join(one.rstrip("\n") for one in text)


def _by_part() -> Iterator[tuple[str, list[Operation]]]:
    names = dict.fromkeys(name.rpartition(".")[0] for name in OPERATIONS)
    for part in names:
        yield part, [one for name, one in OPERATIONS.items() if name.rpartition(".")[0] == part]


def _called(one: Operation) -> str:
    return one.name if one.of_thread else f"book.{one.name}"


def _function(name: str, function: Any) -> str:
    signature = inspect.signature(function)
    parameters = [one for key, one in signature.parameters.items() if key != "self"]
    shown, starred = [], False
    for one in parameters:
        if one.kind is one.KEYWORD_ONLY and not starred:
            shown.append("*")
            starred = True
        shown.append(_parameter(one))
    call = f"{name}({', '.join(one.replace(' ', _KEPT) for one in shown)})"
    returns = (
        ""
        if signature.return_annotation is inspect.Signature.empty
        else signature.return_annotation
    )
    wrapped = textwrap.fill(
        call, _WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )
    wrapped = wrapped.replace(_KEPT, " ")
    arrow = f" -> {returns}" if returns and not name.startswith("memoranda.open") else ""
    return f"### {name}\n\n```text\n{wrapped}{arrow}\n```\n\n{_words(function)}\n"


def _parameter(one: inspect.Parameter) -> str:
    kind = str(one.annotation)
    annotation, shown = _WHO.get(one.name, ("", ""))
    if shown and kind == annotation:
        return shown
    default = "" if one.default is one.empty else f" = {one.default!r}"
    return f"{one.name}: {kind}{default}"


def _words(function: Any) -> str:
    text = inspect.cleandoc(function.__doc__ or "").replace("``", "`")
    paragraphs = [" ".join(part.split()) for part in text.split("\n\n")]
    return "\n\n".join(paragraphs)


def results() -> str:
    """Return the attributes of what operations return."""
    return "\n\n".join(f"## {of.__name__}\n\n{_first(of)}\n\n{_attributes(of)}" for of in _RESULTS)


def _first(of: Any) -> str:
    return first_paragraph(of).replace("``", "`")


def _attributes(of: type) -> str:
    """Return a class's public attributes with the comments that its source has above them."""
    rows: dict[str, str] = {}
    for base in reversed(of.__mro__):
        if base.__module__.startswith("memoranda"):
            for name, kind, about in _declared(base):
                rows[name] = f"| `{name}` | `{kind}` | {about} |"
    return "\n".join(["| name | type | meaning |", "|---|---|---|", *rows.values()])


def _declared(of: type) -> Iterator[tuple[str, str, str]]:
    about: list[str] = []
    waits_for = ""
    for line in inspect.getsource(of).splitlines():
        if comment := re.match(r"    #: ?(.*)", line):
            about.append(comment[1])
        elif field := re.match(r"    ([a-z]\w*): ([^=#]+)", line):
            kind = field[2].strip().replace("|", "\\|")
            yield field[1], kind, _plain(about)
            about = []
        elif re.match(r"    @(?:cached_)?property", line):
            waits_for = "property"
        elif waits_for and (method := re.match(r"    def ([a-z]\w*)\(self\) -> (.+):$", line)):
            waits_for = ""
            value = vars(of).get(method[1])
            told = _first(getattr(value, "fget", None) or getattr(value, "func", value))
            yield method[1], method[2].replace("|", "\\|"), told.replace("|", "\\|")
            about = []
        elif line.strip():
            about = []


def _plain(about: Iterable[str]) -> str:
    return " ".join(about).replace("``", "`").replace("|", "\\|")


def paths() -> str:
    """Return a row for each path: its method, its name in the library, the least role, and what it
    does.
    """
    rows = ["| request | operation | role | what it does |", "|---|---|---|---|"]
    for one in OPERATIONS.values():
        path = "/".join(
            f"{{{wire_name(part[1:-1])}}}" if part.startswith("{") else part
            for part in one.path.split("/")
        )
        summary = one.summary.replace("``", "`").replace("|", "\\|")
        rows.append(
            f"| `{one.method} {path}` | `{one.name.rstrip('_')}` | {one.role} | {summary} |"
        )
    return "\n".join(rows)


def mcp_tools() -> str:
    """Return the tools of agents with their arguments."""
    rows = ["| tool | arguments | what it does |", "|---|---|---|"]
    rows += [_tool(getattr(AgentTools, name)) for name in ANNOTATIONS]
    return "\n".join(rows)


def mcp_admin() -> str:
    """Return the administrator's tools with their arguments."""
    named = [
        one
        for name, one in vars(UserMemoryTools).items()
        if inspect.iscoroutinefunction(one) and name[0] != "_"
    ]
    rows = ["| tool | arguments | what it does |", "|---|---|---|"]
    return "\n".join([*rows, *map(_tool, [*named, AdminTools.finish_forgetting])])


def _tool(function: Any) -> str:
    hints = get_type_hints(function, include_extras=True)
    arguments = []
    for name, one in inspect.signature(function).parameters.items():
        if name == "self":
            continue
        needed = one.default is one.empty
        about = ""
        if get_origin(hints[name]) is Annotated:
            (field, *_) = get_args(hints[name])[1:]
            about = f": {field.description}" if field.description else ""
        arguments.append(f"`{name}`{'' if needed else ' (optional)'}{about}")
    return f"| `{function.__name__}` | {'; '.join(arguments) or '–'} | {_words(function)} |"


def compatible() -> str:
    """Return the routes of other products."""
    rows = ["| request | what it does |", "|---|---|"]
    seen = set()
    every = ServiceSettings(compatible=("eddi", "gdpr", "langgraph", "knowledge"))
    for router in compatible_routes(every):
        for route in router.routes:
            for method in sorted(getattr(route, "methods", ())):
                path = getattr(route, "path", "").rstrip("/")
                if (method, path) not in seen:
                    seen.add((method, path))
                    words = first_paragraph(getattr(route, "endpoint", print))
                    rows.append(f"| `{method} {path}` | {words} |")
    return "\n".join(rows)
