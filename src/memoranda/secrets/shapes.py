"""Secrets that are known by their own shape: providers' keys and tokens, JWTs, private keys,
credentials in addresses.
"""

from __future__ import annotations

import binascii
import json
import re
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from typing import Final

from memoranda.first_use import expression
from memoranda.secrets.placeholders import is_common_word, is_placeholder
from memoranda.secrets.spans import Secret, SecretClass

#: Every pattern begins at a border, so that a run of characters is tried once, and repeats one
#: class of characters.
_BORDER: Final = r"(?<![A-Za-z0-9_])"
_KEYS: Final = expression(
    _BORDER + r"(?:(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])"
    r"|sk-(?:proj-|ant-|or-|svcacct-|admin-|live-)?[A-Za-z0-9_-]{20,}"
    r"|(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{20,}"
    r"|AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])|GOCSPX-[A-Za-z0-9_-]{20,}|SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}"
    r"|mem_[0-9a-f]{8}_[A-Za-z0-9_-]{40,}|key-[0-9a-f]{32}(?![0-9a-z])|SK[0-9a-f]{32}(?![0-9a-z])|(?:gsk|xai|pplx|fw|r8|tgp_v1|phc|phx|nvapi|re|rnd|lin_api|sntrys)[_-][A-Za-z0-9_-]{24,}"
    r"|AGE-SECRET-KEY-1[A-Z0-9]{50,60}|(?:PMAK|NRAK|NRJS|EZAK|EZTK|sq0csp|sk_prod|pnu|dp\.pt|dt0c01)[-_.][A-Za-z0-9_.-]{16,}"
    r"|[0-9a-f]{32}-us[0-9]{1,2}(?![0-9a-z]))"
)
_TOKENS: Final = expression(
    _BORDER
    + r"(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{40,}|gl(?:pat|dt|rt|ptt|ft|cbt|oas|soat|agent)-[A-Za-z0-9_-]{20,}"
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[0-9]-[A-Za-z0-9-]{10,}|npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{50,}"
    r"|hf_[A-Za-z0-9]{30,}|do[por]_v1_[a-f0-9]{64}|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}|ya29\.[A-Za-z0-9_-]{20,}"
    r"|(?:hvs|hvb|hvr)\.[A-Za-z0-9_-]{20,}|dapi[0-9a-f]{32}|glsa_[A-Za-z0-9_]{32,}|glc_[A-Za-z0-9+/=]{32,}"
    r"|(?:tskey-[a-z]{4,10}|sbp|sbp_v0|atp|atlasv1|pscale_tkn|pscale_oauth|figd|ntn|secret|EAAC|vercel|dckr_pat|ATATT3x|ATCTT3x|sl|rdme|lip|nfp)"
    r"[-_.][A-Za-z0-9_-]{32,}"
    r"|AT[AC]TT3x[A-Za-z0-9_=-]{40,}|EAA[A-Za-z0-9]{60,}|[0-9]{8,10}:AA[A-Za-z0-9_-]{32,34}(?![A-Za-z0-9_-])"
    r"|[MNO][A-Za-z0-9]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}(?![A-Za-z0-9_-]))"
)
_SLACK_HOOK: Final = expression(
    r"hooks\.slack\.com/services/(T[A-Z0-9]{6,12}/B[A-Z0-9]{6,12}/[A-Za-z0-9]{20,28})"
)
_JWT: Final = expression(
    r"(?<![A-Za-z0-9_.-])(eyJ[A-Za-z0-9_-]{8,})\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"
)
#: ``scheme://user:password@host``. A password in an address has none of these signs unescaped.
_ADDRESS: Final = expression(r"://([^\s:/@\"'<>?#]{0,100}):([^\s/@\"'<>]{1,200})@(?=[\w.\[-])")
_BEARER: Final = expression(
    r"\b(?:bearer|authorization\s{0,3}[:=]\s{0,3}[\"']?token)\s{1,3}([A-Za-z0-9_.+/=~-]{16,})",
    re.IGNORECASE,
)
_BASIC: Final = expression(r"\bbasic\s{1,3}([A-Za-z0-9+/]{12,}={0,2})", re.IGNORECASE)
_CURL: Final = expression(r"(?:\s-u|--user)[ =]{1,3}[\"']?[\w.@+-]{1,80}:([^\s\"':]{4,100})")
#: Passwords on command lines: ``mysql -uroot -pXy12``, ``echo Xy12 | sudo -S``, ``net use Z:
#: \\\\host\\share Xy12 /user:…``.
_MYSQL: Final = expression(
    r"\b(?:mysql\w{0,8}|mariadb\w{0,8}|sshpass|psql|mongo\w{0,8}|docker login|podman login|unzip|redis-cli)\b[^\n|;&]{0,120}?\s-[pPa]\s?[\"']?([^\s\"'<>-][^\s\"'<>]{4,80})"
)
_SUDO: Final = expression(
    r"\becho\s{1,3}(?:-n\s{1,3})?[\"']?([^\s\"'|]{4,80})[\"']?\s{0,3}\|\s{0,3}sudo\b"
)
_NET_USE: Final = expression(
    r"\bnet use [A-Za-z*]:? [^\s]{3,120} ([^\s/]{4,80}) /user|\bnet user [^\s]{1,40} ([^\s/]{4,80}) /add"
)
_IDENTIFIED: Final = expression(
    r"identified (?:with \w{1,40} )?by [\"']([^\"'\n]{4,80})[\"']", re.IGNORECASE
)
_SIGNED: Final = expression(
    r"[?&](?:sig|X-Amz-Signature|X-Goog-Signature|access_token|api_key|apikey|appid|token|auth|key)=([A-Za-z0-9%_.~+/=-]{16,})"
)
_BEGIN, _END = "-----BEGIN ", "-----END "
_LABEL: Final = expression(r"-----BEGIN ([A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?)-----")
#: Lines of a private key without its last line.
_BODY: Final = expression(r"(?:\s|\\n|\\r|[A-Za-z0-9+/=:,-])*+")
#: The least digits or capitals of a provider's key after its prefix: text such as
#: ``sk-learn-based-classifier`` has none.
_LEAST_DRAWN: Final = 3


def shaped(text: str) -> Iterator[Secret]:
    """Yield secrets that are known by their own shape."""
    for pattern, kind in ((_KEYS, SecretClass.KEY), (_TOKENS, SecretClass.TOKEN)):
        for found in pattern.finditer(text):
            if _is_drawn(found.group()):
                yield Secret(kind, *found.span())
    for found in _JWT.finditer(text):
        if _is_header(found.group(1)):
            yield Secret(SecretClass.TOKEN, *found.span())


def with_words(text: str, folded: str) -> Iterator[Secret]:
    """Yield private keys and credentials in addresses and headers; ``folded`` is the text in lower
    case.
    """
    if "private key" in folded:
        yield from _private_keys(text)
    if "://" in folded and "@" in folded:
        for found in _ADDRESS.finditer(text):
            if not _stands_for_password(found.group(2)):
                yield Secret(SecretClass.PASSWORD, *found.span(2))
    for word, pattern, kind in (
        ("bearer", _BEARER, SecretClass.TOKEN),
        ("authorization", _BEARER, SecretClass.TOKEN),
        ("hooks.slack", _SLACK_HOOK, SecretClass.TOKEN),
        ("=", _SIGNED, SecretClass.TOKEN),
    ):
        if word in folded:
            for found in pattern.finditer(text):
                if _is_drawn(found.group(1)):
                    yield Secret(kind, *found.span(1))
    for word, pattern in (
        (" -u", _CURL),
        ("--user", _CURL),
        (" -p", _MYSQL),
        (" -a ", _MYSQL),
        ("sudo", _SUDO),
        ("net use", _NET_USE),
        ("identified", _IDENTIFIED),
    ):
        if word in folded:
            for found in pattern.finditer(text):
                group = found.lastindex or 1
                if not _stands_for_password(found.group(group)):
                    yield Secret(SecretClass.PASSWORD, *found.span(group))
    if "basic" in folded:
        for found in _BASIC.finditer(text):
            if b":" in _decoded(found.group(1)):
                yield Secret(SecretClass.PASSWORD, *found.span(1))


def _is_drawn(value: str) -> bool:
    """True if a value has enough digits and capitals to be drawn by a program, and is no
    placeholder.
    """
    drawn = sum(character.isdigit() or character.isupper() for character in value[3:])
    return drawn >= _LEAST_DRAWN and not is_placeholder(value)


def _stands_for_password(value: str) -> bool:
    return (
        is_placeholder(value)
        or value.casefold() in ("password", "passwd", "pass", "pw", "pwd", "secret", "token")
        or is_common_word(value)
    )


def _is_header(part: str) -> bool:
    """True if the first part of a JWT is a JSON object that names its algorithm."""
    try:
        header = json.loads(_decoded(part[:2_000]))
    except (ValueError, RecursionError):
        return False
    return isinstance(header, dict) and "alg" in header


def _decoded(part: str) -> bytes:
    try:
        return urlsafe_b64decode(
            part.replace("+", "-").replace("/", "_").rstrip("=")
            + "=" * (-len(part.rstrip("=")) % 4)
        )
    except (binascii.Error, ValueError):
        return b""


def _private_keys(text: str) -> Iterator[Secret]:
    """Yield each private key with its first and last line; without a last line it ends with the
    last line like the others.
    """
    place = 0
    while (found := _LABEL.search(text, place)) is not None:
        last = f"{_END}{found.group(1)}-----"
        end = text.find(last, found.end())
        following = text.find(_BEGIN, found.end())
        if end < 0 or 0 <= following < end:
            body = _BODY.match(text, found.end())
            place = found.end() if body is None else body.end()
            whole = text[found.start() : place].rstrip()
        else:
            place = end + len(last)
            whole = text[found.start() : place]
        body_text = "".join(whole.split("-----")[2:3]).strip(" \r\n\\n.…")
        if len(body_text) >= 16 and not is_placeholder(body_text[:64]):
            yield Secret(SecretClass.PRIVATE_KEY, found.start(), found.start() + len(whole))
