"""Spanish words for times, and the words that tell past from future."""

from __future__ import annotations

import re
from typing import Final

from memoranda.formation.times.lexicon import Lexicon, counted

_WEEKDAYS: Final = (
    "lunes",
    "martes",
    "miércoles|miercoles",
    "jueves",
    "viernes",
    "sábado|sabado",
    "domingo",
)
_MONTHS: Final = (
    "enero|ene",
    "febrero|feb",
    "marzo|mar",
    "abril|abr",
    "mayo",
    "junio|jun",
    "julio|jul",
    "agosto|ago",
    "septiembre|setiembre|sept|sep",
    "octubre|oct",
    "noviembre|nov",
    "diciembre|dic",
)
_NUMBERS: Final = (
    "un|una|uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis|dieciseis diecisiete "
    "dieciocho diecinueve veinte veintiuno|veintiún|veintiuna veintidós|veintidos veintitrés|veintitres veinticuatro veinticinco "
    "veintiséis|veintiseis veintisiete veintiocho veintinueve treinta treinta~y~uno"
)
_ORDINALS: Final = (
    "primero|primer|primera segundo|segunda tercero|tercer|tercera cuarto|cuarta quinto|quinta"
)

SPANISH: Final = Lexicon(
    code="es",
    tokens={
        "": "el|la|los|las|de|del|solo|sólo|justo|exactamente|ya|apenas",
        "AT": "a lo largo de",
        "IN": "en",
        "SINCE": "desde|desde el|ya desde",
        "FROM": "a partir de|a partir del|desde ya|no antes de|no antes del|comenzando en|a contar de",
        "FOR": "por|durante|durante los",
        "UNTIL": "hasta|hasta el|hasta la|hasta el día|a más tardar|a más tardar el|como muy tarde el|como muy tarde|antes del fin de|"
        "hasta inclusive",
        "BETWEEN": "entre",
        "TO": "a|al",
        "AND": "y",
        "ONWARDS": "en adelante|adelante",
        "AGO": "hace|hace ya|hará|atrás",
        "HENCE": "dentro de",
        "MORE": "más",
        "LAST": "pasado|pasada|pasados|pasadas|último|última|últimos|últimas|ultimo|ultima|anterior",
        "KW": "semana número",
        "LAST2": "antepasado|antepasada|penúltimo|penúltima|anterior al pasado|anterior a la pasada",
        "SOON": "próximo|próxima|próximos|próximas|proximo|proxima|que viene|que vienen|entrante|que entra",
        "THIS": "este|esta|estos|estas|actual|en curso",
        "DAY:0": "hoy|hoy mismo",
        "NOW": "ahora|ahora mismo",
        "DAY:0 PART": "esta noche|esta mañana|esta tarde|hoy en la mañana",
        "DAY:1": "mañana",
        "DAY:1 PART": "mañana por la mañana",
        "DAY:2": "pasado mañana",
        "DAY:-1": "ayer",
        "DAY:-1 PART": "anoche",
        "DAY:-2": "anteayer|antes de ayer|antier",
        "DAY:-2 PART": "anteanoche|antenoche",
        "U:minute": "minuto",
        "UU:minute": "minutos",
        "U:hour": "hora",
        "UU:hour": "horas",
        "U:day": "día|dia",
        "UU:day": "días|dias",
        "U:week": "semana",
        "UU:week": "semanas",
        "N:2 U:week": "quincena|una quincena",
        "U:month": "mes",
        "UU:month": "meses",
        "U:quarter": "trimestre",
        "UU:quarter": "trimestres",
        "U:half": "semestre",
        "U:year": "año",
        "UU:year": "años",
        "N:10 U:year": "década|una década",
        "WEEKEND": "fin de semana|finde",
        "PART": "por la mañana|en la mañana|de la mañana|la mañana|por la tarde|en la tarde|de la tarde|la tarde|al mediodía|mediodía|"
        "a mediodía|tarde|de madrugada|madrugada|por la madrugada",
        "NIGHT": "noche|por la noche|en la noche|de la noche|la noche|a medianoche|medianoche",
        "CLOCK": "en punto",
        "S:0": "primavera",
        "S:1": "verano",
        "S:2": "otoño",
        "S:3": "invierno",
        "MID": "mediados|a mediados|mitad|a mitad",
        "START": "principios|a principios|comienzos|a comienzos|inicios|a inicios|principio|comienzo|inicio",
        "END": "finales|a finales|fines|a fines|final|fin|al final",
        "HALF": "medio|media|mitad",
        "AND-A-HALF": "y medio|y media",
        "N:2": "par|un par|par de|un par de",
        "HOL:12-24": "nochebuena",
        "HOL:12-25": "navidad|día de navidad",
        "HOL:12-31": "nochevieja|fin de año",
        "HOL:1-1": "año nuevo|día de año nuevo",
        "HOL:1-6": "reyes|día de reyes",
        "HOL:2-14": "san valentín",
        "HOL:10-31": "halloween",
        "ABOUT": "más o menos|alrededor de|alrededor del|aproximadamente|unos|unas|cerca de|sobre",
        "INCLUDED": "incluido|incluida|inclusive",
        "OR": "o|excepto|salvo",
        "!": "quizás|quizá|tal vez|a lo mejor|probablemente|posiblemente|a estas alturas|siguiente|siguientes|los fines de semana|fines de semana|más de|menos de|casi|al menos|todos|todas|cada|después|tras|algunos|algunas|varios|varias|no|nunca|pronto|rato|un rato|pocos|pocas|"
        "semanalmente|diariamente|muchos|muchas|uno de estos|un día de estos|los lunes|los martes|los miércoles|los jueves|los viernes|"
        "los sábados|los domingos|antes",
        **counted("WD", _WEEKDAYS),
        **counted("M", _MONTHS, 1),
    },
    numbers=_NUMBERS,
    ordinals=_ORDINALS,
    past=re.compile(
        r"\b(?:fui|fue|fuimos|fueron|era|eran|estuve|estuvo|estuvimos|estuvieron|tuve|tuvo|tuvimos|hice|hizo|hicimos|vine|vino|"
        r"dije|dijo|había|habían|(?:he|has|ha|hemos|han) \w+(?:ado|ido|cho|sto|to)|vi|vimos|di|dio|"
        r"\w{3,}(?:é|ó|amos|imos|aste|iste|aron|ieron|aba|aban|ábamos|ía|ían))\b"
    ),
    future=re.compile(
        r"\b(?:voy a|vas a|va a|vamos a|van a|iré|irá|iremos|irán|\w{3,}(?:aré|eré|iré|ará|erá|irá|aremos|eremos|iremos|arán|erán|irán)|"
        r"tendré|tendrá|tendremos|haré|hará|haremos|será|serán|estaré|estará|planeo|planeamos|pienso|tengo que|tenemos que|"
        r"debo|recuérdame|recuerdame|reservad[oa]s? para|nos vemos|viajo|salgo|vuelo|llega|llego|empiezo|empieza|quiero|queremos)\b"
    ),
    ordinary=frozenset({"mar", "ago"}),
    date="{day} de {month} de {year}",
    month="{month} de {year}",
    day_articles=frozenset({"el", "al", "del"}),
    months="enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
)
