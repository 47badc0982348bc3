"""Talks into which long documents are pasted: contracts, minutes, manuals, booklets of recipes."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import replace

from evals.talk_shapes.shape_pools import read_pool
from evals.talk_shapes.shape_values import Half, Item, Shelf
from evals.talk_shapes.shelf_plan import Planner, Wanted, as_questions, facts_of
from evals.talk_shapes.talk_writer import Turns, Writer, item_of

NAME = "pasted_documents"
OWNERS = 16
_FORMS = {
    "lease": "contract",
    "gym": "contract",
    "policy": "contract",
    "club": "minutes",
    "board": "minutes",
    "bike": "manual",
    "coffee": "manual",
    "cookery": "recipe",
}
_WANTED = Wanted(sessions=14, answered=17, unanswered=6)


def write_shelf(number: int, half: Half, seed: str) -> Shelf:
    """Write the shelf of one owner."""
    rng = random.Random(f"{seed}:{NAME}:{number}")
    pool = read_pool("document_facts", "document_talk")
    facts = facts_of(pool, half)
    planner = Planner(pool, rng, _WANTED, sorted(_FORMS), {})
    plan = planner.draw(
        [*facts, *(replace(fact) for fact in facts if "f" in fact.values for _ in range(2))]
    )
    turns, writer = Turns(), Writer(pool, rng, {})
    for session in range(_WANTED.sessions):
        turns.begin(session + 1, plan.days[session])
        main = plan.domains[session]
        pasted: dict[str, list[Item]] = defaultdict(list)
        for each in plan.items[session]:
            if each.source == "d":
                pasted[each.domain].append(each)
        said: list[tuple[str, Item | None, list[Item]]] = [
            (name, None, found) for name, found in pasted.items()
        ]
        said += [(each.domain, each, []) for each in plan.items[session] if each.source != "d"]
        said += [(main, None, [])] * max(1, 5 - len(said))
        rng.shuffle(said)
        before = ""
        for domain, item, found in said:
            writer.focus(domain)
            shift = "" if before in (domain, "") else writer.section("shift", domain) + " "
            said_text = _paste(writer, domain, found) if found else writer.user(domain, item)
            turns.say(
                "user", shift + said_text, item_of(item, "u"), *found, seconds=rng.randint(40, 400)
            )
            turns.say(
                "assistant",
                writer.reply(domain, item),
                item_of(item, "a"),
                seconds=rng.randint(5, 40),
            )
            before = domain
    return Shelf(
        NAME,
        f"{NAME}-{number}",
        half,
        tuple(turns.written),
        as_questions(plan, f"{NAME}-{number}", "en"),
    )


def _paste(writer: Writer, domain: str, found: list[Item]) -> str:
    """Return a document of 500 to 2,500 words with the items among its clauses."""
    rng, form = writer.rng, _FORMS[domain]
    words = rng.randint(1200, 2300) if rng.random() < 0.1 else rng.randint(520, 950)
    clauses: list[str] = []
    while sum(len(clause.split()) for clause in clauses) < words:
        writer.focus(domain)
        clauses.append(writer.section(f"{form}.body", domain))
    for item in found:
        clauses.insert(rng.randint(1, len(clauses)), item.text)
    parts = [writer.section("paste", domain), writer.section(f"{form}.head", domain)]
    place = number = 0
    while place < len(clauses):
        number += 1
        size = rng.randint(3, 7)
        heading = writer.section(f"{form}.part", domain)
        parts.append(
            f"{number}. {heading}\n" + rng.choice(("\n", " ")).join(clauses[place : place + size])
        )
        place += size
    if rng.random() < 0.6:
        parts.append(writer.section("ask", domain))
    return "\n\n".join(parts)
