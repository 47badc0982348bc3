"""The rules for Spanish."""

from __future__ import annotations

from typing import Final

from memoranda.formation.rules.endings.spanish_endings import SPANISH_FRAMES, TAKING_BACK
from memoranda.formation.rules.grammar import (
    CAPITALISED,
    COVERED,
    EMOJI,
    NEVER,
    Language,
    Reach,
    Rule,
    pattern,
)
from memoranda.formation.rules.makes import VEHICLE_NAME

_LIST, _PHRASE, _CLAUSE = Reach.LIST, Reach.PHRASE, Reach.CLAUSE
_STOPS = (
    "y|e|o|pero|que|porque|pues|así|aunque|si|como|cuando|donde|mientras|con|sin|desde|hasta|para|por|hace|ya|ahora|también|además|me|te|se|nos|le|lo|soy|es|son|estoy|está|tengo|tiene|"
    "tenemos|vivo|trabajo|quiero|necesito|puedes|puede|qué|cómo|cuál|dónde|gracias|porfa|aquí|allí|hoy|mañana|siempre|nunca|muy|más|mi|mis|tu|su|no|ni|a|al|en|y|todavía|nomás|jaja|desde|"
    "aparte|igual|toda|todos|todo|busco|suele|anda|hay|entre|salvo|menos|ayuda|dime|cada|fue|era|ando|voy|llevo|quisiera|encima"
)
_MONTH = (
    "(?:enero|febrero|marzo|abril|mayo|junio|julio|agosto|sep?tiembre|octubre|noviembre|diciembre)"
)
_NUMBERS = "(?:ocho|nueve|diez|once|doce|trece|catorce|quince|dieciséis|diecisiete|dieciocho|diecinueve|veinte|veinti\\w+|(?:treinta|cuarenta|cincuenta|sesenta|setenta|ochenta|noventa)(?: y (?:un|uno|dos|tres|cuatro|cinco|seis|siete|ocho|nueve))?)"
_KIN_ONE = (
    "mujer|esposa|marido|esposo|pareja|novi[oa]|prometid[oa]|madre|mamá|padre|papá|hij[oa]|hijit[oa]|herman[oa]|hermanit[oa]|abuel[oa]|abuelit[oa]|tí[oa]|prim[oa]|sobrin[oa]|niet[oa]|suegr[oa]|cuñad[oa]|"
    "niñ[oa]|bebé|peque|hijastr[oa]|ahijad[oa]|yerno|nuera|gemel[oa]|melliz[oa]"
)
_PET_ONE = (
    "perr[oa]|perrit[oa]|cachorr[oa]|gat[oa]|gatit[oa]|coneja|conejo|conejit[oa]|hámster|cobaya|cuy|tortuga|loro|lora|periquito|canario|pez|caballo|yegua|burr[oa]|gallina|pollito|cabra|oveja|cerdit[oa]|"
    "hurón|hurona|iguana|serpiente|gecko|agaporni|cotorra|galgo|galga|podenco|labrador|labradora|caniche|chihuahua|beagle|mestizo|mestiza|bulldog|pastor alemán|vaca|pato|erizo|rata|ratón|pájaro|yorkshire"
)
_FOOD = (
    "(?:carnes?(?: rojas?)?|pescado|cerdo|pollo|mariscos?|huevos?|lácteos|leche|queso|gluten|trigo|azúcar|pan|sal|frutos secos|nada de origen animal|productos animales|animales|carbohidratos|harinas?|"
    "ternera|cordero|embutidos?|miel|picante)"
)
_SURE = "(?:(?:también|muy|bastante|realmente|súper|super|un poco|medio|totalmente|estrictamente|ahora|ya|además|siempre|actualmente|originalmente|originariamente|oficialmente|solo|sólo|todavía|aún) ){0,2}"
_WORDS: Final = {
    "END": rf"(?=\s*(?:[,.;:!?()\n¿¡—–{EMOJI}]|-\s|$)|\s+(?:{_STOPS})\b|\s+\d)",
    "CAP": CAPITALISED,
    "NAME": rf"(?:(?:(?:don|doña|dr\.|dra\.|doctor|doctora|profesor|profesora) )?{CAPITALISED}(?: (?:(?:de la|de los|de|del|y) )?{CAPITALISED}){{0,2}}|{COVERED})",
    "GIVEN": rf"(?:(?!(?:{_STOPS})\b){CAPITALISED}(?: {CAPITALISED})?|{COVERED})",
    "PLACE": rf"(?:(?:la |el |los |las )?{CAPITALISED}(?:(?: (?:de la|de los|de|del|la|el|y) | ){CAPITALISED}){{0,3}})",
    "ORG": rf"(?:(?:el |la |los |las |un |una )?{CAPITALISED}(?:(?: (?:de la|de|del|&) | ){CAPITALISED}){{0,3}})",
    "NP": rf"(?:(?!(?:{_STOPS})\b)[\w'-]+(?: (?!(?:{_STOPS})\b)[\w'-]+){{0,4}})",
    "ART": "(?:(?:el|la|los|las|un|una|unos|unas|mi|mis|nuestr[oa]s?) )",
    "AGE": rf"(?:[89]|[1-9]\d|1[01]\d|{_NUMBERS})",
    "DATE": rf"(?:\d{{1,2}}|un[o]?|primero|quince|veinte|{_NUMBERS}) de {_MONTH}(?: (?:de|del) (?:19|20)\d\d)?|\d{{1,2}}/\d{{1,2}}(?:/\d{{2,4}})?",
    "MONTH": _MONTH,
    "KIN": rf"(?:{_KIN_ONE})",
    "KINS": rf"(?:(?:{_KIN_ONE})s?|hijos|hijas|hermanos|hermanas|nietos|nietas|niños|niñas|gemelos|gemelas|mellizos|mellizas|peques|críos|sobrinos|sobrinas)",
    "PET": rf"(?:{_PET_ONE})",
    "PETS": rf"(?:(?:{_PET_ONE})(?:e?s)?|peces)",
    "COUNT": r"(?:una?|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|doce|varios|varias|unos|unas|algunos|algunas|\d{1,2})",
    "TONGUE": "(?:español|castellano|inglés|francés|alemán|italiano|portugués|catalán|valenciano|gallego|euskera|vasco|quechua|guaraní|aimara|aymara|náhuatl|maya|mapudungun|árabe|chino|mandarín|japonés|coreano|ruso|ucraniano|polaco|rumano|"
    "neerlandés|holandés|sueco|noruego|danés|finés|finlandés|griego|turco|hebreo|hindi|urdu|latín|esperanto|húngaro|checo|búlgaro|serbio|croata|persa|swahili|wolof|bereber|lengua de (?:signos|señas)(?: \\w+)?|aragonés|asturiano|bable|zapoteco|mixteco)",
    "MAKE": VEHICLE_NAME,
    "DIET": "(?:vegan[oa]s?|vegetarian[oa]s?|ovolactovegetarian[oa]s?|pescetarian[oa]s?|pescatarian[oa]s?|flexitarian[oa]s?|crudivegan[oa]s?|abstemi[oa]s?|kosher|halal|keto|sin gluten|sin lactosa)",
    "FOOD": _FOOD,
    "TRADE": (
        r"(?:(?-i:(?![A-ZÁÉÍÓÚÑ]{1,2}[a-z]))(?!(?:soltero|soltera|extranjer[oa]|primer[oa]|viajer[oa]|heredero|heredera|hoguera|compañer[oa]|forastero|forastera|fuera|mejor|peor|mayor|menor|señor|señora|seguidor|seguidora|lector|lectora|admirador|"
        r"admiradora|consumidor|bebedor|bebedora|fumador|fumadora|soñador|soñadora|corredor|corredora|optimista|pesimista|perfeccionista|feminista|realista|turista|deportista|egoísta|madrugador|madrugadora|sincer[oa]|enter[oa]|amor|amante|"
        r"jugador|jugadora|cafetero|cafetera|friolero|friolera|casero|casera|verdader[oa]|fiestero|fiestera|perrero|gatero|ser|autor|portador|portadora|conocedor|comilón|perezos[oa]|verdader[oa])\b)"
        r"(?:\w{2,16}(?:er[oa]|or|ora|ista|ólog[oa]|ógraf[oa]|tri[zc]|maestr[oa]|fiscal|iatra)|bibliotecari[oa]|funcionari[oa]|veterinari[oa]|notari[oa]|empresari[oa]|becari[oa]|voluntari[oa]|universitari[oa]|médic[oa]|mecánic[oa]|informátic[oa]|"
        r"físic[oa]|químic[oa]|músic[oa]|técnic[oa]|polític[oa]|polític[oa]|matemátic[oa]|estudiante|cantante|comerciante|asistente|gerente|docente|dependient[ea]|agente|ayudante|vigilante|fabricante|abogad[oa]|arquitect[oa]|piloto|chef|chofer|chófer|"
        r"cociner[oa]|actor|actriz|juez|jueza|policía|guardia(?: civil)?|militar|soldado|maestr[oa]|profe|sastre|albañil|matrona|partera|auxiliar|azafata|azafato|pediatra|psiquiatra|dentista|guía|fisio|camionero|emplead[oa]|encargad[oa]|jef[ea]|"
        r"director[a]?|autónom[oa]|jubilad[oa]|desemplead[oa]|ama de casa|monitor|monitora|tatuador|tatuadora|community manager|desarrollador|barista|sumiller|bióloga|biólogo|ingenier[oa]|secretari[oa]|socorrista|canguro|niñera|higienista|cura|monja|"
        r"filólog[oa]|científic[oa]|obrer[oa]|recepcionista|operari[oa]|archiver[oa]|diseñador[a]?|abogad[oa]|celador[a]?|músico|fontaner[oa]|restaurador[a]?|intérprete|pintor[a]?|bombero|bombera|teleoperador[a]?|repartidor[a]?))"
    ),
    "TAIL": r"(?: (?:de|del|en|para|por cuenta propia|freelance|jefe|jefa|autónom[oa]|industrial|infantil|social|civil|técnic[oa]|nocturn[oa])(?: (?!paro\b|baja\b|casa\b|profesión\b|formación\b)(?:(?:el|la|los|las|una?|mi) )?[\w'-]+(?: (?:(?:de|del|la) )?<CAP>){0,3})?){0,3}",
    "BUSINESS": "(?:panadería|pastelería|tienda|bar|restaurante|cafetería|taller|empresa|negocio|peluquería|floristería|librería|farmacia|consulta|clínica|academia|granja|finca|hotel|hostal|quesería|bodega|frutería|puesto|kiosco|quiosco|estudio|agencia|imprenta|carpintería|zapatería|papelería|tintorería|lavandería|gimnasio|ferretería|carnicería|pescadería|heladería|churrería|viñedo|tetería|camping)",
    "THING": "(?:coche|carro|auto|moto|motocicleta|bici|bicicleta|furgoneta|camioneta|camión|tractor|scooter|patinete|autocaravana|barco|velero|lancha|kayak|casa|piso|apartamento|cabaña|huerto|huerta|jardín|parcela|terreno|piano|guitarra|"
    "violín|batería|acordeón|saxofón|flauta|cámara|telescopio|portátil|ordenador|computadora|tableta|impresora|dron|horno|cafetera|olla|máquina de coser|telar|colmenas?|invernadero|olivar|viña|caravana|bonsáis?|acuario|tocadiscos|teclado|ukelele|bajo|robot de cocina|freidora de aire|estufa)",
    "ILL": r"(?:asma|epilepsia|diabetes(?: (?:tipo )?(?:1|2|uno|dos|gestacional))?|celiaquía|enfermedad celíaca|artritis(?: \w+)?|artrosis|esclerosis múltiple|migrañas?|depresión|ansiedad|hipertensión|hipotiroidismo|hipertiroidismo|escoliosis|endometriosis|fibromialgia|"
    r"psoriasis|dermatitis(?: \w+)?|gota|tinnitus|acúfenos|párkinson|cáncer(?: de \w+)?|lupus|dislexia|autismo|tdah|toc|insomnio|anemia|hemofilia|osteoporosis|vértigos?|glaucoma|cataratas|reflujo|colon irritable|síndrome de \w+(?: \w+)?|enfermedad de \w+|crohn|colitis(?: \w+)?|"
    r"la tensión alta|tensión alta|colesterol alto|el colesterol alto|una cardiopatía|una hernia(?: \w+)?|una discapacidad(?: \w+)?|discapacidad(?: \w+)?|ovarios poliquísticos|trastorno bipolar|daltonismo|sordera|pérdida (?:de audición|auditiva)|apnea del sueño|problemas de corazón|\w{3,}(?:itis|osis|emia|algia|patía|plejia))",
    "BEING": r"(?:celíac[oa]|celiac[oa]|diabétic[oa](?: (?:de )?tipo (?:1|2|uno|dos))?|asmátic[oa]|epiléptic[oa]|cieg[oa]|invidente|sord[oa]|sordomud[oa]|daltónic[oa]|disléxic[oa]|autista|hipertens[oa]|bipolar|hemofílic[oa]|anémic[oa]|tetrapléjic[oa]|parapléjic[oa]|inmunodeprimid[oa]|hipotiroide[oa]|discapacitad[oa]|usuari[oa] de silla de ruedas|trasplantad[oa](?: de \w+)?|cardiópata|asperger|corto de vista|miope)",
    "ITCH": r"(?:pica|pican|hincha|hinchan|sale|salen|da|dan|cierra|inflama|inflaman|lleno|pongo|sienta|sientan|provoca|provocan|produce|producen|causa|causan)",
    "HARM": r"(?:alergia|urticaria|ronchas?|sarpullido|picor|picores|hinchazón|una reacción|reacción|anafilaxia|estornudos|asma|choque|shock|fatal)",
}  # fmt: skip
_SMALL_WORDS: Final = {
    "NAME": "(?!)",
    "GIVEN": rf"(?:(?!(?:{_STOPS}|loco|loca|luego|cuando|mal|bien|después|un|una|el|la|los|las|algo|eso|esto)\b)[^\W\d_][\w-]+)",
    "PLACE": rf"(?:(?!(?:{_STOPS}|un|una|el|la|los|las|casa|paz|pareja|familia|nubes|luna)\b)[^\W\d_][\w-]+(?: de [^\W\d_][\w-]+)?)",
    "ORG": "(?!)",
}

# One rule a line, so that they read as a table.
# fmt: off
_RULES: Final = (
    Rule("remember", r"(?:por favor,? |porfa,? )?(?:recuerda|recuérdame|recordá|acuérdate(?: de)?|acordate(?: de)?|no (?:olvides|te olvides(?: de)?|olvidés)|ten(?:é|ga)? (?:en cuenta|presente)|apunta|anota|apúntate|toma nota de|guarda|memoriza)(?: por favor)?(?:,? que|:) (?P<value>\w[^?!¿]{4,300})", "{value}", reach=_CLAUSE, asked=True),
    Rule("instruction", r"(?:por favor,? |porfa,? )?(?:a partir de (?:ahora|hoy|este momento)|de (?:ahora|hoy|aquí|acá) en (?:adelante|más)|en (?:lo sucesivo|adelante|el futuro)|desde (?:ahora|ya)|como (?:norma|regla)(?: general)?)(?: mismo)?,? (?:por favor,? |quiero que )?(?P<value>(?!recuerda|llámame|dime \w+$|me |soy|estoy|voy|tengo)\w[^.!?¿]{4,160})", "{value}", reach=_CLAUSE, asked=True),
    Rule("instruction", r"(?:por favor,? |porfa,? )?(?P<value>(?:respónde|contésta|escríbe|tráta|hábla|explíca|resúme|trata|da|di|muéstra|pon|haz|respondé|contestá|escribí|tratá|hablá)(?:me|lo|melo|nos)?(?: (?:todo|las cosas|cada cosa))? (?:siempre|nunca)\b[^.!?¿]{2,160})", "{value}", reach=_CLAUSE, asked=True),
    Rule("instruction", r"(?:por favor,? |porfa,? )?(?P<value>(?:usa|utiliza|emplea|maneja|incluye|añade|cita|indica|pon|escribe|responde|contesta|habla|termina|empieza|evita|omite|usá|poné|escribí|respondé|calcula|redondea|traduce|sugiere|recomienda) siempre\b[^.!?¿]{2,160})", "{value}", reach=_CLAUSE, asked=True),
    Rule("instruction", r"(?:por favor,? |porfa,? )?(?P<value>(?:siempre|nunca|jamás) (?:me )?(?:uses|pongas|escribas|respondas|contestes|des|digas|trates|hables|incluyas|menciones|sugieras|recomiendes|propongas|usa|pon|escribe|responde|contesta|respóndeme|contéstame|trátame|háblame|dame|dime|cita|incluye)\b[^.!?¿]{2,160})", "{value}", reach=_CLAUSE, asked=True),
    Rule("instruction", r"(?:por favor,? |porfa,? )?(?P<value>no (?:me )?(?:uses|pongas|escribas|respondas|contestes|des|digas|trates|hables|incluyas|menciones|sugieras|recomiendes|propongas|tutees)(?: \w+){0,8}? (?:nunca|jamás|en (?:tus|ninguna|las) respuestas?|más)\b[^.!?¿]{0,100})", "{value}", reach=_CLAUSE, asked=True),
    Rule("instruction", r"(?:por favor,? |porfa,? )?(?P<value>(?:(?:trátame|tratame|háblame|hablame) de (?:usted|tú|vos)|tutéame|tuteame|no me tutees|vuelve al? \w+|volvé al? \w+|volvamos al? \w+)(?! (?:tema|principio|punto|texto|ejercicio)\b)[^.!?¿,]{0,80})<END>", "{value}", asked=True),
    Rule("instruction", r"(?:por favor,? )?(?P<value>(?:respónd|contést|escríb|hábl)[ea]me en <TONGUE>|(?:responde|contesta|escribe|habla) en <TONGUE>)(?=(?:,? por favor)?\s*[.!]?\s*$)", "{value}"),
    Rule("possession", r"(?:nuestr[oa]|mi) (?P<who>equipo|empresa|proyecto|backend|frontend) (?P<verb>usa|utiliza|funciona con|trabaja con) (?P<value><CAP>)", "{who} {verb} {value}"),
    Rule("possession", r"(?:me he|nos hemos|he|hemos|acabo de|acabamos de) (?:comprado|comprar(?:me|nos)?) (?P<value>una? (?:casa|piso|apartamento|departamento|chalet|finca) en <PLACE>)", "Tiene {value}"),
    Rule("likes", r"(?:yo )?prefiero (?:el |la |los |las )?(?P<value>[^.,;:!?¿]{2,40}?)(?= (?:al?|antes que|en vez de|que)\b)", "Prefiere {value}"),
    Rule("instruction", r"(?P<value>en (?:todas tus respuestas|cada respuesta|tus respuestas|todos tus mensajes),? [^.!?¿]{4,160})", "{value}", reach=_CLAUSE, asked=True),
    Rule("instruction", r"(?:prefiero|quiero|quisiera|me gustaría|necesito) que (?:siempre |nunca )?(?:me )?(?P<value>(?:respondas|contestes|escribas|trates|hables|uses|expliques|des)\b(?! (?:a este|este|esta|el siguiente))[^.!?¿]{2,120}? (?:siempre|en (?:inglés|español|francés|catalán|alemán|gallego)|de (?:usted|tú|vos)|breve|corto|sin [\w ]+))<END>", "{value}", asked=True),
    Rule("nickname", r"(?:por favor,? )?(?:puedes|podés|pueden) (?:llamarme|decirme) (?P<value><GIVEN>)<END>", "Quiere que le llamen {value}", asked=True),
    Rule("nickname", r"(?:por favor,? |pero |solo |mejor )*(?:llámame|llamame|díganme|llámenme|dime|decime) (?:simplemente |solo |nomás )?(?P<value><GIVEN>)(?=\s*(?:[,.;!()]|$)|\s+(?:nomás|no más|y|que|por|a secas|mejor|si)\b)(?!,? (?:qué|cómo|si|cuál)\b)", "Quiere que le llamen {value}"),
    Rule("nickname", r"(?:todos|todo el mundo|mis amig[oa]s|los amigos|en casa|mi familia|la gente)(?: siempre| todos)? me (?:llaman?|dicen?|conocen?(?: como| por)?) (?P<value><GIVEN>)<END>", "Quiere que le llamen {value}"),
    Rule("nickname", r"me (?:dicen|llaman|conocen como) (?P<value><GIVEN>)<END>", "Quiere que le llamen {value}"),
    Rule("nickname", r"prefiero (?:que me (?:llames|llamen|digas|digan)|el nombre(?: de)?) (?P<value><GIVEN>)<END>", "Quiere que le llamen {value}"),
    Rule("name", r"(?:yo )?(?:me llamo|mi nombre (?:completo )?es) (?P<value><GIVEN>(?: (?:(?:de la|de los|de|del) )?<CAP>){0,2})<END>", "Se llama {value}"),
    Rule("name", r"(?:soy|aquí|acá|habla) (?:la |el )?(?P<value>(?!<TONGUE>|<DIET>|Dios|Batman|Groot|Papá)<NAME>)(?=\s*(?:[,.;!?()¿¡—–]|-\s|$)|\s+(?:y|de|del|otra|\d|por|el|la|tu|un|una)\b)", "Se llama {value}"),
    Rule("name", r"(?P<value><NAME>) (?:por aquí|por acá|al habla)\b", "Se llama {value}"),
    Rule("family", r"(?P<value><COUNT> (?:\w+ )?<KINS>(?: (?:que se llaman?|llamad[oa]s?) <CAP>(?: y <CAP>)?)?)<END>", "Tiene {value}", "tengo"),
    Rule("pet", r"(?P<value><COUNT> (?:(?!años)\w+ )?<PETS>(?: \w+)??(?:,? (?:que se llaman?|llamad[oa]s?) <CAP>(?: y <CAP>)?|, <CAP>(?=[,.;!]|$))?)<END>", "Tiene {value}", "tengo"),
    Rule("health", r"(?:un |una |la |el )?(?P<value><ILL>)<END>", "Tiene {value}", "tengo", _LIST),
    Rule("age", r"(?:ya |casi )?(?P<value><AGE>) (?:años|añitos|tacos)(?! (?:de (?:experiencia|casad[oa]|contrato|antigüedad|carrera)|en|trabajando|viviendo|sin|haciendo))", "Tiene {value} años", "tengo"),
    Rule("age", r"(?:yo )?(?:tengo|cumplo|ya tengo) (?:ya |casi )?(?P<value><AGE>) (?:años|añitos|tacos|primaveras)(?! (?:de (?:experiencia|casad[oa]|contrato|antigüedad|carrera)|en|trabajando|viviendo|sin|haciendo))", "Tiene {value} años"),
    Rule("age", r"(?:acabo de cumplir|(?:ayer|hoy|el \w+|este mes|la semana pasada|este año)?,? ?cumplí(?: los)?|he cumplido(?: los)?) (?P<value><AGE>)\b(?! de\b)", "Tiene {value} años"),
    Rule("age", r"(?:a mis|con mis|con) (?P<value><AGE>)(?: (?:años|tacos|añitos))(?=,| ya| no| me| sigo| todavía| encima| y)", "Tiene {value} años"),
    Rule("age", r"(?:una? )?(?:\w+ )?de (?P<value><AGE>) años<END>", "Tiene {value} años", "soy"),
    Rule("birthday", r"(?:mi (?:cumpleaños|cumple)(?: es| cae)?|cumplo(?: años)?|nací|es mi cumpleaños)(?: siempre)? (?:el )(?:día )?(?P<value><DATE>)", "Cumple años el {value}"),
    Rule("birthday", r"el (?P<value><DATE>) (?:es mi cumple(?:años)?|cumplo (?:años|<AGE>))", "Cumple años el {value}"),
    Rule("moved", r"(?:(?:me|nos) (?:(?:he|hemos|acabo de|acabamos de) )?(?:mud(?:é|amos|ado)|trasladé|trasladamos|trasladado|fui a vivir|fuimos a vivir|vine a vivir|vinimos a vivir|mudar|fui|vine)|acabo de mudarme|acabamos de mudarnos|recién (?:me mudé|nos mudamos))(?: (?:hace \w+(?: \w+)?|en <MONTH>|este año|recién|por fin|con [\w ]{3,20}))? a (?P<value><PLACE>)<END>", "Vive en {value}"),
    Rule("home", r"(?:yo )?(?:ahora |ya |actualmente )?(?:vivo|vivimos|resido|residimos|estoy viviendo|estamos viviendo)(?: (?:ahora|ya|actualmente|solo|sola|con [\w ]{3,20}?|desde \w+(?: \w+)?))*(?: (?:muy )?cerca)? (?P<phrase>(?:en|de|a las afueras de) (?:(?:las afueras|el centro|un pueblo|el barrio|la ciudad|el norte|el sur) (?:de|cerca de) )?(?P<value><PLACE>))<END>", "Vive {phrase}"),
    Rule("home", r"(?:llevo|llevamos) [\w ]{3,24}? (?:viviendo )?en (?P<value><PLACE>)<END>", "Vive en {value}"),
    Rule("home", r"(?:mi|nuestra?) (?:casa|piso|apartamento|departamento|hogar) está en (?P<value><PLACE>)<END>", "Vive en {value}"),
    Rule("home", r"(?:estoy|estamos) (?:instalad[oa]s?|afincad[oa]s?|establecid[oa]s?) en (?P<value><PLACE>)<END>", "Vive en {value}"),
    Rule("home", r"(?:escribo|te escribo|os escribo) desde (?P<value><PLACE>)<END>", "Vive en {value}"),
    Rule("origin", r"(?:(?:originari[oa]|natural|oriund[oa]|nativ[oa]) )?de (?P<value><PLACE>)<END>", "Es de {value}", "soy"),
    Rule("origin", r"(?:yo )?(?:nací(?: y (?:crecí|me crié))?|me crié|me crie|crecí|vengo|procedo)(?: y (?:crecí|me crié))? (?:en|de) (?P<value><PLACE>)<END>", "Es de {value}"),
    Rule("origin", r"(?:(?:hey|hi|hello|hola)[,!.]? )?(?:I'm|soy|me llamo) <CAP>,? de (?P<value><PLACE>)<END>", "Es de {value}"),
    Rule("work", r"(?:una? |l[ao]s? |el )?(?P<value><TRADE><TAIL>)<END>", "Trabaja como {value}", "soy"),
    Rule("work", r"(?:yo )?(?:trabajo|trabajaba hasta ahora)(?: (?:ahora|actualmente|también|desde \w+|a media jornada|hace \w+ años))* (?:de|como) (?:una? )?(?P<value>(?!noche|día|sol|lunes|mañana|tarde|todo|loca|loco|burro)<NP>(?: (?:en|para|de) (?:el |la |un |una )?<NP>)?)", "Trabaja como {value}"),
    Rule("work", r"(?:yo )?trabajo(?: (?:ahora|actualmente|también|desde \w+|a media jornada|hace \w+ años))* (?P<phrase>(?:en|para|con) (?P<value><ORG>))<END>", "Trabaja {phrase}"),
    Rule("work", r"(?:yo )?trabajo(?: (?:ahora|actualmente|también))* (?P<phrase>en (?P<value>(?:un|una|la|el) (?!(?:proyecto|informe|texto|tesis|momento|libro|tema|novela|noche)\b)<NP>))<END>", "Trabaja {phrase}"),
    Rule("work", r"(?:yo )?me dedico a(?: la| el|l)? (?P<value>(?!(?:esto|eso|ello|ella)\b)<NP>(?: (?:en|de) <NP>)?)", "Se dedica a {value}"),
    Rule("work", r"(?P<value>enseño (?!te\b|le\b|a mi)(?P<rest><NP>))", "Enseña {rest}"),
    Rule("work", r"(?:tengo|llevo|regento|dirijo|tenemos|llevamos|atiendo|manejo) (?P<value>(?:una?|mi propi[oa]|la|el) (?:pequeñ[oa] )?<BUSINESS>(?: (?:de|en) [\w ]{2,30}?)?)<END>", "Lleva {value}"),
    Rule("work", r"(?:(?:una? )?estudiante) de (?P<value>\w+(?: de \w+)?)", "Estudia {value}", "soy"),
    Rule("work", r"(?P<value><TRADE>) de profesión\b", "Trabaja como {value}"),
    Rule("work", r"(?P<value>(?:estudio|estamos estudiando|estoy estudiando) (?!(?:mucho|poco|para|todo|español|inglés|francés|alemán|la opción|el caso|con|en)\b)[\w-]+(?: (?:de )?[\w-]+)?)(?=\s*(?:[,.;!?¿]|$)|\s+(?:en|y|por|a)\b)", "{value}"),
    Rule("language", r"(?:yo )?(?:hablo|hablamos|sé|leo|entiendo|chapurreo|domino|estudié)(?: (?:muy bien|bien|perfectamente|también|algo de|un poco de|con fluidez|solo|sobre todo|el|en casa))* (?P<value>(?!solo)<TONGUE>)", "Habla {value}", "", _LIST),
    Rule("language", r"mi (?:lengua materna|idioma materno|primera lengua|primer idioma|lengua|idioma)(?: materna)? es (?:el )?(?P<value><TONGUE>)", "Habla {value}"),
    Rule("language", r"me defiendo (?:en|con el) (?P<value><TONGUE>)", "Habla {value}", "", _LIST),
    Rule("language", r"(?:bilingüe|trilingüe|hablante nativ[oa])(?: (?:en|de))?:? (?P<value><TONGUE>)", "Habla {value}", "soy", _LIST),
    Rule("family", r"\b(?:mis?|nuestr[oa]s?) (?P<value>(?P<kin><KINS>)(?:,| que)?(?: se llaman?| es| son|) (?P<who><CAP>(?:(?:, <CAP>){0,3} [ye] <CAP>)?))(?! (?:murió|falleció))", "Familia: {value}", anywhere=True),
    Rule("family", r"\bmi (?P<value><KIN>)(?= y yo\b)", "Familia: {value}", anywhere=True),
    Rule("family", r"\bmi (?P<value>(?:sobrin|hij|herman|niet|prim|abuel|suegr|cuñad|ahijad)[oa]|marido|mujer|esposa|esposo|novi[oa]|pareja)(?=\s*(?:[,.;!?)¿]|$)|\s+(?:de \d|que tiene|tiene|es|cumple|está|no|y|se|va|quiere|vive|dice|odia|me|son|en|cuando)\b)", "Familia: {value}", anywhere=True),
    Rule("family", r"(?:tengo|tenemos|crío a|criamos) (?P<value><COUNT> (?:\w+ )?<KINS>(?: (?:que se llaman?|llamad[oa]s?) <CAP>(?: y <CAP>)?)?)<END>", "Tiene {value}"),
    Rule("family", r"(?P<value>(?:padre|madre|papá|mamá|abuel[oa]|tí[oa])(?: (?:solter[oa]|primeriz[oa]|viud[oa]))?(?: de [\w]+(?: [\w]+)?)?)<END>", "Es {value}", "soy"),
    Rule("family", r"(?:(?:estoy|soy|sigo) )(?P<value>casad[oa]|divorciad[oa]|separad[oa]|viud[oa]|solter[oa]|comprometid[oa]|hij[oa] únic[oa])<END>", "Está {value}"),
    Rule("pet", r"\b(?:mis?|nuestr[oa]s?) (?P<value>(?P<kin><PETS>)(?: \w{3,})??,?(?: (?:que )?se llaman?)? (?P<who><CAP>(?: y <CAP>)?))", "Mascota: {value}", anywhere=True),
    Rule("pet", r"\b(?:mi|nuestr[oa]) (?P<value><PET>)(?= (?:no|se|tiene|está|ladra|maúlla|come|es|duerme|ronca|suelta|me|le|quiere|odia|muerde|rasca|y|ya|siempre|lleva)\b)(?! (?:se )?(?:murió|ha muerto|falleció))", "Mascota: {value}", anywhere=True),
    Rule("pet", r"(?:tengo|tenemos|he adoptado|hemos adoptado|adopté|adoptamos|acabo de adoptar|cuido|convivo con|vivo con) (?:a )?(?P<value><COUNT> (?:(?!años)\w+ )?<PETS>(?: \w+)??(?:,? (?:que se llaman?|llamad[oa]s?) <CAP>(?: y <CAP>)?)?)<END>", "Tiene {value}", "", _LIST),
    Rule("pet", r"el (?P<value><PET>) me lo quedo yo(?:, se llama (?P<who><CAP>))?", "Tiene {value}"),
    Rule("possession", r"\b(?:mis?|nuestr[oa]s?) (?:\w+ )?(?P<value><MAKE>)", "Tiene {value}", anywhere=True),
    Rule("possession", r"(?:tengo|tenemos|me compré|nos compramos|compré|compramos|acabo de comprar(?:me)?|me he comprado|heredé|conduzco|manejo|uso) (?P<value><COUNT> (?:\w+ )??<THING>(?: (?!<END>)[\w-]+(?: (?:<CAP>|\d{2,4}|de \w+|del \d+)){0,3})?)<END>", "Tiene {value}", "", _LIST),
    Rule("possession", r"(?:tengo|tenemos|conduzco|manejo|llevo) una? (?P<value><CAP>(?: [A-Z0-9][\w-]*){1,2}(?: (?:del?(?: año)?) (?:\d{2,4}))?)(?=\s*(?:[,.;!?¿]|$)|\s+(?:que|y|con|de|desde|con)\b)", "Tiene {value}"),
    Rule("allergies", r"(?:\w+ )?alérgic[oa]s? (?:a(?:l| la| los| las)?) (?P<value>\w)", "Es alérgico a {value}", "soy", _LIST),
    Rule("allergies", r"(?:mi (?:médic[oa]|doctor[a]?|alergólog[oa])|el médico|la médica|la doctora|el doctor) (?:dice|dijo|me ha dicho|me dijo|cree) que soy (?:\w+ )?alérgic[oa] (?:a(?:l| la| los| las)?) (?P<value>\w)", "Es alérgico a {value}", "", _LIST),
    Rule("allergies", r"(?:tengo|padezco|sufro|sufro de|me diagnosticaron|me detectaron|me han detectado)(?: una| mucha)?(?: \w+)? (?:alergia|intolerancia) (?:(?:severa|grave|fuerte|leve) )?(?:a(?:l| la| los| las)?) (?P<value>\w)", "Es alérgico a {value}", "", _LIST),
    Rule("allergies", r"intolerante (?:a(?:l| la| los| las)?) (?P<value>\w)", "No tolera {value}", "soy", _LIST),
    Rule("allergies", r"(?:no (?:tolero|puedo (?:comer|tomar|probar|tocar)|digiero)) (?:ni )?<ART>?(?P<value>(?:lactosa|gluten|fructosa|marisco|mariscos|frutos secos|nueces|cacahuetes?|maní|huevos?|leche|lácteos|soja|trigo|pescado|fresas|gambas|kiwi|melocotón|látex|penicilina|aspirina|ibuprofeno))\b", "No tolera {value}", "", _LIST),
    Rule("allergies", r"(?:cada vez que|siempre que|cuando|si) (?:como|tomo|bebo|pruebo|toco|respiro|me pica|me pican) <ART>?(?P<value>[\w]+(?: (?:de )?(?!se|me|la|el|los|las)\w+)?),? (?:se )?(?:me|se me) <ITCH>\b", "Es alérgico a {value}"),
    Rule("allergies", r"<ART>?(?P<value>(?:(?:picadura|pelo|polen|polvo|picaduras|ácaros|caspa) (?:de (?:los |las |la )?)?)?(?!no\b|eso\b|esto\b|me\b|nada\b|todo\b|que\b|duchas?\b)\w+(?: secos| de \w+)?) (?:siempre )?me (?:da|dan|provocan?|producen?|causan?|mandan? a(?:l hospital)?|sacan?) (?:mucha |una |un )?<HARM>\b", "Es alérgico a {value}"),
    Rule("allergies", r"<ART>?(?P<value>(?!no\b|eso\b|esto\b|me\b|que\b)\w+(?: secos| de (?:\w+))?) (?:me (?:hincha|hinchan|cierra|cierran) (?:la|los) (?:garganta|labios|cara|ojos)|me (?:ha|han) (?:mandado|llevado) (?:a urgencias|al hospital))", "Es alérgico a {value}"),
    Rule("diet", r"(?:una? )?(?:(?:estrictamente|casi|semi|prácticamente) )?(?P<value><DIET>)<END>", "Es {value}", "soy"),
    Rule("diet", r"(?:yo )?(?:como|comemos|cocino)(?: (?:solo|sólo|únicamente|siempre))* (?P<value><DIET>)<END>", "Come {value}"),
    Rule("diet", r"(?P<value>(?:yo )?no (?:como|comemos|bebo|bebemos|tomo|tomamos|pruebo|consumo) (?:nada de |ni )?(?:<FOOD>|alcohol|café|cafeína|refrescos|vino|cerveza|leche)(?: (?:ni|o) (?:<FOOD>|alcohol|café))*)\b(?! (?:por la|de noche|hoy|esta|antes|después))", "{value}"),
    Rule("diet", r"(?:sigo|hago|llevo|tengo)(?: una| la)? dieta (?P<value>(?!equilibrada|sana|variada|nueva)\w+(?: en \w+| de \w+)?)<END>", "Sigue una dieta {value}"),
    Rule("diet", r"(?P<value>(?:evito|dejé) (?:el |la |los |las )?<FOOD>)<END>", "{value}"),
    Rule("diet", r"(?:me (?:he )?(?:hice|hecho|volví|vuelto)|nos (?:hicimos|volvimos)) (?P<value><DIET>)<END>", "Es {value}"),
    Rule("diet", r"(?P<value>sin (?:gluten|lactosa|azúcar|carne)) (?:siempre )?(?:para mí|por favor siempre)", "Come {value}"),
    Rule("health", r"(?:una? |persona )?(?P<value><BEING>(?: de (?:nacimiento|un o[íj]do|un ojo|nacimiento))?)<END>", "Es {value}", "soy"),
    Rule("health", r"(?:(?:yo )?(?:tengo|padezco|sufro|arrastro|vivo con|convivo con|me diagnosticaron|me han diagnosticado|me acaban de diagnosticar|me detectaron)(?: de)?(?: una?| la| el)?) (?P<value><ILL>)\b", "Tiene {value}", "", _LIST),
    Rule("health", r"(?:como |soy )?(?:alguien|persona) con (?P<value><ILL>)\b", "Tiene {value}"),
    Rule("health", r"(?P<value>embarazada(?: de \w+ (?:meses|semanas))?)(?! de (?:ideas|ilusión))<END>", "Está {value}", "estoy"),
    Rule("health", r"<START>(?P<value>embarazada(?: de \w+ (?:meses|semanas))?)<END>", "Está {value}"),
    Rule("health", r"será (?:el|del) (?P<value>embarazo)\b", "Está en {value}"),
    Rule("health", r"(?:uso|voy en|me muevo en|ando en|estoy en|necesito) (?:una )?(?P<value>silla de ruedas)\b", "Usa {value}"),
    Rule("health", r"(?:llevo|tengo|uso|me pusieron) (?:un |una |el |los )?(?P<value>marcapasos|audífonos?|implante coclear|bomba de insulina|prótesis(?: de \w+)?|oxígeno|stent|desfibrilador)\b", "Lleva {value}"),
    Rule("health", r"tomo (?:desde \w+ )?(?P<value>(?:sintrom|warfarina|anticoagulantes?|insulina|metformina|levotiroxina|eutirox|antidepresivos|litio|betabloqueantes|enalapril|sertralina|cortisona|metotrexato|estatinas|pastillas para (?:la|el) \w+|medicación para (?:la|el) \w+))\b", "Toma {value}"),
    Rule("dislikes", r"(?:yo )?(?:odio|odiamos|detesto|detestamos|aborrezco|no (?:soporto|aguanto|trago|puedo ver))(?: (?:a|muchísimo|realmente))? (?P<value>\w)", "No le gusta: {value}", "", _LIST),
    Rule("dislikes", r"(?:a mí )?(?:la verdad,? )?no me (?:gustan?|agradan?|va|van|hacen? gracia|entusiasman?|interesan?|convencen?)(?: (?:nada|mucho|para nada|demasiado|ni un poco))? (?P<value>(?!que\b)\w)", "No le gusta: {value}", "", _LIST),
    Rule("dislikes", r"(?:a mí )?me (?:dan? (?:mucho )?(?:asco|repelús|grima)|horrorizan?|repugnan?|sacan? de quicio|ponen? (?:de los nervios|malo|mala)|ponen? enferm[oa]) (?P<value>(?!que\b)\w)", "No le gusta: {value}", "", _LIST),
    Rule("dislikes", r"<ART>(?P<value>(?!verdad)\w+(?: (?:de )?\w+)?) (?:me (?:dan? (?:mucho )?asco|horrorizan?|sacan? de quicio|repugnan?|ponen? de los nervios)|no (?:me gustan?(?: nada)?|es lo mío|son lo mío|me van?)|sabe a jabón)", "No le gusta: {value}"),
    Rule("likes", r"(?:a mí )?me (?:gustan?|encantan?|chiflan?|fascinan?|flipan?|molan?|apasionan?|vuelven? loc[oa]|privan?|pirran?)(?: (?:mucho|muchísimo|mogollón|un montón|especialmente|también|sobre todo))? (?P<value>(?!que\b|tu\b|la idea|cómo|lo que|cuando|más|ese|esa|este|esta|eso|esto)\w)", "Le gusta {value}", "", _LIST),
    Rule("likes", r"(?:yo )?(?:amo|adoro|disfruto(?: de| con)?|prefiero|me muero por|colecciono)(?: (?:muchísimo|mucho))? (?P<value>(?!que\b|la idea|cómo|lo que|cuando|tu\b)\w)", "Le gusta {value}", "", _LIST),
    Rule("likes", r"(?:muy |super |súper )?(?:(?:una? )?(?:gran |grandes )?(?:fan|fans|aficionad[oa]|amante|apasionad[oa]|fanátic[oa]|forof[oa]|devot[oa])|loc[oa]) (?:a|al|del?|por) (?P<value>\w)", "Le gusta {value}", "soy", _LIST),
    Rule("likes", r"mis? (?P<what>[\w ]{2,24}?) (?:favorit[oa]s?|preferid[oa]s?)(?: de siempre)? (?:es|son) (?P<value>\w)", "{what} favorito: {value}", "", _PHRASE, key="favourite {what}"),
    Rule("likes", r"mis? (?:hobby|hobbies|afición|aficiones|pasión|pasatiempo|pasatiempos)(?: favorit[oa])? (?:es|son) (?P<value>\w)", "Le gusta {value}", "", _LIST),
    Rule("likes", r"(?:yo )?(?:toco (?:el|la)|juego (?:al?|a la|a los)|practico(?: el| la)?|colecciono|bailo|hago) (?P<value>(?!(?:tiempo|punto|luz|puerta|lotería|cola|tonto|tonta|preguntas?|falta|deberes|cosas|la compra|todo|esto|eso|caso|ejercicio de)\b)(?:<NP>))(?=\s*(?:[,.;!?¿]|$)|\s+(?:desde|y|en|con|los|todos|cada|hace)\b)", "Aficionado a {value}"),
    Rule("likes", r"(?:lo mío (?:es|son)|(?:estoy )?enganchad[oa] a(?:l)?) (?P<value>\w)", "Le gusta {value}", "", _LIST),
)
# fmt: on

SPANISH: Final = Language(
    code="es",
    points_back=NEVER,
    hint=pattern(r"\b(?:yo|me|mi|mis|nos|el|la|los|las|un|una|de|que|y|en|no|por|con|para|es|soy|aquí|dime|tengo|tenemos|tomo|llevo|sigo|uso|nuestr\w+|vivo|vivimos|trabajo|hablo|odio|amo|adoro|detesto|manejo|conduzco|colecciono|prefiero|padezco|sufro|estudio|enseño|cumpl\w+|nací|vengo|crecí|estoy|embarazad\w|recuerd\w+|siempre|nunca|ya|llám\w+|trát\w+|tutéa\w+)\b"),
    rules=_RULES,
    words={**_WORDS, "START": r"(?<![\s\S])"},
    small_words=_SMALL_WORDS,
    subjects={
        "": "",
        "soy": rf"(?:yo (?:también )?)?(?:soy|somos) {_SURE}",
        "tengo": r"(?:yo )?(?:tengo|tenemos) ",
        "estoy": rf"(?:yo )?(?:estoy|ando) {_SURE}",
    },
    shared=frozenset({"soy", "tengo"}),
    oneself="soy",
    carried="-",
    others=NEVER,
    boundary=pattern(
        r"[,;:!?¿¡—–()](?: |$)?| - |(?<=\s)(?:y|e|pero|porque|aunque|pues|así que|además|o sea|sino|que|encima) |[\U0001f300-\U0001faff☀-➿]️? ?"
    ),
    leads=pattern(
        r"(?:(?:hola|buenas(?: tardes| noches)?|buenos días|buen día|hey|oye|oiga|che|mira|pues|bueno|vale|a ver|por cierto|además|también|y|pero|sí|no(?=[,.!])|gracias|ah|eh|uy|perdón?|perdona|la verdad(?: es que)?|en realidad|"
        r"sinceramente|honestamente|de hecho|es que|resulta que|que|porque|como|ahora|actualmente|hoy en día|desde (?:hace )?\w+(?: \w+)?|hace \w+ \w+|yo|nota|ojo|dato|para que (?:lo )?sepas|te cuento(?: que)?|recuerda|recuerda que|"
        r"no olvides que|ten en cuenta que|debo decir que|tengo que decir que|por desgracia|lamentablemente|por suerte|al final|ya sabes|ya(?! no\b)|encima|saludos|tod[oa]s|amig[oa]s?|aquí|como te (?:dije|decía)|resumen|de profesión|últimamente)[,.!:]*\s+){1,4}"
    ),
    unreal=pattern(
        r"\b(?:si (?:yo )?(?:fuera|fuese|tuviera|tuviese|viviera|hubiera|pudiera|me|soy|tengo|vivo)|ojalá|imagina|imagínate|supongamos|supón|suponiendo|quisiera|quizás?|tal vez|a lo mejor|cuando era|de (?:niñ[oa]|pequeñ[oa]|joven)|antes (?:era|vivía|tenía|trabajaba)|"
        r"solía|como si|sería|tendría|viviría|dijo que|dice que|dicen que|decía que|me dijo:|traduce|cuento con|en otra vida|algún día|me gustaría|hipotéticamente|fingi[er]|me encantaría|según mi|no es (?:verdad|cierto) que|hasta hace poco)\b"
    ),
    frame=pattern(
        r"\b(?:imagina(?:te|mos)?|supongamos|supón|hagamos (?:como|de cuenta)|juguemos|jugamos a|juego de rol|juego de roles|finge|fingamos|traduce\w*|tradúce\w*|corrige (?:este|esta|el siguiente|lo siguiente|la)|"
        r"(?:escribe|escríbeme|inventa|redacta|hazme|compón) (?:un|una|el|la) (?:\w+ ){0,2}?(?:cuento|poema|historia|relato|monólogo|diálogo|guion|guión|canción|novela|personaje|biografía|bio|perfil)\b|cómo se dice|haz de cuenta|"
        r"en mi (?:novela|cuento|historia|relato|obra|guion|guión)|(?:resume|resúmeme|resumen?|revisa|responde(?: a)?) (?:este|esta|el siguiente|al? siguiente) (?:\w+ ){0,2}?(?:mensaje|correo|texto|carta|mail|email|pasaje|artículo)[^.?!\n]{0,60}[:\n])"
    ),
    made_up=pattern(
        r"\b(?:juguemos|juego de rol(?:es)?|jugamos a que|tú eres (?:mi|un|una|el|la) [\w ]{2,40}y yo|yo soy (?:el|la|un|una) [^.?!]{2,60}? y tú (?:eres )?|mi personaje|mi protagonista|en mi (?:novela|cuento|relato|obra))\b"
    ),
    ironic=pattern(
        r"^\W*(?:sí,? claro|claro,|ya,? claro|ah,? (?:sí|claro)|qué (?:bien|maravilla|ilusión|divertido|alegría|suerte)|genial,|fantástico,|estupendo,|maravilloso,|por supuesto,|cómo no|obvio)|\bcomo a todo el mundo\b|\ba quién no\b|\bmi (?:cosa )?favorita del mundo\b"
        r"|\bme (?:encanta|chifla|fascina|flipa) (?:que|cuando|hacer cola|esperar|pagar|madrugar|el tráfico|los atascos)"
    ),
    ironic_text=pattern(r"(?:^|\s)/s\b|(?<!trabajo )\bes broma\b|\bera broma, no\b|\bmodo ironía\b|\bnótese la ironía\b"),
    speech=pattern(
        r"\b(?:escrib\w*|traduc\w*|tradúc\w*|dice|dijo|decía|dicen|lee|pone|resum\w*|resúm\w*|corrig\w*|corríg\w*|revis\w*|respond\w*|contest\w*|explica\w*|frase|texto|carta|correo|mensaje|mail|email|nota de|cuento|poema|personaje|ejemplo|título|cartel|cita|línea|letra|inglés|francés|alemán|json|código|currículum de)\b"
    ),
    goes_on=pattern(r"[,;:—–¿]|\s-\s|\b(?:y|pero|así que|o)\b"),
    explains=pattern(r"\b(?:porque|como|ya que|puesto que|que|pues)\s*$"),
    tag=pattern(r"\A¿(?:yo )?(?:soy|tengo|estoy|vivo|seré|debo ser)\b|,? ¿?(?:verdad|no|cierto|no es así|o no|correcto|eh)\W*$"),
    unless={
        "instruction": pattern(r"\b(?:esta vez|solo (?:por )?(?:hoy|ahora|esta)|por esta vez|hoy|este (?:texto|correo|mensaje)|esta (?:respuesta|carta|vez)|en (?:el|la) siguiente|de aquí abajo)\b"),
        "nickname": pattern(r"\b(?:cuando|luego|mañana|más tarde|loc[oa]|hoy solo|un taxi|nunca|no me)\b"),
        "dislikes": pattern(r"\bya no\b"),
        "likes": pattern(r"\bya no\b|\bno (?:es|era)\b|\bme gustaba"),
        "pet": pattern(r"\b(?:muri[óe]|falleció|ha muerto|se nos fue|tuve|quiero|queremos|me gustaría|peluche|de juguete|sueño con)\b(?!.*me lo quedo)"),
        "possession": pattern(r"\b(?:vend[íi]|alquil\w+|prestad[oa]|de alquiler|quiero|tuve)\b"),
        "age": pattern(r"\b(?:mi (?:hij|herman|abuel|madre|padre|perr|gat|mujer|marido)\w* (?:\w+ )?(?:tiene|cumple))\b"),
        "home": pattern(r"\b(?:por unos días|de vacaciones|este finde|hasta el año pasado)\b(?=.*\Z)(?<!me fui)"),
    },
    refused={
        "": pattern(r"(?:eso|esto|ese|esa|aquello|tod[oa]|nada|algo|alguien|nadie|ella|él|ellos|ellas|usted|ustedes|cómo|qué|cuando|que|lo que|así|tú|ti|te|se|le|ser|estar)\b(?! de\b)|\W*$"),
        "allergies": pattern(r"(?:lunes|trabajo|madrugar|reuniones|tonterías|gente|compromiso|estrés|deporte|drama|idiotas|comer|mí|me|vida|impuestos|dinero)\b"),
        "name": pattern(r"(?:yo|nuev[oa]|tu|un|una|de|muy|así|consciente|parte|leyenda|España|México|Argentina|Colombia|Chile|Perú)\b"),
        "nickname": pattern(r"(?:qué|cómo|si|cuál|cuándo|dónde|algo|más|un|una|el|la|tú|por)\b"),
        "moved": pattern(r"(?:casa|dormir|la cama|otro|otra|marte|linux|windows)\b"),
        "home": pattern(r"(?:las nubes|la luna|marte|paz|pecado)\b"),
        "origin": pattern(r"(?:ciencias|letras|campo|ciudad|pueblo|barrio|Marte)\b"),
        "likes": pattern(r"(?:esta?|tu|su|la idea|este|cuando|tener|que|esperar|madrugar|los lunes|ser|hacer (?:cola|fila)|mucho|más|muy|saber|conocer|ver si|un montón$)\b"),
        "dislikes": pattern(r"(?:esta?|tu|su|la idea|este|cuando|que|tener|ser|la respuesta|el texto|el tono|mucho|más|a mi|a la gente)\b"),
        "work": pattern(r"(?:casa|equipo|negro|ello|mí|el proyecto|paro|esto|sol)\b"),
    },
    phrase_end=pattern(
        rf"\s+(?:(?:y|e|o|ni|pero|porque|aunque|cuando|que|si|sobre todo|excepto|salvo|más que|desde|por la|para|ya|ahora|también|además|con locura|muchísimo|mucho|a morir|{_STOPS.replace('|con|sin|', '|')})\b|-\s|¿)"
    ),
    listing=pattern(r"\s*(?:,\s*(?:y|e|o|ni)\s+(?:también\s+)?|\s(?:y|e|o|ni)\s+(?:también\s+|a\s+)?|,\s*)"),
    no_item=pattern(
        r"(?:yo|me|te|se|nos|le|lo|soy|estoy|tengo|vivo|trabajo|quiero|necesito|busco|puedes|qué|cómo|cuál|dónde|cuándo|por|porque|para|pero|gracias|porfa|dame|dime|hazme|plan|ideas?|no|ni|si|ya|ahora|hay|es|son|está|algo|en|de|mi|mis|tu|ayuda|recomi\w+|suger\w+|aunque|también hay|"
        r"etc|luego|después|así|muy|más|sobre|odio|amo|detesto|hablo|\w+(?:ame|eme|elo|alo))\b"
    ),
    pairs=NEVER,
    before={
        **dict.fromkeys(("likes", "dislikes", "allergies", "health", "diet", "language", "age"), pattern(r"(?:(?:el|la|los|las|al|que|también|a|mucho|muchísimo|sobre todo|muy|un poco de|algo de|a la|a los)\s+)+(?=\w)")),
        "pet": pattern(r"(?:una?)\s+"),
        "family": pattern(r"(?:una?|mi|mis)\s+"),
        "possession": pattern(r"(?:una?|mi)\s+"),
        "work": pattern(r"(?:una?|el|la)\s+"),
        "instruction": NEVER,
        "remember": NEVER,
    },
    after={"": pattern(r"(?:[,\s]+(?:por favor|porfa|gracias|mucho|muchísimo|también|jaja|vale|ok|sabes|nomás))+\W*$"), "instruction": pattern(r",? (?:que (?:estoy|soy|me|no|así)|porque|ya que|pues|gracias).*$"), "likes": pattern(r" (?:a rabiar|con locura|desde siempre)$")},
    own_words=pattern(r"\b(?:yo|mi|mis|me|mí|nos|nuestr[oa]s?|tu|te|soy|tengo|estoy|vivo)\b"),
    asked_to_keep="Pidió recordar: {value}",
    shared_tail=pattern(r"\bprefiero .*?(?P<tail>\s)(?:en|con|sin|como) (?!(?:el|la|los|las|mi|mis|verano|invierno|otoño|primavera|vacaciones|general|casa)\b)(?=\w)"),
    times=pattern(r",? (?:(?P<since>desde (?:hace )?[\w ]{2,30}?)|(?P<until>hasta [\w ]{2,30}?)|(?P<applies>(?:en el trabajo|los fines de semana|en casa|cuando [\w ]{2,40}?)))(?=\s*[,.;!?¿]|$)"),
    abbreviations=frozenset("sr sra srta dr dra prof etc ej p.ej av avda núm no ud uds".split()),
    taking_back=TAKING_BACK,
    frames=SPANISH_FRAMES,
    listed={"health": pattern(_WORDS["ILL"])},
    slip=pattern(r",? (?:digo|perdón|perdona|quiero decir|mejor dicho|bueno no|no,? espera|ay no|corrijo)[,:]? (?:no[,:]? )?(?:en |de |a |es )?(?P<value>(?-i:[A-ZÁÉÍÓÚÑ])[\w'-]+(?: (?-i:[A-ZÁÉÍÓÚÑ])[\w'-]+){0,2})"),
)  # fmt: skip
