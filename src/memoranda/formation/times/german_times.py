"""German words for times, and the words that tell past from future."""

from __future__ import annotations

import re
from typing import Final

from memoranda.formation.times.lexicon import Lexicon, counted

_WEEKDAYS: Final = (
    "montag|mo",
    "dienstag|di",
    "mittwoch|mi",
    "donnerstag|do",
    "freitag|fr",
    "samstag|sonnabend|sa",
    "sonntag|so",
)
_PARTS: Final = "früh|morgen|vormittag|mittag|nachmittag|abend|nacht"
_MONTHS: Final = (
    "januar|jan|jänner|jänners|januars",
    "februar|feb|feber|februars",
    "märz|mär|maerz|märzes",
    "april|apr|aprils",
    "mai|mais",
    "juni|jun|junis",
    "juli|jul|julis",
    "august|aug|augusts",
    "september|sep|sept|septembers",
    "oktober|okt|oktobers",
    "november|nov|novembers",
    "dezember|dez|dezembers",
)
_NUMBERS: Final = (
    "ein|eine|einen|einem|einer|eines|eins zwei|zwo drei vier fünf|fuenf sechs sieben acht neun zehn elf zwölf dreizehn "
    "vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn zwanzig"
)
_TEENS: Final = "elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn"
_TENS: Final = "zwanzig einundzwanzig zweiundzwanzig dreiundzwanzig vierundzwanzig fünfundzwanzig sechsundzwanzig"


def _forms(stems: str, ends: str = "e|en|er|es|em") -> str:
    return "|".join(f"{stem}{end}" for stem in stems.split() for end in ends.split("|"))


def _inflected(stems: str) -> str:
    return " ".join(map(_forms, stems.split()))


_ORDINALS: Final = _inflected(
    "erst zweit dritt viert fünft sechst siebt acht neunt zehnt "
    + " ".join(f"{stem}t" for stem in _TEENS.split())
    + " "
    + " ".join(f"{stem}st" for stem in _TENS.split())
    + " siebenundzwanzigst achtundzwanzigst neunundzwanzigst dreißigst einunddreißigst"
)


GERMAN: Final = Lexicon(
    code="de",
    tokens={
        "": "der|die|das|den|dem|des|nur|genau|rund|schon|bereits|gültig|erst|lang|dann|mal|damals",
        "AT": "am|an|um|im laufe|während|über|übers|zu|zur|innerhalb",
        "IN": "in|im|ins|in den|in der|binnen",
        "SINCE": "seit|seitdem|schon seit|bereits seit",
        "FROM": "ab|von|vom|beginnend|frühestens|nicht vor|ab dem",
        "ASOF": "zum|per",
        "FOR": "für|für die",
        "UNTIL": "bis|bis zum|bis zur|bis zu|bis in|bis in den|bis ins|bis im|bis am|bis spätestens|spätestens|spätestens bis|"
        "bis einschließlich|spätestens am|spätestens im",
        "BETWEEN": "zwischen",
        "AND": "und",
        "ONWARDS": "aufwärts",
        "AGO": "vor|her|zurück",
        "MORE": "weitere|weiteren|mehr|noch",
        "LAST": _forms("letzt vergangen vorig verflossen"),
        "LAST2": _forms("vorletzt"),
        "NEXT": _forms("nächst naechst"),
        "COMING": _forms("kommend"),
        "NEXT2": _forms("übernächst"),
        "THIS": "dieser|diese|dieses|diesen|diesem|aktuellen|laufenden|laufende",
        "EARLIER": "früher",
        "DAY:0": "heute",
        "NOW": "jetzt|nun|sofort",
        "DAY:0 PART": "heut abend|heute früh|heute morgen",
        "DAY:1": "morgen",
        "DAY:1 PART": "morgen früh",
        "DAY:2": "übermorgen",
        "DAY:-1": "gestern",
        "DAY:-1 PART": "gestern früh|gestern morgen",
        "DAY:-2": "vorgestern",
        "DAY:-3": "vorvorgestern",
        "U:minute": "minute",
        "UU:minute": "minuten|min",
        "U:hour": "stunde",
        "UU:hour": "stunden|std",
        "U:day": "tag|tages|tags",
        "UU:day": "tage|tagen",
        "U:week": "woche",
        "UU:week": "wochen",
        "N:2 U:week": "vierzehn tage|vierzehn tagen",
        "U:month": "monat|monats|monates",
        "UU:month": "monate|monaten",
        "U:quarter": "quartal|quartals|vierteljahr",
        "UU:quarter": "quartale|quartalen",
        "U:year": "jahr|jahrs|jahres",
        "UU:year": "jahre|jahren",
        "THIS U:year": "heuer",
        "N:10 U:year": "jahrzehnt|jahrzehnten",
        "WEEKEND": "wochenende|wochenendes|we",
        "PART": "früh|morgens|vormittag|vormittags|mittag|mittags|nachmittag|nachmittags|abend|abends|am morgen|am vormittag|"
        "am mittag|am nachmittag|am abend|am frühen morgen",
        "NIGHT": "nacht|nachts|in der nacht|mitternacht|um mitternacht",
        "CLOCK": "uhr",
        "S:0": "frühling|frühlings|frühjahr|frühjahrs",
        "S:1": "sommer|sommers",
        "S:2": "herbst|herbstes",
        "S:3": "winter|winters",
        "MID": "mitte|mitte des",
        "EARLY": _forms("früh", "en"),
        "LATE": _forms("spät", "en"),
        "START": "anfang|beginn|zu beginn|zu anfang|anfangs",
        "END": "ende|gegen ende|zum ende",
        "END THIS U:month": "monatsende",
        "END THIS U:year": "jahresende",
        "END THIS U:quarter": "quartalsende",
        "END THIS U:week": "wochenschluss",
        "START THIS U:month": "monatsanfang",
        "START THIS U:year": "jahresanfang",
        "HALF": "halb|halbe|halben|halber|halbes|hälfte",
        "U:half": "halbjahr|halbjahrs|halbjahres|jahreshälfte",
        "AND-A-HALF": "und ein halbes",
        "N:1.5": "anderthalb|eineinhalb|einundeinhalb",
        "N:2.5": "zweieinhalb",
        "N:3.5": "dreieinhalb",
        "N:4.5": "viereinhalb",
        "HOL:12-24": "heiligabend|heiliger abend|heiligen abend",
        "HOL:12-25": "weihnachten|erster weihnachtstag|ersten weihnachtstag",
        "HOL:12-26": "zweiter weihnachtstag|zweiten weihnachtstag",
        "HOL:12-31": "silvester",
        "HOL:1-1": "neujahr|neujahrstag",
        "HOL:2-14": "valentinstag",
        "HOL:10-31": "halloween",
        "HOL:12-6": "nikolaus",
        "ABOUT": "etwa|ungefähr|circa|ca|zirka|um die",
        "INCLUDED": "einschließlich|inklusive|inbegriffen",
        "OR": "oder|außer",
        "!": "vielleicht|eventuell|wahrscheinlich|möglicherweise|um diese zeit|darauf|danach|folgende|folgenden|folgender|folgendes|nacht auf|nacht zu|nacht zum|in der nacht auf|in der nacht zum|knapp|fast|gut|mindestens|mehr als|weniger als|jeden|jede|jedes|jeder|jedem|alle|nach|einige|einigen|ein paar|paar|mehrere|mehreren|nicht|nie|wöchentlich|täglich|"
        "monatlich|bald|weile|einer weile|neulich|kürzlich|irgendwann|wenigen|viele|vielen",
        **{
            f"WD:{place} PART": _forms(names.split("|")[0], _PARTS)
            for place, names in enumerate(_WEEKDAYS)
        },
        **counted("WD", _WEEKDAYS),
        **counted("M", _MONTHS, 1),
    },
    numbers=_NUMBERS,
    ordinals=_ORDINALS,
    past=re.compile(
        r"\b(?:war|waren|warst|hatte|hatten|wurde|wurden|ging|gingen|kam|kamen|gab|sah|fuhr|fuhren|flog|traf|"
        r"fand|begann|machte|kaufte|zog|zogen|ge[a-zäöüß]{2,}(?:t|en)|"
        r"(?:an|auf|aus|ein|ab|um|zu|mit|vor|nach|los|weg|zurück|fest|teil)ge[a-zäöüß]{2,}(?:t|en)|"
        r"(?:be|ver|er|ent|zer)[a-zäöüß]{3,}(?<!e)t(?= *[.,;!?]| *$)|besucht|begonnen|verloren|bekommen|angefangen|passiert)\b"
    ),
    future=re.compile(
        r"\b(?:werde|wirst|wird|werden|werdet|geplant|plane|planen|plant|vorhabe|vorhaben|(?:gebucht|reserviert|geplant) für|(?:ist|sind) (?:am|im|vom)|"
        r"will|wollen|möchte|muss|müssen|soll|sollen|kommt|kommen|fliege|fliegen|fliegt|fahre|fahren|fährt|"
        r"freue mich auf|demnächst|bald|beginnt|starte|startet|ziehe|ziehen|zieht|erinnere|erinner|fällig)\b"
    ),
    ordinary=frozenset("so do mi di mo sa fr".split()),
    date="{day}. {month} {year}",
    month="{month} {year}",
    months="Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
)
