"""The setting that says what is done with secrets: hide them from models, mask them before they are
stored, or keep them.
"""

from __future__ import annotations

from typing import Final, Literal, get_args

from pydantic import Field

from memoranda.errors import InvalidInput
from memoranda.model.values import Value

SecretsMode = Literal["hide", "mask", "keep"]
_MODES: Final[tuple[str, ...]] = get_args(SecretsMode)


class SecretsSettings(Value):
    """The treatment of secrets in messages, memories and everything else that holds text."""

    mode: SecretsMode = Field(
        default="hide",
        description="What is done with passwords, keys and card numbers. hide: records stay whole, and models see masks. mask: masks are stored instead. keep: nothing.",
    )

    def preferring(self, mode: str | None) -> SecretsSettings:
        """Return these settings with the mode that opening the book names, if it names one."""
        if mode is None:
            return self
        if mode not in _MODES:
            raise InvalidInput(
                f"secrets: {mode!r} is not one of {', '.join(_MODES)}", field="secrets"
            )
        return SecretsSettings.model_validate({"mode": mode})
