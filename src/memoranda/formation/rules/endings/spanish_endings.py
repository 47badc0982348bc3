"""Spanish: what takes earlier statements back, and what makes later messages no statements."""

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

_KIN = r"(?:mujer|esposa|marido|esposo|pareja|novi[oa]|madre|mamá|padre|papá|hij[oa]s?|herman[oa]s?|abuel[oa]s?|tí[oa]|prim[oa]s?|sobrin[oa]s?|suegr[oa]|cuñad[oa]|amig[oa]s?|jef[ea]|vecin[oa]s?|compañer[oa]s?|profe|niet[oa])"
_PARTNER = (
    r"\b(?:mujer|esposa|marido|esposo|pareja|novi[oa]|prometid[oa]|casad[oa]|comprometid[oa])\b"
)
_TONGUE = r"(?:español|castellano|inglés|francés|alemán|italiano|portugués|catalán|gallego|euskera)"

_ENDINGS: Final = (
    Ending(HOME, pattern(r"\b(?:ya no (?:vivo|vivimos|estoy|estamos|resido)|no (?:vivo|vivimos)|dej(?:é|amos) (?!de)|me (?:fui|mudé|marché|largué)|nos (?:fuimos|mudamos|marchamos))\b")),
    Ending(WORK, pattern(r"\b(?:me (?:han )?(?:echar?on|echado|despidieron|despedido|corrieron|botaron|jubil(?:é|ado)|quedé sin (?:trabajo|empleo))|(?:dejé|he dejado|perdí|he perdido) (?:el|mi) (?:trabajo|empleo|curro|puesto)|renunci(?:é|ado)|dimití|he dimitido|estoy (?:en paro|en el paro|desemplead[oa])|"
           r"(?:mi |el )?último día (?:en|de|como)|cerr(?:é|amos) (?:el|la|mi)|me (?:he )?jubil(?:é|ado))\b"), named=False),
    Ending(WORK, pattern(r"\b(?:ya no (?:trabajo|soy|estoy|curro|llevo|enseño)|dej(?:é|ado)(?: de)?|no (?:soy|trabajo)|era mentira|no era verdad)\b")),
    Ending(TASTE, pattern(r"\b(?:ya no(?: me| es| son)?|se acabó|se acabaron|dej(?:é|ado)(?: de)?|(?:lo|la|los|las) (?:dejé|he dejado)|(?:he|me he) (?:aburrido|cansado)(?: ya)? de|me (?:cansé|aburrí|harté) de|he terminado con|no (?:es|son) lo mío|quita|tacha|borra|descarta|paso (?:ya )?de|me ha dejado de|ha dejado de)\b")),
    Ending(DISLIKED, pattern(r"\b(?:ya no (?:odio|detesto|me (?:da|dan|molest))|ahora (?:me (?:gustan?|encantan?|chiflan?)|sí)|he (?:aprendido a|cambiado)|me he reconciliado)\b")),
    Ending(DIET, pattern(r"\b(?:ya no|dej(?:é|ado) de ser|dejé|he dejado|se acabó|no soy|vuelvo a|he vuelto a|volví a|abandon(?:é|ado))\b")),
    Ending(DIET, pattern(r"\b(?:(?:vuelvo|volví|he vuelto|hemos vuelto|empecé|he empezado) a (?:comer|probar|tomar) (?:\w+ ){0,2}?(?:carne|pollo|pescado|jamón|cerdo|ternera|marisco)|(?:como|comí|estoy comiendo) (?:\w+ ){0,2}?(?:carne|pollo|jamón|pescado) (?:otra vez|de nuevo|ahora)|ya como (?:\w+ )?(?:carne|pollo|pescado|de todo)|ahora (?:sí )?como (?:carne|de todo))\b"),
           values=pattern(r"vegan|vegetar|pescetar|pescatar|carne|pollo|pescado|cerdo"), named=False),
    Ending(DIET, pattern(r"\b(?:vuelvo|volví|he vuelto|empecé|he empezado) a (?:beber|tomar)\b|\bya (?:bebo|tomo) (?:alcohol|vino|cerveza)"), values=pattern(r"alcohol|vino|cerveza|abstemi|bebo|café"), named=False),
    Ending(ALLERGY, pattern(r"\b(?:(?:ya )?no soy (?:\w+ )?(?:alérgic|intolerante)\w*|(?:ya )?no tengo (?:\w+ )?(?:alergia|intolerancia)|falso positivo|falsa alarma|me (?:equivoqué|diagnosticaron mal)|(?:no (?:era|es|eran|son)) (?:el problema|la causa|cosa|culpa|alergia)|(?:al final|resulta que) (?:no|sí puedo)|ya (?:puedo|tolero)|"
           r"se me (?:ha )?(?:pasó|pasado|quitó|quitado|curó) la|(?:las?|los) pruebas? (?:dio|dieron|salió|salieron|ha salido|han salido) negativ\w+|puedo (?:volver a )?(?:comer|tomar) [^,.;]{0,30}(?:otra vez|sin problema|de nuevo)|vuelvo a (?:comer|tomar|tolerar)|era otra cosa)\b")),
    Ending(BODY, pattern(r"\b(?:me (?:equivoqué|diagnosticaron mal)|falso positivo|falsa alarma|ya no (?:tengo|padezco|tomo|uso|llevo|estoy embarazada|soy)|estoy curad[oa]|me (?:he )?cur(?:é|ado)|al final no (?:tengo|era|soy|estoy))\b")),
    Ending(frozenset({"health"}), pattern(r"\b(?:di a luz|he dado a luz|ya (?:nació|ha nacido)|nació (?:mi|nuestr[oa]|el|la) (?:bebé|hij[oa]|niñ[oa]))\b"), values=pattern("embaraz"), named=False),
    Ending(PET, pattern(r"\b(?:murió|ha muerto|falleció|ha fallecido|se (?:me|nos) (?:ha )?(?:murió|muerto|fue|ido|escapó|perdió)|ya no está(?: con nosotros)?|tuvimos que (?:sacrificar|dormir|despedir)\w*|lo (?:dimos|di) en adopción|la (?:dimos|di) en adopción|cruzó el arco)\b")),
    Ending(OWNED, pattern(r"\b(?:vend(?:í|imos|ido|iste)|regal(?:é|amos|ado)|(?:di|dimos) en adopción|ya no (?:tengo|tenemos|conduzco|está)|me (?:lo |la )?(?:robaron|han robado)|(?:fue|va|ha ido|se fue) al? desguace|dio de baja|di de baja|siniestro total|me deshice|nos deshicimos|don(?:é|amos)|doné|no tengo|no tenemos)\b")),
    Ending(THING, pattern(r"\b(?:murió|ha muerto|pasó a mejor vida|se rompió del todo|dijo basta|palmó)\b")),
    Ending(FAMILY, pattern(r"\b(?:(?:hemos )?(?:terminamos|terminado|rompimos|roto|cortamos|cortado)\b(?! (?:el|la|los|de)\b)|(?:he|lo he) dejado con|lo (?:dejamos|hemos dejado)|nos (?:hemos )?(?:separamos|separado|divorciamos|divorciado|dejamos)|me (?:he )?(?:separ|divorci)(?:é|ado)|me dejó|(?:mi|el) divorcio|estoy (?:divorciad|separad|solter)[oa]|"
           r"ya no (?:estamos juntos|estoy con|somos pareja)|mi ex\b|(?:enviud|qued(?:é) viud)\w*)"), values=pattern(_PARTNER), named=False, of_others=True),
    Ending(LANGUAGE, pattern(r"\b(?:quita|tacha|borra|elimina|saca|ya no (?:hablo|recuerdo)|no (?:hablo|sé)|se me (?:ha )?olvid(?:ó|ado))\b"), asked=True),
    Ending(ORDER, pattern(r"\b(?:olvida|ignora|deja de|ya (?:puedes|podés|no hace falta|no es necesario|no necesito|no)|puedes volver|puedes (?:usar|poner|tutear)|no hace falta(?: que)?|cancela|anula|se acabó lo de|vuelve a|volvamos a)\b"), asked=True),
    Ending(ORDER, pattern(rf"\b(?:vuelve|volvé|volvamos|vuelta|regresa|en|pásate|cambia|pasa) (?:al|a|ya al|en)? ?{_TONGUE}\b|\bpuedes (?:hablarme|responder(?:me)?|contestar(?:me)?|escribir(?:me)?) en {_TONGUE}"), values=pattern(_TONGUE), named=False, asked=True),
    Ending(ORDER, pattern(r"\b(?:puedes (?:tutearme|hablarme de tú)|(?:ya )?(?:tutéame|tutéeme|háblame de tú|trátame de tú)|podemos tutearnos|me puedes tutear|de tú)\b"), values=pattern(r"\busted\b|tutees"), named=False, asked=True),
    Ending(ORDER, pattern(r"\b(?:trátame|háblame|de) de usted\b|\bde usted,? (?:por favor|mejor)"), values=pattern(r"tutéame|\bde tú\b"), named=False, asked=True),
    Ending(ORDER, pattern(r"\b(?:larg[oa]s?|extens[oa]s?|detallad[oa]s?|con (?:más )?detalles?|extenderte|explayarte|alargarte)\b"), values=pattern(r"\b(?:cort[oa]s?|breves?|brev\w+|líneas|palabras|frases|resumid\w+|conci\w+)\b"), named=False, asked=True),
    Ending(ORDER, pattern(r"\b(?:puedes (?:usar|poner)|usa|pon|vuelve a usar) (?:otra vez )?(?:los )?(?:emojis?|emoticonos)"), values=pattern(r"emoji|emoticono"), named=False, asked=True),
    Ending(frozenset({"nickname"}), pattern(r"\b(?:no me (?:llames|llamen|digas|digan)|deja de (?:llamarme|decirme)|ya no me (?:llamo|dicen|llaman))\b"), asked=True),
    Ending(NOTE, pattern(r"\b(?:cancel(?:ó|aron|ad[oa]|aron)|se (?:ha )?(?:canceló|cancelado|suspendió|suspendido|anuló|anulado)|ya no|olvida|olvídate|olvidalo|olvídalo|puedes olvidar|ya pasó|ha cambiado|cambió|cambiaron|es ahora)\b"), of_others=True, asked=True),
    Ending(ANY - BODY, pattern(r"(?<!no )(?<!no te )\b(?:olvida(?:te)?|olvídate|olvidá|borra|elimina|ignora)(?: de)? (?:que|lo de|lo que|mi|el|la)\b"), asked=True),
    Ending(BODY, pattern(r"(?<!no )(?<!no te )\b(?:olvida(?:te)?|olvídate|borra|ignora)(?: de)? (?:que (?:soy|tengo|estoy)|lo de (?:mi|la|el)|mi)\b[^,.;]{0,60}\b(?:al[eé]rgi\w+|intoleran\w+|enfermedad|diab\w+|asma|\w+ic[oa]|embaraz\w+)"), asked=True),
    Ending(BEING, pattern(r"\b(?:yo )?(?:en realidad |la verdad )?no (?:soy|me llamo|estoy|vivo)\b(?! (?:seguro|segura|muy|tan|de los)\b)")),
    Ending(BEING | OWNED | LANGUAGE, pattern(r"\b(?:era (?:una? )?(?:broma|mentira|error)|estaba (?:bromeando|de broma)|mentí|me lo inventé|puse mal|me equivoqué|fue un error)\b")),
    Ending(OWNED | LANGUAGE, pattern(r"\bno (?:tengo|tenemos|hablo|conduzco)\b")),
    Ending(PASSING, pattern(r"\b(?:ya no|nunca más|se acabó|he terminado con)\b")),
)  # fmt: skip

TAKING_BACK: Final = TakingBack(
    endings=_ENDINGS,
    others=pattern(rf"(?:(?:y|pero|que|porque|ahora|hoy|ayer|pues|además|resulta que) )*(?:(?:mis?|nuestr[oa]s?) (?:\w+ )?{_KIN}\b(?! y yo\b)|él|ella|ellos|ellas|usted(?:es)?|tu|su|a (?:mi|su) {_KIN})\b"),
    instead=(
        pattern(r"\bno (?:es |soy |me llamo |en |de )?(?:de )?(?P<old>[\w'-]+),? sino (?:de |en |que )?(?P<new>(?-i:[A-ZÁÉÍÓÚÑ\d])[\w'-]+(?: (?-i:[A-ZÁÉÍÓÚÑ])[\w'-]+){0,2})"),
        pattern(r"(?P<new>(?-i:[A-ZÁÉÍÓÚÑ])[\w'-]+),? no (?P<old>(?-i:[A-ZÁÉÍÓÚÑ])[\w'-]+)"),
        pattern(r"\b(?:soy|es|me llamo|vivo|quise decir|en realidad|tengo)(?: de| en| es)? (?P<new>(?-i:[A-ZÁÉÍÓÚÑ\d])[\w'-]+(?: (?-i:[A-ZÁÉÍÓÚÑ])[\w'-]+){0,2}),? (?:y )?no (?:de |en )?(?P<old>(?-i:[A-ZÁÉÍÓÚÑ\d])[\w'-]+)"),
    ),
    small=frozenset("el la los las un una unos unas de del en a al y e o con por para mi mis me se lo le que no ya es son soy tu su sin siempre nunca como muy más todo años trabaja vive habla tiene gusta".split()),
)  # fmt: skip

SPANISH_FRAMES: Final = Frames(
    play=pattern(
        r"\b(?:haz (?:como que|de cuenta)|imagina que (?:eres|soy)|finge que|juguemos|jugamos|juego de rol(?:es)?|hagamos (?:como que|de cuenta)|hacemos un (?:rol|teatro))\b|\b(?:tú|vos) (?:eres|sos|serás|haces de) (?:mi|una?|el|la) [^.?!]{2,50}?(?:,| y|;) ?(?:y )?yo\b|\byo (?:soy|seré|hago de) (?:el|la|una?) [^.?!]{2,60}?(?:,| y|;) ?(?:y )?(?:tú|vos) (?:eres|sos|serás|haces)\b"
    ),
    over=pattern(r"\b(?:fin del? (?:juego|rol|teatro)|se acabó el (?:juego|rol)|fuera de(?:l)? (?:personaje|juego|rol)|basta de (?:jugar|juego|rol)|dejemos el (?:juego|rol)|ya en serio|ahora en serio|en la vida real|volviendo a la realidad)\b[,.:!]?"),
    announced=pattern(
        r"\b(?:(?:te |ahora te )?(?:pego|paso|pegaré|pasaré|mando|mandaré|copio|comparto|voy a (?:pegar|pasar|copiar|mandar)(?:te)?) (?:ahora |aquí |abajo )?(?:el|la|una?|lo que|mi|su) (?:\w+ ){0,2}?(?:correo|mensaje|carta|texto|mail|email|nota|de mi|biografía)|(?:escribe|escríbeme|redacta|ayúdame (?:a escribir|con)) (?:una?|la|el) (?:bio|biografía|perfil|presentación|currículum) (?:de|para) (?:mi|un|una|el|la) (?!web|página|perfil|cuenta|linkedin)\w+)"
    ),
)  # fmt: skip
