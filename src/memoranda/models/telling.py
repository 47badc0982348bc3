"""Tells what went wrong at a provider in our own words: theirs may quote what was sent."""

from __future__ import annotations

import math
import re
from typing import Any

from memoranda.errors import ModelDown, ModelFailed, ModelRefused

#: The longest that a provider may ask to wait.
LONGEST_WAIT = 86_400.0

#: Statuses below 500 after which the same request may pass.
_PASSING = frozenset({408, 409, 425, 429})
_CODE = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_CONTENT = re.compile(r"content|moderation|safety|policy|invalid_prompt")

#: PydanticAI's error, the narrower first → the reason, and what is to be done.
_REFUSALS = (
    ("ModelQuotaExceededError", "quota", "the account's quota or credit is used up: raise it"),
    ("ModelAuthenticationError", "credentials", "it does not take the credentials: check the key"),
    ("ModelNotFoundError", "model", "it does not know the model: check its name and the address"),
    ("ModelContextWindowExceededError", "length", "the question is longer than the model reads"),
    ("ContentFilterError", "content", "it will not answer to this content"),
)


def model_error(name: str, seconds: float, exc: BaseException, faults: Any) -> ModelFailed:
    """The error for what PydanticAI raised; ``faults`` is its module of errors."""
    if isinstance(exc, faults.FallbackExceptionGroup):
        each = [model_error(name, seconds, inner, faults) for inner in exc.exceptions]
        return next((one for one in each if isinstance(one, ModelDown)), each[0])
    if isinstance(exc, TimeoutError):
        return ModelDown(f"{name} did not answer within {seconds:g} s")
    if isinstance(exc, (faults.ModelTimeoutError, faults.ModelRequestTimeout)):
        return ModelDown(f"{name} did not answer in the time that its own settings give it")
    for error, reason, words in _REFUSALS:
        if isinstance(exc, getattr(faults, error)):
            return ModelRefused(f"{name}: {words}{_code(exc)}", reason=reason)
    status = getattr(exc, "status_code", None)
    passing = status is None or status >= 500 or status in _PASSING
    if isinstance(exc, faults.ModelRequestRejectedError) or not passing:
        reason = "content" if _CONTENT.search(_code(exc)) else "request"
        return ModelRefused(f"{name} refuses the request{_code(exc)}", reason=reason)
    if isinstance(exc, faults.UserError):
        return ModelRefused(f"{name} cannot be asked so: PydanticAI refuses the request", reason="request")
    return ModelDown(f"{name} did not answer{_code(exc)}", retry_after=_wait(exc))


def _code(exc: BaseException) -> str:
    """The status and the provider's own code for the error, where it looks like one."""
    said = [getattr(exc, name, None) for name in ("status_code", "provider_error_code")]
    words = [str(word) for word in said if word is not None and _CODE.fullmatch(str(word))]
    return f" ({', '.join(words)})" if words else ""


def _wait(exc: BaseException) -> float | None:
    seconds = getattr(exc, "retry_after", None)
    if seconds is None or not math.isfinite(seconds) or seconds < 0:
        return None
    return min(float(seconds), LONGEST_WAIT)
