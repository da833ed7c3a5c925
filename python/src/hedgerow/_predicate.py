"""Predicates of other packages as conditions of `where`; this module reads those of Polars.

Polars and `where` agree on nulls: a comparison with a null is neither true nor false. They differ in NaN, which
Polars takes for the greatest number, equal to itself. For `where`, NaN equals, precedes and follows no number. So
the condition for ``x > 1`` is ``not x <= 1``, which both hold for NaN.

The functions read the JSON in which Polars writes an expression. If it has a form that they do not know, they find
no condition, and only Polars tests the predicate.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

__all__: list[str] = []

# The most bytes of a predicate that is read: a longer one compares with very many values.
LONGEST = 1 << 20

_FLIPPED = {"Eq": "Eq", "NotEq": "NotEq", "Lt": "Gt", "LtEq": "GtEq", "Gt": "Lt", "GtEq": "LtEq"}
_FLIPPED |= {name: name for name in ("EqValidity", "NotEqValidity")}
_SIGNS = {"Eq": "==", "NotEq": "!=", "Lt": "<", "LtEq": "<=", "Gt": ">", "GtEq": ">="}
_AND, _OR = ("And", "LogicalAnd"), ("Or", "LogicalOr")
# The lower and the upper comparison of `is_between`.
_BETWEEN = {"Both": ("GtEq", "LtEq"), "Left": ("GtEq", "Lt"), "Right": ("Gt", "LtEq"), "None": ("Gt", "Lt")}

# The names that Polars gives to the types of a property's values.
_SCALARS = {"bool": "Boolean", "i64": "Int64", "f64": "Float64", "utf8": "String", "bytes": "Binary", "timestamp": "Datetime"}

_MAX_RANK = 2**64 - 1
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Property(NamedTuple):
    """A property that a column has: its name in the store, and its type."""

    name: str
    type: str


class Unknown(Exception):
    """An expression has no equivalent condition."""


class Pushed(NamedTuple):
    """A condition and a range of ranks that every row meets for which a predicate is true.

    `is_whole` is true if the predicate is true for every such row.
    """

    where: Any = None
    ranks: tuple[int, int | None] = (0, None)
    is_whole: bool = False


class Language(NamedTuple):
    """The functions that read the expressions of a package. `exact` and `bounds` raise `Unknown` for other nodes."""

    # Returns "and" or "or" and the sides of such a node; None for another one.
    sides: Callable[[Any], tuple[str, list[Any]] | None]
    # Returns the condition that is true, false and neither for the same rows as a node.
    exact: Callable[[Any], Any]
    # Returns the first and the last rank for which a comparison of ranks is true.
    bounds: Callable[[Any], tuple[int, int]]


def pushed(predicate: Any, properties: Mapping[str, Property], rank: str | None) -> Pushed:
    """Returns the part of a predicate of Polars that the store can test.

    `properties` are the columns of properties. `rank` is the name of the column of ranks, if there is one.
    """
    try:
        if len(predicate.meta.serialize()) > LONGEST:
            return Pushed()
        node = json.loads(predicate.meta.serialize(format="json"))
        language = Language(_sides, lambda node: _exact(node, properties), lambda node: _bounds(node, rank))
        return part_of(node, language)
    except Exception:  # noqa: BLE001: another version of Polars may write expressions in another form
        return Pushed()


def part_of(node: Any, language: Language) -> Pushed:
    """Returns the part of an expression that the store can test."""
    conditions, first, last, is_whole = [], 0, _MAX_RANK, True
    for part in _conjuncts(node, language):
        try:
            low, high = language.bounds(part)
            first, last = max(first, low), min(last, high)
            continue
        except Unknown:
            pass
        try:
            conditions.append(language.exact(part))
        except Unknown:
            is_whole = False
            if (condition := _implied(part, language)) is not None:
                conditions.append(condition)
    where = all_of(conditions) if conditions else None
    return Pushed(where, (first, None if last == _MAX_RANK else max(last + 1, first)), is_whole)


def _conjuncts(node: Any, language: Language) -> list[Any]:
    """Returns the nodes that must all be true."""
    found, rest = [], [node]
    while rest:
        node = rest.pop()
        op, sides = language.sides(node) or ("", [])
        if op == "and":
            rest.extend(reversed(sides))
        else:
            found.append(node)
    return found


def _implied(node: Any, language: Language) -> Any:
    """Returns a condition that is true for each row for which the node is true; None if none is known."""
    op, sides = language.sides(node) or ("", [])
    if op:
        implied = [_implied(side, language) for side in sides]
        known = [side for side in implied if side is not None]
        if op == "or":
            return ("or", *known) if len(known) == len(sides) else None
        return all_of(known) if known else None
    try:
        return language.exact(node)
    except Unknown:
        return None


def all_of(conditions: list[Any]) -> Any:
    return conditions[0] if len(conditions) == 1 else ("and", *conditions)


def one_of(of: Property, values: list[Any], nulls_equal: bool) -> Any:
    """Returns the condition that a property has one of the values; with `nulls_equal`, None is such a value, and the
    condition is false and not null for other rows without one.
    """
    known = [value for value in values if value is not None]
    if not known or any(value != value for value in known):
        raise Unknown
    condition = (of.name, "in", known)
    if not nulls_equal:
        return condition
    return ("or", (of.name, "is", None), condition) if None in values else ("and", (of.name, "is not", None), condition)


def bounds_of(op: str, to: int) -> tuple[int, int]:
    """Returns the first and the last rank that this comparison with a rank holds for."""
    if op == "==":
        return to, to
    if op in (">", ">="):
        return to + (op == ">"), _MAX_RANK
    if op in ("<", "<="):
        return 0, to - (op == "<")
    raise Unknown


def _sides(node: Any) -> tuple[str, list[Any]] | None:
    node = _operation(node)
    if not isinstance(node, _Operation) or node.op not in (*_AND, *_OR):
        return None
    return "and" if node.op in _AND else "or", [node.left, node.right]


def _exact(node: Any, properties: Mapping[str, Property]) -> Any:
    """Returns the condition that is true, false and neither for the same rows as the node."""
    node = _operation(node)
    if isinstance(node, _Operation):
        if node.op in (*_AND, *_OR):
            return ("and" if node.op in _AND else "or", _exact(node.left, properties), _exact(node.right, properties))
        column, op, value = node.left, node.op, node.right
        if op not in _FLIPPED:
            raise Unknown
        if "Column" not in column:
            column, op, value = value, _FLIPPED[op], column
        return _compared(_property(column, properties), op, value)
    if "Column" in node:
        of = _property(node, properties)
        if of.type != "bool":
            raise Unknown
        return (of.name, "==", True)
    inputs, function, options = _function(node)
    if function == "Not":
        return ("not", _exact(inputs[0], properties))
    of = _property(inputs[0], properties)
    if function in ("IsNull", "IsNotNull"):
        return (of.name, "is" if function == "IsNull" else "is not", None)
    if function == "StartsWith" and of.type in ("utf8", "bytes"):
        return (of.name, "prefix", _value(inputs[1], of))
    if function == "IsBetween":
        return ("and", *(_compared(of, op, bound) for op, bound in zip(_BETWEEN[options["closed"]], inputs[1:], strict=True)))
    if function == "IsIn":
        return one_of(of, _list(inputs[1], of), options["nulls_equal"])
    raise Unknown


def _compared(of: Property, op: str, value: Any) -> Any:
    to = _value(value, of)
    if op == "EqValidity":
        return ("and", (of.name, "is not", None), (of.name, "==", to))
    if op == "NotEqValidity":
        return ("or", (of.name, "is", None), (of.name, "!=", to))
    if of.type == "f64" and op in ("Gt", "GtEq"):
        return ("not", (of.name, "<=" if op == "Gt" else "<", to))
    return (of.name, _SIGNS[op], to)


def _bounds(node: Any, rank: str | None) -> tuple[int, int]:
    """Returns the first and the last rank for which the node is true."""
    if rank is None:
        raise Unknown
    node = _operation(node)
    columns = {rank: Property(rank, "rank")}
    of = columns[rank]
    if not isinstance(node, _Operation):
        inputs, function, options = _function(node)
        if function != "IsBetween":
            raise Unknown
        _property(inputs[0], columns)
        lower, upper = _BETWEEN[options["closed"]]
        return _value(inputs[1], of) + (lower == "Gt"), _value(inputs[2], of) - (upper == "Lt")
    column, op, value = node.left, node.op, node.right
    if op not in _FLIPPED:
        raise Unknown
    if "Column" not in column:
        column, op, value = value, _FLIPPED[op], column
    _property(column, columns)
    return bounds_of("==" if op == "EqValidity" else _SIGNS.get(op, ""), _value(value, of))


class _Operation(NamedTuple):
    left: Any
    op: str
    right: Any


def _operation(node: Any) -> Any:
    """Returns an operation with two operands as `_Operation`, and any other node as it is."""
    if isinstance(node, dict) and node.keys() == {"BinaryExpr"} and node["BinaryExpr"].keys() == {"left", "op", "right"}:
        return _Operation(**node["BinaryExpr"])
    return node


def _function(node: Any) -> tuple[list[Any], str, dict[str, Any]]:
    """Returns the inputs of a function, its name and its options."""
    if not isinstance(node, dict) or node.keys() != {"Function"} or node["Function"].keys() != {"input", "function"}:
        raise Unknown
    function = node["Function"]["function"]
    if not isinstance(function, dict) or len(function) != 1:
        raise Unknown
    ((family, name),) = function.items()
    if family not in ("Boolean", "StringExpr", "BinaryExpr"):
        raise Unknown
    if isinstance(name, str):
        return node["Function"]["input"], name, {}
    ((name, options),) = name.items()
    return node["Function"]["input"], name, options


def _property(node: Any, properties: Mapping[str, Property]) -> Property:
    if not isinstance(node, dict) or node.keys() != {"Column"} or node["Column"] not in properties:
        raise Unknown
    return properties[node["Column"]]


def _scalar(node: Any) -> tuple[str, Any]:
    """Returns the type and the value of a literal."""
    if not isinstance(node, dict) or node.keys() != {"Literal"} or node["Literal"].keys() != {"Scalar"}:
        raise Unknown
    ((of, value),) = node["Literal"]["Scalar"].items()
    return of, value


def _value(node: Any, of: Property) -> Any:
    """Returns the value of a literal that has the type of a property, or is a rank."""
    kind, value = _scalar(node)
    # JSON has null for NaN and for the infinities.
    if kind != _SCALARS.get(of.type, "UInt64") or value is None:
        raise Unknown
    if of.type == "bytes":
        return bytes(value)
    if of.type == "timestamp":
        number, unit, zone = value
        if unit != "Microseconds" or zone not in ("UTC", {"inner": "UTC"}):
            raise Unknown
        try:
            return EPOCH + timedelta(microseconds=number)
        except OverflowError as error:
            raise Unknown from error
    if of.type == "f64" and not math.isfinite(value):
        raise Unknown
    return value


def _list(node: Any, of: Property) -> list[Any]:
    """Returns the values of a literal list that has the type of a property; None for a null."""
    import polars as pl

    if isinstance(node, dict) and node.keys() == {"Alias"}:
        node = node["Alias"][0]
    kind, written = _scalar(node)
    if kind != "List":
        raise Unknown
    values = pl.read_ipc_stream(io.BytesIO(bytes(written))).to_series()
    dtype = pl.Datetime("us", "UTC") if of.type == "timestamp" else getattr(pl, _SCALARS[of.type])
    if values.dtype != dtype:
        raise Unknown
    return values.to_list()
