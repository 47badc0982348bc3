"""Fields of words: words for the same part of everyday life, in English, German, Spanish and French."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

#: A line for each field; "*" stands for any ending.
_FIELDS: Final = """
live* living lives resid* home hometown house* flat apartment* address* move* moving relocat* settl* based neighbo* city town village street district rent* lease* landlord* mortgage locals? wohn* leb* umgezogen umzug umzieh* zuhause stadt dorf straße adresse miete viv* casa hogar piso apartamento dirección ciudad pueblo mud* calle barrio habit* maison appartement adresse ville déménag* rue quartier chez
work* job* employ* compan* boss* office* career* profession* occupation colleague* coworker* shift* salary firm hire* hired arbeit* beruf* firma büro stelle angestellt* chef* trabaj* empleo empresa oficina jefe profesión travail* métier boulot entreprise bureau patron* emploi
allerg* intoleran* reaction* react* epipen anaphyla* hives rash swell* swollen avoid* unverträglich* vertrag* ausschlag alerg* reacción intoler* réaction évit*
vegan* vegetarian* meat* plant-based veg* diet* eat* food* fish gluten* dairy lactose halal kosher keto fleisch* ernähr* isst vegetar* carne com* comida dieta viande mang* régime nourriture
birth* born bday birthday* age* aged year* turn* candle* cake* anniversar* geb* geburtstag jahr* nacid* nací cumple* años edad naissance né née anniversaire ans âge
wife husband spouse partner* married marr* wedding* wed engag* fiancé* girlfriend* boyfriend* divorc* separat* single widow* relationship dating date* ehe* verheirat* heirat* frau mann freund* geschieden hochzeit espos* marido casad* boda novi* parej* divorci* mari mariage épou* femme copain copine fiancé*
child* kid* son sons daughter* baby babies pregnan* newborn toddler teen* parent* mother* father* mom* mum* dad* school* kind* sohn* tochter* schwanger* mutter vater eltern hij* bebé embaraz* madre padre padres niñ* enfant* fils fille bébé enceinte mère père
brother* sister* sibling* twin* cousin* aunt* uncle* niece* nephew* grand* family famil* bruder schwester geschwister onkel tante oma opa hermano* hermana* prim* abuel* frère sœur oncle
dog* cat* pet* puppy puppies kitten* vet* leash breed* litter bark* purr* paw* fur* rabbit* parrot* horse* hamster* hund* katze* haustier* tierarzt perr* gat* mascota* veterinari* chien* chat* animal* vétérinaire
health* ill* sick* disease* diagnos* condition doctor* physician hospital* clinic* symptom* chronic treat* therap* medic* pill* tablet* dose* prescri* insulin* diabet* blood sugar glucose asthma* inhal* migraine* headache* depress* anxi* cancer* surg* operat* pregnan* krank* arzt ärzt* diagnos* medikament* tablette* behandl* enferm* médic* medicin* pastilla* tratamiento malad* médecin médicament* traitement santé
drink* drank alcohol* beer* wine* sober* coffee* tea* espresso latte cappuccino caffein* trink* bier wein kaffee tee beb* café cerveza vino té boi* bière vin thé
like* love* enjoy* favo* prefer* fan* adore* fond dislike* hate* can't stand taste* mag mögen lieb* bevorzug* hass* gust* encant* prefier* odi* favorit* préfér* détest*
speak* spoke* language* tongue fluent* bilingual mother-tongue native sprech* sprach* idioma* lengua parl* langue*
name* named nickname* goes known surname* initials heiß* genannt spitzname llam* nombre apodo appel* nom prénom surnom
study* stud* universit* college* degree* school* class* course* major* thesis phd master's masters bachelor* exam* graduat* campus professor* lectur* studier* studium uni schule abschluss estudi* universidad carrera étudi* université fac école diplôme
car* drive* drove driving vehicle* motorbike* bike* bicycle* cycl* scooter* tesla garage* license* plate* tyre* engine* auto* fahr* wagen fahrrad coche* conduc* bici* moto* voiture* condui* vélo*
travel* trip* flight* fly* flew vacation* holiday* hotel* visit* airport* passport* visa* itinerar* abroad reis* urlaub* flug* flieg* viaj* vuelo* vacacion* voyag* vacances vol avion
money* salary salaries earn* income* wage* paid pay* debt* loan* credit* saving* budget* bank* account* invest* rich poor euro* dollar* price* cost* owe* gehalt* verdien* schuld* kredit* sueldo* deud* préstamo* salaire* gagn* dette* crédit*
church* religio* faith* pray* god christian* catholic* muslim* islam* jewish judais* hindu* buddh* atheis* mosque* synagog* temple* kirche glaub* gebet iglesia relig* rez* église foi
politic* vote* voting elect* party democrat* republican* socialist* conservat* liberal* left-wing right-wing partei wähl* politik partido vot* polític* parti politique*
sport* run* ran marathon* jog* gym* train* swim* swam climb* yoga football* soccer tennis basketball* hik* ski* surf* workout* fitness exercis* lauf* schwimm* kletter* deporte* cour* grimp*
music* song* sing* sang band* guitar* piano* violin* drum* concert* album* instrument* choir* orchest* musik* lied* gesang klavier gitarre músic* canción piano guitarra cant* musique chanson* chant*
book* novel* author* writ* wrote poem* poet* story stories publish* blog* buch bücher lese* schreib* libro* escrib* livre* écri*
phone* mobile* cell* whatsapp email* e-mail* inbox telefon* nummer handy teléfono móvil correo téléphone numéro portable courriel
password* passcode* pin code* login* secret* token* credential* unlock* passwort kennwort contraseña clave mot passe
appointment* deadline* due schedul* calendar* remind* plan* plans planned event* conference* interview* presentation* termin* treffen frist cita* reunión plazo rendez-vous réunion échéance
quit* stop* left leave* leaving resign* fired layoff* laid off retire* pension* unemploy* kündig* gekündigt rente arbeitslos dej* renunci* jubil* paro démission* retraite chômage
buy* bought purchas* owner* sell* sold gift* kauf* besitz* verkauf* geschenk* compr* vend* regal* achet* vendu* cadeau*
country countries nation* citizen* passport* born origin* native immigra* expat* foreign* land herkunft staat* país nacional* origen pays nationalité origine
hair* eye* tall height* weigh* kilo* pound* cm tattoo* glasses left-hand* handed beard* haar* auge* größe groß gewicht pelo ojo* cheveux yeux taille poids
game* gam* chess* video console* lego puzzle* spiel* schach jueg* jug* ajedrez jeu* jou* échecs
cook* cuisine* recipe* kitchen* bake* baking dish* meal* dinner* lunch* breakfast* spicy restaurant* koch* rezept* gericht* cocin* receta* plato* cuisin* recette* plat*
sleep* slept insomnia bed* wake* woke early night* morning* nap* tired schlaf* bett wach* dorm* sueño* cama dormi* sommeil lit
fear* afraid scared phobia* panic* terrif* anxious angst* furcht* panik miedo* fobia* pánico peur* phobie* panique
smok* cigarette* tobacco nicotin* vap* rauch* zigarette* fum* cigarr* tabac*
garden* flower* grow* tomato* balcon* seed* garten pflanz* blume* jardín jardin* planta* flor* plante* fleur*
movie* film* cinema* series show* watch* netflix director* actor* tv kino serie* película* cine peli* cinéma série*
code* coding program* developer* software python javascript rust java typescript framework* editor* vim emacs ide laptop* computer* mac* linux windows programm* entwick* desarroll* ordenador logiciel* ordinateur* développ*
repl* respon* short* brief* concise* detail* format* bullet* style* formal* informal* antwort* kurz* respuesta* breve* répon* court* bref
"""
_BEGINNINGS: Final = tuple(tuple(line.split()) for line in _FIELDS.strip().splitlines())


@lru_cache(maxsize=64)
def _pattern(field: tuple[str, ...]) -> re.Pattern[str]:
    words = "|".join(
        re.escape(word.rstrip("*?")) + (r"\w*" if word.endswith("*") else "s?") for word in field
    )
    return re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE)


def fields_of(text: str) -> frozenset[int]:
    """Return the numbers of the fields that have a word of a text."""
    return frozenset(place for place, field in enumerate(_BEGINNINGS) if _pattern(field).search(text))


def words_in_fields(fields: frozenset[int]) -> re.Pattern[str] | None:
    """Return a pattern of all words of these fields; None without a field."""
    words = tuple(word for place in sorted(fields) for word in _BEGINNINGS[place])
    return _pattern(words) if words else None
