"""French: what takes earlier statements back, and what makes later messages no statements."""

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

_KIN = r"(?:femme|mari|épouse|compagnon|compagne|copain|copine|conjointe?|mère|père|maman|papa|fils|fille|frère|sœur|soeur|grand-mère|grand-père|oncle|tante|cousine?|neveu|nièce|petit-fils|petite-fille|beau-\w+|belle-\w+|amie?s?|pote|patronn?e?|chef|cheffe|voisine?s?|collègues?|coloc|enfants?|parents)"
_PARTNER = r"\b(?:femme|mari|épouse|époux|compagnon|compagne|copain|copine|conjointe?|fiancée?|chérie?|mariée?|pacsée?)\b"
_TONGUE = r"(?:français|anglais|espagnol|allemand|italien|portugais|néerlandais|arabe)"
_MEAT = r"(?:viande|poulet|bœuf|boeuf|porc|jambon|steak|poisson|charcuterie|agneau)"

_ENDINGS: Final = (
    Ending(HOME, pattern(r"\b(?:(?:n'|ne )?(?:habite|vis|vit|suis|réside)s? (?:plus|pas)\b|(?:j'ai|on a|nous avons) (?:quitté|déménagé)|(?:je suis|on est) partie?s? de)")),
    Ending(WORK, pattern(r"\b(?:(?:me suis|ai été|été|suis) (?:fait(?:e)? )?(?:virée?|licenciée?|renvoyée?)|(?:m'a|m'ont|on m'a) (?:virée?|licenciée?|renvoyée?)|j'ai (?:perdu|quitté|lâché|plaqué) (?:mon|le) (?:travail|boulot|job|poste|taf|emploi)|j'ai démissionné|j'ai posé ma démission|(?:suis|me retrouve) au chômage|"
           r"(?:mon |le )?dernier jour (?:chez|comme|à|de)|(?:pris|prends) (?:ma|la) retraite|suis (?:à la|en) retraite|j'ai (?:fermé|vendu) (?:ma|mon))"), named=False),
    Ending(WORK, pattern(r"\b(?:(?:ne |n')?(?:travaille|bosse|suis|exerce|enseigne|taffe)s? (?:plus|pas)\b|j'ai (?:quitté|démissionné|arrêté|lâché|plaqué)|je suis partie? de|j'ai changé de métier|reconversion)")),
    Ending(WORK, pattern(r"\b(?:j'ai (?:quitté|lâché|arrêté) l'enseignement)\b"), values=pattern(r"prof|enseign|instit|maître"), named=False),
    Ending(TASTE, pattern(r"\b(?:(?:n'|ne )?(?:aime|adore|kiffe|supporte|fais|pratique|joue|regarde|suis)s? plus\b|c'est (?:fini|terminé|mort|du passé)|j'ai (?:arrêté|laissé tomber|lâché|abandonné)|(?:n'est|c'est|n'a) plus (?:mon truc|pour moi|ma tasse)|plus (?:mon truc|pour moi)|en ai (?:marre|assez|ma claque) (?:de|du|des)|tu peux (?:oublier|rayer|enlever|supprimer|virer)|(?:raye|enlève|oublie|supprime|retire)\b|terminé)")),
    Ending(DISLIKED, pattern(r"\b(?:(?:ne |n')?(?:déteste|hais|supporte)s? plus|finalement j'(?:aime|adore)|maintenant j'(?:aime|adore)|j'(?:aime|adore) (?:maintenant|désormais|enfin)|j'ai appris à aimer|je me suis (?:mise?|réconciliée?))")),
    Ending(DIET, pattern(r"\b(?:(?:ne |n')?(?:suis|mange|fais|bois)s? plus\b|j'ai (?:arrêté|abandonné|laissé tomber)|c'est (?:fini|terminé|du passé)|je re(?:mange|bois)|j'ai recommencé|je ne suis pas|terminé)")),
    Ending(DIET, pattern(rf"\b(?:(?:je |on |j'ai )?re(?:mange|mangé|mangeons|mangez)s? (?:de nouveau )?(?:de la |du |de l'|des )?{_MEAT}|(?:recommencé|recommence|remise?|repris|reprends) (?:à manger )?(?:de la |du |la |le |à la |au )?{_MEAT}|je mange (?:à nouveau|de nouveau|maintenant|désormais) (?:de la |du )?{_MEAT}|mange (?:de la |du ){_MEAT} (?:à nouveau|de nouveau|maintenant))"),
           values=pattern(rf"v[eé]g|pesc|flexi|{_MEAT}"), named=False),
    Ending(DIET, pattern(r"\b(?:je |on )?re(?:bois|boit|mange) (?:de l'|du |des )?(?:alcool|vin|bière|gluten|pain|fromage|lait|œufs)|je bois (?:à nouveau|de nouveau)"), values=pattern(r"alcool|vin|bière|bois|gluten|pain|fromage|lait|œuf|végan|végét"), named=False),
    Ending(ALLERGY, pattern(r"\b(?:(?:ne |n')?suis (?:plus|pas)(?: du tout)?(?: vraiment)? (?:allergique|intolérante?)|(?:n'ai|ai) (?:plus|pas) d'(?:allergie|intolérance)|faux positif|fausse alerte|erreur de diagnostic|(?:n'est|n'était|ne sont|n'étaient|c'est|c'était|sont|est) (?:finalement )?pas (?:le problème|la cause|une allergie|les?|la)\b|"
           r"(?:finalement|en fait),? (?:pas allergique|aucun problème|ça va|je (?:peux|tolère|supporte))|je peux (?:à nouveau|de nouveau|maintenant|enfin|re)\w*|aucun problème|tests? (?:est |était |sont )?(?:revenus? )?négatifs?|(?:passée|disparue|guérie)|remange)")),
    Ending(BODY, pattern(r"\b(?:faux positif|fausse alerte|erreur de diagnostic|(?:n'ai|ne souffre|ne prends|ne porte|n'utilise|ne suis) plus|(?:suis|je suis) (?:guérie?|en rémission)|finalement (?:je ne suis pas|je n'ai pas)|n'ai (?:finalement )?pas (?:de |d'))")),
    Ending(frozenset({"health"}), pattern(r"\b(?:j'ai accouché|bébé est (?:né|née|là|arrivée?)|est née?\b)"), values=pattern("enceinte"), named=False),
    Ending(PET, pattern(r"\b(?:est (?:morte?|décédée?|partie?|parti au paradis)|sont mort(?:e)?s|nous a (?:quittés?|quittées)|m'a quittée?|a (?:dû être )?(?:été )?(?:euthanasiée?|piquée?)|n'est plus (?:là|avec nous)|(?:s'est|a) (?:enfuie?|fugué|échappée?)|fait (?:endormir|piquer|euthanasier)|(?:l'ai|l'avons|l'a) (?:donnée?|confiée?|placée?)|donnée? à)\b")),
    Ending(OWNED, pattern(r"\b(?:(?:j'ai|on a|nous avons|ai|l'ai|a été|avons) (?:vendue?s?|donnée?s?|revendue?s?|jetée?s?|cédée?s?|rendue?s?)|(?:n'ai|n'a|n'avons) (?:plus|pas)|(?:est|part|va|a fini|partie?) (?:partie? )?à la casse|(?:m'a été|on m'a) volée?|s'est fait voler|me suis débarrassée?|me suis séparée? (?:de|du)|épave)\b")),
    Ending(THING, pattern(r"\b(?:est morte?|a rendu l'âme|est fichue?|hors service|n'est plus à moi)\b")),
    Ending(FAMILY, pattern(r"\b(?:(?:on|nous) (?:a|avons|s'est|nous sommes|est) (?:rompu|cassé|séparée?s|quittée?s|divorcé)|c'est (?:fini|terminé)|c'est de l'histoire ancienne|(?:m'a|l'ai|ai) (?:quittée?|larguée?|plaquée?)|(?:suis|je suis) (?:divorcée?|séparée?|célibataire|veuf|veuve)\b|(?:le|mon|notre) divorce|on n'est plus ensemble|plus ensemble|mon ex\b|j'ai (?:rompu|divorcé))"), values=pattern(_PARTNER), named=False, of_others=True),
    Ending(LANGUAGE, pattern(r"\b(?:enlève|retire|raye|supprime|oublie|(?:ne |n')?(?:parle|comprends)s? (?:plus|pas)|j'ai (?:tout )?(?:oublié|perdu))\b"), asked=True),
    Ending(ORDER, pattern(r"\b(?:oublie|ignore|arrête|laisse tomber|annule|tu peux|vous pouvez|plus (?:besoin|la peine)|pas besoin|inutile|ce n'est plus|on peut|reviens|revenons|repasse|c'est fini)\b"), asked=True),
    Ending(ORDER, pattern(rf"\b(?:reviens|repasse|retour|revenons|repassons|passe|en|bascule) (?:au|à l'|en|à)? ?{_TONGUE}\b|\btu peux (?:me )?(?:répondre|parler|écrire) en {_TONGUE}"), values=pattern(_TONGUE), named=False, asked=True),
    Ending(ORDER, pattern(r"\b(?:on (?:peut )?(?:se |à nouveau se )?(?:tutoyer|tutoie)|tu peux me tutoyer|tutoie-moi|tutoyons-nous|passons au tu)\b"), values=pattern(r"vouv"), named=False, asked=True),
    Ending(ORDER, pattern(r"\b(?:on (?:peut )?(?:se )?(?:vouvoyer|vouvoie)|vouvoie-moi|vouvoyez-moi)\b"), values=pattern(r"tuto"), named=False, asked=True),
    Ending(ORDER, pattern(r"\b(?:longue?s?|longuement|détaillée?s?|développer|t'étendre|en détail|plus de détails?)\b"), values=pattern(r"\b(?:courte?s?|brefs?|brève\w*|brièvement|mots|lignes|phrases|concis\w*|succinct\w*)\b"), named=False, asked=True),
    Ending(ORDER, pattern(r"\b(?:tu peux (?:re)?mettre|remets|tu peux utiliser|les) (?:des |les |à nouveau des )?(?:emojis?|émojis?|smileys?)"), values=pattern(r"[eé]moji|smiley"), named=False, asked=True),
    Ending(frozenset({"nickname"}), pattern(r"\b(?:ne m'appelle(?:z)? (?:plus|pas)|arrête(?:z)? de m'appeler)\b"), asked=True),
    Ending(NOTE, pattern(r"\b(?:annulée?s?|annulé|reportée?s?|oublie|tu peux oublier|ce n'est plus|c'est passé|changé|décalée?|n'est plus|ne vient plus|plus besoin)\b"), of_others=True, asked=True),
    Ending(ANY - BODY, pattern(r"(?<!n')(?<!jamais )\b(?:oublie|oubliez|efface|supprime|ignore)(?:z)? (?:que|qu'|ce que|mon|ma|mes|le|la|l')"), asked=True),
    Ending(BODY, pattern(r"(?<!n')\b(?:oublie|oubliez|efface|supprime|ignore) (?:que je (?:suis|ai)|que j'ai|mon|ma|mes)\b[^,.;]{0,60}\b(?:allergi\w+|intol\w+|maladie|diab\w+|asthme|\w+ique|enceinte|grossesse)"), asked=True),
    Ending(BEING, pattern(r"\b(?:en fait |non,? )?(?:je ne suis|je suis|j'suis|je ne m'appelle|je n'habite) pas\b(?! (?:sûre?|certaine?|très|trop|si|là|en forme|fan)\b)")),
    Ending(BEING | OWNED | LANGUAGE, pattern(r"\b(?:c'était (?:une )?(?:blague|erreur|pour rire|faux)|je (?:plaisantais|rigolais|blaguais)|j'ai menti|je me suis trompée?|faute de frappe)\b")),
    Ending(OWNED | LANGUAGE, pattern(r"\bje (?:n'ai|ai|ne parle|parle|n'conduis) pas (?:de |d')?")),
    Ending(PASSING, pattern(r"\b(?:n'est plus (?:vrai|le cas|d'actualité)|c'est (?:fini|terminé),?|j'en ai fini avec|ne \w+ plus|n'\w+ plus)\b")),
)  # fmt: skip

TAKING_BACK: Final = TakingBack(
    endings=_ENDINGS,
    others=pattern(rf"(?:(?:et|mais|donc|car|que|parce que|maintenant|hier|aujourd'hui|bon|alors) )*(?:(?:mon|ma|mes|notre|nos) (?:\w+ )?{_KIN}\b(?! et moi\b)|il|elle|ils|elles|vous(?! pouvez)|son|sa|ses|leur)\b"),
    instead=(
        pattern(r"\b(?:pas|non) (?:à |de |du |d'|en |au )?(?P<old>[\w-]+),? mais (?:à |de |du |d'|en |au |bien )?(?P<new>(?-i:[A-ZÀ-Þ\d])[\w'-]+(?: (?-i:[A-ZÀ-Þ])[\w'-]+){0,2})"),
        pattern(r"(?P<new>(?-i:[A-ZÀ-Þ])[\w'-]+),? pas (?P<old>(?-i:[A-ZÀ-Þ])[\w'-]+)"),
        pattern(r"\b(?:c'est|m'appelle|viens de|viens d'|suis de|habite|vis|en fait|née? à|plutôt|dire)(?: à| de| en| au)? ?(?P<new>(?-i:[A-ZÀ-Þ\d])[\w'-]+(?: (?-i:[A-ZÀ-Þ])[\w'-]+){0,2}),? (?:et )?(?:pas|non) (?:à |de |d'|en |au )?(?P<old>(?-i:[A-ZÀ-Þ\d])[\w'-]+)"),
    ),
    small=frozenset("le la les l un une des du de d en à au aux et ou avec par pour mon ma mes me m se s ce qui que qu ne n pas plus est suis son sa ses je j tu on nous vous sans toujours jamais comme ans vit travaille parle aime moi réponds reponds parle ecris a nuit".split()),
)  # fmt: skip

FRENCH_FRAMES: Final = Frames(
    play=pattern(
        r"\b(?:fais (?:comme si|semblant)|on fait comme si|imagine que tu es|on joue ?(?:[:,]|à)|jouons|jeu de rôles?|faisons (?:comme si|semblant))|\btu (?:es|seras|joues|fais) (?:mon|ma|une?|le|la|l') ?[^.?!]{2,50}?(?:,| et|;) ?(?:et )?(?:moi,? )?je\b|\bje (?:suis|serai|joue|fais) (?:le|la|une?|l')[^.?!]{2,60}?(?:,| et|;|\.) ?(?:et )?(?:toi,? )?tu (?:es|seras|joues|fais)\b"
    ),
    over=pattern(r"\b(?:fin du (?:jeu|rôle)|(?:on arrête|arrêtons|stop) (?:de jouer|le jeu)|hors (?:jeu|personnage|rôle)|le jeu est (?:fini|terminé)|trêve de (?:jeu|plaisanterie)|dans la vraie vie|en vrai|sérieusement maintenant|retour à la réalité)\b[,.:!]?"),
    announced=pattern(
        r"\b(?:(?:je (?:te |vous )?(?:colle|copie|mets|envoie|transmets|partage)|je vais (?:te )?(?:coller|copier|envoyer)|voici) (?:ci-dessous |ici |maintenant )?(?:le|la|une?|l'|ce que|son|sa) ?(?:\w+ ){0,2}?(?:mail|courriel|courrier|message|lettre|texte|mot|bio|biographie)\b(?![^.?!]{0,60}\n)|(?:écris|rédige|aide-moi (?:à écrire|pour))(?:-moi)? (?:une?|la|le) (?:bio|biographie|profil|présentation|cv) (?:de|pour|d'|du) ?(?:mon|ma|un|une|le|la) (?!site|page|profil|compte|blog)\w+)"
    ),
)  # fmt: skip
