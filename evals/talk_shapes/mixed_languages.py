"""Talks in Spanish, in Chinese, and in both, with questions in these languages and in English."""

from __future__ import annotations

import random
from dataclasses import replace

from evals.talk_shapes.shape_pools import read_pool
from evals.talk_shapes.shape_values import Half, Shelf
from evals.talk_shapes.shelf_plan import Wanted, facts_of
from evals.talk_shapes.short_talks import write_talks

NAME = "mixed_languages"
OWNERS = 18
#: Spanish facts whose questions a Chinese fact would answer, too: an owner of both has one of the
#: two.
_TWINS = {
    "alergia": "allergy",
    "sueno": "sleep",
    "tren": "bullet",
    "hotel": "inn",
    "asiento": "seatwish",
    "ruta": "tour",
    "ciudad": "city",
    "pasaporte": "passport",
    "guia": "guide",
    "jefe": "reportto",
    "entrevista": "salary",
    "autonomo": "tax",
    "curso": "course",
    "correo": "mailwish",
    "proyecto": "block",
    "llaveo": "disk",
    "taller": "workshop",
    "balcon": "balconyplan",
    "cerrajero": "keyfriend",
    "alquiler": "rent",
    "medidas": "cookwish",
    "dieta": "dietwish",
    "seguro": "card",
    "dentista": "checkup",
    "rodilla": "waist",
}
_ONE = Wanted(sessions=12, answered=13, unanswered=5, foreign=0.3, long=0.2)
_BOTH = replace(_ONE, sessions=14, answered=19, unanswered=6, foreign=0.5)


def write_shelf(number: int, half: Half, seed: str) -> Shelf:
    """Write the shelf of one owner: by turns two of Spanish, two of Chinese, two of both."""
    rng = random.Random(f"{seed}:{NAME}:{number}")
    pool = read_pool("spanish_facts", "chinese_facts", "spanish_talk", "chinese_talk")
    spoken = (("es",), ("zh",), ("es", "zh"))[(number - 1) // 2 % 3]
    domains = [name for name in sorted(pool.domains) if name.partition("-")[0] in spoken]
    wanted = _BOTH if len(spoken) > 1 else _ONE
    without = {rng.choice(pair) for pair in _TWINS.items()} if len(spoken) > 1 else set()
    facts = [fact for fact in facts_of(pool, half, domains) if fact.id not in without]
    return write_talks(pool, rng, (NAME, f"{NAME}-{number}"), half, wanted, facts)
