"""Coding sessions: requests, tool output such as logs, listings and diffs, and short answers with
code.
"""

from __future__ import annotations

import random
from dataclasses import replace

from evals.talk_shapes.shape_pools import read_pool
from evals.talk_shapes.shape_values import Half, Item, Shelf
from evals.talk_shapes.shelf_plan import Planner, Wanted, as_questions, facts_of
from evals.talk_shapes.talk_writer import Turns, Writer, item_of

NAME = "coding_sessions"
OWNERS = 14
#: Output that work on a subject prints.
_FORMS = {
    "tests": ("pytest", "traceback", "report"),
    "network": ("log", "traceback", "config"),
    "storage": ("sql", "listing", "log"),
    "build": ("pip", "build", "gitlog"),
    "ui": ("diff", "build", "log"),
    "ops": ("log", "config", "listing"),
}
_WANTED = Wanted(sessions=13, answered=21, unanswered=6)


def write_shelf(number: int, half: Half, seed: str) -> Shelf:
    """Write the shelf of one owner."""
    rng = random.Random(f"{seed}:{NAME}:{number}")
    pool = read_pool("coding_facts", "coding_talk")
    planner = Planner(pool, rng, _WANTED, sorted(pool.domains), {})
    # Facts about one of many things of a kind are said of two or three of them.
    facts = facts_of(pool, half)
    plan = planner.draw(
        [*facts, *(replace(fact) for fact in facts if "f" in fact.values for _ in range(2))]
    )
    turns, writer = Turns(), Writer(pool, rng, {})
    for session in range(_WANTED.sessions):
        turns.begin(session + 1, plan.days[session])
        main = plan.domains[session]
        items = plan.items[session]
        said = [(item.domain, item) for item in items] + [(main, None)] * max(2, 5 - len(items))
        rng.shuffle(said)
        before = ""
        for domain, item in said:
            writer.focus(domain)
            shift = "" if before in (domain, "") else writer.section("shift", domain) + " "
            turns.say(
                "user",
                shift + writer.user(domain, item),
                item_of(item, "u"),
                seconds=rng.randint(40, 400),
            )
            _work(turns, writer, domain, item)
            before = domain
    return Shelf(
        NAME,
        f"{NAME}-{number}",
        half,
        tuple(turns.written),
        as_questions(plan, f"{NAME}-{number}", "en"),
    )


def _work(turns: Turns, writer: Writer, domain: str, item: Item | None) -> None:
    rng = writer.rng
    if item is not None and item.source == "t":
        turns.say(
            "tool",
            _output(writer, domain, item.form or "config", item),
            item,
            seconds=rng.randint(5, 90),
        )
    else:
        for _ in range(rng.choice((0, 0, 1, 1, 2))):
            turns.say(
                "tool",
                _output(writer, domain, rng.choice(_FORMS[domain]), None),
                seconds=rng.randint(5, 90),
            )
    answer = [writer.section("open", domain), writer.short(domain, item)]
    if rng.random() < 0.4:
        answer.append(writer.section("any", domain))
    text = " ".join(answer)
    if rng.random() < 0.35:
        text += "\n\n" + writer.section("code", domain)
    if rng.random() < 0.4:
        text += "\n\n" + writer.section("close", domain)
    turns.say("assistant", text, item_of(item, "a"), seconds=rng.randint(10, 60))


def _output(writer: Writer, domain: str, form: str, item: Item | None) -> str:
    rng = writer.rng
    lines = [writer.section(f"{form}.body", domain) for _ in range(rng.randint(6, 22))]
    if item is not None:
        lines.insert(rng.randint(1, len(lines)), item.text)
    return "\n".join(
        [writer.section(f"{form}.head", domain), *lines, writer.section(f"{form}.foot", domain)]
    )
