"""Tables of what a book measures, and the list of proofs."""

from __future__ import annotations

import ast
from typing import Any

from memoranda.service.app import gauges as present
from memoranda.service.metrics import Metrics
from proofs.__main__ import FOLDER, names

_SPANS = {
    "METHOD VERB": "a request of the service, such as `POST recall`, with `http.request.method`, `http.response.status_code`, "
    "`memoranda.verb`",
    "memoranda.recall": "finding",
    "memoranda.context": "making a context",
    "memoranda.write": "storing a batch of changes",
    "chat MODEL": "one call of a language model, by the conventions for generative models",
}
_HISTOGRAMS = {
    "http.server.request.duration": "seconds of a request, by method, verb and status",
    "gen_ai.client.operation.duration": "seconds of a call of a model, by provider and model",
    "gen_ai.client.token.usage": "tokens of a call, sent or answered",
}
_COUNTERS = {
    "recalls": "recalls",
    "contexts": "contexts",
    "writes": "batches of changes that were stored",
    "erasures": "erasures",
    "uses_lost": "uses of memories that could not be noted",
    "asks": "answers of models",
    "asks.tokens_in": "tokens sent to models",
    "asks.tokens_out": "tokens that models answered",
    "models.answers": "answers for forming",
    "models.down": "times when a provider did not answer",
    "models.answers_too_large": "answers that were too large to be kept with their job",
    "formation.portions": "parts of conversations that were read",
    "formation.without_room": "parts that wait because a limit of memories is reached",
    "formation.refused": "parts of answers that were refused when they were written",
    "formation.left_out.CODE": "parts of answers that were left out, by [code](left-out.md#what-forming-leaves-out)",
    "jobs.done": "background jobs that were done",
    "jobs.postponed": "background jobs that were put off",
    "jobs.dead": "background jobs that were given up",
    "service.requests": "requests of the service",
    "dream.users.processed": "owners whose [night](../guides/dream.md) was done",
    "dream.entries.pruned": "memories that nights archived",
    "dream.contradictions.found": "contradictions that nights found",
    "dream.cycles.failed": "attempts at a night that failed",
}
_GAUGES = {
    "jobs.waiting": "background jobs that wait",
    "jobs.oldest_seconds": "how long the oldest of them has been due",
    "jobs.dead_letters": "background jobs that were given up and not retried",
    "dream.duration": "seconds that the last night took, of one owner",
}


def spans() -> str:
    """Return the spans."""
    return _table("span", "what is done", _SPANS)


def histograms() -> str:
    """Return the histograms."""
    return _table("histogram", "of what", _HISTOGRAMS)


def counters() -> str:
    """Return the counters."""
    return _table(
        "counter",
        "what is counted",
        {f"memoranda.{name}": told for name, told in _COUNTERS.items()},
    )


def gauges() -> str:
    """Return the gauges."""
    return _table("gauge", "of what", {f"memoranda.{name}": told for name, told in _GAUGES.items()})


def prometheus() -> str:
    """Return the metrics of ``/metrics``, from the text that the service itself answers."""
    told, kinds = {}, {}
    for line in Metrics().text(present({"status": "ok"}, 0)).splitlines():
        word, _, rest = line.removeprefix("# ").partition(" ")
        name, _, words = rest.partition(" ")
        if word == "HELP":
            told[name] = words
        elif word == "TYPE":
            kinds[name] = words
    rows = ["| metric | kind | what it tells |", "|---|---|---|"]
    return "\n".join([*rows, *(f"| `{name}` | {kinds[name]} | {told[name]} |" for name in told)])


def proofs() -> str:
    """Return the proofs with what each shows and how often it tries."""
    rows = ["| proof | what it shows | count for each change | full count |", "|---|---|--:|--:|"]
    for name in names():
        told = _constants(name)
        rows.append(
            f"| `{name}` | {told['ABOUT']} | {told['CI_COUNT']:,} | {told['FULL_COUNT']:,} |"
        )
    return "\n".join(rows)


def _constants(name: str) -> dict[str, Any]:
    """Return the constants of a proof without importing it, because some start a server's
    library.
    """
    found = {}
    for line in ast.parse((FOLDER / f"{name}.py").read_text("utf-8")).body:
        if isinstance(line, ast.Assign) and isinstance(line.value, ast.Constant):
            found[ast.unparse(line.targets[0])] = line.value.value
    return found


def _table(name: str, of: str, told: dict[str, str]) -> str:
    rows = [f"| {name} | {of} |", "|---|---|"]
    return "\n".join([*rows, *(f"| `{one}` | {words} |" for one, words in told.items())])
