"""What applies where a caller names nothing else: the tenant, and the clock."""

from datetime import UTC, datetime

DEFAULT_TENANT = "default"


def utc_now() -> datetime:
    """Return the present time in UTC."""
    return datetime.now(UTC)
