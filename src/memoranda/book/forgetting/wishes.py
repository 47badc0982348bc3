"""Recognises by rules that a user asks to forget something, in English, German, Spanish and
French.
"""

from __future__ import annotations

import re
from typing import Final

from memoranda.formation.privacy.unwanted import unwanted_spans

#: The most characters of a message that are read.
_MOST: Final = 20_000
#: Words that somebody else wrote: quotations, code, and lines of an earlier mail.
_QUOTED: Final = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*`|\"[^\"\n]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|^[ \t]*>.*$",
    re.DOTALL | re.MULTILINE,
)
_CLAUSE: Final = re.compile(r"[.!?;:\n]+|,\s+(?=(?:and|but|und|aber|y|pero|et|mais)\b)")
_MINE: Final = (
    r"(?:(?:that|this|it|these|those|everything|all|what|where|how|which|who|when)\b|(?:\w+ ){0,3}(?:my|our|about me|i|the (?:memory|memories|fact))\b"
    r"|.*\b(?:memory|memories|notes|records?|profile)\b)"
)
_ASKING: Final = r"(?:can|could|would|will|please|want|need|like|ask|should|must|wish|mind)"
_ENGLISH: Final = re.compile(
    rf"(?:^(?:\W|please|ok|okay|so|now|just|then|also|and|but|oh|hey|hi|actually|no|yes|thanks|sorry|i)*?|\b(?:please|just|and|then)\s+"
    rf"|\b{_ASKING}\b[\w' ]{{0,30}}\byou\b(?:\s+(?:please|just|also|to|now))*\s+|\b(?:i want|i need|i would like|i'd like|i wish)\b[\w' ]{{0,20}}\byou to\s+"
    rf"|\byou (?:should|must|can|may|have to|need to)\s+(?:please\s+)?)"
    rf"(?:(?:forget|unlearn)(?! to\b)\b|(?:delete|remove|erase|wipe|purge|drop|get rid of)\s+{_MINE}|stop (?:remembering|storing|saving)\b)"
)
_ENGLISH_NOT: Final = re.compile(
    r"(?:\b(?:not|never|i|we|they|he|she|did|didn't|don't|doesn't|won't|cannot|can't)|n't)\s+(?:\w+\s+){0,2}(?:forget|unlearn|delete|remove|erase|wipe|purge|drop)\b"
)
_GERMAN: Final = re.compile(
    r"\b(?:vergiss|vergesst|lösch|lösche|löscht|entferne?|entfernt|streiche?)\b(?! (?:nicht|nie))|\b(?:vergessen|löschen|entfernen|streichen) sie\b(?! (?:nicht|nie))"
    r"|\b(?:kannst|könntest|würdest|willst|sollst|sollt|musst|können|könnten|würden|bitte|darfst)\b(?!.*\b(?:nicht|nie|habe|hast)\b).*\b(?:vergessen|löschen|entfernen)\b"
)
_SPANISH: Final = re.compile(
    r"(?<!\bno )(?<!\bme )(?<!\bse )(?<!\ble )(?<!\bte )(?<!\bnos )(?<!\bél )(?<!\bella )\b(?:olvid[ae](?:te|lo|la|los|las)?|olvídate|olvídalo|olvídala|borr[ae](?:lo|la)?|bórral[oa]|"
    r"elimin[ae](?:lo|la)?|elimínal[oa]|suprim[ae]|quita)\b|\b(?:puedes|podrías|puede|podría|quiero que|por favor)\b(?!.*\bno\b).*\b(?:olvidar|olvides|borrar|borres|eliminar|elimines)(?:lo|la)?\b"
)
_FRENCH: Final = re.compile(
    r"(?<!n')(?<!j')(?<!\bne )(?<!\bil )(?<!\belle )(?<!\bon )\b(?:oublie[zs]?|efface[zs]?|supprime[zs]?|retire[zs]?|enlève)\b(?! (?:pas|jamais))"
    r"|\b(?:peux|peux-tu|pouvez|pouvez-vous|pourrais|pourrais-tu|pourriez-vous|veux que|s'il te plaît|s'il vous plaît)\b(?!.*\b(?:pas|jamais)\b).*\b(?:oublier|oublies|effacer|effaces|supprimer|supprimes)\b"
)


def asks_to_forget(text: str) -> bool:
    """True if a user's message asks to forget something, or not to keep it; words that it quotes do
    not count.
    """
    own = _QUOTED.sub(" ", text[:_MOST]).replace("’", "'")
    if unwanted_spans([own])[0]:
        return True
    clauses = (one.strip().casefold() for one in _CLAUSE.split(own))
    return any(map(_asks, clauses))


def _asks(clause: str) -> bool:
    if _ENGLISH.search(clause) and not _ENGLISH_NOT.search(clause):
        return True
    return any(language.search(clause) for language in (_GERMAN, _SPANISH, _FRENCH))
