"""Named patterns for English rules: names, places, phrases, and the subjects before a rule."""

from __future__ import annotations

from typing import Final

from memoranda.formation.rules import english_words
from memoranda.formation.rules.grammar import CAPITALISED, COVERED, EMOJI
from memoranda.formation.rules.makes import VEHICLE_NAME

#: Words that end a noun phrase.
_STOPS = (
    "and|but|or|so|in|on|at|for|from|with|without|by|near|since|because|cause|cos|who|that|which|where|when|while|if|as|to|of|is|are|was|i|we|my|"
    "it|its|he|she|they|these|this|right|now|here|lol|than|until|till|after|before|though|although|since|last|next|ago|every|please|pls|too|"
    "also|still|anyway|today|instead|whose|called|named|has|have|keeps?|just|how|what|can|could|do|does|any|into|over|about|all|recently"
)

TOKENS: Final = {
    "START": r"(?:(?<![\s\S])|(?<=hi, )|(?<=hello, )|(?<=hey, )|(?<=hi )|(?<=hello )|(?<=hey )|(?<=morning, )|(?<=hiya, )|(?<=hiya )|(?<=heya, )|(?<=afternoon, )|(?<=evening, )|(?<=there, )|(?<=all, )|(?<=folks, )|(?<=ok, )|(?<=yo, ))",
    "END": rf"(?=\s*(?:[,.;:!?()\n—–{EMOJI}]|-\s|$)|\s+(?:{_STOPS}|two|three|four|five|six|\d+|several|about|around|almost|nearly|permanently|yesterday)\b)",
    "STOPS": _STOPS,
    "CAP": CAPITALISED,
    "COVERED": COVERED,
    "MAKE": VEHICLE_NAME,
    "TITLE": r"(?:mr|mrs|ms|mx|miss|dr|doctor|prof|professor|captain|sir|lady|father|sister|coach|chef|aunt|auntie|uncle)\.?",
    "NAME": r"(?:(?:<TITLE> )?<CAP>(?: (?:(?:van|de|von|bin|al|el|da|la|der|du|ten) ){0,2}<CAP>){0,3}|<COVERED>)",
    "GIVEN": "<NAME>",
    "PLACE": r"(?:(?:\d{1,5}[a-z]? )?(?:the )?<CAP>(?:(?: (?:of|upon|on|de|la|le|les|sur|am|an der|der|del|do|da|dos|y|the|in the) | )<CAP>){0,3})",
    "ORG": r"(?:(?:the )?<CAP>(?:(?: (?:&|and|of|de|for|the) | & | )<CAP>){0,4})",
    "NP": rf"(?:[\w'-]+(?: (?!(?:{_STOPS})\b)[\w'-]+){{0,4}})",
    "ADJ": rf"(?:(?!(?:{_STOPS}|an?|the|no|not)\b)[\w'-]+ )",
    "BAD": (
        "(?:bad|terrible|awful|horrible|good|great|decent|poor|lousy|slow|fast|quick|early|late|heavy|light|big|huge|keen|avid|picky|fussy|bit|little|"
        "lot|total|complete|natural|born|wannabe|aspiring|would-be|former|ex|proud|firm|strong|walking|real|true|fellow|lucky|sore|frequent|regular|"
        "first-time|better|worse|hopeless|mediocre|amateur|hobby|recreational|armchair|future|frustrated|lifelong|casual|couch|night|morning|"
        "people|team|fan|lapsed|secret|closet|living|human|messy|rubbish|clumsy|careful|nervous|visual|control|budding|weekend)"
    ),
    **{name: getattr(english_words, name) for name in (
        "NUMBER", "AGE", "COUNT", "DATE", "KIN", "PET", "THING", "VEHICLE", "TRADE", "TRADE_ENDING", "NO_TRADE", "BUSINESS", "DWELLING", "DIET",
        "ALLERGEN", "LANGUAGE_NAME", "NATION",
    )},
    "JOB": r"(?:(?!<BAD>\b|\d)<ADJ>{0,3}?(?:<TRADE>|<TRADE_ENDING>)(?=\s*(?:[,.;:!?()\n—–]|-\s|$)|\s+(?:<STOPS>|working|living|based|specialising|specializing)\b))",
    "TONGUE": rf"(?:{CAPITALISED}|<LANGUAGE_NAME>)",
    "NOT": "(?:don't|do not|dont|don't|do n't|never|no longer)",
    "CANNOT": "(?:can't|cannot|cant|can not)",
    "FOOD": (
        r"(?:<ALLERGEN>|(?:red |any |all )?meat|pork|beef|lamb|poultry|chicken|seafood|alcohol|sugar|caffeine|coffee|carbs|animal products|"
        r"processed food|fried food|spicy food|mushrooms|onions|garlic|salt|bread|honey|chocolate|cheese)"
    ),
    "VERB": (
        "(?:answer|reply|respond|write|use|give|keep|speak|talk|address|call|start|begin|end|include|add|show|explain|cite|list|format|avoid|suggest|"
        "recommend|mention|send|ask|check|tell|make|put|convert|translate|round|spell|sign|greet|provide|quote|assume|offer|skip|leave|remind|wrap|"
        "sort|summari[sz]e|finish|close|stick|be|do|say|let|refer|limit|capitali[sz]e|indent|comment|test|double-check|apologi[sz]e|present|state|"
        "describe|prefer|display|output|return|name|label|mark|warn|note|link|point|repeat|flatter|lecture|shorten|drop|omit|assign|schedule|book|"
        "order|confirm|verify|consider|treat|sign off|break|split|bold|highlight|number|correct|point out|phrase|word|open|share|draw|pick|choose|"
        "attach|remove|stop|try|read|lead|go|set|measure|calculate|express|default|structure|outline|prioriti[sz]e|focus|guess|joke|swear|curse|"
        "hide|plan|propose|source|save|type|act|need|expect|don't|do not|dont|never|always|please)"
    ),
    "EVER": (
        r"(?:from (?:now|here|this point)(?: on(?:wards?)?)?(?: out)?|from here on(?: out| in)?|going forward|moving forward|in (?:the )?future|henceforth|"
        r"as a (?:general )?rule|by default|at all times|every (?:single )?time|each time|in (?:all|every|each|any) (?:of )?(?:your |our |my |future )?"
        r"(?:answers?|repl(?:y|ies)|responses?|chats?|conversations?|messages?)|for (?:all|every|any) (?:of )?(?:our |your |my |future )?(?:future )?"
        r"(?:chats?|conversations?|answers?|repl(?:y|ies)|responses?|sessions?|questions?)|for (?:the )?future (?:chats|answers|conversations|replies|reference)|"
        r"until (?:further notice|i say otherwise|i tell you otherwise)|across all (?:our )?(?:chats|conversations))"
    ),
    "WHENEVER": (
        r"(?:(?:whenever|every time|each time|any ?time|when(?:ever)?) (?:i|you|we|there|a|an|the|someone|something)\b[^,.;:!?]{3,70},)"
    ),
    "TOWN": r"(?:<PLACE>|(?:an?|the|my own|our own|my|our) <ADJ>{0,3}?<DWELLING>(?: (?:near|in|of|by|on|outside) <PLACE>)?)",
    "WE": r"(?:i|we|my (?:wife|husband|partner|girlfriend|boyfriend|family|kids|fianc[eé]e?) and i)",
}  # fmt: skip

#: In texts without capitals, any word counts as a name where only a name can be.
_NO_NAME = (
    "a|an|the|not|my|your|this|that|it|so|too|very|hard|on|in|at|by|back|later|tomorrow|tonight|today|when|if|maybe|crazy|old-fashioned|lazy|"
    "paranoid|naive|weird|cynical|a cab|asap|again|soon|now|anytime|whatever|what|picky|please|out|up|stupid|silly|biased|only|just|"
    "fear|hope|chaos|hell|denial|peace|bed|constant|pyjamas|pajamas|here|there|tears|one|two|another|different|new|be|do|have|go|i|we|some|all"
)

SMALL_TOKENS: Final = {
    "NAME": "(?!)",
    "GIVEN": rf"(?:(?:<TITLE> )?(?!(?:{_NO_NAME})\b)[^\W\d_][\w'-]+(?: (?!(?:{_STOPS}|{_NO_NAME})\b)[^\W\d_][\w'-]+)?)",
    "PLACE": rf"(?:(?!(?:{_NO_NAME})\b)[^\W\d_][\w'-]+(?: (?!(?:{_STOPS}|{_NO_NAME})\b)[^\W\d_][\w'-]+)?(?=\s*(?:[,.;:!?()\n]|$)|\s+(?:{_STOPS})\b))",
    "ORG": r"(?!)",
    "TONGUE": "<LANGUAGE_NAME>",
}

_SURELY = (
    "(?:also|really|very|actually|just|only|currently|now|still|quite|pretty|severely|highly|badly|deathly|terribly|seriously|mildly|slightly|"
    "basically|originally|strictly|mostly|already|proudly|happily|both|all|technically|too|rather|extremely|dangerously|horribly|actually|"
    "a (?:little )?bit|so|new here and)"
)

OFTEN = (
    "(?:really|truly|also|just|absolutely|actually|currently|now|still|usually|mostly|especially|particularly|generally|normally|personally|do|"
    "honestly|always|simply|only|very much|quite|rather|happen to|kind of|sort of|secretly|definitely|both|myself|genuinely|deeply|dearly|strongly|"
    "positively|already|mainly|recently|thoroughly)"
)

SUBJECTS: Final = {
    "": "",
    "be": rf"(?:i'?m|i am|i(?:'ve|ve| have) been)(?: {_SURELY}){{0,2}} ",
    "do": rf"(?:i|we)(?: {OFTEN}){{0,2}} ",
    "have": r"(?:<WE>(?:'ve| have|ve)(?: also)?(?: got)?(?: also)?|i got|we got|there's me with) ",
    "havea": r"(?:<WE>(?:'ve| have|ve)(?: also)?(?: got)? an? |own an? )",
}

ORDER: Final = r"(?:(?<![\s\S])|(?<=: )|(?<=please )|(?<=pls )|(?<=Please )|(?<=, and ))"
