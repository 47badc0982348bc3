"""The rules for German: fewer than for English, in one file."""

from __future__ import annotations

import re
from typing import Final

from memoranda.formation.rules.grammar import CAPITALISED, COVERED, NEVER, Language, Reach, Rule

_LIST, _CLAUSE = Reach.LIST, Reach.CLAUSE
_STOPS = (
    "und|aber|oder|weil|da|denn|also|doch|der|die|das|den|dem|mit|ohne|in|im|bei|für|von|seit|wie|was|wo|wer|wenn|dass|als|auf|an|zu|ist|sind|habe|hab|bitte|"
    "jetzt|gerade|übrigens|kannst|könntest|brauche|suche|ich|wir|du|sie|es|er|sehr|gern|gerne|arbeite|wohne|bin|heiße|mag|liebe|esse|trinke|komme|lebe|spreche"
)
_MONTH = r"(?:Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)"
_WORDS: Final = {
    "END": rf"(?=\s*(?:[,.;:!?()\n—–]|-\s|$)|\s+(?:{_STOPS})\b)",
    "NAME": rf"(?:(?:(?:Herr|Frau|Dr\.|Prof\.) )?{CAPITALISED}(?: (?:(?:von|van|zu|de) )?{CAPITALISED}){{0,2}}|{COVERED})",
    "PLACE": rf"(?:(?:der |den )?{CAPITALISED}(?:(?: (?:am|an der|ob der|im|bei|in der) | ){CAPITALISED}){{0,2}})",
    "NOUN": rf"(?:(?!(?:{_STOPS})\b)[\w-]+(?: (?!(?:{_STOPS})\b)[\w-]+){{0,3}})",
    "DATE": rf"(?:\d{{1,2}}\. ?(?:{_MONTH}|\d{{1,2}}\.)(?: ?(?:19|20)\d\d)?)",
    "DIET": r"(?:vegan|vegetarisch|koscher|halal|glutenfrei|laktosefrei|zuckerfrei|pescetarisch|low[- ]carb|ketogen)",
    "EATER": r"(?:Veganer(?:in)?|Vegetarier(?:in)?|Pescetarier(?:in)?|vegan|vegetarisch|Flexitarier(?:in)?)",
    "KIN": r"(?:Frau|Mann|Tochter|Sohn|Schwester|Bruder|Mutter|Vater|Mama|Papa|Oma|Opa|Partner(?:in)?|Freundin|Freund|Enkel(?:in)?|Tante|Onkel|Nichte|Neffe|Cousine|Cousin)",
    "KINS": r"(?:Kind(?:er)?|Töchter|Söhne|Schwestern|Brüder|Geschwister|Enkel(?:kinder)?|Tochter|Sohn|Schwester|Bruder|Zwillinge)",
    "PET": r"(?:Hund(?:e)?|Hündin|Katze(?:n)?|Kater|Hamster|Kaninchen|Meerschweinchen|Wellensittich(?:e)?|Papagei|Schildkröte(?:n)?|Pferd(?:e)?|Hühner|Goldfisch(?:e)?)",
    "COUNT": r"(?:eine[nmrs]?|ein|zwei|drei|vier|fünf|sechs|\d{1,2})",
    "TONGUE": r"(?:Deutsch|Englisch|Französisch|Spanisch|Italienisch|Portugiesisch|Niederländisch|Schwedisch|Norwegisch|Dänisch|Finnisch|Polnisch|Tschechisch|Ungarisch|Rumänisch|"
    r"Türkisch|Russisch|Ukrainisch|Griechisch|Arabisch|Hebräisch|Persisch|Hindi|Chinesisch|Japanisch|Koreanisch|Latein|Esperanto|Gebärdensprache)",
    "AGE": r"(?:[89]|[1-9]\d|10\d|11\d)",
    "SEHR": r"(?:(?:sehr|auch|eigentlich|leider|selbst|schon|jetzt|inzwischen|übrigens|stark|seit \w+(?: Jahren)?) ){0,2}",
}  # fmt: skip
_SMALL_WORDS: Final = {
    "NAME": rf"(?:(?!(?:{_STOPS}|nicht|kein|egal|hier|nur|mal|später|morgen)\b)[^\W\d_][\w-]+)",
    "PLACE": rf"(?:(?!(?:{_STOPS}|nicht|einer|einem|der|den)\b)[^\W\d_][\w-]+)",
}

_RULES: Final = (
    Rule("remember", r"(?:bitte )?(?:merk(?:e)? dir|vergiss nicht|denk(?:e)? (?:bitte )?daran|behalte(?: im Kopf)?|notier(?:e)?(?: dir)?)(?: bitte)?(?:,|:)? (?:dass |: )?(?P<value>\w[^?!]{4,300})", "{value}", reach=_CLAUSE, asked=True),
    Rule("instruction", r"(?:bitte )?(?:ab (?:jetzt|sofort|heute)|von (?:nun|jetzt) an|in Zukunft|künftig|zukünftig)(?: bitte)?,? (?P<value>\w[^.!?]{4,160})", "{value}", reach=_CLAUSE, asked=True),
    Rule("instruction", r"(?:bitte )?(?P<value>(?:antworte|schreib(?:e)?|verwende|benutze|nutze|gib|nenne|erkläre|rechne|sprich|fass(?:e)?|duze|sieze|erwähne|empfiehl)\b(?: mir| mich)?(?: bitte)? (?:immer|stets|nie|niemals|grundsätzlich)\b[^.!?]{2,160})", "{value}", reach=_CLAUSE, asked=True),
    Rule("nickname", r"(?:(?:du kannst|ihr könnt) mich (?P<value><NAME>) nennen)\b", "Möchte {value} genannt werden"),
    Rule("nickname", r"(?:bitte )?nenn(?:e|t)? mich(?: bitte| einfach| nur)* (?P<value><NAME>)<END>", "Möchte {value} genannt werden"),
    Rule("nickname", r"(?:alle|meine Freunde|Freunde) nennen mich (?P<value><NAME>)<END>", "Möchte {value} genannt werden"),
    Rule("name", r"(?:ich heiße|ich heisse|mein (?:voller )?Name ist) (?P<value><NAME>)<END>", "Heißt {value}"),
    Rule("age", r"<SEHR>(?P<value><AGE>)(?: Jahre(?: alt| jung)?)?(?=\s*(?:[,.;!?]|$)|\s+(?:und|aber|alt)\b)", "Ist {value} Jahre alt", "bin"),
    Rule("birthday", r"(?:ich habe|mein Geburtstag ist|ich bin|ich wurde|Geburtstag habe ich) am (?P<value><DATE>)(?: (?:Geburtstag|geboren))?", "Hat am {value} Geburtstag"),
    Rule("moved", r"(?:ich bin|wir sind)(?: \w+){0,3}? nach (?P<value><PLACE>) (?:gezogen|umgezogen)", "Wohnt in {value}"),
    Rule("home", r"(?:(?:ich|wir) (?:wohnen?|lebe?n?)|wohne|lebe|wohnen wir|leben wir|wohne ich|lebe ich)(?: (?:jetzt|seit \w+(?: Jahren)?|derzeit|zurzeit|hier|auch|ich|wir))* (?P<phrase>(?:in|bei|nahe) (?P<value><PLACE>))<END>", "Wohnt {phrase}"),
    Rule("origin", r"(?:ich komme|komme)(?: (?:ursprünglich|eigentlich))? aus (?P<value><PLACE>)<END>", "Kommt aus {value}"),
    Rule("work", r"(?:ich arbeite|arbeite)(?: (?:jetzt|seit \w+(?: Jahren)?|derzeit))* als (?:eine? )?(?P<value><NOUN>)", "Arbeitet als {value}"),
    Rule("work", r"(?:ich arbeite|arbeite)(?: (?:jetzt|seit \w+(?: Jahren)?|derzeit))* (?P<phrase>bei (?:der |dem )?(?P<value><PLACE>))<END>", "Arbeitet {phrase}"),
    Rule("work", r"(?:von Beruf |gelernte[rn]? )(?P<value><NOUN>)", "Ist von Beruf {value}", "bin"),
    Rule("work", r"<SEHR>(?P<value>(?-i:[A-ZÄÖÜ])\w{2,20}(?:lehrer|lehrerin|arzt|ärztin|ingenieur|ingenieurin|meister|meisterin|pfleger|pflegerin|händler|händlerin|entwickler|entwicklerin|fahrer|fahrerin|berater|beraterin)|(?:Lehrer|Ärzt|Bäcker|Maler|Gärtner|Tischler|Schreiner|"
         r"Übersetzer|Programmierer|Verkäufer|Apotheker|Köch|Student|Rentner|Friseur|Elektriker|Imker|Journalist|Architekt|Musiker)(?:in)?|Arzt|Koch|Anwalt|Anwältin|Hebamme|Krankenschwester)<END>", "Ist {value}", "bin"),
    Rule("diet", r"<SEHR>(?P<value><EATER>)<END>", "Lebt {value}", "bin"),
    Rule("diet", r"(?:ich|wir) (?:esse|essen|lebe|leben|ernähre mich|ernähren uns)(?: (?:nur|rein|streng|ausschließlich))* (?P<value><DIET>)<END>", "Isst {value}"),
    Rule("diet", r"(?:ich|wir) (?:esse|essen|trinke|trinken) keine?n? (?P<value>\w)", "Ohne {value}", "", _LIST),
    Rule("allergies", r"<SEHR>allergisch (?:gegen|auf) (?P<value>\w)", "Ist allergisch gegen {value}", "bin", _LIST),
    Rule("allergies", r"(?:ich habe|habe) eine (?:\w+ )?Allergie gegen (?P<value>\w)", "Ist allergisch gegen {value}", "", _LIST),
    Rule("allergies", r"(?:ich habe|habe) eine (?P<value>\w+)(?:-A|a)llergie\b", "Hat eine Allergie: {value}"),
    Rule("allergies", r"(?:ich vertrage|vertrage) keine?n? (?P<value>\w)", "Verträgt nicht: {value}", "", _LIST),
    Rule("family", r"meine? (?P<value>(?P<kin><KIN>) (?:heißt|heisst) (?P<who><NAME>))<END>", "{kin}: {who}"),
    Rule("family", r"(?:ich habe|wir haben|habe) (?P<phrase>(?P<value><COUNT> (?:\w+ )?<KINS>))<END>", "Hat {phrase}"),
    Rule("family", r"(?P<value>verheiratet|geschieden|verwitwet|ledig|verlobt)<END>", "Ist {value}", "bin"),
    Rule("pet", r"(?:meine?|unser(?:e)?) (?P<value>(?P<kin><PET>) (?:heißt|heisst) (?P<who><NAME>))<END>", "{kin}: {who}"),
    Rule("pet", r"(?:ich habe|wir haben|habe) (?P<phrase>(?P<value><COUNT> (?:\w+ )?<PET>(?: namens <NAME>)?))<END>", "Hat {phrase}"),
    Rule("language", r"(?:ich spreche|spreche)(?: (?:fließend|auch|gut|etwas))* (?P<value><TONGUE>)", "Spricht {value}", "", _LIST),
    Rule("language", r"meine Muttersprache ist (?P<value><TONGUE>)", "Spricht {value}"),
    Rule("dislikes", r"(?:ich (?:hasse|verabscheue)|hasse) (?P<value>\w)", "Mag nicht: {value}", "", _LIST),
    Rule("dislikes", r"(?:ich mag|wir mögen) (?:gar |überhaupt )?keine?n? (?P<value>\w)", "Mag nicht: {value}", "", _LIST),
    Rule("likes", r"(?:ich (?:mag|liebe|bevorzuge)|wir (?:mögen|lieben)|mag|liebe)(?: (?:auch|sehr|besonders|am liebsten))* (?P<value>\w)", "Mag {value}", "", _LIST),
    Rule("likes", r"(?:ein |eine )?(?:großer|große|riesiger|begeisterter) (?:Fan|Freund|Freundin) (?:von|der|des) (?P<value>\w)", "Mag {value}", "bin", _LIST),
    Rule("likes", r"meine? Lieblings(?P<what>\w+) ist (?P<value><NOUN>)", "Lieblings{what}: {value}", key="lieblings{what}"),
)  # fmt: skip

GERMAN: Final = Language(
    code="de",
    points_back=NEVER,
    hint=re.compile(r"\b(?:ich|mein(?:e[rnms]?)?|mich|mir|wir|unser|merk|vergiss|künftig|ab jetzt|immer|nie|denk)\b", re.IGNORECASE),
    rules=_RULES,
    words=_WORDS,
    small_words=_SMALL_WORDS,
    subjects={"": "", "bin": r"(?:ich bin|bin ich|bin) "},
    shared=frozenset({"bin"}),
    oneself="bin",
    carried="-",
    others=NEVER,
    boundary=re.compile(r"[,;:!?—–()](?: |$)| - |(?<=\s)(?:und|aber|denn|doch|also|sondern|außerdem) ", re.IGNORECASE),
    leads=re.compile(r"(?:(?:hallo|hi|hey|guten (?:morgen|tag|abend)|moin|servus|ja|nein|danke|also|übrigens|ehrlich gesagt|na ja|tja|bitte|und|aber|zur info|fyi|seit \w+ jahren|seit (?:19|20)\d\d|letzt\w+ \w+|vor \w+ \w+)[,.!:]*\s+){1,3}", re.IGNORECASE),
    unreal=re.compile(r"\b(?:wenn|falls|angenommen|stell dir vor|sagen wir|würde|wäre|hätte|möchte|will|wünschte|vielleicht|früher|als kind|damals|sagte|sagt|schrieb|übersetze|eines tages|ob|weder)\b", re.IGNORECASE),
    frame=re.compile(r"\b(?:stell dir vor|angenommen|tu so|nehmen wir an|übersetz\w*|schreib(?:e)? (?:mir )?(?:eine?n? )?(?:\w+ ){0,2}?(?:geschichte|gedicht|lied|monolog|szene|dialog)|rollenspiel|spielen wir)\b", re.IGNORECASE),
    made_up=re.compile(r"\b(?:rollenspiel|in meinem (?:roman|buch|stück)|du bist (?:ein|eine|der|die|mein|meine) [\w ]{2,40} und ich bin)\b", re.IGNORECASE),
    ironic=re.compile(r"^\W*(?:na klar|ja klar|ach ja|toll,|super,|großartig,|natürlich|klar,|wunderbar,|herrlich,|weil ich ja)|\bwer nicht\b|\bja total\b", re.IGNORECASE),
    ironic_text=re.compile(r"(?:^|\s)/s\b|\U0001f644|\b(?:ironie off|nur spaß|war nur ein witz)\b|(?:[.!?] )nicht\.", re.IGNORECASE),
    speech=re.compile(r"\b(?:schreib\w*|übersetz\w*|sag\w*|steht|lautet|lies|frag\w*|antwort\w*|erklär\w*|korrigier\w*|satz|text|brief|zeile|geschichte|gedicht|figur|rolle|mail|nachricht|beispiel|englisch\w*|französisch\w*|zitat|titel|schild)\b", re.IGNORECASE),
    goes_on=re.compile(r"[,;:—–]|\s-\s|\b(?:und|aber|also)\b", re.IGNORECASE),
    explains=re.compile(r"\b(?:weil|da|denn)\s*$", re.IGNORECASE),
    tag=re.compile(r",? (?:oder|stimmt's|richtig|nicht wahr|nicht|gell|ne)\W*$", re.IGNORECASE),
    unless={
        "instruction": re.compile(r"\b(?:diese[nmrs]?|diesmal|heute|nur einmal|nächste[nmrs]?|jetzt mal)\b(?! an\b)", re.IGNORECASE),
        "nickname": re.compile(r"\b(?:diese[nmrs]?|heute|nur einmal|nicht)\b", re.IGNORECASE),
    },
    refused={
        "": re.compile(r"(?:es|das|dies\w*|dich|sie|ihn|ihm|mich|nichts|alles|etwas|jemand\w*|wie|wenn|was|dass|ihr|euch|dein\w*|nicht|kein\w*)\b|\W*$", re.IGNORECASE),
        "allergies": re.compile(r"(?:montage?|arbeit|dummheit|schlechte\w*|lärm|menschen|besprechungen|stress)\b", re.IGNORECASE),
        "moved": re.compile(r"(?:hause|mars)\b", re.IGNORECASE),
    },
    phrase_end=re.compile(rf"\s+(?:(?:{_STOPS}|sondern|besonders|am liebsten|nicht|gar|überhaupt|vor allem|abends|morgens)\b|-\s)", re.IGNORECASE),
    listing=re.compile(r"\s*(?:,\s*(?:und|oder)\s+|\s(?:und|oder|sowie)\s+(?:auch\s+)?|,\s*)", re.IGNORECASE),
    no_item=re.compile(rf"(?:{_STOPS}|mein\w*|dein\w*|hat|haben|kann|können|will|möchte|suchen?|was|welche\w*|warum|danke|nicht|hasse|mein)\b", re.IGNORECASE),
    pairs=NEVER,
    before={"": re.compile(r"(?:dass|auch|sehr|gern|gerne)\s+(?=\w)", re.IGNORECASE), "pet": re.compile(r"eine?n?\s+", re.IGNORECASE), "family": re.compile(r"eine?n?\s+", re.IGNORECASE)},
    after={"": re.compile(r"(?:[,\s]+(?:bitte|danke|sehr|gern|gerne|ja|okay|ok))+\W*$", re.IGNORECASE)},
    own_words=re.compile(r"\b(?:ich|mein\w*|mir|mich|wir|uns|unser\w*|du|dein\w*)\b", re.IGNORECASE),
    asked_to_keep="Soll gemerkt werden: {value}",
    times=re.compile(r",? (?:(?P<since>seit [\w ]{2,30}?)|(?P<until>bis [\w ]{2,30}?)|(?P<applies>(?:bei der Arbeit|am Wochenende|zu Hause|wenn [\w ]{2,40}?)))(?=\s*[,.;!?]|$)", re.IGNORECASE),
    abbreviations=frozenset("#. dr prof z.b d.h usw bzw ca nr str hr fr st".split()),
)  # fmt: skip
