"""The rules for French."""

from __future__ import annotations

from typing import Final

from memoranda.formation.rules.endings.french_endings import FRENCH_FRAMES, TAKING_BACK
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
    "et|ou|mais|que|qui|car|donc|parce|puisque|comme|quand|lorsque|où|dont|si|avec|sans|depuis|jusqu|pour|par|il|elle|on|nous|vous|je|tu|ils|elles|me|te|se|est|sont|suis|ai|as|a|avons|avez|ont|c'est|c'était|"
    "j'ai|j'aime|j'habite|y|en|au|aux|dans|chez|sur|sous|vers|ce|cette|ces|mon|ma|mes|ton|ta|tes|son|sa|ses|ne|pas|plus|aussi|maintenant|actuellement|aujourd'hui|ici|là|merci|svp|stp|comment|quel|quelle|quels|"
    "pourquoi|combien|peux|pouvez|peut|faut|pis|tu|mdr|lol|alors|ça|du coup|quoi|bref|enfin|entre|tout|trop|très|toujours|jamais|même|encore|là-bas|cherche|veux|besoin|aide|voudrais|avant|après|dès|né|née|près|t'as|m'aider|ouais|hein"
)
_MONTH = "(?:janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre)"
_NUMBERS = "(?:huit|neuf|dix|onze|douze|treize|quatorze|quinze|seize|dix-sept|dix-huit|dix-neuf|vingt(?:[ -](?:et[ -])?(?:un|une|deux|trois|quatre|cinq|six|sept|huit|neuf))?|(?:trente|quarante|cinquante|soixante|quatre-vingts?)(?:[ -](?:et[ -])?[a-zé-]+)?)"
_KIN_ONE = (
    "femme|épouse|mari|époux|compagnon|compagne|copain|copine|conjointe?|fiancée?|chérie?|mère|maman|père|papa|fils|fille|fillette|garçon|frère|frangin|soeur|sœur|frangine|grand-mère|mamie|mémé|grand-père|papi|papy|"
    "oncle|tonton|tante|tata|cousine?|neveu|nièce|petit-fils|petite-fille|beau-père|belle-mère|beau-frère|belle-sœur|belle-soeur|beau-fils|belle-fille|gendre|bru|bébé|jumeau|jumelle|filleule?|parrain|marraine|gamine?|demi-frère|demi-sœur|puce|ado"
)
_PET_ONE = (
    "chien|chienne|chiot|chat|chatte|chaton|lapine?|hamster|cochon d'inde|tortue|perroquet|perruche|canari|poisson rouge|cheval|jument|poney|âne|ânesse|poule|coq|chèvre|mouton|brebis|furet|iguane|serpent|gecko|rat|rate|souris|chinchilla|oie|canard|"
    "labrador|golden|berger(?: \\w+)?|caniche|teckel|bouledogue|cocker|épagneul|beagle|border collie|husky|jack russell|siamois|persan|maine coon|chihuahua|lévrier|hérisson|octodon|axolotl|oiseau|pigeon"
)
_FOOD = "(?:viandes?(?: rouges?)?|poissons?|porc|bœuf|boeuf|poulet|agneau|veau|fruits de mer|œufs?|oeufs?|lait|fromages?|produits laitiers|gluten|blé|sucre|pain|sel|miel|produits animaux|produits d'origine animale|charcuterie|volaille|féculents|crustacés|animaux)"
_SURE = "(?:(?:aussi|très|vraiment|assez|plutôt|maintenant|actuellement|toujours|également|originellement|d'ailleurs|désormais|devenue?|moi-même|totalement|un peu|même|juste|encore|en fait|gravement|fortement|hyper|super|moi aussi|bien|strictement|quasi|à moitié) ){0,2}"
_DE = "(?:de la |de l'|du |des |de |d'|à la |à l'|au |aux |à |le |la |les |l')"
_WORDS: Final = {
    "END": rf"(?=\s*(?:[,.;:!?()\n—–{EMOJI}]|-\s|$)|\s+(?:{_STOPS})\b|\s+(?:j|m|t|c|n|d|qu)'|\s+\d|\s+à\b)",
    "CAP": CAPITALISED,
    "NAME": rf"(?:(?:(?:M\.|Mme|madame|monsieur|docteur|dr) )?{CAPITALISED}(?: (?:(?:de|du|le|la) )?{CAPITALISED}){{0,2}}|{COVERED})",
    "GIVEN": rf"(?:(?!(?:{_STOPS})\b)(?!(?-i:[a-zé]+'))(?-i:[A-ZÀ-Þ])[\w'-]*(?: {CAPITALISED})?|{COVERED})",
    "PLACE": rf"(?:(?:la |le |les |l')?{CAPITALISED}(?:(?: (?:de la|du|de|en|sur|sous|les|lès|aux|le|la|d'|l') | ){CAPITALISED}){{0,3}})",
    "ORG": rf"(?:(?:la |le |les |l'|un |une )?{CAPITALISED}(?:(?: (?:de la|du|de|des|&|et) | ){CAPITALISED}){{0,3}})",
    "NP": rf"(?:(?!(?:{_STOPS})\b)[\w'-]+(?: (?!(?:{_STOPS})\b)[\w'-]+){{0,4}})",
    "DE": _DE,
    "AGE": rf"(?:[89]|[1-9]\d|1[01]\d|{_NUMBERS})",
    "DATE": rf"(?:(?:1er|premier|\d{{1,2}}) {_MONTH}(?: (?:19|20)\d\d)?|\d{{1,2}}/\d{{1,2}}(?:/\d{{2,4}})?)",
    "MONTH": _MONTH,
    "KIN": rf"(?:{_KIN_ONE})",
    "KINS": rf"(?:(?:{_KIN_ONE})s?|enfants?|jumeaux|jumelles|gosses?|mômes?|petits-enfants|gamins|neveux|loulous|ados)",
    "PET": rf"(?:{_PET_ONE})",
    "PETS": rf"(?:(?:{_PET_ONE})s?|chevaux|oiseaux|animaux)",
    "COUNT": r"(?:une?|deux|trois|quatre|cinq|six|sept|huit|neuf|dix|douze|plusieurs|quelques|\d{1,2})",
    "TONGUE": "(?:français|anglais|allemand|espagnol|italien|portugais|catalan|breton|basque|occitan|corse|alsacien|créole(?: \\w+)?|arabe|kabyle|berbère|darija|wolof|peul|bambara|lingala|swahili|malgache|chinois|mandarin|cantonais|japonais|coréen|"
    "vietnamien|thaï|khmer|russe|ukrainien|polonais|roumain|tchèque|hongrois|bulgare|serbe|croate|grec|turc|kurde|hébreu|persan|farsi|hindi|ourdou|tamoul|néerlandais|flamand|luxembourgeois|suédois|norvégien|danois|finnois|finlandais|latin|espéranto|lsf|langue des signes(?: \\w+)?|yiddish|arménien|géorgien|albanais|patois|québécois)",
    "MAKE": VEHICLE_NAME,
    "DIET": "(?:végétarien(?:ne)?s?|végétalien(?:ne)?s?|végane?s?|vegans?|pesco-?végétarien(?:ne)?s?|pescétarien(?:ne)?s?|flexitarien(?:ne)?s?|végé|casher|kasher|halal|sans gluten|sans lactose|cétogène|kéto)",
    "FOOD": _FOOD,
    "TRADE": (
        r"(?:(?!(?:amateur|léger|légère|passager|passagère|cher|chère|mensonger|lecteur|lectrice|auditeur|joueur|joueuse|fumeur|fumeuse|buveur|buveuse|dormeur|rêveur|rêveuse|coureur|coureuse|randonneur|randonneuse|majeur|mineur|meilleure?|supérieur|intérieur|heureux|heureuse|curieux|sérieux|nombreux|amoureux|"
        r"amoureuse|peureux|peureuse|malheureux|malheureuse|première?|premier|dernier|dernière|entier|entière|fier|fière|étranger|étrangère|familier|héritier|héritière|célibataire|propriétaire|locataire|solitaire|contraire|bénéficiaire|partisan|frileux|frileuse|"
        r"allergique|hier|matinal|chien|gourmand|optimiste|pessimiste|perfectionniste|féministe|égoïste|triste|touriste|réaliste|casanier|casanière|originaire|volontaire|collectionneur|collectionneuse|nageur|nageuse|navigateur|sauveur|cycliste|gardien de but|admirateur|admiratrice|menteur|ailleurs|rieur)\b)"
        r"(?:[\wé-]{2,18}(?:eur|euse|trice|ier|ière|ger|gère|cher|chère|iste|logue|graphe|cien|cienne|naire|thécaire|thérapeute|peute|iatre|thodontiste)|prof(?:esseure?)?|instit(?:utrice|uteur)?|médecin|chirurgienne?|avocate?|architecte|dentiste|vétérinaire|secrétaire|boulanger|boulangère|"
        r"boucher|bouchère|berger|bergère|horloger|horlogère|étudiante?|apprentie?|stagiaire|artisane?|commerçante?|enseignante?|assistante?|consultante?|surveillante?|soignante?|aide-soignante?|sage-femme|femme de ménage|homme de ménage|auxiliaire|comptable|notaire|juge|"
        r"maire|pilote|steward|hôtesse|chef|cheffe|cuistot|plombière?|électricien|maçon|peintre|sculptrice|poète|écrivaine?|interprète|guide|agent|agente|cadre|gérante?|dirigeante?|présidente?|intermittente?|représentante?|militaire|policier|policière|gendarme|pompier|pompière|"
        r"kiné|ostéo|psy|psychologue|ingé|dev|développeuse|barista|barman|serveuse|fleuriste|paysanne?|agricultrice|éleveuse|maraîchère?|apiculteur|vigneronne?|fromagère?|retraitée?|salariée?|employée?|responsable|directrice|fonctionnaire|caissière?|nounou|nourrice|ATSEM|"
        r"ébéniste|couturière?|tatoueuse|céramiste|potière?|luthière?|clerc|greffière?|attachée?|chargée? de \w+|chauffeur|chauffeuse|routier|routière|livreuse|opticienne?|orthophoniste|chercheuse|doctorante?|postdoc|interne|sans emploi|au chômage|auto-entrepreneuse|indépendante?|freelance))"
    ),
    "TAIL": rf"(?: (?:libérale?|scolaire|indépendante?|freelance|spécialisée?|en reconversion))?(?: (?:(?:{_DE}|en |dans (?:une? |le |la |l')|chez |pour |à mon compte|libéral|libérale|scolaire|indépendante?|spécialisée? )(?!temps\b|peine\b|retard\b|vacances\b)(?:[\w'-]+(?: (?:(?:de la|du|de|des) )?{CAPITALISED}){{0,3}})?)){{0,3}}",
    "BUSINESS": "(?:boulangerie|pâtisserie|boutique|magasin|bar|restaurant|resto|café|salon(?: de \\w+)?|librairie|fleuriste|pharmacie|cabinet|clinique|école|ferme|exploitation|hôtel|gîte|auberge|fromagerie|épicerie|kiosque|studio|agence|imprimerie|menuiserie|atelier|garage|entreprise|boîte|société|start-?up|brasserie|camping|vignoble|domaine|food-?truck|crêperie|pizzeria|friperie|pressing|laverie|crèche)",
    "THING": "(?:voiture|bagnole|auto|moto|scooter|vélo(?: \\w+)?|vtt|trottinette|camionnette|fourgon|camion|van|camping-car|tracteur|bateau|voilier|barque|kayak|caravane|appartement|maison|chalet|cabane|jardin|potager|terrain|piano|guitare|violon|violoncelle|batterie|accordéon|"
    "saxophone|flûte|trompette|appareil photo|télescope|ordinateur|ordi|portable|tablette|imprimante|imprimante 3d|drone|four|machine à (?:café|coudre|pain)|thermomix|poêle|cheminée|métier à tisser|ruches?|serre|vigne|verger|bonsaï|aquarium|platine|synthé|ukulélé|basse|tente|robot|monospace|break|citadine|berline)",
    "ILL": r"(?:asthme|(?:une )?épilepsie|diabète(?: (?:de )?type (?:1|2|un|deux)| gestationnel)?|maladie cœliaque|maladie coeliaque|maladie de \w+|polyarthrite(?: \w+)?|arthrose|arthrite|sclérose en plaques|migraines?(?: \w+)?|dépression|troubles? \w+(?: \w+)?|hypertension|hypothyroïdie|hyperthyroïdie|"
    r"scoliose|endométriose|fibromyalgie|psoriasis|eczéma|goutte|acouphènes|parkinson|cancer(?: (?:du|de la|des|de) \w+)?|lupus|dyslexie|autisme|tdah|tda|toc|insomnies?|anémie|hémophilie|ostéoporose|vertiges|glaucome|cataracte|reflux(?: \w+)?|côlon irritable|syndrome (?:de la |du |des |de l'|d'|de )?\w+(?: \w+)?|"
    r"crohn|rectocolite|cholestérol|(?:insuffisance|problèmes?|pathologie|malformation) (?:rénale|cardiaques?|respiratoire|hépatique)|hernie(?: \w+)?|handicap(?: \w+)?|perte auditive|apnées? du sommeil|sopk|spondylarthrite|drépanocytose|mucoviscidose|bipolarité|[\wé]{3,}(?:ite|ose|émie|algie|pathie|plégie|omanie))",
    "BEING": r"(?:cœliaque|coeliaque|diabétique(?: (?:de )?type (?:1|2|un|deux))?|asthmatique|épileptique|aveugle|non-voyante?|malvoyante?|sourde?|malentendante?|daltonien(?:ne)?|dyslexique|dyspraxique|autiste|hypertendue?|bipolaire|hémophile|anémique|tétraplégique|paraplégique|immunodéprimée?|handicapée?|en fauteuil(?: roulant)?|en rémission|greffée?(?: (?:du|de la|des) \w+)?|cardiaque|migraineux|migraineuse|insomniaque|sous (?:insuline|anticoagulants?|antidépresseurs|lithium|cortisone|levothyrox|chimio|dialyse|traitement \w+|metformine))",
    "HARM": r"(?:des? (?:plaques|boutons|allergies?|réactions?|chocs?|urticaire|œdèmes?|démangeaisons)|de l'urticaire|une (?:allergie|réaction(?: allergique)?)|un (?:choc|œdème)|gonfler|tousser|éternuer|suffoquer|de l'asthme|mal au ventre)",
}  # fmt: skip
_SMALL_WORDS: Final = {
    "NAME": "(?!)",
    "GIVEN": rf"(?:(?!(?:{_STOPS}|folle|fou|plus|demain|un|une|le|la|les|quand|bien|mal|tard|vite|comme|l|d)\b)[^\W\d_][\w-]+)",
    "PLACE": rf"(?:(?!(?:{_STOPS}|un|une|le|la|les|paix|couple|famille|mars|maison|l|d)\b)[^\W\d_][\w-]+)",
    "ORG": "(?!)",
}

_ARTICLES: Final = pattern(
    r"(?:(?:le|la|les|du|des|au|aux|que|aussi|beaucoup|vraiment|surtout|très|un peu de|à la)\s+|(?:l|d|qu|un peu d)'|(?:de la|de)\s+|(?:de|à) l')+(?=\w)"
)

# One rule a line, so that they read as a table.
# fmt: off
_RULES: Final = (
    Rule("remember", r"(?:s'il (?:te|vous) plaît,? |stp,? )?(?:souviens-toi|souvenez-vous|rappelle-toi|rappelez-vous|rappelle-moi|n'oublie (?:pas|jamais)|n'oubliez (?:pas|jamais)|retiens|retenez|note(?:z)?(?: bien)?|garde(?:z)? (?:en tête|à l'esprit|en mémoire)|prends note|mémorise|sache)(?: bien| stp| s'il te plaît)?(?: que |,? qu'| : ?|: )(?P<value>\w[^?!]{4,300})", "{value}", reach=_CLAUSE, asked=True),
    Rule("instruction", r"(?:s'il (?:te|vous) plaît,? |stp,? |merci de )?(?:à partir de maintenant|dorénavant|désormais|à l'avenir|dès (?:maintenant|à présent)|à compter d'aujourd'hui|par défaut|en règle générale)(?: stp)?,? (?:s'il te plaît,? |merci de |j'aimerais que tu |je veux que tu )?(?P<value>(?!appelle-moi|rappelle|souviens|je\b|j')\w[^.!?]{4,160})", "{value}", reach=_CLAUSE, asked=True),
    Rule("instruction", r"(?:s'il (?:te|vous) plaît,? |stp,? |merci de )?(?P<value>(?!souviens|rappelle|appelle)[a-zéèêç]+(?:e|s|z|r|ds|ts|is)(?:-(?:moi|nous|le|la|les|leur))? (?:bien )?(?:toujours|systématiquement|jamais|à chaque fois)\b[^.!?]{2,160})", "{value}", "order", _CLAUSE, asked=True),
    Rule("instruction", r"(?:s'il (?:te|vous) plaît,? |stp,? )?(?P<value>(?:n'|ne )(?:me |m')?(?:utilise|mets|réponds|écris|donne|dis|parle|propose|suggère|mentionne|fais|emploie|commence|termine|ajoute)[sz]?(?:-\w+)? jamais\b[^.!?]{2,160})", "{value}", "order", _CLAUSE, asked=True),
    Rule("instruction", r"(?:s'il (?:te|vous) plaît,? |stp,? |allez,? )?(?P<value>(?:tutoie|vouvoie|tutoyez|vouvoyez)-moi|on (?:peut se|se) (?:vouvoie|vouvoyer))<END>", "{value}", asked=True),
    Rule("instruction", r"(?P<value>(?:reviens|repasse|retour|revenons|reviens-en|repassons) (?:au|à l'|en) ?<TONGUE>)<END>", "{value}", asked=True),
    Rule("instruction", r"(?:s'il (?:te|vous) plaît,? )?(?P<value>(?:réponds|répondez|écris|écrivez|parle|parlez)(?:-moi)? en <TONGUE>)(?=(?:,? (?:s'il (?:te|vous) plaît|stp|svp))?\s*[.!]?\s*$)", "{value}"),
    Rule("possession", r"(?:notre|mon|ma) (?P<who>équipe|entreprise|projet|backend|frontend|boîte) (?P<verb>utilise|tourne (?:sous|sur)|travaille avec) (?P<value><CAP>)", "{who} {verb} {value}"),
    Rule("possession", r"(?:j'ai|nous avons|on a|je viens d'|nous venons d'|on vient d')(?: (?:enfin|récemment))? ?(?:acheté|acheter) (?P<value>une? (?:maison|appartement|appart|studio|terrain|ferme) (?:à|au|en|près de) <PLACE>)", "A {value}"),
    Rule("likes", r"(?:moi,? )?je préfère (?:le |la |les |l')?(?P<value>[^.,;:!?]{2,40}?)(?= (?:au|à la|à l'|aux|plutôt que)\b ?)", "Préfère {value}"),
    Rule("instruction", r"(?P<value>dans (?:toutes tes réponses|tes réponses|chaque réponse|tous tes messages|toutes vos réponses),? [^.!?]{4,160})", "{value}", reach=_CLAUSE, asked=True),
    Rule("instruction", r"(?:je (?:veux|préfère|voudrais)|j'aimerais|j'ai besoin) que (?:tu|vous) (?:me )?(?P<value>(?:réponde[sz]|répondiez|parle[sz]|parliez|écrive[sz]|utilise[sz]|explique[sz]|tutoies|vouvoies|tutoyiez)\b[^.!?]{0,100}? (?:toujours|systématiquement|en (?:anglais|français|espagnol|allemand)|sans [\w ]+|brièvement))<END>", "{value}", asked=True),
    Rule("instruction", r"(?P<value>toujours (?:me )?(?:répondre|écrire|utiliser|citer|donner|parler|mettre) [^.!?]{2,140})", "{value}", reach=_CLAUSE, asked=True),
    Rule("nickname", r"(?:tu peux|vous pouvez|on peut) m'appeler (?P<value><GIVEN>)<END>", "Veut qu'on l'appelle {value}", asked=True),
    Rule("nickname", r"(?:s'il te plaît,? |mais |stp,? )?appelle(?:z)?-moi (?:juste |simplement |plutôt )?(?P<value><GIVEN>)<END>", "Veut qu'on l'appelle {value}"),
    Rule("nickname", r"(?:tout le monde|mes (?:potes|amis|amies|copains|copines|proches|collègues)|les gens|on|ma famille)(?: ici| au boulot| à la maison)? (?:m'appelle(?:nt)?|me surnomme(?:nt)?|me connaît sous le nom de)(?: tous| toujours| plutôt| juste)? (?P<value><GIVEN>)<END>", "Veut qu'on l'appelle {value}"),
    Rule("nickname", r"(?:mon surnom(?:,)? (?:c'est|est)|je préfère(?: qu'on m'appelle| être appelée?)|surnommée?|dit) (?P<value><GIVEN>)<END>", "Veut qu'on l'appelle {value}"),
    Rule("name", r"(?:moi,? )?(?:je m'appelle|mon (?:prénom|nom)(?: complet)?,? (?:c'est|est)|je me (?:nomme|prénomme)|moi,? c'est|c'est(?= \w+[ ,.]+(?:à l'appareil|encore|qui)\b)) (?P<value><GIVEN>(?: (?:(?:de|du|la|le) )?<CAP>){0,2})<END>", "S'appelle {value}"),
    Rule("name", r"(?:je suis|ici|moi) (?P<value>(?!<TONGUE>|<DIET>|Dieu|Batman|Français|Belge|Suisse|Charlie)<NAME>)(?=\s*(?:[,.;!?()—–]|-\s|$)|\s+(?:et|de|du|d'|depuis|à|,|\d|la|le|un|une)\b)", "S'appelle {value}"),
    Rule("name", r"<START>(?P<value><NAME>) (?:ici|à l'appareil|au clavier)\b", "S'appelle {value}"),
    Rule("family", r"(?P<value><COUNT> (?:(?:petite?s?|grande?s?|jeunes?) )?<KINS>(?: (?:qui s'appellent|nommée?s?) <CAP>(?: et <CAP>)?)?)<END>", "A {value}", "ai"),
    Rule("pet", r"(?P<value><COUNT> (?:(?:petite?s?|vieux|vieille|jeunes?|grosse?s?) )?<PETS>(?: [\wé]+)??(?:,? (?:qui s'appelle(?:nt)?|nommée?s?|appelée?s?) <CAP>(?: et <CAP>)?|, <CAP>(?=[,.;!]|$))?)<END>", "A {value}", "ai"),
    Rule("health", r"(?:une? |de l'|de la |du |des |la |le |les |l')?(?P<value><ILL>)<END>", "A {value}", "ai", _LIST),
    Rule("age", r"(?:déjà |presque )?(?P<value><AGE>) (?:ans|balais|piges)\b(?! (?:d'expérience|de (?:métier|carrière|mariage|boîte|permis)|d'ancienneté))", "A {value} ans", "ai"),
    Rule("age", r"(?:moi,? )?(?:j'ai|j'aurai|je viens d'avoir|j'ai eu|j'ai fêté mes|j'ai soufflé mes)(?: déjà| presque| tout juste| bientôt)? (?P<value><AGE>) (?:ans|balais|printemps|piges)\b(?! (?:d'expérience|de (?:métier|carrière|mariage|boîte|permis)|d'ancienneté))", "A {value} ans"),
    Rule("age", r"(?:à|du haut de mes|avec mes) (?P<value><AGE>) ans,? (?:je|j'|on|et)", "A {value} ans"),
    Rule("age", r"(?:âgée? de )?(?P<value><AGE>) ans(?=\s*(?:,|et|$|\.))", "A {value} ans", "suis"),
    Rule("birthday", r"(?:mon anniversaire,? (?:c'est|est|tombe)|mon anniv,? (?:c'est|est)|je fête mon anniversaire|c'est mon anniversaire|je suis née?|j'ai mon anniversaire|je suis de)(?: toujours)? le (?P<value><DATE>)", "Son anniversaire est le {value}"),
    Rule("birthday", r"le (?P<value><DATE>),? (?:c'est mon anniversaire|j'ai <AGE> ans|j'aurai <AGE> ans|je fête)", "Son anniversaire est le {value}"),
    Rule("moved", r"(?:je viens|on vient|nous venons) (?:juste )?de (?:déménager|m'installer|s'installer|nous installer|emménager)(?: [\w ]{3,20})? (?:à|au|aux|en) (?P<value><PLACE>)<END>", "Vit à {value}"),
    Rule("moved", r"(?:j'ai (?:récemment |enfin |tout juste )?(?:déménagé|emménagé)|on a (?:récemment |enfin )?(?:déménagé|emménagé)|nous avons (?:déménagé|emménagé)|je me suis installée?|on s'est installée?s?|je suis (?:partie?|venue?) (?:vivre|habiter|m'installer))(?: (?:cet? \w+|en <MONTH>|l'an dernier|récemment|il y a \w+ \w+|de <PLACE>))? (?:à|au|aux|en) (?P<value><PLACE>)<END>", "Vit à {value}"),
    Rule("home", r"(?:moi,? )?(?:j'habite|on habite|nous habitons|je vis|on vit|nous vivons|je réside|je loge|je suis installée?|je suis basée?|on est installée?s?|on est|je suis|on loge)(?: (?:maintenant|actuellement|désormais|toujours|seule?|ensemble|depuis \w+(?: \w+)?|avec [\w ]{3,20}?))*(?: (?:tout )?près| à côté)? (?P<phrase>(?:à|au|aux|en|dans|de|sur) (?:(?:la banlieue|banlieue|le centre|les environs|la région|un (?:petit )?village|la ville) (?:de |près de |d'))?(?P<value><PLACE>))(?! (?:pour|ce week-end|cette semaine|jusqu))<END>", "Vit {phrase}"),
    Rule("possession", r"(?:je|on) roule en (?P<value><MAKE>)", "A {value}"),
    Rule("home", r"(?:j'habite|on habite|je vis|on vit|nous habitons)(?: dans)? un (?:petit )?(?:village|hameau|bourg|patelin|appartement|appart|studio) (?P<phrase>(?:près de|à côté de|à|en|dans|vers|proche de) (?P<value><PLACE>))<END>", "Vit {phrase}"),
    Rule("home", r"j'habite (?P<value><PLACE>)<END>", "Vit à {value}"),
    Rule("home", r"(?:mon|notre) (?:appart|appartement|chez-moi|domicile|logement) est (?:à|au|en) (?P<value><PLACE>)<END>", "Vit à {value}"),
    Rule("home", r"je (?:t'écris|vous écris) (?:de|depuis) (?P<value><PLACE>)<END>", "Vit à {value}"),
    Rule("origin", r"(?:je viens|je suis (?:originaire|natif|native|issue?))(?: (?:à l'origine|d'origine|à la base))? (?:de la |du |des |de |d')(?P<value><PLACE>)<END>", "Vient de {value}"),
    Rule("origin", r"(?:originaire|natif|native) (?:de la |du |des |de |d')(?P<value><PLACE>)<END>", "Vient de {value}", "suis"),
    Rule("origin", r"(?:je suis née?(?: et j'ai grandi)?|j'ai grandi|née?) (?:à|au|aux|en|dans) (?P<value><PLACE>)<END>", "Vient de {value}"),
    Rule("origin", r"(?:ma ville natale,? (?:c'est|est)) (?P<value><PLACE>)<END>", "Vient de {value}"),
    Rule("work", r"(?:une? |la |le )?(?P<value><TRADE><TAIL>)<END>", "Travaille comme {value}", "suis"),
    Rule("work", r"(?:je (?:travaille|bosse|taffe)|j'exerce)(?: (?:aussi|actuellement|maintenant|depuis \w+(?: ans)?|à mi-temps|à temps partiel|de nuit))* (?:comme|en tant que|en qualité de) (?:une? )?(?P<value><NP>(?: (?:chez|dans|en|à|au) <NP>)?)", "Travaille comme {value}"),
    Rule("work", r"je (?:travaille|bosse|taffe)(?: (?:aussi|actuellement|maintenant|depuis \w+(?: ans)?|à mi-temps|de nuit))* (?P<phrase>(?:chez|pour|à|au|à la|à l'|dans) ?(?P<value><ORG>))<END>", "Travaille {phrase}"),
    Rule("work", r"je (?:travaille|bosse|taffe)(?: (?:aussi|actuellement|maintenant))* (?P<phrase>(?:dans (?:une? |le |la |l'|les )|à la |à l'|au |en )(?!(?:projet|texte|sujet|maison|moment|nuit|journée|rapport|roman|mémoire|équipe)\b)(?P<value><NP>))<END>", "Travaille {phrase}"),
    Rule("work", r"(?:je tiens|je gère|je dirige|j'ai|on tient|nous tenons|on a|j'ai ouvert|je possède) (?P<value>(?:une?|ma propre|mon propre|ma|mon|le|la) (?:petite? )?<BUSINESS>(?: (?:à|de|dans|en) [\w -]{2,30}?)?)<END>", "Tient {value}"),
    Rule("work", r"(?P<value>j'enseigne (?:le |la |les |l')?(?P<rest><NP>))", "Enseigne {rest}"),
    Rule("work", r"(?P<value><TRADE><TAIL>) (?:de métier|de profession|de formation)\b", "Travaille comme {value}"),
    Rule("language", r"(?:moi,? )?(?:je (?:parle|lis|comprends|maîtrise|baragouine)|on parle|nous parlons|je suis bilingue(?: en)?)(?: (?:couramment|aussi|bien|très bien|un peu|le|l'|un peu de|également|à la maison|surtout))* ?(?:le |l')?(?P<value><TONGUE>)", "Parle {value}", "", _LIST),
    Rule("language", r"ma (?:langue maternelle|première langue|langue),? (?:c'est|est) (?:le |l')?(?P<value><TONGUE>)", "Parle {value}"),
    Rule("family", r"\b(?:mon|ma|mes|notre|nos) (?P<value>(?:(?:petite?|grande?|jeune|aînée?|ex-futur) )?(?P<kin><KINS>),?(?: (?:qui )?s'appelle(?:nt)?| c'est|) (?P<who><CAP>(?:(?:, <CAP>){0,3} et <CAP>)?))(?! (?:est|nous a|a) (?:mort|morte|décédé|décédée|quittés?))", "Famille : {value}", anywhere=True),
    Rule("family", r"\b(?:mon|ma) (?P<value><KIN>)(?= et moi\b)", "Famille : {value}", anywhere=True),
    Rule("family", r"\b(?:mon|ma) (?P<value>femme|mari|épouse|compagne|compagnon|copain|copine|conjointe?|fiancée?|fils|fille|frère|sœur|soeur|neveu|nièce|petit-fils|petite-fille|grand-mère|grand-père)(?=\s*(?:[,.;!?)]|$)|\s+(?:de \d|qui a|a \d|est|a|ne|n'a|et|veut|va|vit|adore|déteste|me|fait|dit|en|pour)\b)", "Famille : {value}", anywhere=True),
    Rule("family", r"(?:j'ai|on a|nous avons|j'élève|avec mes|mes) (?P<value>(?:<COUNT>) (?:(?:petite?s?|grande?s?|jeunes?) )?<KINS>(?: (?:qui s'appellent|nommée?s?) <CAP>(?: et <CAP>)?)?)<END>", "A {value}"),
    Rule("family", r"(?P<value>(?:papa|maman|père|mère|grand-père|grand-mère|tante|oncle)(?: (?:solo|célibataire|au foyer|veuve?))?(?: (?:de|d') ?[\w']+(?: [\w-]+)?)?)<END>", "Est {value}", "suis"),
    Rule("family", r"(?P<value>mariée?|divorcée?|séparée?|veuf|veuve|célibataire|fiancée?|pacsée?|fils unique|fille unique)<END>", "Est {value}", "suis"),
    Rule("pet", r"\b(?:mon|ma|mes|notre|nos) (?P<value>(?:(?:petite?|vieux|vieille|jeune|gros|grosse) )?(?P<kin><PETS>),?(?: (?:qui )?s'appelle(?:nt)?| c'est|) (?P<who><CAP>(?: et <CAP>)?))", "Animal : {value}", anywhere=True),
    Rule("pet", r"\b(?:mon|ma|notre) (?P<value>(?:(?:petite?|vieux|vieille|jeune|gros|grosse) )?<PET>)(?= (?:ne|n'|fait|est|a|aboie|miaule|mange|dort|ronfle|perd|me|adore|déteste|mord|griffe|refuse|gratte|qui|et|boite|tire|se)\b)(?! (?:est|a) (?:mort|décédé))", "Animal : {value}", anywhere=True),
    Rule("pet", r"(?:j'ai|on a|nous avons|j'ai adopté|on a adopté|je viens d'adopter|on vient d'adopter|j'élève|je m'occupe d') ?(?P<value>(?:<COUNT>|des) (?:(?:petite?s?|vieux|vieille|jeunes?|grosse?s?) )?<PETS>(?: [\wé]+)??(?:,? (?:qui s'appelle(?:nt)?|nommée?s?|appelée?s?) <CAP>(?: et <CAP>)?)?)<END>", "A {value}", "", _LIST),
    Rule("possession", r"\b(?:mon|ma|mes|notre|nos) (?:\w+ )?(?P<value><MAKE>)", "A {value}", anywhere=True),
    Rule("possession", r"(?:j'ai|on a|nous avons|j'ai acheté|je viens d'acheter|on a acheté|j'ai hérité d'|je possède|je conduis|je roule en|je roule avec|on possède|je me suis acheté|je me suis offert) ?(?P<value>(?:<COUNT>|des) (?:(?:vieux|vieille|petite?|grande?|nouvelle?|nouveau|ancienne?|vieil) )?<THING>(?: (?!<END>)[\w-]+(?: (?:<CAP>|\d{2,4}|de \d+)){0,3})?)<END>", "A {value}", "", _LIST),
    Rule("possession", r"(?:j'ai|on a|nous avons|je conduis|je roule en|je roule dans) (?:une?|ma) (?:(?:vieille|vieux|petite?) )?(?P<value><CAP>(?: [A-Z0-9][\w-]*){0,2}(?: (?:de|du|d') ?(?:\d{2,4}))?)(?=\s*(?:[,.;!?]|$)|\s+(?:qui|et|avec|depuis|dont)\b)", "A {value}"),
    Rule("allergies", r"allergiques? (?:à la |à l'|au |aux |à )(?P<value>\w)", "Est allergique à {value}", "suis", _LIST),
    Rule("allergies", r"(?:mon médecin|mon docteur|l'allergologue|mon allergologue|le médecin|ma médecin) (?:dit|m'a dit|pense|affirme) que je suis (?:\w+ )?allergique (?:à la |à l'|au |aux |à )(?P<value>\w)", "Est allergique à {value}", "", _LIST),
    Rule("allergies", r"(?:j'ai|je souffre d'|je fais)(?: une| d'une)? (?:grosse |forte |grave )?(?:allergie|intolérance) (?:sévère |grave |forte )?(?:à la |à l'|au |aux |à )(?P<value>\w)", "Est allergique à {value}", "", _LIST),
    Rule("allergies", r"intolérante?s? (?:à la |à l'|au |aux |à )(?P<value>\w)", "Ne tolère pas {value}", "suis", _LIST),
    Rule("allergies", r"(?:je ne |je |j'peux |on ne )(?:supporte|tolère|digère)s? (?:pas|plus)(?: du tout)? (?:le |la |les |l')(?P<value>(?:lactose|gluten|fructose|fruits de mer|crustacés|arachides?|noix|œufs?|lait|soja|blé|poisson|fraises|crevettes|kiwis?|latex|pénicilline|aspirine|ibuprofène|histamine)\b)", "Ne tolère pas {value}", "", _LIST),
    Rule("allergies", r"(?:dès que|quand|chaque fois que|à chaque fois que|si) je (?:mange|bois|touche|respire|goûte|prends) (?:des |du |de la |de l'|une? |un |les |la |le |l')?(?P<value>[\wœ]+(?: (?:de )?(?!j|je|ma|mes|mon)\w+)??),? (?:j'ai (?:la |le |les |des |une? )|je (?:gonfle|fais|me couvre|tousse|vomis|suffoque)|ma (?:gorge|langue)|mes (?:lèvres|yeux)|ça me (?:gratte|gonfle|donne))", "Est allergique à {value}"),
    Rule("allergies", r"(?:les |le |la |l')?(?P<value>(?:(?:piqûres?|poils?|pollens?|pollen) (?:d'|de |des |du )?)?(?!ça\b|me\b|cela\b|tout\b|rien\b)[\wœ]+(?: (?:d'|de )\w+)?) me (?:(?:donnent?|font faire|fait faire|provoquent?|causent?|filent?|font|fait|déclenchent?) <HARM>|envoient? (?:à l'hôpital|aux urgences))", "Est allergique à {value}"),
    Rule("diet", r"(?:une? )?(?P<value><DIET>)<END>", "Est {value}", "suis"),
    Rule("diet", r"(?:ma (?:\w+|femme \w+|compagne \w+)|mon (?:\w+|mari \w+|copain \w+)) et moi(?:,)? (?:on est|nous sommes|sommes) (?:tous (?:les )?deux )?(?P<value><DIET>)<END>", "Est {value}"),
    Rule("diet", r"(?:je|on) mange(?:ons)? (?:(?:uniquement|que|strictement|toujours) )*(?P<value><DIET>)<END>", "Mange {value}"),
    Rule("diet", r"(?P<value>(?:je ne |je |on ne |on |j')(?:mange|bois|consomme|touche)s? (?:pas|plus|jamais|aucune?)(?: du tout)? (?:de |d'|du |à la |au |aux )?(?:<FOOD>|alcool|l'alcool|café|vin|bière|caféine|lait)(?: ni (?:de |d')?(?:<FOOD>|alcool|café))*)\b(?! (?:ce soir|aujourd'hui|le soir|avant|après))", "{value}"),
    Rule("diet", r"(?:je suis|je fais|j'ai|je mange)(?: un| le)? régime (?P<value>(?!équilibré|strict)[\wé-]+(?: (?:sel|gluten|sucre|résidus))?)<END>", "Suit un régime {value}"),
    Rule("diet", r"(?P<value>(?:j'évite|j'ai (?:arrêté|banni|supprimé)) (?:le |la |les |l')?<FOOD>)<END>", "{value}"),
    Rule("diet", r"(?:je suis devenue?|on est devenus?|je suis passée?) (?P<value><DIET>)<END>", "Est {value}"),
    Rule("health", r"(?:une personne )?(?P<value><BEING>(?: (?:de naissance|d'une oreille|d'un œil))?)<END>", "Est {value}", "suis"),
    Rule("health", r"(?:j'ai|je souffre d[eu']|j'souffre de|je vis avec|je suis atteinte? (?:de|d'|du)|on m'a diagnostiqué|on vient de me diagnostiquer|je fais)(?: ?(?:une?|de l'|de la|du|des|la|le|les|l'))? ?(?P<value><ILL>)\b", "A {value}", "", _LIST),
    Rule("health", r"<START>(?:(?:attention|désolée?|pardon),? )?(?P<value>(?:dyslexi(?:e|que)|dyslexique|diabétique|malvoyante?|malentendante?|asthmatique|épileptique|cœliaque|daltonien(?:ne)?)) (?:ici|ici présente?|au clavier|depuis)", "Est {value}"),
    Rule("health", r"(?P<value>enceinte(?: de [\w ]{2,14}(?:mois|semaines))?)<END>", "Est {value}", "suis"),
    Rule("health", r"<START>(?P<value>enceinte(?: de [\w ]{1,14}(?:mois|semaines))?)(?=\s*(?:[,.;!?]|$)|\s+(?:et|je|donc)\b)", "Est {value}"),
    Rule("health", r"(?:(?:je me déplace|je suis|je circule) en|j'utilise un) (?P<value>fauteuil(?: roulant)?)\b", "Utilise {value}"),
    Rule("health", r"(?:je porte|j'ai|on m'a posé)(?: un| une| des| deux)? (?P<value>pacemaker|stimulateur cardiaque|appareils? auditifs?|implant cochléaire|pompe à insuline|prothèse(?: \w+| (?:de|du) \w+)*|stent|défibrillateur|stomie|poche)\b", "Porte {value}"),
    Rule("health", r"je prends (?:du |de la |de l'|des |un |depuis \w+ )?(?P<value>(?:levothyrox|anticoagulants?|insuline|metformine|antidépresseurs|lithium|bêta-?bloquants?|cortisone|méthotrexate|statines?|previscan|ventoline|traitement (?:pour|contre) (?:la |le |l')?\w+|médicaments? (?:pour|contre) (?:la |le |l')?\w+))\b", "Prend {value}"),
    Rule("health", r"en tant que personne (?P<value><BEING>|autiste|sourde|aveugle|épileptique)\b", "Est {value}"),
    Rule("dislikes", r"(?:moi,? )?(?:je (?:déteste|hais|exècre|abhorre)|je (?:ne )?(?:supporte|aime|kiffe|raffole|blaire)s? (?:pas|point)(?: du tout| trop| vraiment| tellement)?(?: de| d')?|j'aime (?:pas|vraiment pas)(?: du tout| trop)?|je n'aime (?:pas|vraiment pas)(?: du tout| trop| vraiment)?|j'ai (?:horreur|une sainte horreur)|je ne suis pas (?:fan|un grand fan|une grande fan|amateur|friande?))(?: de la| de l'| du| des| de| d')? ?(?P<value>(?!que\b|quand\b|quoi)\w)", "N'aime pas {value}", "", _LIST),
    Rule("dislikes", r"(?:le |la |les |l')(?P<value>[\wœ]+(?: (?:de |d')?\w+)?),? (?:ça )?(?:me (?:dégoûtent?|répugnent?|débectent?|gonflent?|sortent? par les yeux|rendent? fou|rend folle|horripilent?|insupportent?)|(?:c'est|ce n'est|c'est vraiment) pas (?:mon truc|ma tasse de thé|pour moi)|très peu pour moi)", "N'aime pas {value}"),
    Rule("likes", r"(?:moi,? )?(?:j'aime|j'adore|je kiffe|je raffole|j'apprécie|je préfère|j'affectionne|je collectionne|je pratique)\b(?: (?:bien|beaucoup|énormément|vraiment|surtout|aussi|trop|particulièrement|tellement))*(?: de la| de l'| du| des| de| d')? ?(?P<value>(?!que\b|quand\b|ce que|pas\b|ton\b|ta\b|l'idée|bien ta|comment)\w)", "Aime {value}", "", _LIST),
    Rule("likes", r"(?:je suis |on est )(?:une? )?(?:(?:très |super |grande?s? |gros |grosse |vraie? |trop )*)(?:fan|fans|amateur|amatrice|passionnée?s?|mordue?|dingue|accro|folle|fou|férue?|friande?|amoureux|amoureuse)(?: de la| de l'| du| des| de| d'| par la| par le| par l'| par les| à la| au| aux| à) ?(?P<value>\w)", "Aime {value}", "", _LIST),
    Rule("likes", r"(?:mon|ma|mes) (?P<what>[\wéè ]{2,24}?) (?:préférée?s?|favorite?s?)(?: de tous les temps)?,? (?:c'est|est|sont|ce sont) (?P<value>\w)", "{what} préféré : {value}", "", _PHRASE, key="favourite {what}"),
    Rule("likes", r"(?:ma passion|mon hobby|mon passe-temps|mes passions|mes hobbies|mon truc|ma grande passion)(?: préféré)?,? (?:c'est|est|sont|ce sont) (?P<value>\w)", "Aime {value}", "", _LIST),
    Rule("likes", r"(?:moi,? )?je joue (?:du |de la |de l'|au |à la |aux |d')(?P<value>(?!(?:con|malin|rôle|jeu|carte|montre|comédie)\b)[\w-]+(?: [\w-]+)?)(?=\s*(?:[,.;!?]|$)|\s+(?:depuis|et|en|dans|avec|tous|chaque)\b)", "Joue : {value}"),
    Rule("likes", r"(?:je fais|on fait) (?:de la |de l'|du |des )(?P<value>(?!(?:mon mieux|bruit|progrès|ménage|recherches?|courses|fautes?|études?|ski ce)\b)\w+(?: \w+)?) (?:depuis|tous les|toutes les|chaque|en (?:club|amateur))", "Aime {value}"),
    Rule("likes", r"(?:à part [\w' ]{2,20},? )?(?:le |la |les |l')(?P<value>[\wœ]+(?: (?:de |d')?\w+)?),? (?:c'est (?:mon truc|ma passion|la vie|ma vie)|me passionnent?)", "Aime {value}"),
)
# fmt: on

FRENCH: Final = Language(
    code="fr",
    points_back=NEVER,
    hint=pattern(r"\b(?:je|moi|me|mon|ma|mes|on|nous|le|la|les|un|une|des|du|de|et|que|en|à|pour|pas|est|suis|chu|ici|notre|nos|enceinte|désormais|toujours|jamais|qui|dans|\w+-moi|[jmcdlnt]'\w+)\b"),
    rules=_RULES,
    words={**_WORDS, "START": r"(?<![\s\S])"},
    small_words=_SMALL_WORDS,
    subjects={
        "": "",
        "suis": rf"(?:(?:moi,? )?(?:je suis|j'suis|chuis|chu|on est|nous sommes|je reste|je suis devenue?) {_SURE})",
        "ai": r"(?:moi,? )?(?:j'ai|on a|nous avons) ",
        "order": r"(?:(?<![\s\S])|(?<=, )|(?<=: ))",
    },
    shared=frozenset({"suis", "ai"}),
    oneself="suis",
    carried="-",
    others=NEVER,
    boundary=pattern(
        r"[,;:!?—–()…](?: |$) ?| - |(?<=\s)(?:et|mais|car|donc|parce que|parce qu'|puisque|pis|ou|alors|que|qui est|sinon|sauf que|du coup) |[\U0001f300-\U0001faff☀-➿]️? ?"
    ),
    leads=pattern(
        r"(?:(?:salut|coucou|bonjour|bonsoir|hello|hey|yo|allô|alors|bon|ben|bah|eh bien|ok|d'accord|au fait|d'ailleurs|sinon|en fait|et|mais|oui|non|merci|ah|oh|euh|désolée?|pardon|à vrai dire|honnêtement|franchement|perso|"
        r"personnellement|pour info|petite? (?:info|précision)|parce que|parce qu'|comme|car|donc|que|aujourd'hui|actuellement|maintenant|désormais|depuis \w+(?: \w+)?|il y a \w+ \w+|en \d{4}|note|nb|ps|sache que|il faut savoir que|figure-toi que|"
        r"je précise que|je dois dire que|je rappelle que|n'oublie pas que|souviens-toi que|retiens que|bien sûr|malheureusement|heureusement|à la base|du coup|à part (?:ça|[\w' ]{2,16})|moi(?! c'est)|nous|alors voilà|voilà|grand virage|ça y est|enfin|bref|tiens|encore|attention|contexte|de métier|tout le monde)[,.!:]*\s+){1,4}"
    ),
    unreal=pattern(
        r"\b(?:si (?:j'étais|j'avais|je (?:vivais|devenais|travaillais|suis|vis|deviens)|on était)|imagine|imaginons|suppose|supposons|admettons|j'aimerais|je voudrais|je souhaiterais|si seulement|peut-être|quand j'étais|dans mon enfance|enfant,|petite?,|avant,? (?:j'étais|je|j'avais)|autrefois|jadis|à l'époque|"
        r"j'étais|je travaillais|j'habitais|comme si|serais|aurais|vivrais|(?:il|elle|on) (?:m'a )?(?:dit|disait)|disent que|selon (?:mon|ma)|traduis|un jour,? je|je rêve|hypothétiquement|faire semblant|il paraît|jusqu'à récemment|jusqu'à l'an dernier|ce n'est pas (?:vrai|que)|il y a (?:\w+ ){1,2}ans,? (?:j|ça))\b"
    ),
    frame=pattern(
        r"\b(?:imagine|imaginons|supposons|admettons|on joue|jouons|jeu de rôles?|faisons (?:comme si|semblant)|fais (?:comme si|semblant)|tradui[st]\w*|corrige (?:ce|cette|le|la|ma phrase|mon texte)|comment (?:on |tu |vous )?(?:dit-on|dit|dites|dis-tu)|"
        r"(?:écris|écris-moi|rédige|invente|compose|fais-moi|raconte) (?:une?|le|la|moi une?) (?:\w+ ){0,2}?(?:histoire|poème|conte|monologue|dialogue|scène|chanson|roman|nouvelle|personnage|biographie|bio|sketch|profil)\b|dans mon (?:roman|livre|histoire)|dans ma (?:nouvelle|pièce|fiction)|"
        r"(?:résume|résume-moi|relis|réponds à|reformule|raccourcis) (?:ce|cet|cette|le|la) (?:\w+ ){0,2}?(?:mail|message|texte|lettre|courriel|courrier|passage|article|extrait)[^.?!\n]{0,60}[:\n])"
    ),
    made_up=pattern(
        r"\b(?:jeu de rôles?|on joue ?:|jouons à|on dirait que|tu (?:es|seras|joues) (?:mon|ma|un|une|le|la) [^.?!]{2,40}? et (?:moi )?je|je (?:suis|joue) (?:le|la|un|une) [^.?!]{2,60}?(?:,|\.| et) ?tu (?:es|seras|joues)|mon (?:héros|personnage|protagoniste)|mon héroïne|dans mon (?:roman|livre))\b"
    ),
    ironic=pattern(
        r"^\W*(?:ah,? (?:oui|ouais|bien sûr|super|génial)|oh,? (?:oui|super|génial|joie)|mais oui|bien sûr,|oui,? (?:bien sûr|parce que)|génial,|super,|magnifique,|formidable,|évidemment|quelle (?:joie|chance|surprise)|quel bonheur|comme c'est|trop bien,|youpi|chouette,|c'est bien connu)|\bcomme tout le monde\b|\bqui n'aime pas\b"
        r"|\bj'adore (?:quand|attendre|payer|faire la queue|les embouteillages|être|devoir|me lever)"
    ),
    ironic_text=pattern(r"(?:^|\s)/s\b|\U0001f644(?!\s*\S.*\?)|\b(?:je (?:rigole|plaisante)|c'est une blague|ironie)\b"),
    speech=pattern(
        r"\b(?:écri\w*|tradui\w*|dit|dis|disait|lis|lit|résum\w*|corrig\w*|relis|répond\w*|reformul\w*|expliqu\w*|phrase|texte|lettre|courrier|courriel|mail|message|note de|conte|histoire|poème|personnage|exemple|titre|panneau|citation|ligne|parole|anglais|allemand|espagnol|portugais|italien|json|code|cv de|joue|jouons)\b"
    ),
    goes_on=pattern(r"[,;:—–]|\s-\s|\b(?:et|mais|donc|pis|alors)\b"),
    explains=pattern(r"\b(?:parce que|parce qu'|car|comme|puisque|vu que)\s*$"),
    tag=pattern(r"\A\W*(?:suis-je|ai-je|est-ce que je (?:suis|ai))\b|,? (?:non|n'est-ce pas|hein|pas vrai|ou pas|c'est ça|ou non)\W*$"),
    unless={
        "instruction": pattern(r"\b(?:cette fois|juste (?:pour )?(?:aujourd'hui|maintenant|cette)|pour une fois|aujourd'hui|ce (?:texte|mail|message)|cette (?:réponse|lettre|fois)|dans le prochain|ci-dessous)\b"),
        "nickname": pattern(r"\b(?:quand|demain|plus tard|ce soir|un taxi|jamais|ne m')\b"),
        "pet": pattern(r"\b(?:est morte?|nous a quittés?|décédée?|j'avais|j'aimerais|je voudrais|on voudrait|peluche|en peluche|je veux|on veut)\b"),
        "possession": pattern(r"\b(?:vendu|louée?|emprunt\w+|de location|j'avais|je veux|je voudrais)\b"),
        "likes": pattern(r"\b(?:n'aime|n'adore|plus)\b|\b(?:ai|a) plus\b|\bj'aimais"),
        "dislikes": pattern(r"\bn'(?:aime|adore) plus\b|\bne (?:déteste|supporte) plus\b"),
        "home": pattern(r"\b(?:en vacances|pour (?:une semaine|le week-end|quelques jours|\w+ jours)|jusqu'à l'an)\b"),
    },
    refused={
        "": pattern(r"(?:ça|cela|ceci|ce|cet|celui|celle|ceux|tout|rien|quelque|quelqu|personne|elle|il|lui|eux|toi|vous|tu|comment|quoi|quand|que|qu|comme|ton|ta|tes|votre|vos|être|là|y)\b|\W*$"),
        "allergies": pattern(r"(?:lundis?|travail|réunions?|bêtises?|gens|engagement|stress|sport|drame|idiots|connerie|impôts|effort|toi|matin|tâches?|hypocrisie|mauvaise foi|moi|peur|plaisir|bien|honte|pitié|envie|froid|chaud|mal\b|rire|rêver|penser)\b"),
        "name": pattern(r"(?:nouvelle?|désolée?|une?|le|la|de|très|ravie?|prête?|sûre?|Dieu|Français|Française|France|Belgique|Suisse|Québec|En|À|Au|C|Si|Pas)\b"),
        "nickname": pattern(r"(?:quand|comme|un|une|le|la|si|plus|demain|pas)\b"),
        "moved": pattern(r"(?:maison|mars|linux|windows|mac|autre)\b"),
        "home": pattern(r"(?:paix|mars|lune|colère|train|retard|enfer|Noël|Internet)\b"),
        "origin": pattern(r"(?:mars|loin|finir|faire)\b"),
        "likes": pattern(r"(?:(?:ta|ton|tes|votre|l'idée|cette|cet|ce|que|quand|attendre|payer|être|bien|mieux|savoir|avoir|me|te|les lundis|la façon)\b|pas\b)"),
        "dislikes": pattern(r"(?:ta|ton|tes|cette|cet|ce|que|quand|être|me|te|la réponse|le ton|la façon|trop|parler de ça)\b"),
        "work": pattern(r"(?:maison|équipe|noir|nuit|projet|moment|mieux|bureau|chômage|domicile)\b"),
    },
    phrase_end=pattern(
        rf"\s+(?:(?:et|ou|mais|ni|car|donc|parce|quand|que|qui|si|sauf|surtout|notamment|aussi|depuis|à la folie|énormément|beaucoup|plus que|maintenant|même|{_STOPS.replace('|en|au|aux|dans|chez|sur|sous|vers', '').replace('|avec|sans', '').replace('|de|', '|')})\b|-\s)"
    ),
    listing=pattern(r"\s*(?:,\s*(?:et|ou|ni)\s+(?:aussi\s+)?|\s(?:et|ou|ni)\s+(?:aussi\s+)?|,\s*)"),
    no_item=pattern(
        r"(?:je|j'|j|moi|tu|il|elle|on|nous|vous|ils|me|te|se|ne|n'|c'est|ce|ça|est|suis|ai|a|as|y|que|qui|quoi|quel|quelle|comment|combien|pourquoi|où|quand|pour|parce|mais|merci|svp|stp|dis|donne|fais|propose|aide|idées?|pas|ni|si|déjà|maintenant|"
        r"surtout|en|dans|de|mon|ma|mes|son|sa|ses|ton|ta|des idées|un (?:podcast|plat|resto|cadeau|truc)|une (?:idée|recette)|tout|rien|plus|moins|trop|très|etc|ensuite|puis|alors|même|cherche|besoin|peux|envie|explique|trouve|deteste|déteste|parle)\b"
    ),
    pairs=NEVER,
    before={
        **dict.fromkeys(("dislikes", "allergies", "health", "diet", "language", "age"), _ARTICLES),
        "pet": pattern(r"(?:une?|des)\s+"),
        "family": pattern(r"(?:une?|mon|ma|mes)\s+"),
        "possession": pattern(r"(?:une?)\s+"),
        "work": pattern(r"(?:une?|le|la)\s+"),
        "instruction": NEVER,
        "remember": NEVER,
        "likes": pattern(rf"(?:une?\s+|{_ARTICLES.pattern})"),
    },
    after={"": pattern(r"(?:[,\s]+(?:s'il te plaît|s'il vous plaît|stp|svp|merci|aussi|mdr|lol|ok|hein|d'ailleurs|moi))+\W*$"), "instruction": pattern(r",? (?:je (?:préfère|suis|veux|n)|j'|car|parce|puisque|merci|c'est).*$"), "likes": pattern(r" (?:à la folie|depuis toujours|par-dessus tout)$"), "dislikes": pattern(r",? (?:même|surtout) .*$")},
    own_words=pattern(r"\b(?:je|mon|ma|mes|me|moi|nous|notre|nos|tu|te|ton|ta)\b|\b[jm]'"),
    asked_to_keep="A demandé de retenir : {value}",
    shared_tail=pattern(r"\bpréfère .*?(?P<tail>\s)(?:en|avec|sans) (?!(?:été|hiver|automne|vacances|voyage|général|ce|mon|ma|mes)\b)(?=\w)"),
    times=pattern(r",? (?:(?P<since>depuis [\w ]{2,30}?)|(?P<until>jusqu(?:'à|e) [\w ]{2,30}?)|(?P<applies>(?:au travail|au boulot|le week-end|à la maison|quand [\w ]{2,40}?)))(?=\s*[,.;!?]|$)"),
    abbreviations=frozenset("m mme mlle dr pr etc ex p.ex av bd n° st ste".split()),
    taking_back=TAKING_BACK,
    frames=FRENCH_FRAMES,
    listed={"health": pattern(_WORDS["ILL"])},
    slip=pattern(r",? (?:enfin non|enfin|pardon|non pardon|je veux dire|euh non|ou plutôt|non attends|désolée?)[,:]? (?:non[,:]? )?(?:à |au |en |de |d'|c'est )?(?P<value>(?-i:[A-ZÀ-Þ])[\w'-]+(?: (?-i:[A-ZÀ-Þ])[\w'-]+){0,2})"),
)  # fmt: skip
