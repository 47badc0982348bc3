"""The rules for German: fewer than for English, in one file."""

from __future__ import annotations

import re
from typing import Final

from memoranda.formation.rules.endings.german_endings import GERMAN_FRAMES, TAKING_BACK
from memoranda.formation.rules.grammar import (
    CAPITALISED,
    COVERED,
    EMOJI,
    NEVER,
    Language,
    Reach,
    Rule,
)
from memoranda.formation.rules.makes import VEHICLE_NAME

_LIST, _CLAUSE, _PHRASE = Reach.LIST, Reach.CLAUSE, Reach.PHRASE
_STOPS = (
    "und|aber|oder|weil|da|denn|also|doch|der|die|das|den|dem|mit|ohne|in|im|bei|für|von|seit|wie|was|wo|wer|wenn|dass|als|auf|an|zu|ist|sind|habe|hab|bitte|"
    "jetzt|gerade|übrigens|kannst|könntest|brauche|suche|ich|wir|du|sie|es|er|sehr|gern|gerne|arbeite|wohne|bin|heiße|mag|liebe|esse|trinke|komme|lebe|spreche"
)
_KIN_ONE = (
    "Frau|Mann|Ehefrau|Ehemann|Tochter|Sohn|Schwester|Bruder|Mutter|Vater|Mama|Mami|Papa|Papi|Oma|Opa|Großmutter|Großvater|Partner(?:in)?|Lebensgefährt(?:e|in)|Freundin|Freund|Verlobte[rn]?|Enkel(?:in)?|Enkelsohn|Enkeltochter|"
    "Tante|Onkel|Nichte|Neffen?|Cousine|Cousin|Schwägerin|Schwager|Schwiegermutter|Schwiegervater|Schwiegersohn|Schwiegertochter|Stiefsohn|Stieftochter|Stiefvater|Stiefmutter|Patenkind|Baby|Kleine[rn]?|Zwillingsbruder|Zwillingsschwester|Halbbruder|Halbschwester"
)
_PET_ONE = (
    "Hund|Hündin|Welpe|Katze|Kater|Kätzchen|Hamster|Kaninchen|Hase|Meerschweinchen|Wellensittich|Kanarienvogel|Papagei|Nymphensittich|Schildkröte|Landschildkröte|Pferd|Pony|Stute|Wallach|Esel|Huhn|Henne|Hahn|Ziege|Schaf|Goldfisch|"
    "Dackel|Labrador|Schäferhund|Pudel|Beagle|Mops|Terrier|Retriever|Golden Retriever|Husky|Collie|Mischling|Boxer|Spitz|Dogge|Windhund|Ratte|Maus|Frettchen|Gecko|Bartagame|Schlange|Kornnatter|Leguan|Chinchilla|Degu|Igel|Ente|Gans|Kuh|Schwein|Minischwein|Alpaka|Axolotl|Vogel"
)
_ILL = (
    r"(?:Asthma|Epilepsie|Diabetes(?: Typ (?:1|2|eins|zwei))?|Zöliakie|Arthritis|Arthrose|Rheuma|Multiple Sklerose|MS|Migräne|Depressionen?|Angststörung(?:en)?|Bluthochdruck|Hypertonie|(?:eine )?Schilddrüsenunterfunktion|Hashimoto|Skoliose|Endometriose|Fibromyalgie|Schuppenflechte|Psoriasis|"
    r"Neurodermitis|Gicht|Tinnitus|Parkinson|(?:\w+)?[Kk]rebs|Leukämie|Lupus|Legasthenie|Dyskalkulie|Autismus|ADHS|ADS|Zwangsstörung|Schlafstörungen|Schlafapnoe|Anämie|Blutarmut|Hämophilie|Osteoporose|Schwindel|Glaukom|Grauer Star|Reflux|Reizdarm(?:syndrom)?|RDS|Morbus Crohn|Crohn|Colitis(?: ulcerosa)?|"
    r"Herzschwäche|Herzinsuffizienz|(?:einen )?Herzfehler|Herzprobleme|Herzrhythmusstörungen|(?:einen )?Bandscheibenvorfall|COPD|Mukoviszidose|Long Covid|PCOS|Lipödem|Hörverlust|Schwerhörigkeit|(?:eine )?Hörminderung|(?:eine )?(?:Geh|Seh|Hör|Lern)?behinderung|Rot-Grün-Schwäche|Farbenblindheit|"
    r"Rückenprobleme|chronische Schmerzen|HIV|Hepatitis(?: \w)?|Niereninsuffizienz|\w{4,}(?:itis|ose|ämie|algie|pathie|plegie|insuffizienz|erkrankung|krankheit))"
)
_MONTH = (
    r"(?:Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)"
)
_WORDS: Final = {
    "END": rf"(?=\s*(?:[,.;:!?()\n—–{EMOJI}]|-\s|$)|\s+(?:{_STOPS})\b)",
    "NAME": rf"(?:(?:(?:Herr|Frau|Dr\.|Prof\.) )?{CAPITALISED}(?: (?:(?:von|van|zu|de) )?{CAPITALISED}){{0,2}}|{COVERED})",
    "PLACE": rf"(?:(?:der |den )?{CAPITALISED}(?:(?: (?:am|an der|ob der|im|bei|in der) | ){CAPITALISED}){{0,2}})",
    "NOUN": rf"(?:(?!(?:{_STOPS})\b)[\w-]+(?: (?!(?:{_STOPS})\b)[\w-]+){{0,3}})",
    "DATE": rf"(?:\d{{1,2}}\. ?(?:{_MONTH}|\d{{1,2}}\.)(?: ?(?:19|20)\d\d)?)",
    "DIET": r"(?:vegan|vegetarisch|koscher|halal|glutenfrei|laktosefrei|zuckerfrei|pescetarisch|low[- ]carb|ketogen)",
    "EATER": r"(?:Veganer(?:in)?|Vegetarier(?:in)?|Pescetarier(?:in)?|vegan|vegetarisch|Flexitarier(?:in)?)",
    "KIN": rf"(?:{_KIN_ONE})",
    "KINS": r"(?:Kind(?:er)?|Töchter|Söhne|Schwestern|Brüder|Geschwister|Enkel(?:kinder)?|Tochter|Sohn|Schwester|Bruder|Zwillinge|Drillinge|Jungs|Mädchen|Jungen|Teenager|Nichten|Neffen)",
    "PETS": rf"(?:(?:{_PET_ONE})(?:e?n|e|s|er)?|Hühner|Mäuse|Kühe|Vögel|Gänse)",
    "PET": rf"(?:{_PET_ONE})",
    "MAKE": VEHICLE_NAME,
    "ILL": _ILL,
    "MEIN": r"(?:(?:mein|unser)(?:e[nmrs]?)?)",
    "GIVEN": rf"(?:{CAPITALISED}|{COVERED})",
    "JOB": (
        r"(?:(?!(?:Vegan|Vegetari|Pescetari|Flexitari|Anfäng|Rauch|Nichtrauch|Deutsch|Schweiz|Österreich|Italien|Spani|Holländ|Engländ|Amerikan|Linkshänd|Rechtshänd|Allergik|Diabetik|Asthmatik|Epileptik|Bluter|Rollstuhlfahr|Schwäb|Berliner|Hamburger|Münchner|Kölner|Wiener|Frankfurter|Leipziger|"
        r"Frühaufsteh|Läuf|Wander|Radfahr|Hörer|Brillenträg|Hörgeräteträg|Besitz|Mieter|Vermiet|Nutzer|Liebhab|Leser|Jogger|Mutter|Vater|Bruder|Schwester\b|Tochter|Kinder|Einwohn|Bewohn|Single|Optimist|Pessimist|Realist|Perfektionist|Moment|Sieger|Gewinn|Verlier|Spieler|Gamer|Hundebesitz|Katzenbesitz|"
        r"Träger|Morgenmuffel|Weltmeister|Kenner|Zwilling|Teenager|Senior|Alter|Ander|Immer|Über|Unter|Hinter|Wieder|Leider|Legastheni|Patient|Eltern|Migräne)\w*)(?-i:[A-ZÄÖÜ])"
        r"[\w-]{1,24}(?:er|erin|ist|istin|ent|entin|ant|antin|eur|eurin|or|orin|loge|login|graf|grafin|arzt|ärztin|mann|frau|kraft|wirt|wirtin|anwalt|anwältin|schwester|hilfe|bäuerin|bauer|koch|köchin|bote|botin|wart|leitung|chef|chefin|beamtin|assistenz)(?![\w-])"
        r"|(?-i:Arzt|Ärztin|Koch|Köchin|Anwalt|Anwältin|Hebamme|Bauer|Azubi|Pilot(?:in)?|Chirurg(?:in)?|Beamter|Beamtin|Hausfrau|Hausmann|Freelancer|Wirt(?:in)?|Soldat(?:in)?|Steward|Stewardess|MTA|PTA|MFA|Coach|Model|Mönch|Nonne|Diakon|Notar(?:in)?|Angestellte[r]?|Selbstständige?r?)(?![\w-]))"
    ),
    "TAIL": r"(?:(?: (?-i:Einkauf|Vertrieb|Marketing|Verkauf|Logistik|Personal|Controlling|Produktion|IT|Finanzen))?(?: (?:für|bei|an|in|im|am|auf|beim|der|des)(?: (?:der|dem|den|einer|einem|eine|das|die))? (?-i:[A-ZÄÖÜ])[\w&-]*(?:(?: und)? (?-i:[A-ZÄÖÜ&])[\w&-]*){0,3}){0,2})",
    "COUNT": r"(?:eine[nmrs]?|ein|zwei|drei|vier|fünf|sechs|\d{1,2})",
    "TONGUE": r"(?:Deutsch|Englisch|Französisch|Spanisch|Italienisch|Portugiesisch|Niederländisch|Schwedisch|Norwegisch|Dänisch|Finnisch|Polnisch|Tschechisch|Ungarisch|Rumänisch|"
    r"Türkisch|Kurdisch|Zulu|Bairisch|Hochdeutsch|Schwäbisch|Plattdeutsch|Platt|Schweizerdeutsch|Österreichisch|Sächsisch|Kölsch|Serbisch|Kroatisch|Bosnisch|Albanisch|Bulgarisch|Slowakisch|Slowenisch|Litauisch|Lettisch|Estnisch|Farsi|Paschtu|Dari|Urdu|Swahili|Vietnamesisch|Thailändisch|Thai|Mandarin|Katalanisch|Baskisch|Isländisch|Irisch|Tigrinya|Amharisch|Somali|Wolof|DGS|Deutsche Gebärdensprache|Jiddisch|Sorbisch|Friesisch|Russisch|Ukrainisch|Griechisch|Arabisch|Hebräisch|Persisch|Hindi|Chinesisch|Japanisch|Koreanisch|Latein|Esperanto|Gebärdensprache)",
    "AGE": r"(?:[89]|[1-9]\d|10\d|11\d)",
    "SEHR": r"(?:(?:sehr|auch|eigentlich|leider|selbst|schon|jetzt|inzwischen|übrigens|stark|seit \w+(?: \w+)?) ){0,2}",
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
    Rule("instruction", r"(?:bitte )(?P<value>(?:antworte|antworten Sie|schreib(?:e)?|sprich|red(?:e)?)(?: mir| mit mir)?(?: bitte)? (?:auf|in) (?:einfachem |britischem )?<TONGUE>)(?=\s*[.!]?\s*$)", "{value}"),
    Rule("possession", r"(?:unsere?|meine?) (?P<who>Team|Unternehmen|Betrieb|Projekt|Backend|Frontend|Firma) (?P<verb>benutzt|nutzt|verwendet|setzt auf|läuft (?:auf|mit)) (?P<value>(?-i:[A-ZÄÖÜ])[\w.+#-]*)", "{who} {verb} {value}"),
    Rule("possession", r"(?:ich habe|wir haben|ich hab)(?: (?:gerade|eben|vor kurzem|kürzlich|jetzt|uns|mir|endlich))* (?P<value>eine? (?:\w+ )?(?:Haus|Wohnung|Eigentumswohnung|Hof|Grundstück|Reihenhaus) (?:in|bei) <PLACE>) (?:gekauft|gebaut|geerbt)", "Hat {value}"),
    Rule("likes", r"(?:ich|wir) (?:trinke|esse|nehme|hätte|mag|nutze|trinken|essen|nehmen|mögen) (?:immer |viel )?lieber (?P<value>[^.,;:!?]{2,40}?)(?= als\b)", "Mag lieber {value}"),
    Rule("name", r"(?:ich heiße|ich heisse|mein (?:voller )?Name ist) (?P<value><NAME>)<END>", "Heißt {value}"),
    Rule("age", r"<SEHR>(?P<value><AGE>)(?: Jahre(?: alt| jung)?)?(?=\s*(?:[,.;!?]|$)|\s+(?:und|aber|alt)\b)", "Ist {value} Jahre alt", "bin"),
    Rule("birthday", r"(?:ich habe|mein Geburtstag ist|ich bin|ich wurde|Geburtstag habe ich) (?:am|der) (?P<value><DATE>)(?: (?:Geburtstag|geboren))?", "Hat am {value} Geburtstag"),
    Rule("moved", r"(?:ich bin|wir sind)(?: \w+){0,3}? nach (?P<value><PLACE>) (?:gezogen|umgezogen)", "Wohnt in {value}"),
    Rule("home", r"(?:(?:ich|wir) (?:wohnen?|lebe?n?)|wohne|lebe|wohnen wir|leben wir|wohne ich|lebe ich)(?: (?:jetzt|seit \w+(?: Jahren)?|derzeit|zurzeit|hier|auch|ich|wir|mit (?:mein|unser)\w* \w+(?: (?-i:[A-ZÄÖÜ])\w+)?))* (?P<phrase>(?:in|bei|nahe) (?P<value><PLACE>))<END>", "Wohnt {phrase}"),
    Rule("origin", r"(?:ich komme|komme)(?: (?:ursprünglich|eigentlich))? aus (?P<value><PLACE>)<END>", "Kommt aus {value}"),
    Rule("work", r"(?:ich arbeite|arbeite)(?: (?:jetzt|seit \w+(?: Jahren)?|derzeit))* als (?:eine? )?(?P<value><NOUN>)", "Arbeitet als {value}"),
    Rule("work", r"(?:ich arbeite|arbeite)(?: (?:jetzt|seit \w+(?: Jahren)?|derzeit))* (?P<phrase>bei (?:der |dem )?(?P<value><PLACE>))<END>", "Arbeitet {phrase}"),
    Rule("work", r"(?:von Beruf |gelernte[rn]? )(?P<value><NOUN>)", "Ist von Beruf {value}", "bin"),
    Rule("diet", r"<SEHR>(?P<value><EATER>)<END>", "Ist {value}", "bin"),
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
    Rule("remember", r"(?:bitte )?vergiss (?:bitte )?nicht(?: bitte)?,? (?:dass |: )(?P<value>\w[^?!]{4,300})", "{value}", reach=_CLAUSE, asked=True),
    Rule("instruction", r"(?:bitte )?(?P<value>(?:keine?n?|nie wieder|nie mehr) [^.,!?]{2,60}? (?:mehr )?(?:vorschlagen|verwenden|benutzen|empfehlen|schreiben|nennen|schicken|nutzen|erwähnen|machen))<END>", "{value}", asked=True),
    Rule("instruction", r"(?:bitte )?(?P<value>(?:antworte|schreib(?:e)?|verwende|benutze|nutze|gib|erkläre|rechne|sprich|fass(?:e)?|nimm|nenn(?:e)?)\b(?: mir| mich| mit mir)?(?: bitte)?[^.,!?]{2,80}? (?:immer|stets|grundsätzlich|in Zukunft|künftig|ab jetzt|in allen (?:deinen )?Antworten))(?=\s*[,.!?]|$)", "{value}", asked=True),
    Rule("instruction", r"(?:bitte )?(?P<value>(?:duz|duze|siez|sieze) mich|bleib(?:en wir)? (?:bitte )?beim (?:Du|Sie)|zurück (?:zu|auf|ins?) (?:Deutsch|Englisch|Französisch|Spanisch)|(?:ab jetzt )?wieder (?:auf )?(?:Deutsch|Englisch|Französisch|Spanisch))<END>", "{value}", asked=True),
    Rule("name", r"(?:ich bin|hier ist|hier spricht|hier schreibt) (?:der|die) (?P<value><GIVEN>)(?=\s*(?:[,.!;]|$)|\s+(?:und|aus|von|hier|mal|wieder)\b)", "Heißt {value}"),
    Rule("name", r"(?:ich bin(?:'s|s)?,?|hier ist|hier spricht|hier schreibt) (?P<value>(?!(?:\w+(?:er|erin|ist|istin|ent|entin|ant|antin|eur|or|mann|frau|ung|heit|keit|kraft|pfleger|arzt)|Arzt|Koch|Single|Mama|Papa|Mutter|Vater|Fan|Azubi|Opa|Oma|Anfang|Hebamme|Waage|Löwe|Stier|Jungfrau|Krebs|Diabetikerin|Autist|Jude|Christ|Moslem|Muslima?|Atheist|Profi|Laie|Neuling|Linkshänderin|Teil|Ende|Mitte|Zwilling|Witwe|Witwer|Batman|Gott)\b)<GIVEN>|(?:Peter|Alexander|Walter|Günter|Günther|Dieter|Oliver|Rainer|Reiner|Werner|Christopher|Jennifer|Jasper|Ester|Esther|Amber|Asher|Christian|Vincent|Laurent|Constant|Florent|Quint|Igor|Viktor|Victor|Hector|Theodor|Gregor|Eleonor|Hermann|Herrmann))(?=\s*(?:[,.!;]|$)|\s+(?:und|aus|von|hier|mal|wieder)\b)", "Heißt {value}"),
    Rule("name", r"(?P<value><GIVEN>) (?:hier|mein Name|am Apparat)(?=\s*(?:[,.!;]|$))", "Heißt {value}"),
    Rule("nickname", r"(?:alle|meine Freunde|Freunde|die meisten|meine Leute|zu Hause)(?: hier)? (?:sagen|rufen)(?: alle)? (?:zu mir |mich )?(?P<value><NAME>)<END>", "Möchte {value} genannt werden"),
    Rule("nickname", r"mein (?:Spitzname|Rufname) ist (?P<value><NAME>)<END>", "Möchte {value} genannt werden"),
    Rule("age", r"(?:ich (?:bin|werde)|bin) (?:(?:gerade|vor kurzem|gestern|heute|neulich|letzte Woche|letzten \w+|diesen \w+|am \w+|im \w+) )*(?P<value><AGE>) geworden", "Ist {value} Jahre alt"),
    Rule("age", r"mit (?:meinen )?(?P<value><AGE>)(?: Jahren)? (?:bin|habe|kann|will|lerne|fange|muss) ich\b", "Ist {value} Jahre alt"),
    Rule("moved", r"(?:ich bin|wir sind|bin|sind)(?: [\wäöü]+){0,4}? (?:nach|in die|ins) (?P<value><PLACE>) (?:gezogen|umgezogen|gezügelt|übergesiedelt)", "Wohnt in {value}"),
    Rule("home", r"(?:ich wohne|wir wohnen|ich lebe|wir leben|wohne|lebe)(?: (?:jetzt|seit \w+(?: \w+)?|derzeit|zurzeit|hier|inzwischen|mittlerweile|wieder))* (?P<phrase>(?:am Rand von|in der Nähe von|bei|nahe|außerhalb von|kurz vor|mitten in|am|an der|auf) (?P<value><PLACE>))<END>", "Wohnt {phrase}"),
    Rule("home", r"(?:ich wohne|wir wohnen|ich lebe|wir leben|wohne|lebe)(?: (?:jetzt|seit \w+(?: \w+)?|inzwischen))* in (?:einem|einer) (?:\w+ )?(?:Dorf|Vorort|Kleinstadt|Stadt|Haus|Wohnung|WG|Hof|Altbau|Hochhaus|Siedlung|Ort|Gemeinde) (?P<phrase>(?:bei|in|nahe|südlich von|nördlich von|in der Nähe von|vor) (?P<value><PLACE>))<END>", "Wohnt {phrase}"),
    Rule("home", r"(?:ich bin|wir sind|bin) (?:jetzt|inzwischen|mittlerweile|wieder|neuerdings)(?: \w+)? in (?P<value><PLACE>)(?: (?:zuhause|zu Hause|daheim|gelandet|angekommen))?<END>", "Wohnt in {value}"),
    Rule("home", r"(?:unser|unsere|mein|meine) (?:Wohnung|Haus|Zuhause) (?:ist|liegt|steht) (?:in|bei) (?P<value><PLACE>)<END>", "Wohnt in {value}"),
    Rule("origin", r"(?:(?:ursprünglich|gebürtig|eigentlich) )?aus (?P<value><PLACE>)(?: gebürtig)?<END>", "Kommt aus {value}", "bin"),
    Rule("origin", r"(?:ich bin |ich wurde |bin )?in (?P<value><PLACE>) (?:geboren|aufgewachsen|groß geworden|zur Welt gekommen)", "Kommt aus {value}"),
    Rule("origin", r"(?:ich stamme|stamme) (?:ursprünglich )?aus (?P<value><PLACE>)<END>", "Kommt aus {value}"),
    Rule("origin", r"gebürtige[rn]? (?P<value><PLACE>)<END>", "Kommt aus {value}", "bin"),
    Rule("work", r"<SEHR>(?:eine? )?(?P<value><JOB><TAIL>)<END>", "Ist {value}", "bin"),
    Rule("work", r"(?:ich )?arbeite(?: (?:jetzt|seit \w+(?: Jahren)?|derzeit))* (?P<phrase>(?:im|in|bei|an|am|beim)(?: (?:der|dem|einer?|einem))? (?P<value>(?-i:[A-ZÄÖÜ])[\w &-]{1,40}? als <NOUN>))", "Arbeitet {phrase}"),
    Rule("work", r"(?:seit|ab) [\w ]{2,20}? bin ich (?:eine? )?(?P<value><JOB><TAIL>)<END>", "Ist {value}"),
    Rule("work", r"<SEHR>(?P<value>(?:Leiter(?:in)?|Chef(?:in)?|Abteilungsleiter(?:in)?|Teamleiter(?:in)?|Geschäftsführer(?:in)?)<TAIL>)<END>", "Ist {value}", "bin"),
    Rule("work", r"(?:ich (?:mache|absolviere)|mache)(?: (?:gerade|derzeit|noch))* (?:eine |meine |ein |mein )?(?P<value>(?:Ausbildung|Lehre|Umschulung|Studium|Praktikum|Volontariat) (?:zur|zum|als|in|im|bei) <NOUN>)<END>", "Macht {value}"),
    Rule("work", r"(?:ich studiere|studiere)(?: (?:gerade|derzeit|noch))* (?P<value>(?-i:[A-ZÄÖÜ])[\w-]+(?: (?:in|an der \w+) (?-i:[A-ZÄÖÜ])[\w-]+)?)<END>", "Studiert {value}"),
    Rule("work", r"(?:ich (?:betreibe|führe|leite|habe)|wir (?:betreiben|führen|haben)|betreibe|führe|leite) (?P<value>(?:eine?n?|meine?n? eigene?n?|das|die|den) (?:(?:kleine|kleines|kleinen|eigene|eigenes|eigenen) )?\w*(?:[Bb]äckerei|[Ll]aden|[Cc]afé|[Rr]estaurant|[Bb]uchhandlung|[Gg]eschäft|[Ff]irma|[Pp]raxis|[Aa]gentur|[Ss]alon|[Ww]erkstatt|[Hh]of|[Hh]otel|[Pp]ension|[Kk]neipe|[Bb]ar|[Aa]potheke|[Gg]ärtnerei|[Kk]anzlei|[Bb]rauerei|[Mm]etzgerei|[Tt]ischlerei|[Ss]chreinerei|[Ss]tudio|[Kk]iosk|[Ii]mbiss|[Kk]ita)(?: in <PLACE>)?)<END>", "Betreibt {value}"),
    Rule("work", r"(?:ich unterrichte|unterrichte) (?P<value>(?-i:[A-ZÄÖÜ])\w+(?: und (?-i:[A-ZÄÖÜ])\w+)?(?: an <NOUN>)?)<END>", "Unterrichtet {value}"),
    Rule("work", r"(?:ich arbeite|arbeite)(?: (?:jetzt|seit \w+(?: Jahren)?|derzeit|nachts|Teilzeit|in Teilzeit))* (?P<phrase>(?:in|im|an|auf|bei) (?:einer?|einem|der|dem)? ?(?!(?:Moment|Homeoffice|Büro|Text|Projekt|Ruhe|Schichten|Teilzeit|Vollzeit|Roman|Arbeit)\b)(?P<value><NOUN>))<END>", "Arbeitet {phrase}"),
    Rule("diet", r"(?:ich |wir )?(?:ernähre mich|ernähren uns)(?: (?:nur|rein|streng|ausschließlich|seit \w+(?: \w+)?|weitgehend|überwiegend))* (?P<value><DIET>)\b", "Ernährt sich {value}"),
    Rule("health", r"(?:(?:ich habe|habe|ich hab|hab|ich leide (?:an|unter)|leide (?:an|unter)|ich lebe mit|bei mir wurde|wir haben)(?: (?:eine?n?|starke?s?|schwere?s?|leichte?s?|chronische?s?|leider|seit \w+(?: \w+)?|auch|noch|ziemlich|oft|ständig))* )(?P<value><ILL>)\b(?! (?:überwunden|besiegt))", "Hat {value}", "", _LIST),
    Rule("health", r"(?:achtung|hinweis|vorsicht|info|wie gesagt|nochmal|sorry),? (?P<value><ILL>)\b", "Hat {value}"),
    Rule("health", r"(?:als )?(?:jemand|mensch|person) mit (?P<value><ILL>)\b", "Hat {value}"),
    Rule("health", r"<SEHR>(?P<value>(?:hoch|fast |völlig |stark )?(?:schwanger|blind|taub|gehörlos|schwerhörig|sehbehindert|gehbehindert|schwerbehindert|farbenblind|rot-grün-blind|herzkrank|nierenkrank|zuckerkrank|autistisch|querschnittsgelähmt|gelähmt|immunsupprimiert|depressiv|kurzsichtig|bipolar|(?:Typ[- ][12][- ])?Diabetiker(?:in)?(?: Typ (?:1|2))?|Asthmatiker(?:in)?|Epileptiker(?:in)?|Bluter(?:in)?|Legastheniker(?:in)?|Autist(?:in)?|Rollstuhlfahrer(?:in)?|Dialysepatient(?:in)?|Allergiker(?:in)?|Hörgeräteträger(?:in)?|MS-Patient(?:in)?))(?=\s*(?:[,.;:!?()]|$)|\s+(?:und|aber|oder|seit|auf|im|weil)\b)", "Ist {value}", "bin"),
    Rule("health", r"(?:dass )?ich (?P<value>(?:schwanger|blind|taub|gehörlos|Diabetiker(?:in)?|Asthmatiker(?:in)?|Epileptiker(?:in)?|Bluter(?:in)?|Legastheniker(?:in)?|Autist(?:in)?|Rollstuhlfahrer(?:in)?|farbenblind|schwerhörig)) bin\b", "Ist {value}"),
    Rule("health", r"(?:in der |im )?(?P<value>\w+\.? (?:Schwangerschaftswoche|SSW|Monat(?: schwanger)?|Schwangerschaftsmonat))\b", "Ist schwanger: {value}", "bin"),
    Rule("health", r"(?:ich sitze|sitze|ich bin|bin) (?:leider |seit \w+(?: \w+)? )?im (?P<value>Rollstuhl)\b", "Sitzt im {value}"),
    Rule("health", r"(?:ich (?:trage|habe|nutze|benutze|brauche)|trage|habe|nutze) (?:einen |eine |ein |zwei )?(?P<value>Herzschrittmacher|Schrittmacher|Hörgeräte?|Cochlea-?Implantat|Insulinpumpe|Prothese|Beinprothese|Rollstuhl|Rollator|Blindenstock|Blindenhund|Stoma|künstliche (?:Hüfte|Herzklappe)|künstliches (?:Hüftgelenk|Knie)|Stent|Spenderniere|Spenderherz)\b", "Hat {value}"),
    Rule("health", r"(?:ich nehme|nehme|ich spritze|spritze)(?: (?:täglich|jeden Tag|seit \w+(?: \w+)?|dauerhaft|regelmäßig))* (?P<value>(?:Marcumar|Blutverdünner|Insulin|Metformin|L-Thyroxin|Thyroxin|Lithium|Betablocker|Statine|Antidepressiva|Cortison|Kortison|Methotrexat|MTX|Ramipril|Eliquis|Xarelto|ASS|Ritalin|Medikinet|Immunsuppressiva|(?:Tabletten|Medikamente) gegen \w+))\b", "Nimmt {value}"),
    Rule("allergies", r"<SEHR>(?:stark |sehr )?gegen (?P<value>\w+(?: und \w+)?) allergisch\b", "Ist allergisch gegen {value}", "bin"),
    Rule("allergies", r"<SEHR>(?P<value>\w+)[- ]?(?:intolerant|allergisch|allergiker(?:in)?)\b", "Verträgt nicht: {value}", "bin"),
    Rule("allergies", r"(?:ich habe|habe|ich hab)(?: (?:eine?|starke|schwere|leider|auch))* (?P<value>(?-i:[A-ZÄÖÜ])\w+?)(?:intoleranz|unverträglichkeit|allergie)\b", "Hat eine Unverträglichkeit oder Allergie: {value}"),
    Rule("allergies", r"(?:ich habe|habe|ich hab) (?P<value>Heuschnupfen|Hausstauballergie|Laktoseintoleranz)\b", "Hat {value}"),
    Rule("allergies", r"(?:ich )?reagiere (?:\w+ )?(?:allergisch |heftig |stark |empfindlich )?auf (?P<value>(?!deine|diese|so|meine)\w)", "Ist allergisch gegen {value}", "", _LIST),
    Rule("allergies", r"(?:laut (?:Arzt|Ärztin|meinem Arzt|meiner Ärztin|Allergologe\w*)|(?:mein|die|der|meine) (?:Arzt|Ärztin|Hausarzt|Hausärztin|Allergologe|Allergologin) (?:sagt|meint|hat gesagt)),? (?:dass )?(?:ich (?:bin )?|bin ich )(?:\w+ )?(?:allergisch )?(?:gegen|auf) (?P<value>\w+)", "Ist allergisch gegen {value}"),
    Rule("allergies", r"(?:von|bei|nach|wenn ich|sobald ich|immer wenn ich) (?P<value>(?-i:[A-ZÄÖÜ])[\w-]+)(?: (?:esse|trinke|anfasse|berühre))?,? (?:bekomme|krieg|kriege|schwillt|schwellen|juckt|jucken|brennt|tränen) (?:ich |mir |mein\w* |der |die )?[^.?!]{0,30}?(?:Ausschlag|Quaddeln|Atemnot|Hals|Lippen|Zunge|Augen|Pickel|Juckreiz|Luft|Gesicht|Gaumen|zu|an)\b", "Ist allergisch gegen {value}"),
    Rule("allergies", r"(?P<value>(?:(?:Hunde|Katzen)?(?-i:[A-ZÄÖÜ])[\w-]*(?:pollen|haare|milben|stiche|gift|staub|nüsse|latex)|Pollen|Latex|Nickel|Nüsse|Erdnüsse|Penicillin|Katzen|Gräser|Milch|Äpfel|Kiwis?|Erdbeeren|Schalentiere|Garnelen|Soja|Sesam|Sellerie|Tierhaare)) (?:machen? mich|bringen? mich|lösen? bei mir|lassen? mich|geben? mir|verursachen? bei mir|vertrage ich)\b[^.?!]{0,40}", "Ist allergisch gegen {value}"),
    Rule("allergies", r"(?P<value>(?-i:[A-ZÄÖÜ])[\w-]+) (?:vertrage ich (?:\w+ )?nicht|(?:bringen?|brachten?|haben) mich (?:\w+ ){0,3}?(?:ins Krankenhaus|in die Notaufnahme|in die Klinik))", "Verträgt nicht: {value}"),
    Rule("family", r"\b<MEIN> (?P<value>(?:(?:kleine[rnm]?|große[rnm]?|ältere[rnm]?|jüngere[rnm]?|älteste[rnm]?|jüngste[rnm]?|liebe[rnm]?) )?(?P<kin><KIN>),? (?P<who><GIVEN>)(?:(?:, <GIVEN>){0,3} und (?!Ich\b)<GIVEN>)?)(?! (?:ist (?:gestorben|verstorben)|starb))(?=\s*(?:[,.;:!?)]|$)|\s+(?-i:[a-zäöü]))", "{kin}: {who}", anywhere=True),
    Rule("family", r"\bmeine? (?P<value><KIN>)(?= und ich\b)", "Hat {value}", anywhere=True),
    Rule("family", r"<SEHR>(?:eine? )?(?P<value>(?:(?:alleinerziehende[r]?|frischgebackene[r]?|stolze[r]?|werdende[r]?) )?(?:Mama|Papa|Mutter|Vater|Oma|Opa|Tante|Onkel)(?: (?:von|einer?|eines|zweier|dreier)(?: \w+)?(?: (?-i:[A-ZÄÖÜ])\w+)?)?)<END>", "Ist {value}", "bin"),
    Rule("pet", r"\b<MEIN> (?P<value>(?:(?:alte[rnm]?|kleine[rnm]?|junge[rnm]?|dicke[rnm]?|neue[rnm]?) )?(?P<kin><PETS>),? (?P<who><GIVEN>(?: und <GIVEN>)?))(?=\s*(?:[,.;:!?)]|$)|\s+(?-i:[a-zäöü]))(?! (?:ist|sind) (?:\w+ )*(?:gestorben|tot))", "{kin}: {who}", anywhere=True),
    Rule("pet", r"\b<MEIN> (?P<value><PET>)(?= (?:hat|ist|bellt|frisst|schläft|kratzt|mag|will|pinkelt|zieht|hört|jault|haart|braucht|humpelt|beißt|schnarcht|miaut|und)\b)(?! (?:ist|war) (?:\w+ )*(?:gestorben|tot))", "Hat {value}", anywhere=True),
    Rule("pet", r"(?:ich habe|wir haben|habe|ich hab|wir hab'n|ich halte|wir halten|bei mir (?:lebt|leben|wohnt|wohnen)|bei uns (?:lebt|leben|wohnt|wohnen)) (?:(?:auch|noch|seit \w+(?: \w+)?|zu Hause|daheim) )*(?P<phrase>(?P<value><COUNT> (?:[a-zäöüß]+ )?<PETS>(?:,? (?:namens|die|der|das) (?:heißt |heißen )?<GIVEN>)?(?: heißt| namens <GIVEN>)?))<END>", "Hat {phrase}", "", _LIST),
    Rule("possession", r"mein(?:e)? (?:Auto|Wagen|Motorrad|Rad) ist (?:eine?|der|die) (?P<value><MAKE>(?: (?-i:[A-ZÄÖÜ])[\w-]+)?)", "Hat {value}"),
    Rule("possession", r"\b<MEIN> (?:[a-zäöüß]+ )?(?P<value><MAKE>)", "Hat {value}", anywhere=True),
    Rule("possession", r"(?:ich fahre|wir fahren|fahre|ich habe|wir haben|ich besitze|ich hab|habe) (?:eine?n? )(?:[a-zäöüß]+ )?(?P<value><MAKE>(?: (?-i:[A-ZÄÖÜ])[\w-]+)?(?: von (?:19|20)?\d\d| Baujahr \d+)?)", "Fährt {value}"),
    Rule("possession", r"(?:ich habe|wir haben|ich besitze|wir besitzen|ich hab|habe|ich habe mir|ich nutze) (?:mir )?(?P<value><COUNT> (?:[a-zäöüß]+ )?(?-i:[A-ZÄÖÜ])?\w*(?:[Aa]uto|[Ww]agen|[Ff]ahrrad|[Ee]-Bike|[Mm]otorrad|[Rr]oller|[Ww]ohnmobil|[Ww]ohnwagen|[Bb]oot|[Kk]ajak|[Tt]raktor|[Kk]lavier|[Gg]itarre|[Gg]eige|[Cc]ello|[Ff]löte|[Tt]rompete|[Ss]axophon|[Aa]kkordeon|[Ss]chlagzeug|[Kk]amera|[Tt]eleskop|[Ll]aptop|[Dd]rucker|[Dd]rohne|[Bb]ackofen|[Kk]affeemaschine|[Ss]iebträger|[Nn]ähmaschine|[Ww]ebstuhl|[Bb]ienenst[oö]cke?|[Bb]ienenvölker|[Gg]ewächshaus|[Gg]arten|[Ss]chrebergarten|[Hh]ütte|[Ff]erienhaus|[Ee]igentumswohnung|[Bb]alkon|[Aa]quarium|[Pp]lattenspieler|[Kk]amin|[Ss]auna|[Tt]hermomix|[Hh]ochbeete?)(?: (?:von|aus) (?:dem |den )?\d+\w*)?)<END>", "Hat {value}", "", _LIST),
    Rule("language", r"(?:ich (?:spreche|rede|red|kann|verstehe|lerne seit \w+ Jahren)|spreche|rede ich|spreche ich|wir sprechen)(?: (?:fließend|auch|gut|etwas|nur|zu Hause|neben \w+|ein bisschen|a bissl|ganz gut|leidlich|recht gut))* (?P<value><TONGUE>)", "Spricht {value}", "", _LIST),
    Rule("language", r"[^,.;!?]{0,40}? besser als (?P<value><TONGUE>)", "Spricht {value}", anywhere=True),
    Rule("language", r"(?P<value><TONGUE>) ist meine (?:Muttersprache|Erstsprache|Zweitsprache)", "Spricht {value}"),
    Rule("dislikes", r"(?P<value>(?-i:[A-ZÄÖÜ])[\w-]+(?: \w+)?) (?:kann ich (?:\w+ )?(?:nicht (?:ausstehen|leiden|ab|riechen|sehen|ertragen)|überhaupt nicht leiden)|finde ich (?:\w+ )?(?:furchtbar|schrecklich|eklig|widerlich|ätzend|grauenhaft|doof)|(?:mag|ess|esse|hasse|verabscheue) ich (?:\w+ )?(?:nicht|gar nicht|wie die Pest|überhaupt nicht)|hasse ich|(?:ist|sind) (?:für mich )?(?:das Allerletzte|der Horror|nicht mein (?:Ding|Fall)|nichts für mich|ein Graus|mir ein Graus|ekelhaft|ein Albtraum)|(?:gehen|geht) (?:für mich |bei mir )?gar nicht|nerven mich|nervt mich)", "Mag nicht: {value}"),
    Rule("dislikes", r"ich (?:mag|liebe) (?P<value>(?-i:[A-ZÄÖÜ])[\w-]+(?: (?-i:[A-ZÄÖÜ])[\w-]+)?) (?:(?:gar|überhaupt|wirklich|eigentlich|einfach) )?nicht(?! mehr)<END>", "Mag nicht: {value}"),
    Rule("dislikes", r"ich (?:kann) (?P<value>(?-i:[A-ZÄÖÜ])[\w-]+(?: (?-i:[A-ZÄÖÜ])[\w-]+)?) (?:\w+ )?(?:nicht (?:ausstehen|leiden|ab|riechen|ertragen))", "Mag nicht: {value}"),
    Rule("dislikes", r"(?:mir graut (?:es )?vor|ich ekel(?:e)? mich vor) (?P<value>\w)", "Mag nicht: {value}", "", _LIST),
    Rule("likes", r"(?:ich (?:trinke|esse|höre|lese|spiele|koche|backe|tanze|male|sammle|schaue|mache|singe|reise|fahre|laufe|stricke|gehe|trag|trage)|wir (?:trinken|essen|hören|lesen|spielen))(?: (?:sehr|total|wahnsinnig|am Wochenende|abends))* (?:gerne?|am liebsten|leidenschaftlich(?: gerne?)?) (?P<value>(?!mit\b|mal\b|auf\b|zu\b|in\b)\w)", "Mag {value}", "", _LIST),
    Rule("likes", r"(?:ich (?:steh|stehe) (?:total |voll |sehr )?auf|ich bin (?:total |ganz )?(?:verrückt nach|süchtig nach|begeistert von|vernarrt in)|ich schwärme für|ich interessiere mich (?:sehr )?für) (?P<value>\w)", "Mag {value}", "", _LIST),
    Rule("likes", r"(?P<value>(?-i:[A-ZÄÖÜ])[\w-]+(?: \w+)?) (?:mag|liebe|esse|trinke|höre|lese) ich (?:(?:sehr|total|über alles|wirklich|unheimlich) )?(?:gerne?|sehr|total|über alles|am liebsten)\b", "Mag {value}"),
    Rule("likes", r"(?:ich )?sammle (?P<value>\w)", "Sammelt {value}", "", _LIST),
    Rule("likes", r"ich spiele (?:seit \w+(?: \w+)? )?(?P<value>(?-i:[A-ZÄÖÜ])[\w-]+)(?! (?:mit dem Gedanken|nicht))<END>", "Spielt {value}"),
    Rule("likes", r"(?:mein (?:Hobby|größtes Hobby)|meine (?:Leidenschaft|Hobbys|Hobbies)) (?:ist|sind) (?P<value>\w)", "Mag {value}", "", _LIST),
)  # fmt: skip

GERMAN: Final = Language(
    code="de",
    points_back=NEVER,
    hint=re.compile(r"\b(?:ich|mein\w*|mich|mir|wir|uns|unser\w*|der|die|das|und|nicht|ist|bin|hab\w*|bitte|ein\w*|zu|mit|auf|in|für|kein\w*|man|es|du|wie|was|hier|heiß\w*|nenn\w*|laut)\b", re.IGNORECASE),
    rules=_RULES,
    words=_WORDS,
    small_words=_SMALL_WORDS,
    subjects={"": "", "bin": r"(?:ich bin|bin ich|bin) "},
    shared=frozenset({"bin"}),
    oneself="bin",
    carried="-",
    others=NEVER,
    boundary=re.compile(r"[,;:!?—–()](?: |$)| - |(?<=\s)(?:und|aber|denn|doch|also|sondern|außerdem) ", re.IGNORECASE),
    leads=re.compile(r"(?:(?:hier|wie gesagt|jetzt|inzwischen|mittlerweile|eigentlich|achtung|sorry|grüß gott|grüezi|guten (?:morgen|tag|abend)|tach|nabend|gruß|außerdem|weil|denn|da|dass|leider|nebenbei|kurze info|hallo zusammen|vergiss (?:bitte )?nicht,? dass|merk dir,? dass|hallo|hi|hey|guten (?:morgen|tag|abend)|moin|servus|ja|nein|danke|also|übrigens|ehrlich gesagt|na ja|tja|bitte|und|aber|zur info|fyi|seit \w+ jahren|seit (?:19|20)\d\d|letzt\w+ \w+|vor \w+ \w+)[,.!:]*\s+){1,3}", re.IGNORECASE),
    unreal=re.compile(r"\b(?:wenn|falls|angenommen|stell dir vor|sagen wir|würde|wäre|hätte|möchte|will|wünschte|vielleicht|früher|ehemals|ehemalige[rs]?|als kind|damals|sagte|sagt|schrieb|übersetze|eines tages|ob|weder)\b", re.IGNORECASE),
    frame=re.compile(r"\b(?:stell dir vor|angenommen|tu so|nehmen wir an|übersetz\w*|schreib(?:e)? (?:mir )?(?:eine?n? )?(?:\w+ ){0,2}?(?:geschichte|gedicht|lied|monolog|szene|dialog)|rollenspiel|spielen wir)\b", re.IGNORECASE),
    made_up=re.compile(r"\bmein(?:e[nmrs]?)? (?:held|heldin|figur|romanfigur|hauptfigur|protagonist(?:in)?|charakter|romanheld(?:in)?)\b|\b(?:rollenspiel|in meinem (?:roman|buch|stück)|du bist (?:ein|eine|der|die|mein|meine) [\w ]{2,40} und ich bin)\b", re.IGNORECASE),
    ironic=re.compile(r"^\W*(?:na klar|ja klar|ach ja|toll,|super,|großartig,|natürlich|klar,|wunderbar,|herrlich,|weil ich ja)|\bwer nicht\b|\bja total\b", re.IGNORECASE),
    ironic_text=re.compile(r"(?:^|\s)/s\b|\U0001f644|\b(?:ironie off|nur spaß|war nur ein witz)\b|(?:[.!?] )nicht\.", re.IGNORECASE),
    speech=re.compile(r"\b(?:schreib\w*|übersetz\w*|sag\w*|steht|lautet|lies|frag\w*|antwort\w*|erklär\w*|korrigier\w*|satz|text|brief|zeile|geschichte|gedicht|figur|rolle|mail|nachricht|beispiel|englisch\w*|französisch\w*|zitat|titel|schild)\b", re.IGNORECASE),
    goes_on=re.compile(r"[,;:—–]|\s-\s|\b(?:und|aber|also)\b", re.IGNORECASE),
    explains=re.compile(r"\b(?:weil|da|denn)\s*$", re.IGNORECASE),
    tag=re.compile(r"\A\W*(?:bin|habe|hab|mag|wohne|lebe|esse|werde) ich\b|,? (?:oder|stimmt's|richtig|nicht wahr|nicht|gell|ne)\W*$", re.IGNORECASE),
    unless={
        "likes": re.compile(r"\b(?:nicht mehr|keine?n? (?:\w+ ){1,3}mehr|nicht (?:so )?gern)", re.IGNORECASE),
        "dislikes": re.compile(r"\bmehr\b", re.IGNORECASE),
        "home": re.compile(r"\b(?:im urlaub|für (?:ein|zwei|drei) \w+|auf besuch|zu besuch)\b", re.IGNORECASE),
        "pet": re.compile(r"\b(?:gestorben|eingeschläfert|stofftier|hätte|möchte|will|hatte)\b", re.IGNORECASE),
        "possession": re.compile(r"\b(?:verkauft|gemietet|geliehen|leih\w*|miet\w*|hatte|will)\b", re.IGNORECASE),
        "health": re.compile(r"\bnicht (?:mehr )?(?:schwanger|blind|taub)", re.IGNORECASE),
        "instruction": re.compile(r"\b(?:diese[nmrs]?|diesmal|heute|nur einmal|nächste[nmrs]?|jetzt mal)\b(?! an\b)", re.IGNORECASE),
        "nickname": re.compile(r"\b(?:diese[nmrs]?|heute|nur einmal|nicht)\b", re.IGNORECASE),
    },
    refused={
        "": re.compile(r"(?:es|das|dies\w*|dich|sie|ihn|ihm|mich|nichts|alles|etwas|jemand\w*|wie|wenn|was|dass|ihr|euch|dein\w*|nicht|kein\w*\b(?!.*(?:en|ern)$))\b|\W*$", re.IGNORECASE),
        "allergies": re.compile(r"(?:montage?|arbeit|dummheit|schlechte\w*|lärm|menschen|besprechungen|stress)\b", re.IGNORECASE),
        "origin": re.compile(r"(?:zucker|liebe|angst|versehen|spaß|holz|neugier|gründen|dem|der|den|erfahrung|interesse|langeweile|prinzip|überzeugung)\b", re.IGNORECASE),
        "home": re.compile(r"(?:urlaub|moment|frieden|angst|ruhe|bett|büro|eile|schwierigkeiten|stress|trennung|ordnung|rente|pension|scheidung|elternzeit|not|panik|sorge|therapie|behandlung|ausbildung)\b", re.IGNORECASE),
        "name": re.compile(r"(?:neu|froh|der|die|das|ein|eine|ich|so|hier|deutsch\w*|schweizer|vegan\w*)\b", re.IGNORECASE),
        "moved": re.compile(r"(?:hause|mars)\b", re.IGNORECASE),
    },
    phrase_end=re.compile(rf"\s+(?:(?:{_STOPS}|sondern|besonders|am liebsten|nicht|gar|überhaupt|vor allem|abends|morgens)\b|-\s)", re.IGNORECASE),
    listing=re.compile(r"\s*(?:,\s*(?:und|oder)\s+|\s(?:und|oder|sowie)\s+(?:auch\s+)?|,\s*)", re.IGNORECASE),
    no_item=re.compile(rf"(?:{_STOPS}|mein\w*|dein\w*|hat|haben|kann|können|will|möchte|suchen?|was|welche\w*|warum|danke|nicht|hasse|mein)\b", re.IGNORECASE),
    pairs=NEVER,
    before={"language": re.compile(r"(?:ein bisschen|ein wenig|etwas|a bissl|bisschen|fließend|gut)\s+", re.IGNORECASE), "": re.compile(r"(?:dass|auch|sehr|gern|gerne)\s+(?=\w)", re.IGNORECASE), "pet": re.compile(r"eine?n?\s+", re.IGNORECASE), "family": re.compile(r"eine?n?\s+", re.IGNORECASE)},
    after={"": re.compile(r"(?:[,\s]+(?:bitte|danke|sehr|gern|gerne|ja|okay|ok))+\W*$", re.IGNORECASE)},
    own_words=re.compile(r"\b(?:ich|mein\w*|mir|mich|wir|uns|unser\w*|du|dein\w*)\b", re.IGNORECASE),
    asked_to_keep="Soll gemerkt werden: {value}",
    shared_tail=re.compile(r"\bbevorzuge .*?(?P<tail>\s)(?:in|auf|als|mit|ohne) (?!(?:de[rnm]|die|das|mein\w*|unser\w*)\b)(?=\w)", re.IGNORECASE),
    times=re.compile(r",? (?:(?P<since>seit [\w ]{2,30}?)|(?P<until>bis [\w ]{2,30}?)|(?P<applies>(?:bei der Arbeit|am Wochenende|zu Hause|wenn [\w ]{2,40}?)))(?=\s*[,.;!?]|$)", re.IGNORECASE),
    listed={**dict.fromkeys(("likes", "dislikes", "allergies"), re.compile(r"(?:[\w-]+ )?(?-i:[A-ZÄÖÜ])", re.IGNORECASE)), "health": re.compile(_ILL, re.IGNORECASE)},
    taking_back=TAKING_BACK,
    frames=GERMAN_FRAMES,
    slip=re.compile(r",? (?:äh,?|ähm,?|nein,?|quatsch,?|ich meine|sorry,?|besser gesagt|beziehungsweise|moment,?|vielmehr|halt nein,?|korrektur:?)(?: nein,?| doch| eigentlich)* (?:in |aus |bei )?(?P<value>(?-i:[A-ZÄÖÜ])[\w'-]+(?: (?-i:[A-ZÄÖÜ])[\w'-]+){0,2})", re.IGNORECASE),
    denied=re.compile(r"\s+(?:(?:gar|überhaupt|auch|jetzt|leider|eigentlich|wirklich|so) )?(?:nicht(?! nur)|nie|nimmer)\b", re.IGNORECASE),
    abbreviations=frozenset("#. dr prof z.b d.h usw bzw ca nr str hr fr st".split()),
)  # fmt: skip
