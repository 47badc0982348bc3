"""The value that a fact states: its names, numbers and rare words, and how much of it a text holds,
in any usual spelling.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Final

from memoranda.book.forgetting.fact_numbers import Part, numbers_of, quantity
from memoranda.book.forgetting.other_people import PEOPLE, SAME_PEOPLE, SHARING, Words, is_small
from memoranda.first_use import expression
from memoranda.formation.privacy.numerals import numbers_in_words, word_value
from memoranda.model.memories import Memory
from memoranda.text.scripts import folded
from memoranda.text.similarity import clears_with_similarity, terms_in, words_with_forms

_PERSON: Final = expression(PEOPLE, re.IGNORECASE)
#: Words that many facts have, without accents: what is done with a value, and its units; short
#: ones only whole, or they would begin names, as "be" does Berlin.
_COMMON: Final = expression(
    r"(?:hate|enjoy|avoid|work|employ|earn|make|take|have|born|call|name|play|love|speak|prefer|all?erg|weigh|drive|wear"
    r"|bought|number|size|level|type|kind|study|studi|married|engaged|user|currently|fluent|home|partner|about|from|since"
    r"|wohn|arbeit|verdien|heiß|spiel|nutz|fahr|trag|zahl|wieg|gebor|nummer|große|stuf|verheirat"
    r"|vive|trabaj|llam|tien|habl|gust|estudi|conduc|cumpl|numer|talla|nivel|casad|nacio|nuev|desde"
    r"|habit|travaill|gagn|appel|parl|condui|taille|niveau|depuis|intoleran|unvertrag|sufr|padec|souffr|colec|ap+re?nd|quier|pratiq|practic)\w{0,4}"
    r"|(?:dis)?li[vk](?:e[sd]?|ing)|jobs?|us(?:e[sd]?|ing|an?)|ha[sd]|was|is|be|pay(?:s|ing)?|paid|own(?:s|ed)?|owe[sd]?|plan(?:s|n\w+)?|new|old|aged?|once"
    r"|leb(?:en?|t)|ist|mag|hat|neue?[mnrs]?|seit|gana[ns]?|es|paga[ns]?|pesa[ns]?|fum[ae]n?|toman?|tocan?|beben?|juegan?|joue|sus?|tu|mi|pren\w{1,3}|paie\w{0,2}|aime\w{0,2}|pese|mariee?s?|nee?|est|son|sa|ses"
    r"|disease|syndrome|disorder|krankheit|enfermedad|maladie|company|firma|empresa|entreprise|fc|club|gmbh|inc|ltd|verein|team"
    r"|go(?:es|ing|ne)?|get(?:s|ting)?|been|being|keeps?|do(?:es|ing)?|recover\w*|undergo\w*|macht|geht|kommt|wird|hace|haciendo|pasando|va|esta|fait|suit|etre"
    r"|street|st|road|rd|avenue|ave|lane|square|strasse|straße|str|weg|platz|calle|avenida|plaza|rue|place|boulevard|chemin",
    re.IGNORECASE,
)
#: The beginning of a statement that says what its value is: its verb, or what the value is of.
_SAYING: Final = expression(
    r"(?:\w+ ){1,4}(?:is|are|ist|sind|es|son|est|sont)(?= )|[^\W\d]{3,}[st](?= )", re.IGNORECASE
)
#: Of these, words that say nothing of what a value is.
_EMPTY: Final = expression(
    r"(?:has|have|had|was|is|are|be|use|take|make|call|name|own|from|about|since|currently|new|ist|hat|heiß|heis|nutz|seit|neu|es|tien|llam|usa|desde|nuev|est|appel|depuis|sa|son|ses|su|sus|tu|mi|go|get|been|being|keep|do|recover|undergo|mach|geh|komm|wird|hac|pas|va|esta|fait|suit|etre)\w{0,4}",
    re.IGNORECASE,
)
#: Words that say the same of a value, in several languages.
_FAMILIES: Final = tuple(
    expression(rf"(?<![^\W\d_])(?:{family})\w{{0,6}}", re.IGNORECASE)
    for family in (
        r"liv(?:e|es|ed|ing)\b|moved\b|home\b|based\b|resid|wohn|leb(?:e|st|t|en)\b|zuhause|zu hause|daheim|umzieh|umgezogen|viv(?:o|es?|imos|ir|ido|i)\b|casa\b|habit|vis\b|vit\b|vivre|résid|abit|mor(?:o|a|as)\b|woon|address|adresse|wohnort|dirección|domicil",
        r"work|job\b|employ|arbeit|beruf|firma|stelle\b|trabaj|empleo|emple[oa]d|travaill|boulot|métier|lavor|trabalh|occupation|profession|puesto|poste\b",
        r"earn|salar|income|wage|mak(?:e|es|ing)\b|paid\b|pay\b|gross|verdien|gehalt|einkommen|lohn|brutto|netto|gan(?:o|as?|ar|amos)\b|sueldo|ingreso|cobr|gagn|salaire|revenu|touche",
        r"weigh|weight|wieg|gewicht|pes(?:o|a|as|ar)\b|pèse|poids",
        r"born\b|birth|geb(?:oren|urt)|jahrgang|nac(?:i|í)|cumpl|né\b|née\b|naissance|anniversaire",
        r"rent\b|lease|miete|alquiler|loyer|affitto|aluguel",
        r"owe|debt|loan|schuld|kredit|deb(?:o|e|es)\b|deuda|préstamo|crédit|dette|dois\b|doit\b",
        r"car\b|driv|auto\b|fahre?\b|coche|conduc|voiture|condui",
        r"stud|universit|uni\b|degree|studi|estudi|carrera|étudi|fac\b",
        r"diagnos|condition\b|illness|krank|enferm|malad",
        r"lik(?:e|es|ing)\b|lov(?:e|es|ing)\b|enjoy|ador|favou?rite|hobb|mag\b|mögen\b|lieb|gern|gust|encant|aficion|aim(?:e|es|ons|ez)\b|préfér",
        r"dislik|hat(?:e|es)\b|avoid|detest|hass|odi(?:o|a|as)\b|détest|(?:not|n['’]t|nicht|kein\w*|no|pas)\s+(?:\w+\s+)?(?:like|mögen|mag|me gust|aim)",
        r"allerg|intoleran|alérgi|alergi|unverträglich",
    )
)
_MONEY: Final = r"[$€£¥]|\b(?:eur|usd|gbp|chf|euros?|dollars?|pounds?|francs?|franken|pesos?|dólares|libras|pfund|livres)\b"
_CURRENCY: Final = expression(_MONEY, re.IGNORECASE)
_MINE: Final = expression(
    r"\b(?:my|our|mein\w*|unser\w*|mis?|nuestr\w+|mon|ma|mes|notre|nos|meu|minha|mijn|your|dein\w*|tus?|votre|vos|ton|ta|tes)\s+(?:(\w+)\s+)?$",
    re.IGNORECASE,
)
_YEARS: Final = r"years?|yrs?|yo|old|aged?|jahre?n?|alt|alter|años?|edad|ans?|âge"
_UNITS: Final = tuple(
    expression(rf"(?<![^\W\d_])(?:{unit})(?!\w)", re.IGNORECASE)
    for unit in (
        r"\$|dollars?|usd|dólares",
        r"€|euros?|eur",
        r"£|pounds?|gbp|quid|libras|livres|pfund",
        r"kg|kilos?|kilogram\w*|kilogramm\w*",
        r"cm|cent[ií]m\w+|zentimeter\w*",
        r"km|kilom\w+",
        r"mg|milligram\w*|miligram\w*",
        r"µg|mcg|microgram\w*|mikrogram\w*",
        r"%|percent|prozent|por ciento|pour cent",
        _YEARS,
        r"m|met(?:re|er|ro)s?|mètres?",
        r"months?|monate?n?|mes(?:es)?|mois|monthly|monatlich\w*|mensual\w*",
        r"weeks?|wochen?|semanas?|semaines?|weekly",
        r"days?|tage?n?|días?|jours?|daily|täglich|diari\w+",
        r"min(?:ute[ns]?|utos?|s)?|seconds?|sekunden?|segundos?|secondes?",
        r"hours?|hrs?|stunden?|horas?|heures?",
        r"miles?|meilen?|millas?|milles",
    )
)
#: A statement of somebody's age.
_IN_YEARS: Final = expression(r"\b(?:old|aged?|alt|alter|edad|años|ans|âge)\b", re.IGNORECASE)
#: A statement of what somebody is, and how the owner says so.
_IS: Final = expression(r"(?:\w+ )?(?:is|ist|es|est|está)\b", re.IGNORECASE)
_I_AM: Final = expression(r"\b(?:i['’]?m|i am|ich bin|bin ich|soy|estoy|je suis)\b", re.IGNORECASE)
_TOKEN: Final = expression(r"[^\W_]+")
_NAME: Final = expression(r"(?<![\w'’-])[^\W\d_]{2,}(?![\w-]|['’](?!s\b))")
_HYPHEN_BEFORE: Final = expression(r"[^\W\d_]-$")
_HYPHEN_BEHIND: Final = expression(r"-[^\W\d_a-zà-ÿ]")
#: What stands before the first word of a sentence or a quotation.
_OPENS: Final = expression(r"(?:^|[.!?…:\n]|(?<!\w)[\"“«„(¿¡'‘]\s*)\s*$")
#: Articles and the like, which say nothing even where the language of a short statement is not
#: known.
SMALL: Final = frozenset(
    "the el la los las un una unos unas de del al en con por para y le les du des une à au aux l' d' der die das den dem ein eine einen einem einer "
    "im am zum zur von vom mit und".split()
)
#: Behind a word at the beginning of a sentence: it is no name there, as in “Will you”, “Nice to”.
_VERB_ON: Final = expression(
    r"\s+(?:the|my|y?our|his|her|their|this|that|these|those|it|you|us|him|them|to|i|we|s?he|they|there|not|be|have)\b",
    re.IGNORECASE,
)
_AGE: Final = expression(
    r"(?:(?<!\w)(?:i['’]?m|am|are|['’]re|is|be|being|was|turn(?:ed|ing|s)?|at|bin|bist|ist|sind|mit|soy|eres|tengo|tienes?|con|ai|as|a|avez|à)\s+)$",
    re.IGNORECASE,
)
#: Something of the owner's, as the subject of what follows.
_THING: Final = expression(
    r"\b(?:your|my|our|deine?|meine?|unsere?|ihre?|tu|mi|su|nuestr[oa]|ton|ta|votre|mon|ma|notre)\s+([^\W\d_]+)\s+(?:is|was|ist|war|es|era|est|était)\s+$",
    re.IGNORECASE,
)
#: Nothing but this may follow a bare number that is somebody's age.
_ENDED: Final = expression(
    r"\s*(?:$|[.,;:!?)…\"”]|(?:I|myself|and|now|this|und|y|et|is|no|ich|yo|je|bist|bin|sind|are|am|eres|soy|you|du|Sie|tu|vous|for you|für dich)\b)"
)
#: A word that makes another name of the one behind it: “New York” is not York.
_BEFORE: Final = expression(
    r"(?<![^\W\d_])(new|north|south|east|west|san|santa|santo|são|saint|st\.?|port|fort|mount|cape|lake|great|upper|lower|neu|nord|süd|ost|bad|nueva|nuevo|nova"
    r"|nouvelle)[ -]$",
    re.IGNORECASE,
)
#: Characters before a name in which its article stands.
_NEAR: Final = 40
#: Articles right before a noun, perhaps with an adjective between; “a” only in English.
_DEFINITE: Final = expression(
    r"\b(?:der|die|das|de[mnrs]|im|am|zum|zur|vom|el|la|los|las|del|al|au|les?)\s+(?:[^\W\dA-Z]+\s+)?$|\bl['’]$",
    re.IGNORECASE,
)
_INDEFINITE: Final = expression(
    r"\b(?:an|eine?[mnrs]?|je|una?|une)\s+(?:[^\W\dA-Z]+\s+)?$|\b(?:the|is|you|and|my|your|for|of|has|drives|owns)\b.*\ba\s+(?:[^\W\dA-Z]+\s+)?$",
    re.IGNORECASE | re.DOTALL,
)
_GERMAN: Final = expression(r"\b(?:der|die|das|und|ist|ein|eine|mit|für|auf|bei|ich|du|zu|von)\b")
_TITLE: Final = expression(
    rf"mr|mrs|ms|dr|miss|dear|hi|hello|for|señora?|don|doña|mme|monsieur|madame|{PEOPLE}",
    re.IGNORECASE,
)
#: A statement of how the owner is called.
_OWN_NAME: Final = expression(
    r"(?:(?:\w+_)?name|nombre|prénom|vorname|nachname|surname): |\w+: (?:(?:first |last |sur|full )?name is|is called|heißt|se llama|s['’]appelle)\b",
    re.IGNORECASE,
)
#: A longer word begins compounds and other forms of itself: “Hörgerät”, “Hörgerätebatterie”.
_LONG: Final = 7
_AT_OURS: Final = expression(rf"{SHARING}\s+$", re.IGNORECASE)
_FOR_OWNER: Final = expression(
    r"\b(?:for (?:you|me)|für (?:dich|mich|Sie)|para (?:ti|mí)|pour (?:toi|moi|vous))\b"
)
#: What stands on its other side says nothing of a number.
_BREAK: Final = expression(r"[,;.!?](?=\s)|\n")
#: Shorter words have no other last vowel.
_SHORTEST: Final = 5


class Value:
    """The value that some memories state. Each of its parts has a weight; a text in which they sum
    up to 1 tells it.
    """

    def __init__(self, memories: Sequence[Memory], names: Collection[str]) -> None:
        self._parts: list[Part] = []
        #: Words that were looked at, with the parts that have a form of each.
        self._known: dict[str, Sequence[Part]] = {}
        self._common: set[int] = set()
        self._units: list[re.Pattern[str]] = []
        #: Of these, those that stand beside a number.
        self._its_units: list[re.Pattern[str]] = []
        self._said_by: list[str] = []
        said = " ".join(memory.passage_text().replace("_", " ") for memory in memories)
        self._families = [family for family in (*_FAMILIES, *SAME_PEOPLE) if family.search(said)]
        self._is_state = any(_IS.match(memory.content) for memory in memories)
        self._is_age = False
        self._is_own_name = any(_OWN_NAME.match(f"{one.key}: {one.content}") for one in memories)
        for memory in memories:
            self._add(memory, names)
        self.forms = frozenset(form for one in self._parts for form in one.forms)

    def _add(self, memory: Memory, names: Collection[str]) -> None:
        said = memory.content
        units = [unit for unit in _UNITS if unit.search(said)]
        self._units += units
        self._is_age = self._is_age or _IN_YEARS.search(said) is not None
        numbers = list(numbers_of(said))
        for _, (start, end) in numbers:
            around = (said[max(start - 2, 0) : start], said[end:].lstrip())
            self._its_units += [
                one for one in units if one.search(around[0]) or one.match(around[1])
            ]
        spelled = [number for number in numbers_in_words(said) if number > 1]
        parts = [*(part for part, _ in numbers), *(quantity(str(number)) for number in spelled)]
        self._parts += parts
        bare = said
        for _, (start, end) in reversed(numbers):
            bare = f"{bare[:start]} {bare[end:]}"
        words = [
            (word, forms)
            for word, forms in words_in(bare)
            if word.casefold() not in {*names, *(() if word[0].isupper() else SMALL)}
            and any(map(str.isalnum, word))
            and not (spelled and all(word_value(part) is not None for part in word.split("-")))
        ]
        key = words_with_forms(re.sub(r"[_./-]+", " ", memory.key or ""))
        written = _written(said)
        own = [one for one in words if not _is_shared(one[0])]
        if first := _SAYING.match(said):
            before = {one.casefold() for one in _TOKEN.findall(first[0])} - written
            own = [one for one in own if one[0].casefold() not in before] or ([] if parts else own)
        saying = [one for one in (*words, *key) if one not in own and not _EMPTY.fullmatch(one[0])]
        self._common.update(form for _, forms in saying for form in forms)
        self._said_by += [folded(word.casefold()) for word, _ in saying]
        self._words(
            said, own if own or parts else words, has_number=any(part.weight >= 1 for part in parts)
        )

    def _words(
        self, said: str, words: Sequence[tuple[str, frozenset[int]]], *, has_number: bool
    ) -> None:
        """Add words: names and codes tell the value alone, and so does the only rare word where
        there is nothing else.
        """
        written = _written(said)
        named = [word for word, _ in words if word.casefold() in written]
        rare = len(words) - len(named)
        for word, forms in words:
            is_code = any(map(str.isdigit, word))
            if word in named or is_code:
                at = next(
                    (
                        one.start()
                        for one in _TOKEN.finditer(said)
                        if one[0].casefold() == word.casefold()
                    ),
                    0,
                )
                before = _before(said, at)
                self._parts.append(
                    Part(
                        1.0,
                        forms=forms,
                        is_name=word in named,
                        before=before,
                        not_behind=tuple(
                            article
                            for article in (_DEFINITE, _INDEFINITE)
                            if not (
                                is_code
                                or self._is_state
                                or _INDEFINITE.search(said[:at])
                                or article.search(said[:at])
                            )
                        ),
                        stem=folded(word.casefold()) if len(word) >= _LONG else "",
                    )
                )
            else:
                weight = (
                    1.0
                    if (rare == 1 and not (named or has_number)) or len(word) > _SHORTEST
                    else 0.25
                    if named or has_number
                    else 0.5
                )
                self._parts.append(Part(weight, forms=forms, stem=_stem(word)))

    @cached_property
    def _beginnings(self) -> re.Pattern[str] | None:
        """The beginnings of long words that say what the value is: “allergy” says it as “allergic”
        does.
        """
        begins = {
            word[: max(_SHORTEST, len(word) - 3)] if len(word) > _SHORTEST else word[:-1]
            for word in self._said_by
            if len(word) >= _SHORTEST
        }
        return re.compile(rf"\b(?:{'|'.join(map(re.escape, begins))})") if begins else None

    @cached_property
    def common(self) -> frozenset[int]:
        """The forms of the words that say what the value is: its verb, its key, the person whose it
        is.
        """
        return frozenset(self._common)

    def names_somebody_else(self, text: str) -> bool:
        """True if a text has a name of the value as part of another one: “Max Weber” where the
        value is Max.
        """
        tokens = list(_TOKEN.finditer(text))
        named = [one for one in self._parts if one.is_name]
        return any(
            not one.forms.isdisjoint(terms_in(token[0]))
            and token[0][0].isupper()
            and self._is_other(text, tokens, place)
            for place, token in enumerate(tokens)
            for one in named
        )

    def places_in(self, text: str) -> list[tuple[int, int]]:
        """Return the places of the value's parts in a text, in their order."""
        return [place for place, _ in self._found(text)]

    def held_by(self, text: str, within: str = "") -> float:
        """Return how much of the value a text holds, perhaps within a longer one; with 1 it tells
        it.
        """
        best: dict[object, float] = {}
        for _, part in self._found(text, within):
            # The same number, also of two memories, is not told by being there twice.
            at = id(part) if part.spellings is None else part.spellings.pattern
            best[at] = max(best.get(at, 0.0), part.weight)
        return sum(best.values())

    @cached_property
    def _is_number(self) -> bool:
        """True if nothing but a small number tells the value, so that its unit does beside it."""
        return not any(
            one.weight >= 1 and (one.is_name or one.spellings is not None) for one in self._parts
        )

    def _has_another_unit(self, text: str, end: int) -> bool:
        """True if what follows a number is a unit of something else: 1,200 metres are no 1,200
        euros.
        """
        after = text[end : end + 12].lstrip()
        return bool(self._its_units) and any(
            unit.match(after) for unit in _UNITS if unit not in self._its_units
        )

    def is_in_other_units(self, text: str) -> bool:
        """True if a text has the value's numbers of other things alone: 45 minutes are no 45 years."""
        said = [
            self._has_another_unit(text, found.end())
            for part in self._parts
            if part.spellings is not None
            for found in part.spellings.finditer(text)
        ]
        return bool(said) and all(said)

    def has_spelling(self, text: str) -> bool:
        """True if a text has a number of the value in one of its spellings."""
        if self._numbers is None:
            return False
        # A search for a few letters is much faster than the pattern of all spellings.
        lowered = text.lower()
        return (
            any(hint in lowered for hint in self._hints) and self._numbers.search(text) is not None
        )

    @cached_property
    def _hints(self) -> frozenset[str]:
        return frozenset(
            hint for one in self._parts if one.spellings is not None for hint in one.hints
        )

    @cached_property
    def _numbers(self) -> re.Pattern[str] | None:
        ways = [one.spellings.pattern for one in self._parts if one.spellings is not None]
        return re.compile("|".join(f"(?:{way})" for way in ways), re.IGNORECASE) if ways else None

    def has_number(self, text: str) -> bool:
        """True if a text has a number of the value that tells it alone."""
        return any(
            one.weight >= 1
            and one.spellings is not None
            and not one.is_shared
            and one.spellings.search(text)
            for one in self._parts
        )

    def relates(self, text: str) -> bool:
        """True if a text says what the value is, or that it is the owner's."""
        return self.is_said_by(text) or self.is_mine(text)

    def is_mine(self, text: str) -> bool:
        """True if a text has the value behind "my", perhaps with a word for what it is."""
        return any(
            part.weight >= 1
            and not _PERSON.fullmatch(text[start:end])
            and (
                (
                    (mine := _MINE.search(text[:start]))
                    and (not _PERSON.fullmatch(mine[1] or "") or self.is_said_by(mine[1]))
                )
                or _AT_OURS.search(text[:start])
            )
            for (start, end), part in self._found(text)
        )

    def has_unique(self, text: str) -> bool:
        """True if a text has what one person alone has, such as a telephone number."""
        return any(
            one.is_unique and one.spellings is not None and one.spellings.search(text)
            for one in self._parts
        )

    def is_said_by(self, text: str) -> bool:
        """True if a text has a word that says what the value is, but for "my"."""
        if not self.common.isdisjoint(terms_in(text)) or any(
            unit.search(text) for unit in self._units
        ):
            return True
        if self._is_state and _I_AM.search(text):
            return True
        if any(family.search(text) for family in self._families):
            return True
        return (
            self._beginnings is not None
            and self._beginnings.search(folded(text.casefold())) is not None
        )

    def may_be_told_by(self, text: str) -> bool:
        """True if a text has the letters of a number of the value, or words of enough weight; a
        quick look before a close one.
        """
        lowered = text.lower()
        if any(hint in lowered for hint in self._hints):
            return True
        parts = {id(part): part for word in _TOKEN.findall(text) for part in self._of_word(word)}
        return sum(part.weight for part in parts.values()) >= 1

    def _of_word(self, word: str) -> Sequence[Part]:
        """Return the parts that have a form of a word."""
        found = self._known.get(word)
        if found is None:
            terms, stem = _forms_of(word)
            found = self._known[word] = [
                part
                for part in self._parts
                if part.forms
                and (
                    not part.forms.isdisjoint(terms)
                    or (
                        part.stem
                        and (
                            stem.startswith(part.stem if part.is_name else part.stem[:-1])
                            if len(part.stem) > _SHORTEST
                            else stem == part.stem
                        )
                    )
                )
            ]
        return found

    def _found(self, text: str, within: str = "") -> Iterator[tuple[tuple[int, int], Part]]:
        for part in self._parts:
            if part.spellings is not None:
                for found in part.spellings.finditer(text):
                    if self._has_another_unit(text, found.end()):
                        continue
                    before, after = text[: found.start()][-12:], text[found.end() :][:24]
                    near = _BREAK.split(before)[-1] + found[0] + _BREAK.split(after)[0]
                    weak = part.weight < 1 or (
                        part.is_bare_in(found[0]) and not _CURRENCY.search(near)
                    )
                    if (
                        weak
                        and self._is_age
                        and _AGE.search(text[: found.start()])
                        and _ENDED.match(text[found.end() :])
                        and not self._is_of_a_thing(text[: found.start()])
                    ):
                        yield found.span(), part._replace(weight=1.0)
                    else:
                        told = not weak or (
                            (self._is_number or part.weight >= 1)
                            and (self.is_said_by(near) or _FOR_OWNER.search(near) is not None)
                        )
                        yield (
                            found.span(),
                            part._replace(weight=1.0 if told else min(part.weight, 0.5)),
                        )
        tokens = list(_TOKEN.finditer(text))
        for place, token in enumerate(tokens):
            for part in self._of_word(token[0]):
                behind = text[max(token.start() - _NEAR, 0) : token.start()]
                if not part.is_name or not (
                    part.before != _before(text, token.start())
                    or any(article.search(behind) for article in part.not_behind)
                    or self._is_other(text, tokens, place, within)
                ):
                    yield token.span(), part

    def _is_of_a_thing(self, before: str) -> bool:
        """True if the words before a number have a thing as their subject: “your ticket is 42” is
        no age.
        """
        thing = _THING.search(before)
        return thing is not None and not _PERSON.search(thing[0]) and not self.is_said_by(thing[1])

    def _is_other(
        self, text: str, tokens: Sequence[re.Match[str]], place: int, within: str = ""
    ) -> bool:
        """True of a word that is no name, or is part of somebody else's: “Max Weber” is not Max."""
        token, after = tokens[place], tokens[place + 1] if place + 1 < len(tokens) else None
        if not token[0][0].isupper():
            # Who writes names in lower case has them nowhere with a capital letter.
            is_written = token[0].capitalize() in within
            return is_written or not (within or text).islower() or is_small(token[0])
        start, end = token.span()
        before = max(start - 20, 0)
        if _OPENS.search(text, before, start) and _VERB_ON.match(text, end):
            return True
        if _HYPHEN_BEFORE.search(text, before, start) or _HYPHEN_BEHIND.match(text, end):
            return True
        if self._is_own_name:
            return False
        beside = [after] if after is not None and text[end : after.start()] == " " else []
        first = tokens[place - 1] if place and not _GERMAN.search(text) else None
        if (
            first is not None
            and text[first.end() : start] == " "
            and not _OPENS.search(text, max(first.start() - 20, 0), first.start())
        ):
            beside += [] if _TITLE.fullmatch(first[0]) or _before(text, start) else [first]
        return any(
            one[0][0].isupper()
            and len(one[0]) > 1
            and (self.forms | self.common).isdisjoint(terms_in(one[0]))
            for one in beside
        )


def words_in(said: str) -> Words:
    """Return the words of a statement with their forms, also a name that is a small word elsewhere:
    Will, the US.
    """
    words = words_with_forms(said)
    left_out = {*SMALL, *(word.casefold() for word, _ in words)}
    names = {
        found[0]: terms_in(found[0])
        for found in _NAME.finditer(said)
        if found[0][0].isupper()
        and found[0].casefold() not in left_out
        and not _OPENS.search(said, 0, found.start())
    }
    return (*words, *names.items())


def _written(said: str) -> set[str]:
    """Return the words that a statement has with a capital letter, in lower case, but for the
    first.
    """
    found = [token for token in _TOKEN.finditer(said) if token.start() and token[0][0].isupper()]
    return {one[0].casefold() for one in found}


def _is_shared(word: str) -> bool:
    """True of a word that tells no value: what many facts have, people, and units."""
    return _COMMON.fullmatch(folded(word)) is not None or any(
        one.fullmatch(word) for one in (_PERSON, *_UNITS)
    )


def _before(text: str, place: int) -> str:
    """Return the word before a name that makes it another one; empty if there is none."""
    found = _BEFORE.search(text[max(place - 12, 0) : place])
    is_name = found is not None and (found[1][0].isupper() or text.islower())
    return found[1].lower().rstrip(".") if found is not None and is_name else ""


@lru_cache(maxsize=8_192)
def _forms_of(word: str) -> tuple[frozenset[int], str]:
    """Return the terms of a word and its stem."""
    return terms_in(word), _stem(word)


clears_with_similarity(_forms_of)


def _stem(word: str) -> str:
    bare = folded(word.casefold()).rstrip("s")
    return (
        bare[:-1]
        if len(bare) > _SHORTEST and bare[-1] in "aeo"
        else bare
        if len(bare) > _SHORTEST
        else ""
    )
