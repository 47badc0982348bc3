"""Limits of the service: requests of each credential in a minute, requests at once, and the size and time of a body."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from memoranda.access.service_settings import ServiceSettings
from memoranda.service.answers import Refused

#: Credentials whose rate is remembered; beyond it, those that asked nothing lately are forgotten.
_MOST = 10_000


class Rates:
    """The rate of each credential: a bucket of tokens that fills up evenly."""

    def __init__(self, a_minute: int, clock: Callable[[], float]) -> None:
        self._a_second = a_minute / 60
        self._full = max(float(a_minute), 1.0)
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, who: str) -> None:
        """Count a request; raise ``Refused`` if this credential has asked too often."""
        if not self._a_second:
            return
        now = self._clock()
        left, since = self._buckets.pop(who, (self._full, now))
        left = min(self._full, left + (now - since) * self._a_second)
        self._buckets[who] = (max(left - 1, 0.0) if left >= 1 else left, now)
        if len(self._buckets) > _MOST:
            # The order is that of the last request.
            del self._buckets[next(iter(self._buckets))]
        if left < 1:
            pause = max(1, round((1 - left) / self._a_second))
            raise Refused(
                429,
                "rate",
                f"this credential has asked too often; ask again in {pause} s",
                headers={"Retry-After": str(pause)},
            )


def bounded_body(receive: Any, settings: ServiceSettings, length: str | None) -> Any:
    """Return ``receive`` of an ASGI request that refuses a body which is too large, or takes too long to arrive."""
    most = settings.body_bytes
    if length is not None and length.isdecimal() and int(length) > most:
        raise _too_large(most)
    got = 0
    until = asyncio.get_running_loop().time() + settings.body_seconds
    whole = False

    async def limited() -> Any:
        nonlocal got, whole
        if whole:
            return await receive()
        try:
            async with asyncio.timeout_at(until):
                message = await receive()
        except TimeoutError:
            raise Refused(
                408, "slow", "the body did not arrive in time", headers={"Connection": "close"}
            ) from None
        whole = message["type"] != "http.request" or not message.get("more_body", False)
        got += len(message.get("body", b""))
        if got > most:
            raise _too_large(most)
        return message

    return limited


def _too_large(most: int) -> Refused:
    return Refused(
        413,
        "too_large",
        f"the body has more than {most} bytes; send less at once (service.body_bytes sets the limit)",
        headers={"Connection": "close"},
    )
