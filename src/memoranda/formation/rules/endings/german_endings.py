"""German: what takes earlier statements back, and what makes later messages no statements."""

from __future__ import annotations

from typing import Final

from memoranda.formation.rules.endings.topic_groups import (
    ALLERGY,
    ANY,
    BEING,
    BODY,
    DIET,
    DISLIKED,
    FAMILY,
    HOME,
    LANGUAGE,
    NOTE,
    ORDER,
    OWNED,
    PASSING,
    PET,
    TASTE,
    THING,
    WORK,
)
from memoranda.formation.rules.grammar import Ending, Frames, TakingBack, pattern

_KIN = r"(?:frau|mann|ehefrau|ehemann|partner(?:in)?|freund(?:in)?|verlobte[rn]?|mutter|vater|mama|papa|sohn|tochter|bruder|schwester|oma|opa|tante|onkel|cousine?|neffe|nichte|enkel(?:in)?|chef(?:in)?|nachbar(?:in)?|kolleg(?:e|in)|mitbewohner(?:in)?|kumpel|kinder|eltern|schwager|schwägerin)"
_PARTNER = r"\b(?:frau|mann|ehefrau|ehemann|gattin|gatte|partner(?:in)?|freund(?:in)?|verlobte[rn]?|verheiratet|verlobt|lebensgefährt\w+)\b"
_TONGUE = r"(?:deutsch|englisch|französisch|spanisch|italienisch|portugiesisch|niederländisch|türkisch|russisch|polnisch)"
_NO_MORE = r"(?:nicht|kein(?:e[nmrs]?)?|nie|nimmer)\b[^,.;!?]{0,60}\b(?:mehr|länger)|nimmer"

_ENDINGS: Final = (
    Ending(HOME, pattern(rf"\b(?:(?:wohne|wohnen|lebe|leben|bin|sind)\b[^,.;!?]{{0,20}}\b(?:{_NO_MORE})|(?:weggezogen|ausgezogen|umgezogen|fortgezogen)|(?:wohne|lebe) (?:gar )?nicht\b)")),
    Ending(WORK, pattern(r"\b(?:(?:wurde|bin|worden|hat man mich|haben mich) (?:\w+ ){0,4}?(?:gekündigt|entlassen|gefeuert|rausgeworfen|rausgeschmissen|arbeitslos)|(?:habe|hab) (?:\w+ ){0,6}?(?:gekündigt|hingeschmissen|aufgehört)|mir (?:wurde|haben sie) (?:\w+ ){0,3}?gekündigt|(?:job|stelle|arbeit) (?:\w+ )?(?:verloren|gekündigt|los|aufgegeben|hingeschmissen)|"
           r"(?:bin|jetzt|seit \w+) (?:in|im) (?:rente|ruhestand|pension)|(?:mein )?letzter (?:arbeits)?tag|arbeitslos\b|(?:laden|betrieb|firma|geschäft|praxis) (?:\w+ )?(?:geschlossen|verkauft|zugemacht|aufgegeben))\b"), named=False),
    Ending(WORK, pattern(rf"\b(?:(?:arbeite|bin|mache|jobbe|unterrichte|leite|betreibe|schaffe)\b[^,.;!?]{{0,40}}\b(?:{_NO_MORE})|(?:habe|hab|bin) (?:\w+ ){{0,6}}?(?:verlassen|gekündigt|aufgehört|gewechselt|umgeschult|raus)|bin (?:gar )?kein\w*)")),
    Ending(TASTE, pattern(rf"\b(?:(?:mag|liebe|esse|trinke|höre|spiele|mache|interessier\w+)\b[^,.;!?]{{0,40}}\b(?:{_NO_MORE})|(?:{_NO_MORE})|(?:kannst|darfst) du (?:streichen|vergessen|weglassen)|(?:ist|sind) (?:\w+ ){{0,3}}?(?:geschichte|vorbei|durch|gestorben|out|raus|passé)|hab\w* (?:\w+ ){{0,4}}?(?:satt|über|aufgegeben|aufgehört)|hängt mir zum hals|(?:nicht mehr )mein ding|streich\w*|aus und vorbei)")),
    Ending(DISLIKED, pattern(rf"\b(?:(?:hasse|stört|verabscheue)\b[^,.;!?]{{0,30}}\b(?:{_NO_MORE})|(?:mag|liebe|esse) (?:ich )?(?:jetzt|inzwischen|mittlerweile|neuerdings|plötzlich|auf einmal)|(?:angefreundet|auf den geschmack gekommen))")),
    Ending(DIET, pattern(rf"\b(?:{_NO_MORE}|(?:ist|sind) (?:\w+ ){{0,4}}?(?:geschichte|vorbei|passé|durch|gestorben)|aufgegeben|aufgehört|bin (?:gar |doch )?kein\w*|ernähre mich wieder normal|esse wieder (?:alles|normal))")),
    Ending(DIET, pattern(r"\b(?:esse|essen|ess|gibt(?:'s| es)|habe|hab) (?:\w+ ){0,4}?wieder (?:\w+ ){0,2}?(?:fleisch|fisch|hähnchen|wurst|schnitzel|steak)|\bwieder (?:\w+ ){0,3}?(?:fleisch|fisch|wurst|schnitzel|hähnchen|steak)\b(?: (?:esse|gegessen|essen))?"), values=pattern(r"veg|fleisch|pesc|fisch|flexi"), named=False),
    Ending(DIET, pattern(r"\b(?:trinke|trinken|trink) (?:\w+ ){0,4}?(?:wieder|ab und zu|gelegentlich|jetzt)\b"), values=pattern(r"alkohol|wein|bier|trink|kaffee|abstinen"), named=False),
    Ending(ALLERGY, pattern(r"\b(?:(?:bin|war) (?:\w+ ){0,3}?nicht (?:\w+ ){0,2}?allergisch|nicht (?:mehr |wirklich )?allergisch|keine (?:\w+)?(?:allergie|unverträglichkeit|intoleranz)|falsch(?:er)? (?:positiv\w*|alarm)|fehldiagnose|doch (?:kein(?:e)? (?:problem|allergie|unverträglichkeit)|nicht (?:das problem|schuld|allergisch))|(?:ist|sind|war|waren) (?:gar |doch )?nicht (?:das problem|schuld|die ursache)|"
           r"vertrage (?:ich )?(?:\w+ ){0,3}?(?:wieder|doch|inzwischen|jetzt)|(?:darf|kann) (?:ich )?(?:\w+ ){0,3}?(?:wieder|doch) (?:essen|trinken)|test (?:\w+ )?negativ|allergie (?:ist )?(?:weg|verschwunden|ausgeheilt))\b")),
    Ending(BODY, pattern(r"\b(?:fehldiagnose|falscher alarm|geheilt|(?:habe|nehme|brauche|trage) (?:\w+ ){0,3}?kein(?:e[nr]?)? (?:\w+ ){1,3}?mehr|bin (?:\w+ )?(?:nicht|kein\w*) (?:\w+ ){0,2}?(?:mehr )?(?:schwanger|diabetiker\w*|krank)|doch (?:nicht|kein\w*)|doch keine?n?)\b")),
    Ending(frozenset({"health"}), pattern(r"\b(?:entbunden|baby ist da|kind ist da|(?:unser|mein) (?:baby|sohn|kind) (?:kam|ist) (?:\w+ )?(?:zur welt|geboren|auf der welt)|unsere tochter (?:kam|ist) (?:\w+ )?(?:zur welt|geboren))\b"), values=pattern("schwanger"), named=False),
    Ending(PET, pattern(r"\b(?:gestorben|verstorben|tot\b|eingeschläfert|einschläfern|gegangen|über die regenbogenbrücke|lebt nicht mehr|nicht mehr (?:da|bei uns)|entlaufen|weggelaufen|abgegeben|hergegeben|von uns gegangen)")),
    Ending(OWNED, pattern(r"\b(?:verkauft|verkaufte|verschenkt|weggegeben|abgegeben|hergegeben|verschrottet|entsorgt|gestohlen|geklaut|losgeworden|abgestoßen|in zahlung gegeben|totalschaden|(?:habe|hab|haben|fahre|besitze) (?:\w+ ){0,4}?(?:keine?n?|nicht) (?:\w+ ){0,3}?mehr|gar keine?n?)\b")),
    Ending(THING, pattern(r"\b(?:den geist aufgegeben|kaputt und weg|auf dem schrott|ist hin\b|ist hinüber)")),
    Ending(FAMILY, pattern(r"\b(?:(?:haben|sind) (?:uns )?(?:\w+ ){0,3}?(?:getrennt|geschieden|auseinander)|getrennt\b|geschieden|schluss gemacht|ist schluss|ist (?:\w+ )?aus\b|aus und vorbei|(?:die|meine|unsere) scheidung|mein(?:e|em|en|er)? ex\b|bin (?:wieder )?(?:single|solo|ledig)|nicht mehr (?:zusammen|verheiratet|verlobt)|hat mich verlassen|verwitwet|entlobt)"), values=pattern(_PARTNER), named=False, of_others=True),
    Ending(LANGUAGE, pattern(rf"\b(?:streich\w*|lass\w* weg|nimm \w+ (?:raus|weg)|raus\b|(?:spreche|kann) (?:\w+ ){{0,3}}?(?:nicht|kein\w*)|verlernt|(?:{_NO_MORE}))"), asked=True),
    Ending(ORDER, pattern(r"\b(?:vergiss|ignorier\w*|lass (?:das|die|den)|hör auf|(?:du )?(?:darfst|kannst|musst nicht|brauchst nicht)|nicht mehr nötig|hat sich erledigt|wieder normal|zurück zu\w*|aufheben|gilt nicht mehr|egal)\b"), asked=True),
    Ending(ORDER, pattern(rf"\b(?:(?:wieder|zurück|auf|zu|zum|ins?) (?:auf |zu |zum |ins? )?{_TONGUE}e?n?\b)"), values=pattern(_TONGUE), named=False, asked=True),
    Ending(ORDER, pattern(r"\b(?:ausführlich\w*|lang(?:e|er|en)?|längere?|detailliert\w*|genauer|mehr details)\b"), values=pattern(r"\b(?:kurz\w*|knapp\w*|wörter|worte|sätze\w*|zeilen|stichpunkt\w*|bündig)\b"), named=False, asked=True),
    Ending(ORDER, pattern(r"\b(?:kurz\w*|knapp\w*)\b"), values=pattern(r"\b(?:ausführlich\w*|lang|detailliert\w*)\b"), named=False, asked=True),
    Ending(ORDER, pattern(r"\b(?:duzen|du sagen|per du|beim du|duz mich|zum du|duze)\b"), values=pattern(r"siez|\bSie\b|per sie"), named=False, asked=True),
    Ending(ORDER, pattern(r"\b(?:siezen|sieze|per sie)\b"), values=pattern(r"\bduz|\bdu\b"), named=False, asked=True),
    Ending(ORDER, pattern(r"\bemojis? (?:sind|gehen|darfst|kannst|wieder)|(?:darfst|kannst) (?:\w+ ){0,3}?emojis?"), values=pattern(r"emoji|smiley"), named=False, asked=True),
    Ending(frozenset({"nickname"}), pattern(r"\b(?:nenn|nennt|nenne) mich (?:bitte )?(?:nicht|nie)|nicht mehr (?:\w+ )?(?:nennen|heißen)"), asked=True),
    Ending(NOTE, pattern(r"\b(?:abgesagt|fällt aus|ausgefallen|verschoben|vergiss|kannst (?:\w+ ){0,3}?vergessen|vergessen kannst|hat sich erledigt|erledigt|nicht mehr|doch nicht|geändert|vorbei)\b"), of_others=True, asked=True),
    Ending(ANY - BODY, pattern(r"(?<!nicht )\b(?:vergiss|vergesst|lösch\w*|streich\w*|ignorier\w*)(?: bitte| wieder)?,? (?:dass|das mit|was|mein\w*|den|die|das|meine)\b(?! nicht)"), asked=True),
    Ending(BODY, pattern(r"\b(?:vergiss|lösch\w*|ignorier\w*|streich\w*)(?: bitte)?,? (?:dass ich|das mit|mein\w*)\b[^.;]{0,60}\b(?:allergi\w+|unverträglich\w+|\w*intoleran\w+|krankheit|diabet\w+|asthma|schwanger\w*|\w+krank)"), asked=True),
    Ending(BEING, pattern(r"\b(?:ich bin|bin ich|ich heiße|ich wohne|ich lebe|ich komme(?= (?:gar |ja )?nicht (?:mehr )?aus)) (?:ja |gar |eigentlich |übrigens |überhaupt )*(?:nicht|kein\w*)\b(?! (?:sicher|so|sehr|ganz|nur|allein)\b)")),
    Ending(BEING | OWNED | LANGUAGE, pattern(r"\b(?:war (?:nur |bloß )?(?:ein )?(?:witz|scherz|spaß|fehler|irrtum|tippfehler|quatsch|gelogen)|hab\w* (?:mich )?(?:gelogen|geirrt|vertan|vertippt|geschwindelt))\b")),
    Ending(OWNED | LANGUAGE, pattern(r"\bich (?:habe|hab|fahre|spreche) (?:ja |gar |eigentlich |doch |überhaupt )*(?:keine?n?|nicht)\b")),
    Ending(PASSING, pattern(rf"\b(?:{_NO_MORE}|stimmt nicht mehr|bin fertig mit|ist (?:\w+ ){{0,3}}?geschichte)\b")),
)  # fmt: skip

TAKING_BACK: Final = TakingBack(
    endings=_ENDINGS,
    others=pattern(rf"(?:(?:und|aber|denn|weil|jetzt|leider|heute|gestern|übrigens) )*(?:(?:mein|unser|dein|sein|ihr)(?:e|en|em|er|es)? (?:\w+ )?{_KIN}\b(?! und ich\b)|er|sie|ihr|sein\w*|ihre?\b)\b"),
    instead=(
        pattern(r"\bnicht (?:mehr )?(?:in |aus |am )?(?P<old>[\w.-]+(?: [\w-]+)?), sondern (?:in |aus |am )?(?P<new>(?-i:[A-ZÄÖÜ\d])[\w'.-]*\w(?: (?-i:[A-ZÄÖÜ])[\w'-]+){0,2})"),
        pattern(r"(?P<new>(?-i:[A-ZÄÖÜ])[\w'-]+),? nicht (?P<old>(?-i:[A-ZÄÖÜ])[\w'-]+)"),
        pattern(r"\b(?:heiße|wohne|lebe|komme|meinte|ist|bin)(?: aus| in)? (?P<new>(?-i:[A-ZÄÖÜ\d])[\w'-]+(?: (?-i:[A-ZÄÖÜ])[\w'-]+){0,2}),? (?:und )?nicht (?:in |aus )?(?P<old>(?-i:[A-ZÄÖÜ\d])[\w'-]+)"),
    ),
    small=frozenset("der die das den dem des ein eine einen einem einer eines mein meine meinen meinem meiner ich du er sie es wir ihr und oder mit ohne in im an am auf aus bei von vom zu zum zur für als ist bin sind hat habe heißt heisst nicht kein keine keinen mehr mir mich immer nie bitte sehr ganz arbeitet wohnt spricht mag jahre alt antworte schreib".split()),
)  # fmt: skip

GERMAN_FRAMES: Final = Frames(
    play=pattern(
        r"\b(?:rollenspiel|tu so,? als|stell dir vor,? du (?:bist|wärst)|lass(?:t)? uns (?:\w+ )?spielen|wir spielen|spielen wir|spiel (?:bitte )?(?:einen?|die|den|das)\b)|\bdu (?:bist|spielst) (?:ein|eine|der|die|mein|meine|das) [^.?!]{2,50}?(?:,| und|;) ?(?:und )?ich (?:bin|spiele)\b|\bich (?:bin|spiele) (?:ein|eine|den|der|die|kommissar\w*) [^.?!]{2,60}?(?:,| und|;) ?(?:und )?du (?:bist|spielst)\b"
    ),
    over=pattern(r"\b(?:(?:spiel|rollenspiel) (?:ist )?(?:aus|vorbei|ende|beendet|zu ende)|ende (?:des|vom) (?:spiels?|rollenspiels?)|schluss mit (?:dem )?(?:spiel|rollenspiel)|genug gespielt|aus der rolle|im echten leben|jetzt mal im ernst|zurück zur realität|in echt)\b[,.:!]?"),
    announced=pattern(
        r"\b(?:(?:ich )?(?:kopiere|poste|schicke|füge|gebe|sende|zitiere) (?:dir |ihnen )?(?:jetzt |gleich |hier |mal |nun )*(?:den|die|das|einen?|eine) (?:\w+ ){0,2}?(?:mail|brief|nachricht|text|e-mail|schreiben|lebenslauf)\b(?![^.?!]{0,60}\n)|gleich kommt (?:der|die|das|ein)|(?:mail|brief|nachricht|text|schreiben) (?:folgt|kommt gleich)|"
        r"(?:schreib\w*|verfass\w*|entwirf)(?: mir)? (?:bitte )?(?:eine?n?|die|das) (?:bio|biografie|profil|vorstellung|lebenslauf|steckbrief) (?:für|über|von) (?:meine?n?|einen?|eine|den|die) (?!website|seite|profil|blog)\w+)"
    ),
)  # fmt: skip
