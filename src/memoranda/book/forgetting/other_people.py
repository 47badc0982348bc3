"""Says of a sentence with the words of a statement if somebody else is its subject, in English,
German, Spanish and French.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from memoranda.first_use import expression
from memoranda.text.number_words import LANGUAGES
from memoranda.text.scripts import comparable_text
from memoranda.text.similarity import terms_in
from memoranda.text.terms import is_stop_word

PEOPLE: Final = (
    "sister|brother|sibling|mother|father|mom|mum|mama|mommy|dad|daddy|papa|parents?|grand(?:mother|father|ma|pa|parents?)|granny|grandpa|nan|grandad"
    "|step(?:mother|father|mum|dad|son|daughter|brother|sister)"
    "|(?<!mes )son|daughter|kids?|child(?:ren)?|baby|wife|husband|spouse|partner|girlfriend|boyfriend|fianc[ée]e?|ex|aunt|uncle|cousin|niece|nephew"
    "|friends?|buddy|neighbou?rs?|colleagues?|coworkers?|boss|manager|roommate|flatmate|landlord|landlady|teacher|doctor|coach|trainer|family|in-laws?"
    "|(?:mother|father|sister|brother)-in-law"
    "|schwester|bruder|geschwister|mutter|vater|eltern|oma|opa|großmutter|großvater|sohn|tochter|kind(?:er)?(?! (?:regards|of|words|enough|to)(?!\\w))|frau|mann|freund(?:e|in)?"
    "|partnerin|tante|onkel|cousine?|nichte|neffe|nachbar(?:in|n)?|kolleg(?:e|in|en)|chef(?:in)?|mitbewohner(?:in)?|lehrer(?:in)?|familie"
    "|(?:schwieger|stief|groß)(?:mutter|vater|eltern|sohn|tochter|bruder|schwester)|schw[aä]ger(?:in)?|enkel(?:in)?"
    "|hermanas?|hermanos?|madre|padre|padres|abuel[oa]s?|hij[oa]s?|esposa|esposo|marido|mujer|pareja|novi[oa]|tí[oa]|prim[oa]s?|sobrin[oa]"
    "|amig[oa]s?|vecin[oa]s?|jef[ea]|compañer[oa]s?|profesora?|familia|cuñad[oa]s?|suegr[oa]s?|yerno|nuera|niet[oa]s?"
    "|cats?|dogs?|pets?|horse|rabbit|hund|katze|pferd|perr[oa]|gat[oa]|chien(?:ne)?|chatte?"
    "|sœur|soeur|frère|mère|père|maman|grand-mère|grand-père|fils|fille|enfants?|femme|mari|copain|copine|compagnon|compagne|oncle"
    "|nièce|neveu|amie?s?|voisine?|collègues?|profs?|patronne?|famille"
    "|(?:beau|belle)-(?:frère|sœur|soeur|père|mère|fils|fille)|gendre|tonton|tata|mamie|papi"
)
#: What formed statements call the owner.
OWNER: Final = frozenset(
    "user users user's nutzer nutzers nutzerin benutzer benutzers benutzerin usuario usuaria utilisateur utilisatrice".split()
)
#: What papers call the owner.
_ROLE: Final = expression(
    r"applicant|patient|worker|employee|tenant|client|candidate|member|customer|holder|undersigned"
    r"|antragsteller(?:in)?|patientin|mieter(?:in)?|kund(?:e|in)|mitglied|mitarbeiter(?:in)?|versicherte[rn]?"
    r"|solicitante|paciente|inquilin[oa]|client[ea]|emplead[oa]|demandeu\w+|patiente|locataire|employée?|titulaire",
    re.IGNORECASE,
)
#: Words for the same person: who is married to Anna has a wife Anna.
SAME_PEOPLE: Final = tuple(
    expression(rf"\b(?:{words})\b", re.IGNORECASE)
    for words in (
        r"wife|husband|spouse|partner(?:in)?|married|marriage|ehe\w*|frau|mann|verheiratet|espos[oa]|marido|mujer|casad[oa]|pareja|femme|mari|époux|épouse|mariée?|compagnon|compagne",
        r"mother|mum|mom|mummy|mommy|mama|mamá|mutter|mutti|madre|mère|maman",
        r"father|dad|daddy|papa|papá|vater|vati|padre|père",
        r"sister|schwester|hermana|sœur|soeur|brother|bruder|hermano|frère|siblings?|geschwister",
        r"daughter|tochter|hija|fille|son|sohn|hijo|fils|child(?:ren)?|kids?|kind(?:er)?|hij[oa]s|enfants?",
        r"boss|manager|supervisor|chef(?:in)?|vorgesetzte[rn]?|jef[ea]|patronn?e?|responsable",
        r"dog|puppy|hund|perr[oa]|chien(?:ne)?|cat|kitten|katze|kater|gat[oa]|chatte?|pets?|haustier|mascota",
    )
)
#: People whose place or employer is the owner's, too: “my manager at Halden”.
SHARING: Final = (
    r"\b(?:colleagues?|coworkers?|boss|manager|neighbou?rs?|landlord|landlady|flatmate|roommate|teacher|kolleg(?:e|in|en)|chef(?:in)?|nachbar(?:in|n)?|mitbewohner(?:in)?"
    r"|compañer[oa]s?|jef[ea]|vecin[oa]s?|collègues?|patronn?e?|voisine?)\s+(?:at|in|bei|im|en|chez|à|dans)\b"
)
_POSSESSIVE: Final = r"my|our|his|her|their|your|mein\w*|dein\w*|unser\w*|sein\w*|ihr\w*|mi|mis|tu|tus|su|sus|nuestr\w+|mon|ma|mes|ton|ta|tes|son|sa|ses|notre|nos|the user's"
#: German, with a verb for it beside; in French it is no pronoun but “of the”.
_DU: Final = r"du(?=.*\b(?!t?est\b)\w+[sßz]t\b)|(?<=st\s)du"
#: German, formal: inside a sentence, or with its verb behind.
_SIE: Final = r"(?<=[^\W_] )(?:Sie|Ihnen)\b|\bSie(?=\s+\w+en\b)"
_PREPOSITION: Final = r"(?:with|like|to|for|from|of|near|by|at|about|than|mit|bei|von|für|zu|wie|con|de|para|por|como|cerca de|avec|chez|pour|comme|à)\s+$"
#: Who a clause is about: the owner or the one who is spoken to, or somebody else.
_SUBJECT: Final = expression(
    rf"(?P<own>\b(?:i|i['’]\w+|we|we['’]\w+|you|you['’]\w+|ich|wir|{_DU}|yo|nosotros|nosotras|tú|usted(?:es)?|je|j['’]|nous|tu|vous)\b|(?-i:{_SIE}))"
    rf"|(?P<kin>\b(?:{_POSSESSIVE})\s+(?:\w+\s+){{0,2}}?(?P<who>{PEOPLE})\b(?P<of>['’]s)?)"
    rf"|\b(?P<they>he|she|they|he['’]s|she['’]s|er|él|ella|ellos|ellas|il|elle|ils|elles)\b",
    re.IGNORECASE,
)
#: Words for the owner that are no subject.
OWN: Final = expression(
    rf"\b(?:i|me|we|us|you|yours?elf|myself|the user|ich|mich|mir|wir|uns|{_DU}|dich|dir|yo|mí|me|conmigo|te|ti|je|moi|toi|nous|vous|usted(?:es)?)\b|(?-i:{_SIE})",
    re.IGNORECASE,
)
_AND_I: Final = expression(r"^\s*(?:and|und|y|et)\s+(?:i|ich|yo|moi)\b", re.IGNORECASE)
_NAMED: Final = r"(?P<a>\b(?i:the|der|die|das|el|la|le)\s+)?(?P<name>[^\W\d_][\w'’-]+)\s+(?:(?:from|aus|vom|de|del|du)\s+(?:\w+\s+){{1,2}}?)?(?P<aux>(?:(?:is|was|has|had|ist|war|hat|es|está|tiene|est|a|still|now|also)\s+){{0,2}}(?:\w+ly\s+)?){verb}"
_VERB_ENDS: Final = ("s", "t", "e", "a")

#: The words of a statement: each with the hashes of its possible forms.
Words = tuple[tuple[str, frozenset[int]], ...]


def is_about_somebody_else(sentence: str, words: Words, names: Collection[str]) -> bool:
    """True if the subject of what a sentence says with these words is somebody whom the words do
    not name.
    """
    said = [found for found in re.finditer(r"[^\W_][\w'’-]*", sentence) if _is_one(found[0], words)]
    if not said:
        return False
    known = {comparable_text(word) for word, _ in words}
    subject = _subject_before(sentence, said[0].start()) or _subject_before(
        sentence, said[-1].start()
    )
    if subject is not None:
        if subject["own"]:
            return False
        if subject["kin"]:
            return subject["who"].casefold() not in known and not _is_one(subject["who"], words)
        return not any(re.fullmatch(PEOPLE, word) for word in known)
    if any(
        found["kin"] and found["who"].casefold() not in known
        for found in _SUBJECT.finditer(sentence)
    ):
        return OWN.search(sentence) is None
    return _is_named(sentence, said[0], words, names)


def _subject_before(sentence: str, place: int) -> re.Match[str] | None:
    found = None
    for one in _SUBJECT.finditer(sentence, 0, place):
        if one["kin"] and re.search(_PREPOSITION, sentence[: one.start()], re.IGNORECASE):
            continue
        if one["kin"] and _AND_I.match(sentence[one.end() :]):
            continue
        found = one
    return found


def _is_named(sentence: str, verb: re.Match[str], words: Words, names: Collection[str]) -> bool:
    """True if a name stands right before the first of the words, as in “Tom lives in Boston”."""
    wanted = _NAMED.format(verb=r"\Z")
    found = re.search(wanted, sentence[: verb.start()])
    if found is None or verb[0][0].isupper() or not (found["a"] or found["name"][0].isupper()):
        return False
    if _ROLE.fullmatch(found["name"]):
        return False
    name = found["name"].replace("’", "'").removesuffix("'s").removeprefix("L'")
    # A statement begins with its verb: what follows a name without it is another noun.
    is_first = verb[0].endswith(_VERB_ENDS) and _is_one(verb[0], words[:1])
    is_verb = found["aux"] or is_first
    return bool(
        is_verb
        and not is_small(name)
        and comparable_text(name) not in {*names, *OWNER}
        and not _is_one(name, words)
    )


def is_small(word: str) -> bool:
    """True if a word is a stop word in one of the four languages."""
    return any(is_stop_word(word.casefold(), language) for language in LANGUAGES)


def _is_one(word: str, words: Words) -> bool:
    terms = terms_in(word)
    return any(not forms.isdisjoint(terms) for _, forms in words)
