"""The verbs of a book that a caller from outside may ask for: one table for the service, its client and MCP."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from memoranda.access.principal import Role

_VIEWER, _EDITOR, _ADMIN = Role.VIEWER, Role.EDITOR, Role.ADMIN
_OWNER = "/v1/owners/{owner}"
_THREAD = _OWNER + "/threads/{thread}"
_AGENT = "/v1/agents/{agent}"
_NAMED_AGENTS = "it tells of agents that the credential may name, and hides other agents' prompts"
_SCHEMAS = "schemas are the program's own; they hold nothing of a user"
_SETTING = "it tells a setting of the book, and holds nothing of a user"


@dataclass(frozen=True)
class Verb:
    """One verb: its place in the book, the least role that may ask for it, and its route."""

    name: str
    role: Role
    method: str
    path: str
    #: Why a credential that is no admin's may ask for it without an owner; empty: such a credential is refused.
    safe: str = ""

    @cached_property
    def reads(self) -> bool:
        """True if the verb changes nothing that is stored."""
        return self.role is Role.VIEWER or self.method == "GET"

    @cached_property
    def in_path(self) -> tuple[str, ...]:
        """The names of the arguments in the path, in order."""
        return tuple(part[1:-1] for part in self.path.split("/") if part.startswith("{"))

    @cached_property
    def of_thread(self) -> bool:
        """True if it is a verb of a thread's handle."""
        return self.name.startswith("thread.")


VERBS: tuple[Verb, ...] = (
    # What was said
    Verb("thread", _EDITOR, "POST", f"{_OWNER}/threads"),
    Verb("thread.get", _VIEWER, "GET", _THREAD),
    Verb("thread.set", _EDITOR, "PATCH", _THREAD),
    Verb("thread.append", _EDITOR, "POST", f"{_THREAD}/messages"),
    Verb("thread.messages", _VIEWER, "GET", f"{_THREAD}/messages"),
    Verb("thread.newest", _VIEWER, "GET", f"{_THREAD}/newest"),
    Verb("thread.window", _VIEWER, "GET", f"{_THREAD}/window"),
    Verb("thread.feedback", _EDITOR, "POST", f"{_THREAD}/feedback"),
    Verb("thread.remember", _EDITOR, "POST", f"{_THREAD}/memories"),
    Verb("thread.summarise", _EDITOR, "POST", f"{_THREAD}/summary"),
    Verb("thread.close", _EDITOR, "POST", f"{_THREAD}/close"),
    Verb("thread.operation", _VIEWER, "GET", f"{_THREAD}/operations/{{operation}}"),
    Verb("thread.form", _EDITOR, "POST", f"{_THREAD}/form"),
    Verb("thread.form_again", _EDITOR, "POST", f"{_THREAD}/form-again"),
    Verb("thread.formed", _VIEWER, "GET", f"{_THREAD}/formed"),
    Verb("thread.schedule", _EDITOR, "PUT", f"{_THREAD}/schedule"),
    Verb("thread.scheduled", _VIEWER, "GET", f"{_THREAD}/schedule"),
    Verb("thread.unschedule", _EDITOR, "DELETE", f"{_THREAD}/schedule"),
    # Memories
    Verb("remember", _EDITOR, "POST", f"{_OWNER}/memories"),
    Verb("remember_all", _EDITOR, "POST", f"{_OWNER}/memories/batch"),
    Verb("mark_used", _EDITOR, "POST", f"{_OWNER}/memories/used"),
    Verb("update", _EDITOR, "PUT", f"{_OWNER}/memories/{{id}}"),
    Verb("amend", _EDITOR, "PATCH", f"{_OWNER}/memories/{{id}}"),
    Verb("retract", _EDITOR, "DELETE", f"{_OWNER}/memories/{{id}}"),
    Verb("confirm", _EDITOR, "POST", f"{_OWNER}/memories/{{id}}/confirm"),
    Verb("share", _EDITOR, "POST", f"{_OWNER}/memories/{{id}}/share"),
    Verb("supersede", _EDITOR, "POST", f"{_OWNER}/memories/{{loser}}/supersede"),
    Verb("retract_source", _EDITOR, "POST", f"{_OWNER}/sources/{{source}}/retract"),
    Verb("undo", _EDITOR, "POST", f"{_OWNER}/ledger/{{position}}/undo"),
    # Asking
    Verb("recall", _VIEWER, "POST", f"{_OWNER}/recall"),
    Verb("context", _VIEWER, "POST", f"{_OWNER}/context"),
    Verb("about", _VIEWER, "GET", f"{_OWNER}/about"),
    Verb("list", _VIEWER, "GET", f"{_OWNER}/records"),
    Verb("count", _VIEWER, "GET", f"{_OWNER}/count"),
    Verb("get", _VIEWER, "GET", f"{_OWNER}/records/{{id}}"),
    Verb("why", _VIEWER, "GET", f"{_OWNER}/records/{{id}}/why"),
    Verb("history", _VIEWER, "GET", f"{_OWNER}/records/{{id}}/history"),
    Verb("readers", _VIEWER, "GET", f"{_OWNER}/readers"),
    Verb("ledger", _VIEWER, "GET", f"{_OWNER}/ledger"),
    Verb("operation", _VIEWER, "GET", f"{_OWNER}/operations/{{operation}}"),
    # Forgetting
    Verb("find_traces", _VIEWER, "POST", f"{_OWNER}/traces"),
    Verb("forget", _EDITOR, "POST", f"{_OWNER}/forget"),
    Verb("forget_all", _EDITOR, "POST", f"{_OWNER}/forget-all"),
    Verb("hide", _EDITOR, "POST", f"{_OWNER}/hide"),
    Verb("finish_forgetting", _EDITOR, "POST", f"{_OWNER}/finish-forgetting"),
    Verb("redact", _EDITOR, "POST", f"{_OWNER}/messages/{{message}}/redact"),
    # Restricting the processing of an owner's data
    Verb("restriction", _VIEWER, "GET", f"{_OWNER}/restriction"),
    Verb("restrict", _EDITOR, "PUT", f"{_OWNER}/restriction"),
    Verb("unrestrict", _ADMIN, "DELETE", f"{_OWNER}/restriction"),
    # Profiles, episodes and items
    Verb("profile.get", _VIEWER, "GET", f"{_OWNER}/profiles/{{schema}}"),
    Verb("profile.put", _EDITOR, "PUT", f"{_OWNER}/profiles/{{schema}}"),
    Verb("profile.patch", _EDITOR, "PATCH", f"{_OWNER}/profiles/{{schema}}"),
    Verb("profile.documents", _VIEWER, "GET", f"{_OWNER}/profiles/{{schema}}/documents"),
    Verb("profile.report", _VIEWER, "GET", f"{_OWNER}/profiles/{{schema}}/report"),
    Verb("episodes", _VIEWER, "POST", f"{_OWNER}/episodes/search"),
    Verb("episodes.list", _VIEWER, "GET", f"{_OWNER}/episodes"),
    Verb("episodes.record", _EDITOR, "POST", f"{_OWNER}/episodes"),
    Verb("episodes.overflow", _VIEWER, "GET", f"{_OWNER}/episodes/{{id}}/overflow"),
    Verb("items.list", _VIEWER, "GET", f"{_OWNER}/items"),
    Verb("items.write", _EDITOR, "POST", f"{_OWNER}/items"),
    Verb("items.get_many", _VIEWER, "POST", f"{_OWNER}/items/get"),
    Verb("items.search", _VIEWER, "POST", f"{_OWNER}/items/search"),
    Verb("items.put", _EDITOR, "PUT", f"{_OWNER}/items/{{name}}"),
    Verb("items.get", _VIEWER, "GET", f"{_OWNER}/items/{{name}}"),
    Verb("items.delete", _EDITOR, "DELETE", f"{_OWNER}/items/{{name}}"),
    Verb("items.count", _VIEWER, "GET", f"{_OWNER}/item-count"),
    Verb("items.namespaces", _VIEWER, "GET", f"{_OWNER}/namespaces"),
    # Agents and what they learnt; schemas
    Verb("agents.list", _VIEWER, "GET", "/v1/agents", _NAMED_AGENTS),
    Verb("agents.get", _VIEWER, "GET", "/v1/agents/{name}", _NAMED_AGENTS),
    Verb("agents.limits", _VIEWER, "GET", "/v1/agents/{name}/limits", _NAMED_AGENTS),
    Verb("agents.put", _ADMIN, "PUT", "/v1/agents/{name}"),
    Verb("experience.list", _VIEWER, "GET", f"{_AGENT}/experience"),
    Verb("experience.add", _EDITOR, "POST", f"{_AGENT}/experience"),
    Verb("experience.retire", _EDITOR, "DELETE", f"{_AGENT}/experience/{{line}}"),
    Verb("experience.add_evidence", _EDITOR, "POST", f"{_AGENT}/experience/{{line}}/evidence"),
    Verb("experience.check_privacy", _EDITOR, "POST", f"{_AGENT}/experience/{{line}}/check-privacy"),
    Verb("experience.approve", _ADMIN, "POST", f"{_AGENT}/experience/{{line}}/approve"),
    Verb("schemas.list", _VIEWER, "GET", "/v1/schemas", _SCHEMAS),
    Verb("schemas.get", _VIEWER, "GET", "/v1/schemas/{name}", _SCHEMAS),
    Verb("schemas.put", _ADMIN, "PUT", "/v1/schemas/{name}"),
    Verb("schemas.records", _VIEWER, "GET", f"{_OWNER}/schemas/{{name}}/records"),
    # Operating the book
    Verb("owners", _ADMIN, "GET", "/v1/owners"),
    Verb("admin.list", _ADMIN, "GET", "/v1/records"),
    Verb("admin.reads", _ADMIN, "GET", "/v1/reads"),
    Verb("usage", _VIEWER, "GET", "/v1/usage"),
    Verb("facts", _ADMIN, "GET", "/v1/facts"),
    Verb("export", _VIEWER, "GET", "/v1/export"),
    Verb("import_", _ADMIN, "POST", "/v1/import"),
    Verb("verify", _ADMIN, "POST", "/v1/verify"),
    Verb("rebuild", _ADMIN, "POST", "/v1/rebuild"),
    Verb("scrub", _ADMIN, "POST", "/v1/scrub"),
    Verb("embed", _ADMIN, "POST", "/v1/embed"),
    Verb("reembed", _ADMIN, "POST", "/v1/reembed"),
    Verb("form", _EDITOR, "POST", f"{_OWNER}/form"),
    Verb("who_forms", _VIEWER, "GET", "/v1/forming", _SETTING),
    Verb("form_with", _ADMIN, "PUT", "/v1/forming"),
    Verb("jobs.list", _ADMIN, "GET", "/v1/jobs"),
    Verb("jobs.retry", _ADMIN, "POST", "/v1/jobs/{id}/retry"),
    Verb("jobs.drop", _ADMIN, "DELETE", "/v1/jobs/{id}"),
    Verb("worker.run_once", _ADMIN, "POST", "/v1/jobs/run-once"),
    Verb("drain", _ADMIN, "POST", "/v1/jobs/drain"),
    Verb("keys.list", _ADMIN, "GET", "/v1/keys"),
    Verb("keys.get", _ADMIN, "GET", "/v1/keys/{name}"),
    Verb("keys.put", _ADMIN, "PUT", "/v1/keys/{name}"),
    Verb("keys.issue", _ADMIN, "POST", "/v1/keys/{name}/issue"),
    Verb("keys.uses", _ADMIN, "GET", "/v1/key-uses"),
    Verb("keys.create", _ADMIN, "POST", "/v1/keys"),
    Verb("keys.rotate", _ADMIN, "POST", "/v1/keys/{name}/rotate"),
    Verb("keys.revoke", _ADMIN, "POST", "/v1/keys/{id}/revoke"),
)

BY_NAME = {verb.name: verb for verb in VERBS}

#: Verbs that no caller from outside has, with the reason.
LEFT_OUT = {
    "close": "the service closes its book when it stops",
    "start_worker": "memoranda serve and memoranda worker do jobs",
    "backup": "its target is a path of the machine that has the book: run memoranda backup there",
    "worker.run": "memoranda serve and memoranda worker do jobs",
    "worker.drain": "drain does the same",
    "worker.do_one": "form does it for each thread",
    "worker.leaves": "a worker uses it",
    "worker.settled": "a worker uses it",
    "items.renew": "reads renew items with renew=True",
}

_PROGRAMS = "programs do it while they talk with a person"
_ITEMS = "items belong to programs: their values are theirs to read"
_DEFINED = "a program defines it beside its code; agents and schemas are part of an export"
_LISTS = "memoranda list shows them: --types, --agent"

#: Verbs that no command of the command line calls, with the reason.
NOT_BY_COMMAND = {
    **dict.fromkeys(("thread.set", "thread.feedback", "thread.schedule", "thread.unschedule"), _PROGRAMS),
    **dict.fromkeys(("thread.scheduled", "thread.summarise", "thread.close", "thread.remember"), _PROGRAMS),
    **dict.fromkeys(("thread.messages", "thread.newest", "episodes.list", "schemas.records"), _LISTS),
    **dict.fromkeys(("mark_used", "remember_all", "episodes.record", "experience.add"), _PROGRAMS),
    **dict.fromkeys(("experience.add_evidence", "redact"), _PROGRAMS),
    **dict.fromkeys((verb.name for verb in VERBS if verb.name.startswith("items.")), _ITEMS),
    **dict.fromkeys(("agents.put", "schemas.list", "schemas.get", "schemas.put"), _DEFINED),
    **dict.fromkeys(("agents.get", "agents.limits"), _DEFINED),
    "thread.get": "memoranda get shows any record",
    "thread.window": "memoranda context makes what an agent reads",
    "thread.operation": "memoranda history shows operations",
    "operation": "memoranda history shows operations",
    "thread.formed": "memoranda form tells what was formed",
    "amend": "memoranda update corrects a memory",
    "confirm": "memoranda update corrects a memory; a program confirms what the person said again",
    "supersede": "memoranda update corrects a memory",
    "share": "the program that wrote a memory decides who else reads it",
    "find_traces": "memoranda forget --dry-run shows them",
    "hide": "memoranda forget erases at once; hiding is for the time in which a person may change their mind",
    "episodes": "memoranda recall finds episodes, too",
    "episodes.overflow": "memoranda get shows an episode",
    "profile.put": "memoranda profile sets and removes fields",
    "profile.report": "memoranda why shows the grounds of a record",
    "embed": "memoranda reembed makes all vectors, and a worker those of new records",
    "keys.get": "memoranda keys list shows them",
    "keys.put": "its digest comes from a program that makes secrets itself",
    "keys.issue": "its secret comes from a program that makes secrets itself",
}
