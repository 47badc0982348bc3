"""Conditions on the data of records in the server's SQL; they decide as the filter of the model
does.
"""

from __future__ import annotations

from typing import Any

from memoranda.model.data_filters import ORDERING, Condition, DataFilter, Operator

#: The data of a record ``r``: of an inserted document its own fields, with the name of its schema.
_OWN = """(
    SELECT CASE WHEN w.is_document THEN w.whole -> 'document' ELSE w.whole END AS own,
        CASE WHEN w.is_document THEN w.whole ->> 'schema' END AS schema
    FROM (
        SELECT b.whole, coalesce(
            r.type = 'memory' AND jsonb_typeof(b.whole -> 'schema') = 'string'
            AND jsonb_typeof(b.whole -> 'document') = 'object', false) AS is_document
        FROM (SELECT CASE
            WHEN r.type = 'item' THEN coalesce(r.body::jsonb -> 'value', 'null')
            WHEN r.type = 'memory' AND position('"data":' IN r.body) > 0 THEN r.body::jsonb -> 'data' END AS whole
            OFFSET 0) AS b
        WHERE b.whole IS NOT NULL OFFSET 0) AS w
    OFFSET 0) AS d"""

_SIGNS = {Operator.GT: ">", Operator.GTE: ">=", Operator.LT: "<", Operator.LTE: "<="}


def data_condition(only: DataFilter) -> tuple[str, dict[str, Any]]:
    """Return a filter as a condition on the alias ``r``, and its parameters."""
    parts = ["true"]
    values: dict[str, Any] = {}
    if only.schemas is not None:
        parts.append("d.schema = ANY(:of_schemas::text[])")
        values["of_schemas"] = sorted(only.schemas)
    for number, condition in enumerate(only.conditions):
        found = "d.own"
        for place, part in enumerate(condition.path):
            name = f"path_{number}_{place}"
            found += f" -> :{name}::text"
            values[name] = part
        part, value = _compared(condition, found, f":operand_{number}")
        parts.append(part)
        if value is not None:
            values[f"operand_{number}"] = value
    return f"EXISTS (SELECT 1 FROM {_OWN} WHERE {' AND '.join(parts)})", values  # noqa: S608 - our own names


def _compared(condition: Condition, found: str, name: str) -> tuple[str, Any]:
    """Return a condition on the value that an expression finds, and the value of its parameter."""
    operator, operand = condition.operator, condition.operand
    if operator is Operator.EXISTS:
        return f"({found}) IS {'NOT ' if condition.given else ''}NULL", None
    if operator is Operator.EQ:
        return f"coalesce(({found}) = {name}::text::jsonb, false)", operand
    if operator is Operator.NE:
        return f"({found}) IS DISTINCT FROM {name}::text::jsonb", operand
    if operator is Operator.IN:
        return _among(f"{name}::text::jsonb", found), operand
    if operator is Operator.CONTAINS:
        items = f"CASE WHEN jsonb_typeof({found}) = 'array' THEN {found} ELSE '[]'::jsonb END"
        return _among(items, f"{name}::text::jsonb"), operand
    assert operator in ORDERING
    sort, of_sort = (
        ("string", ' COLLATE "C"') if isinstance(condition.given, str) else ("number", "::numeric")
    )
    value = f"(({found}) #>> '{{}}'){of_sort} {_SIGNS[operator]} {name}::text{of_sort}"
    given = condition.given if isinstance(condition.given, str) else operand
    return f"CASE WHEN jsonb_typeof({found}) = '{sort}' THEN {value} ELSE false END", given


def _among(items: str, wanted: str) -> str:
    """Return the condition that a list has a value."""
    return (
        f"EXISTS (SELECT 1 FROM jsonb_array_elements({items}) AS o (one) WHERE o.one = ({wanted}))"  # noqa: S608
    )
