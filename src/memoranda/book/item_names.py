"""Checks namespaces and names of items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memoranda.errors import InvalidInput
from memoranda.model.data.items import LABEL_LENGTH, LABELS, length_fault, namespace_text


def as_labels(namespace: Any, field: str = "namespace", least: int = 1) -> tuple[str, ...]:
    """Check a namespace and return its labels."""
    if isinstance(namespace, str) or not isinstance(namespace, Sequence):
        raise InvalidInput(f"{field}: give a list of labels, such as ('notes', 'work')", field=field)
    if not least <= len(namespace) <= LABELS:
        raise InvalidInput(f"{field}: give {least} to {LABELS} labels, not {len(namespace)}", field=field)
    return tuple(as_bounded(label, LABEL_LENGTH, field) for label in namespace)


def as_namespace_text(labels: Any) -> str | None:
    """Return the beginning of the kinds of all items in a namespace or below it; None for all namespaces."""
    return namespace_text(as_labels(labels, least=0)) or None


def as_bounded(text: Any, most: int, field: str) -> str:
    """Check a text that is not empty and at most so long, and return it."""
    if not isinstance(text, str):
        raise InvalidInput(f"{field}: give a text, not {type(text).__name__}", field=field)
    if (fault := length_fault(text, most)) is not None:
        raise InvalidInput(f"{field}: {fault}", field=field)
    return text
