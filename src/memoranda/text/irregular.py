"""Irregular forms of common English verbs, which stemming does not join: ran and running."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_VERBS: Final = """
    be was were been|begin began begun|break broke broken|bring brought|build built|buy bought|catch caught|choose chose chosen
    |come came|do did done|draw drew drawn|drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen|feel felt
    |fight fought|find found|fly flew flown|forget forgot forgotten|get got gotten|give gave given|go went gone|grow grew grown
    |hear heard|hide hid hidden|hold held|keep kept|know knew known|leave left|lend lent|lose lost|make made|mean meant
    |meet met|pay paid|ride rode ridden|ring rang rung|rise rose risen|run ran|say said|see saw seen|sell sold|send sent
    |sing sang sung|sit sat|sleep slept|speak spoke spoken|spend spent|stand stood|steal stole stolen|swim swam swum
    |take took taken|teach taught|tell told|think thought|understand understood|wake woke woken|wear wore worn|win won
    |write wrote written
"""
#: Each irregular form with its verb.
_VERB_OF: Final = {
    form: verb for verb, *forms in map(str.split, _VERBS.split("|")) for form in forms
}
_WORD: Final = re.compile(r"[a-z]+")


@lru_cache(maxsize=256)
def with_verbs(text: str) -> str:
    """Return a text followed by the verbs of its irregular forms."""
    verbs = [_VERB_OF[word] for word in _WORD.findall(text.casefold()) if word in _VERB_OF]
    return f"{text}\n{' '.join(verbs)}" if verbs else text
