"""Expressions of PyArrow as conditions of `where`.

Both agree on nulls and on NaN. PyArrow writes an expression as an Arrow file: the literals are columns, and the
operations are pairs in the metadata of its schema. If these have a form that the functions do not know, they find no
condition, and only PyArrow tests the expression.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any, NamedTuple

from ._native import _schema_pairs  # type: ignore[attr-defined]
from ._predicate import EPOCH, LONGEST, Language, Property, Pushed, Unknown, bounds_of, one_of, part_of

__all__: list[str] = []

_SIGNS = {"equal": "==", "not_equal": "!=", "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">="}
_FLIPPED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_JUNCTIONS = {"and_kleene": "and", "or_kleene": "or"}

# The types of PyArrow that the values of a property, and ranks, have.
_TYPES = {
    "bool": ("bool",),
    "i64": ("int64",),
    "f64": ("double",),
    "utf8": ("string", "large_string", "string_view"),
    "bytes": ("binary", "large_binary", "binary_view"),
    "timestamp": ("timestamp[us, tz=UTC]",),
    "rank": ("uint64", "int64"),
}
# What `is_in` does with nulls: `MATCH`, `SKIP`, `EMIT_NULL`.
_MATCH, _SKIP, _EMIT_NULL = range(3)


class Field(NamedTuple):
    """A column."""

    name: str


class Literal(NamedTuple):
    """A value: a scalar of PyArrow."""

    scalar: Any


class Call(NamedTuple):
    """A function of other nodes."""

    name: str
    arguments: list[Any]
    options: Mapping[str, Any] | None


def pushed(expression: Any, properties: Mapping[str, Property], rank: str | None) -> Pushed:
    """Returns the part of an expression that the store can test.

    `properties` are the columns of properties. `rank` is the name of the column of ranks, if there is one.
    """
    try:
        node = _tree(expression)
        language = Language(_sides, lambda node: _exact(node, properties), lambda node: _bounds(node, rank))
        return part_of(node, language)
    except Exception:  # noqa: BLE001: another version of PyArrow may write expressions in another form
        return Pushed()


def fields(expression: Any) -> set[str] | None:
    """Returns the columns that an expression reads; None if it may read any column."""
    try:
        rest, found = [_tree(expression)], set()
    except Exception:  # noqa: BLE001: another version of PyArrow may write expressions in another form
        return None
    while rest:
        node = rest.pop()
        if isinstance(node, Field):
            found.add(node.name)
        if isinstance(node, Call):
            rest.extend(node.arguments)
    return found


def _tree(expression: Any) -> Any:
    """Returns an expression as a tree of `Call`, `Field` and `Literal`."""
    import pyarrow as pa

    _, (written, *_) = expression.__reduce__()
    if len(written) > LONGEST:
        raise Unknown
    batch = pa.ipc.open_file(written).get_batch(0)
    pairs = iter(_schema_pairs(bytes(written)))
    tree = _node(*next(pairs), pairs, batch)
    if next(pairs, None) is not None:
        raise Unknown
    return tree


def _node(what: str, value: str, pairs: Iterator[tuple[str, str]], batch: Any) -> Any:
    if what == "field_ref":
        return Field(value)
    if what == "literal":
        return Literal(batch.column(int(value))[0])
    if what != "call":
        raise Unknown
    arguments, options = [], None
    for key, of in pairs:
        if key == "end":
            return Call(value, arguments, options)
        if key == "options":
            options = batch.column(int(of))[0]
        else:
            arguments.append(_node(key, of, pairs, batch))
    raise Unknown


def _sides(node: Any) -> tuple[str, list[Any]] | None:
    return (_JUNCTIONS[node.name], node.arguments) if isinstance(node, Call) and node.name in _JUNCTIONS else None


def _exact(node: Any, properties: Mapping[str, Property]) -> Any:
    """Returns the condition that is true, false and neither for the same rows as the node."""
    if isinstance(node, Field):
        of = _property(node, properties)
        if of.type != "bool":
            raise Unknown
        return (of.name, "==", True)
    if not isinstance(node, Call):
        raise Unknown
    if node.name in _JUNCTIONS:
        return (_JUNCTIONS[node.name], *(_exact(side, properties) for side in node.arguments))
    if node.name == "invert":
        return ("not", _exact(node.arguments[0], properties))
    if node.name in _SIGNS:
        column, sign, to = _comparison(node)
        of = _property(column, properties)
        return (of.name, sign, _value(to, of))
    if node.name == "if_else":
        return _if_not_null(node, properties)
    of = _property(node.arguments[0], properties)
    if node.name == "is_valid":
        return (of.name, "is not", None)
    options = node.options or {}
    if node.name == "is_null" and not options["nan_is_null"].as_py():
        return (of.name, "is", None)
    if node.name == "starts_with" and of.type == "utf8" and not options["ignore_case"].as_py():
        return (of.name, "prefix", options["pattern"].as_py().decode())
    if node.name == "is_in":
        return _in(node, of)
    raise Unknown


def _if_not_null(node: Call, properties: Mapping[str, Property]) -> Any:
    """Returns the condition of a node that is null for a null, as DuckDB writes `IN`."""
    valid, then, otherwise = node.arguments
    if valid != Call("is_valid", [then.arguments[0]], None) or then.name != "is_in" or otherwise.scalar.as_py() is not None:
        raise Unknown
    of = _property(then.arguments[0], properties)
    return one_of(of, [value for value in _listed(then, of) if value is not None], nulls_equal=False)


def _in(node: Call, of: Property) -> Any:
    nulls, values = node.options["null_matching_behavior"].as_py(), _listed(node, of)  # type: ignore[index]
    known = [value for value in values if value is not None]
    if nulls == _MATCH:
        return one_of(of, values, nulls_equal=True)
    if nulls == _SKIP:
        return one_of(of, known, nulls_equal=True)
    if nulls == _EMIT_NULL and len(known) == len(values):
        return one_of(of, known, nulls_equal=False)
    raise Unknown


def _listed(node: Call, of: Property) -> list[Any]:
    values = node.options["value_set"].values  # type: ignore[index]
    if str(values.type) not in _TYPES[of.type]:
        raise Unknown
    return [_scalar(value, of) for value in values]


def _comparison(node: Call) -> tuple[Any, str, Any]:
    """Returns the column, the sign and the value of a comparison."""
    one, other = node.arguments
    sign = _SIGNS[node.name]
    return (one, sign, other) if isinstance(one, Field) else (other, _FLIPPED[sign], one)


def _bounds(node: Any, rank: str | None) -> tuple[int, int]:
    """Returns the first and the last rank for which the node is true."""
    if rank is None or not isinstance(node, Call) or node.name not in _SIGNS:
        raise Unknown
    column, sign, to = _comparison(node)
    of = _property(column, {rank: Property(rank, "rank")})
    value = _value(to, of)
    if value < 0:
        raise Unknown
    return bounds_of(sign, value)


def _property(node: Any, properties: Mapping[str, Property]) -> Property:
    if not isinstance(node, Field) or node.name not in properties:
        raise Unknown
    return properties[node.name]


def _value(node: Any, of: Property) -> Any:
    """Returns the value of a literal that has the type of a property, or is a rank."""
    if not isinstance(node, Literal) or str(node.scalar.type) not in _TYPES[of.type]:
        raise Unknown
    value = _scalar(node.scalar, of)
    if value is None or value != value:
        raise Unknown
    return value


def _scalar(scalar: Any, of: Property) -> Any:
    if of.type != "timestamp" or not scalar.is_valid:
        return scalar.as_py()
    try:
        return EPOCH + timedelta(microseconds=scalar.value)
    except OverflowError as error:
        raise Unknown from error
