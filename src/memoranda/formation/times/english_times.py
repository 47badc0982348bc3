"""English words for times, and the words that tell past from future."""

from __future__ import annotations

import re
from typing import Final

from memoranda.formation.times.lexicon import Lexicon, counted

_WEEKDAYS: Final = (
    "monday|mon",
    "tuesday|tue|tues",
    "wednesday|wed",
    "thursday|thu|thur|thurs",
    "friday|fri",
    "saturday|sat",
    "sunday|sun",
)
_MONTHS: Final = (
    "january|jan",
    "february|feb",
    "march|mar",
    "april|apr",
    "may",
    "june|jun",
    "july|jul",
    "august|aug",
    "september|sep|sept",
    "october|oct",
    "november|nov",
    "december|dec",
)
_NUMBERS: Final = (
    "a|an|one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty"
)
_ORDINALS: Final = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth twenty~first twenty~second twenty~third twenty~fourth "
    "twenty~fifth twenty~sixth twenty~seventh twenty~eighth twenty~ninth thirtieth thirty~first"
)

ENGLISH: Final = Lexicon(
    code="en",
    tokens={
        "": "the|of|only|just|exactly|valid|including|way back|back|eod|cob|end of day|first thing|close of business",
        "AT": "at|on|during|over|throughout|back on|on the day of",
        "IN": "in|within|back in|sometime in",
        "SINCE": "since|ever since",
        "ASOF": "as of",
        "FROM": "from|starting|effective|effective from|effective as of|with effect from|not before|as from|starting from|starting in|starting on|beginning in|beginning on",
        "FOR": "for|for the",
        "UNTIL": "until|till|til|'til|up to|up until|until and including|up to and including|through|thru|by|no later than|at latest|at the latest|not later than",
        "BETWEEN": "between",
        "TO": "to|through to",
        "AND": "and",
        "FROM DAY:0": "from now on|from today on|from today onwards",
        "ONWARDS": "onward|onwards|forward|forwards",
        "AGO": "ago",
        "HENCE": "from now|from today|hence",
        "MORE": "more|another|further",
        "LAST": "last|past|previous",
        "NEXT": "next",
        "COMING": "coming|upcoming|this coming|next coming",
        "THIS": "this|current",
        "EARLIER": "earlier",
        "LATER": "later",
        "LAST2": "before last",
        "NEXT2": "after next",
        "DAY:0": "today",
        "NOW": "now|right now|the present",
        "DAY:0 PART": "tonight|tonite|today in the morning",
        "DAY:1": "tomorrow|tmrw|tmr|tomo",
        "DAY:-1": "yesterday|yday",
        "DAY:2": "day after tomorrow|the day after tomorrow",
        "DAY:-2": "day before yesterday|the day before yesterday",
        "U:minute": "minute|min",
        "UU:minute": "minutes|mins",
        "U:hour": "hour|hr",
        "UU:hour": "hours|hrs",
        "U:day": "day",
        "UU:day": "days",
        "U:week": "week|wk",
        "UU:week": "weeks|wks",
        "N:2 U:week": "fortnight|a fortnight",
        "U:month": "month|mth",
        "UU:month": "months|mths",
        "U:quarter": "quarter",
        "UU:quarter": "quarters",
        "KW": "kw|cw|calendar week",
        "U:year": "year|yr",
        "UU:year": "years|yrs",
        **{
            f"LAST N:1 U:{unit}": f"past {unit}|this past {unit}"
            for unit in ("week", "month", "quarter", "year")
        },
        "N:10 U:year": "decade|a decade",
        "WEEKEND": "weekend|the weekend",
        "PART": "morning|in the morning|mornings of|afternoon|in the afternoon|evening|in the evening|noon|at noon|lunch|midday|"
        "lunchtime|at lunchtime|early morning",
        "NIGHT": "night|nite|at night|midnight|at midnight|late at night",
        "CLOCK": "o'clock|sharp",
        "S:0": "spring|springtime",
        "S:1": "summer|summertime",
        "S:2": "autumn|fall",
        "S:3": "winter|wintertime",
        "MID": "mid|middle|the middle|halfway through",
        "EARLY": "early|early in|early on in",
        "LATE": "late|late in",
        "START": "start|beginning|the start|the beginning",
        "END": "end|the end|close",
        "HALF": "half|half a|half an",
        "AND-A-HALF": "and a half",
        "N:2": "couple|a couple|couple of|a couple of",
        "HOL:12-24": "christmas eve",
        "HOL:12-25": "christmas|christmas day|xmas|xmas day",
        "HOL:12-26": "boxing day",
        "HOL:12-31": "new year's eve|new years eve|new year eve",
        "HOL:1-1": "new year day|new year's day|new years day|new year's",
        "HOL:2-14": "valentine day|valentine's day|valentines day",
        "HOL:10-31": "halloween",
        "ABOUT": "about|around|roughly|approximately",
        "INCLUDED": "inclusive|included",
        "OR": "or|except|except for",
        "!": "maybe|perhaps|probably|possibly|this time|following|preceding|until one day|every|each|after|before|few|several|some|many|not|never|every other|weekly|daily|monthly|yearly|"
        "more than|less than|almost|nearly|at least|under|soon|while|other",
        **counted("WD", _WEEKDAYS),
        **counted("M", _MONTHS, 1),
    },
    numbers=_NUMBERS,
    ordinals=_ORDINALS,
    past=re.compile(
        r"\b(?:was|were|had|did|didn't|went|came|saw|met|got|bought|took|made|began|started|moved|left|gave|told|said|ate|"
        r"ran|drove|flew|wrote|read about|became|found|lost|won|broke|paid|felt|spent|sold|held|brought|taught|fell|"
        r"been|used to|(?!(?:need|feed|bed|speed|indeed|seed|red|wed|planned|booked|scheduled|supposed|excited|based|married|"
        r"interested|used|required|invited)\b)[a-z]{2,}ed)\b"
    ),
    future=re.compile(
        r"\b(?:will|won't|shall|going to|gonna|plan(?:s|ning)? (?:to|on)|i'll|we'll|he'll|she'll|they'll|it'll|you'll|"
        r"about to|(?:booked|reserved|scheduled|planned|arranged)\b.{0,40}?\bfor|(?:is|are|'s) (?:on|due|next)|due|remind me|looking forward|(?:'m|'re|am|are|is|'s) "
        r"(?:flying|going|coming|leaving|moving|starting|visiting|meeting|travelling|traveling|seeing|having|getting|"
        r"taking|arriving|returning|running|hosting|giving|driving|staying|joining|presenting|heading)|"
        r"upcoming|let's|can't wait|expects?|hopes? to|wants? to|would like to|need to|needs to|have to|has to|must)\b"
    ),
    ordinary=frozenset("may march fall spring sun sat wed".split()),
    date="{day} {month} {year}",
    month="{month} {year}",
    months="January February March April May June July August September October November December",
)
