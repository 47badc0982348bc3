"""The plan of an owner's shelf: which facts are said in which session, and what is asked about
them.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from evals.talk_shapes.shape_pools import Pool, fill
from evals.talk_shapes.shape_values import OTHERS, SOURCES, Fact, Half, Item, ShapeQuestion

#: Kinds that make no sense as a question without an answer.
_ALWAYS_ANSWERED = ("wish",)
#: Kinds asked as requests, before which a lead reads oddly.
_REQUESTS = ("wish", "continue")
_MONTHS = {
    "en": "January February March April May June July August September October November December".split(),
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split(),
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre".split(),
    "zh": [f"{number}月" for number in range(1, 13)],
}


@dataclass(slots=True)
class Asked:
    """A question whose evidence is not placed in turns yet."""

    fact: Fact
    language: str
    text: str
    answer: str
    keys: tuple[str, ...]
    gold: list[Item]
    kind: str


@dataclass(slots=True)
class Plan:
    """Sessions with their days, main subjects and items, and the questions."""

    days: list[datetime]
    domains: list[str]
    items: dict[int, list[Item]] = field(default_factory=lambda: defaultdict(list))
    asked: list[Asked] = field(default_factory=list)


@dataclass(slots=True)
class Wanted:
    """Sizes of a shelf, and the languages of its questions."""

    sessions: int
    answered: int
    unanswered: int
    language: str = "en"
    #: Chance that a question with a wording in another language is asked in it.
    foreign: float = 0.0
    long: float = 0.17
    #: Chance that a user's turn is a note, which nobody answers.
    notes: float = 0.0


def facts_of(pool: Pool, half: Half, domains: Sequence[str] | None = None) -> list[Fact]:
    """Return the facts of one half: of each kind every second one, so that the halves share
    none.
    """
    seen: dict[tuple[str, str], int] = defaultdict(int)
    chosen = []
    for fact in pool.facts:
        group = (fact.kind, fact.domain.partition("-")[0] if "-" in fact.domain else "")
        seen[group] += 1
        if (seen[group] % 2 == 1) == (half == "open") and (
            domains is None or fact.domain in domains
        ):
            chosen.append(fact)
    return chosen


class Planner:
    """Places one owner's facts."""

    def __init__(
        self,
        pool: Pool,
        rng: random.Random,
        wanted: Wanted,
        domains: Sequence[str],
        cast: Mapping[str, str],
    ) -> None:
        self._pool, self._rng, self._wanted, self._cast = pool, rng, wanted, cast
        #: Things of a kind that a fact has been told of.
        self._named: set[tuple[str, str]] = set()
        first = datetime(
            2025, 1, rng.randint(3, 20), rng.randint(7, 20), rng.randint(0, 59), tzinfo=UTC
        )
        step = 335 / wanted.sessions
        days = [
            first
            + timedelta(
                days=step * number + rng.uniform(0, step * 0.6), minutes=rng.randint(-300, 200)
            )
            for number in range(wanted.sessions)
        ]
        order: list[str] = []
        while len(order) < wanted.sessions:
            order += rng.sample(list(domains), len(domains))
        self.plan = Plan(days, order[: wanted.sessions])

    def draw(self, facts: Sequence[Fact]) -> Plan:
        """Place as many facts as are wanted, leave some out that are asked about, and return the
        plan.
        """
        rng, wanted = self._rng, self._wanted
        mixed = rng.sample(list(facts), len(facts))
        multiple = [fact for fact in mixed if fact.kind not in ("single", "identifier")]
        rest = [fact for fact in mixed if fact.kind in ("single", "identifier")]
        # Rarer kinds come first for three places of five.
        mixed = multiple[: wanted.answered * 3 // 5]
        mixed += rest[: wanted.answered - len(mixed)]
        left = [fact for fact in facts if fact not in mixed and fact.kind not in _ALWAYS_ANSWERED]
        for fact in mixed:
            self._place(fact)
        for fact in rng.sample(left, min(len(left), wanted.unanswered)):
            self._leave_out(fact)
        return self.plan

    def _values(self, fact: Fact) -> dict[str, str]:
        """Return a value for each slot; v, w, x and o are different values of the list of v."""
        rng = self._rng
        values = {name: rng.choice(found) for name, found in fact.values.items()}
        if "f" in values:
            free = [name for name in fact.values["f"] if (fact.id, name) not in self._named]
            values["f"] = rng.choice(free)
            self._named.add((fact.id, values["f"]))
        if "v" in fact.values:
            different = rng.sample(fact.values["v"], min(4, len(fact.values["v"])))
            named = zip("vwxo", different, strict=False)
            values |= {
                name: value for name, value in named if name == "v" or name not in fact.values
            }
            values.setdefault("o", different[-1])
        return values

    def _text(self, text: str, values: Mapping[str, str], domain: str) -> str:
        lists = self._pool.lists | (
            self._pool.domains[domain].lists if domain in self._pool.domains else {}
        )
        return fill(text, self._rng, values, self._cast, lists=lists)

    def _sessions(self, fact: Fact, parts: int, *, months_apart: bool = False) -> list[int]:
        rng, plan = self._rng, self.plan
        every = list(range(self._wanted.sessions))
        fitting = [number for number in every if plan.domains[number] == fact.domain]
        if months_apart:
            by_month: dict[int, list[int]] = defaultdict(list)
            for number in every:
                by_month[plan.days[number].month].append(number)
            return sorted(
                rng.choice(by_month[month]) for month in rng.sample(sorted(by_month), parts)
            )
        if parts == 1:
            return [rng.choice(fitting if fitting and rng.random() < 0.8 else every)]
        if len(fitting) >= parts and rng.random() < 0.6:
            return sorted(rng.sample(fitting, parts))
        return sorted(rng.sample(every, parts))

    def _item(self, fact: Fact, session: int, part: str, values: Mapping[str, str]) -> Item:
        source, wording = self._rng.choice(fact.says[part])
        return self._put(fact, session, source, wording, values, prompted=True)

    def _put(
        self,
        fact: Fact,
        session: int,
        source: str,
        wording: str,
        values: Mapping[str, str],
        *,
        prompted: bool,
    ) -> Item:
        prompt = (
            self._rng.choice(fact.prompts) if prompted and fact.prompts and source != "u" else ""
        )
        item = Item(
            source,
            fact.domain,
            fact.form,
            begun(self._text(wording, values, fact.domain), "" if source == "t" else wording),
            begun(self._text(prompt, values, fact.domain), prompt),
            speaker=values[source] if source in OTHERS else None,
        )
        self.plan.items[session].append(item)
        return item

    def _near(self, fact: Fact, values: Mapping[str, str]) -> None:
        for source, wording in fact.near:
            if self._rng.random() < 0.75:
                session = self._sessions(fact, 1)[0]
                self._put(fact, session, source, wording, values, prompted=False)

    def _place(self, fact: Fact) -> None:
        values = self._values(fact)
        if fact.kind == "time":
            gold = self._at_times(fact, values)
        elif "s" in fact.says:
            gold = [self._item(fact, self._sessions(fact, 1)[0], "s", values)]
        else:
            parts = sorted(fact.says)
            placed = zip(self._sessions(fact, len(parts)), parts, strict=True)
            gold = [self._item(fact, session, part, values) for session, part in placed]
            if fact.kind == "updated":
                gold = gold[-1:]
        self._near(fact, values)
        self.plan.asked.append(self._ask(fact, values, gold))

    def _at_times(self, fact: Fact, values: dict[str, str]) -> list[Item]:
        parts = min(3, len(fact.values["v"]))
        days = self.plan.days
        sessions = self._sessions(fact, parts, months_apart=True)
        chosen = self._rng.randrange(parts)
        different = self._rng.sample(fact.values["v"], parts)
        gold = []
        for place, (session, value) in enumerate(zip(sessions, different, strict=True)):
            item = self._item(fact, session, "s", values | {"v": value})
            if place == chosen:
                gold = [item]
                values["v"] = value
                values["month"] = str(days[session].month)
        return gold

    def _leave_out(self, fact: Fact) -> None:
        values = self._values(fact)
        values["month"] = str(self._rng.choice(self.plan.days).month)
        self._near(fact, values)
        self.plan.asked.append(self._ask(fact, values, []))

    def _ask(self, fact: Fact, values: dict[str, str], gold: list[Item]) -> Asked:
        rng, wanted = self._rng, self._wanted
        foreign = [ask for ask in fact.asks if ask[0]]
        if not foreign or rng.random() >= wanted.foreign:
            foreign = [ask for ask in fact.asks if not ask[0]]
        own = fact.domain.partition("-")[0] if "-" in fact.domain else wanted.language
        language, wording = rng.choice(foreign or fact.asks)
        language = language or own
        if "month" in values:
            values = values | {"month": _MONTHS[language][int(values["month"]) - 1]}
        text = self._text(wording, values, fact.domain)
        leads = self._pool.sections.get(f"lead.{language}", [])
        if (
            leads
            and fact.kind not in _REQUESTS
            and rng.random() < wanted.long
            and not is_long(text, language)
        ):
            lead = self._text(rng.choice(leads), values, fact.domain)
            text = f"{lead}{'' if language == 'zh' else ' '}{text}"
        answer = self._text(
            fact.answer or ("[w]" if fact.kind == "updated" else "[v]"), values, fact.domain
        )
        keys = [
            part.strip() for part in self._text(fact.keys or answer, values, fact.domain).split(";")
        ]
        return Asked(
            fact,
            language,
            text,
            answer if gold else "",
            tuple(keys) if gold else (),
            gold,
            fact.kind,
        )


def begun(text: str, wording: str) -> str:
    """Return a text whose first letter is a capital, if a slot for plain words stands first."""
    plain = (
        wording.startswith("[")
        and "_" not in text.partition(" ")[0]
        and "/" not in text.partition(" ")[0]
    )
    return text[0].upper() + text[1:] if plain and text else text


def is_long(text: str, language: str) -> bool:
    """True if a question has more than 25 words, or in Chinese more than 40 characters."""
    return len(text) > 40 if language == "zh" else len(text.split()) > 25


def as_questions(plan: Plan, owner: str, language: str) -> tuple[ShapeQuestion, ...]:
    """Return the questions, once every item knows its turn."""
    found = []
    for number, each in enumerate(plan.asked, 1):
        golden = {item.turn: item for item in each.gold if item.turn}
        domain = each.fact.domain
        found.append(
            ShapeQuestion(
                f"{owner}.q{number}",
                each.text,
                each.kind,
                tuple(golden),
                each.answer,
                each.keys,
                tuple(item.text for item in each.gold),
                SOURCES[each.gold[-1].source] if each.gold else "",
                is_long(each.text, each.language),
                each.language,
                domain.partition("-")[0] if "-" in domain else language,
                each.fact.id,
            )
        )
    return tuple(found)
