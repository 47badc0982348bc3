"""Errors of providers in our own words: theirs may quote the request."""

from __future__ import annotations

import math
import re
from typing import Any

from memoranda.errors import ModelDown, ModelFailed, ModelRefused

#: The longest wait that a provider may ask for, in seconds.
LONGEST_WAIT = 86_400.0

#: Statuses below 500 after which the same request may succeed.
_PASSING = frozenset({408, 409, 425, 429})
_CODE = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_CONTENT = re.compile(r"content|moderation|safety|policy|invalid_prompt")

#: PydanticAI's error (narrower ones first), the reason, and what to do.
_REFUSALS = (
    ("ModelQuotaExceededError", "quota", "the account's quota or credit is used up: raise it"),
    ("ModelAuthenticationError", "credentials", "it does not accept the credentials: check the key"),
    ("ModelNotFoundError", "model", "it does not know the model: check the name and the address"),
    ("ModelContextWindowExceededError", "length", "the request is longer than the model accepts"),
    ("ContentFilterError", "content", "it refuses this content"),
)


def model_error(name: str, seconds: float, exc: BaseException, faults: Any) -> ModelFailed:
    """Return the error for an exception of PydanticAI; ``faults`` is its module of exceptions."""
    if isinstance(exc, faults.FallbackExceptionGroup):
        each = [model_error(name, seconds, inner, faults) for inner in exc.exceptions]
        return next((one for one in each if isinstance(one, ModelDown)), each[0])
    if isinstance(exc, TimeoutError):
        return ModelDown(f"{name} did not answer within {seconds:g} s")
    if isinstance(exc, (faults.ModelTimeoutError, faults.ModelRequestTimeout)):
        return ModelDown(f"{name} did not answer within the time limit of its own settings")
    for error, reason, words in _REFUSALS:
        if isinstance(exc, getattr(faults, error)):
            return ModelRefused(f"{name}: {words}{_code(exc)}", reason=reason)
    status = getattr(exc, "status_code", None)
    passing = status is None or status >= 500 or status in _PASSING
    if isinstance(exc, faults.ModelRequestRejectedError) or not passing:
        reason = "content" if _CONTENT.search(_code(exc)) else "request"
        return ModelRefused(f"{name} refuses the request{_code(exc)}", reason=reason)
    if isinstance(exc, faults.UserError):
        return ModelRefused(f"PydanticAI refuses the request to {name}", reason="request")
    return ModelDown(f"{name} did not answer{_code(exc)}", retry_after=_wait(exc))


def _code(exc: BaseException) -> str:
    """Return the status and the provider's error code, if it looks like a code."""
    said = [getattr(exc, name, None) for name in ("status_code", "provider_error_code")]
    words = [str(word) for word in said if word is not None and _CODE.fullmatch(str(word))]
    return f" ({', '.join(words)})" if words else ""


def _wait(exc: BaseException) -> float | None:
    seconds = getattr(exc, "retry_after", None)
    if seconds is None or not math.isfinite(seconds) or seconds < 0:
        return None
    return min(float(seconds), LONGEST_WAIT)
