"""`hedgerow.from_networkx`: a store from a graph of NetworkX, of which nothing is left out or converted silently."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np

from ._native import DataError, Database, open

__all__: list[str] = []

_LONGEST_NAME = 255


def from_networkx(
    graph: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    label: str | None = None,
    weight: str | None = "weight",
    node_properties: Sequence[str] | None = None,
    edge_properties: Sequence[str] | None = None,
) -> Database:
    """Make a store from a graph of NetworkX.

    The store is directed if the graph is. The nodes are its ids, so all must be ints from 0 to 2**64 - 1, or
    all ``str``. Attributes become properties. The values of an attribute must be of one type: ``bool``,
    ``int``, ``float``, ``str``, ``bytes`` or ``datetime`` with a time zone. Ints beside floats become floats,
    if floats have them exactly. None is no value. Attributes of the graph itself, such as its name, have no
    place in a store, and are left out.

    The edges get the label ``label``. In a ``MultiGraph`` or ``MultiDiGraph`` the label becomes ``multi``, and
    the keys of edges are their ranks, so they must be ints from 0 to 2**64 - 1. If the keys are pairs of label
    and rank, as of ``to_networkx``, they name the labels, and ``label`` is not used.

    Parameters
    ----------
    graph : networkx.Graph, networkx.DiGraph, networkx.MultiGraph or networkx.MultiDiGraph
        The graph.
    path : str or os.PathLike, optional
        A directory that is new or empty; without it the store is in memory.
    label : str, optional
        The label of the edges; by default the default label. Required for edges with ranks.
    weight : str, optional
        The attribute with the weights. If all edges of the default label have a number there, the store has
        these weights, as floats. Otherwise, and for edges of other labels, it is a property.
    node_properties, edge_properties : sequence of str, optional
        The attributes that become properties; by default all. Others are left out.

    Returns
    -------
    Database
        The store, which is open.

    Raises
    ------
    DataError
        A node, an attribute or the key of an edge does not fit; the message names it. Or the directory is not
        empty. Nothing was written.

    Examples
    --------
    >>> import hedgerow, networkx
    >>> graph = networkx.Graph()
    >>> graph.add_node("ann", age=30)
    >>> graph.add_edge("ann", "bob", weight=0.5, since=2001)
    >>> db = hedgerow.from_networkx(graph)
    >>> db
    <hedgerow.Database ":memory:" open undirected keys="str">
    >>> db.snapshot().edge_properties("bob", "ann")
    {'weight': 0.5, 'since': 2001}
    """
    if not all(hasattr(graph, name) for name in ("is_directed", "is_multigraph", "nodes", "edges")):
        raise TypeError(f"from_networkx takes a graph of NetworkX, found {type(graph).__name__}")
    if path is not None and os.path.exists(path) and (not os.path.isdir(path) or os.listdir(path)):
        raise DataError(f"{os.fspath(path)} exists and is not empty: from_networkx makes a new store")
    nodes = list(graph.nodes(data=True))
    keys, type_of_keys = _keys([node for node, _ in nodes])
    ids = dict(zip((node for node, _ in nodes), keys, strict=True))
    of_nodes = _columns([attributes for _, attributes in nodes], node_properties, "node", [node for node, _ in nodes])
    parts = [_part(name, is_multi, edges, weight, edge_properties) for name, is_multi, edges in _labeled(graph, label)]
    _check("node_properties", node_properties, [attributes for _, attributes in nodes])
    _check("edge_properties", edge_properties, [edge[3] for part in parts for edge in part.edges])
    is_weighted = any(part.weights is not None for part in parts)
    db = open(path, directed=graph.is_directed(), keys=type_of_keys, weighted=is_weighted)
    try:
        for name, column in of_nodes.items():
            db.define_property(name, column.type)
        db.add_vertices(keys, properties={name: column.values for name, column in of_nodes.items()}, on_conflict="replace")
        for part in parts:
            _write(db, part, ids)
    except BaseException:
        db.close()
        raise
    return db


class _Column(NamedTuple):
    """The values of a property, None for a missing one, and its type."""

    type: Any
    values: list[Any]


class _Part(NamedTuple):
    """The edges of a label: tuples of both nodes, rank and attributes."""

    label: str
    is_multi: bool
    edges: list[tuple[Any, Any, Any, dict[Any, Any]]]
    columns: dict[str, _Column]
    weights: list[float] | None


def _write(db: Database, part: _Part, ids: dict[Any, Any]) -> None:
    if part.label:
        db.define_label(part.label, multi=part.is_multi)
    for name, column in part.columns.items():
        db.define_property(name, column.type, label=part.label)
    db.add_edges(
        [ids[edge[0]] for edge in part.edges],
        [ids[edge[1]] for edge in part.edges],
        part.weights,
        label=part.label,
        ranks=[edge[2] for edge in part.edges] if part.is_multi else None,
        properties={name: column.values for name, column in part.columns.items()},
    )


def _keys(nodes: list[Any]) -> tuple[list[Any], Any]:
    """Returns the ids of the nodes, and their type in the store."""
    kinds: dict[str, Any] = {}
    for node in nodes:
        is_int = isinstance(node, (int, np.integer)) and not isinstance(node, (bool, np.timedelta64))
        if not is_int and not isinstance(node, str):
            raise DataError(f"node {node!r} is a {type(node).__name__}: {_NODES}")
        if is_int and not 0 <= node < 2**64:
            raise DataError(f"node {node!r} is out of range: {_NODES}")
        kinds.setdefault("u64" if is_int else "str", node)
    if len(kinds) > 1:
        raise DataError(f"node {kinds['str']!r} is a str, and node {kinds['u64']!r} is an int: {_NODES}")
    return ([str(node) for node in nodes], "str") if "str" in kinds else ([int(node) for node in nodes], "u64")


_NODES = "the nodes must all be ints from 0 to 2**64 - 1, or all be str; networkx.relabel_nodes gives them other names"


def _labeled(graph: Any, label: str | None) -> Iterator[tuple[str, bool, list[Any]]]:
    """Yields the labels, each with the question whether it has ranks, and its edges."""
    if label is not None and not isinstance(label, str):
        raise TypeError(f"label must be a str, found {type(label).__name__}")
    if label and not _is_name(label):
        raise DataError(f"label {label!r}: a name has at most {_LONGEST_NAME} bytes of Unicode")
    if not graph.is_multigraph():
        yield label or "", False, [(src, dst, None, attributes) for src, dst, attributes in graph.edges(data=True)]
        return
    edges = list(graph.edges(keys=True, data=True))
    for src, dst, key, _ in edges:
        if not _is_rank(key) and not _is_pair(key):
            raise DataError(f"the key of edge {(src, dst, key)!r} must be a rank, an int from 0 to 2**64 - 1, or a pair of label and rank")
        if _is_pair(key) != _is_pair(edges[0][2]):
            raise DataError(f"the key of edge {(src, dst, key)!r} is {'a pair' if _is_pair(key) else 'an int'}, and those of other edges are not")
        if _is_pair(key) and key[0] == "" and key[1] != 0:
            raise DataError(f"the key of edge {(src, dst, key)!r} has a rank, and the default label has none")
        if _is_pair(key) and key[0] and not _is_name(key[0]):
            raise DataError(f"the key of edge {(src, dst, key)!r}: a label has at most {_LONGEST_NAME} bytes of Unicode")
    if not edges or _is_rank(edges[0][2]):
        if edges and not label:
            raise DataError(f"a {type(graph).__name__} may have several edges between two nodes, which need a label with ranks: name it with label=")
        yield label or "", bool(label), [(src, dst, int(key), attributes) for src, dst, key, attributes in edges]
        return
    if label is not None:
        raise DataError(f"the keys of the edges name labels, such as {edges[0][2][0]!r}: leave out label=")
    of_label: dict[str, list[Any]] = {}
    for src, dst, (name, rank), attributes in edges:
        of_label.setdefault(name, []).append((src, dst, int(rank), attributes))
    for name, found in of_label.items():
        yield name, any(edge[2] for edge in found), found


def _is_rank(key: Any) -> bool:
    return isinstance(key, (int, np.integer)) and not isinstance(key, (bool, np.timedelta64)) and 0 <= key < 2**64


def _is_pair(key: Any) -> bool:
    return isinstance(key, tuple) and len(key) == 2 and isinstance(key[0], str) and _is_rank(key[1])


def _part(label: str, is_multi: bool, edges: list[Any], weight: str | None, wanted: Sequence[str] | None) -> _Part:
    attributes, names = [edge[3] for edge in edges], [edge[:3] if is_multi else edge[:2] for edge in edges]
    weights = None if label or weight is None else _weights(attributes, weight, names)
    columns = _columns(attributes, wanted, "edge", names, None if weights is None else weight)
    if weights is not None and "weight" in columns:
        raise DataError(f"edges have an attribute weight, and the weights are those of the attribute {weight}: leave out one of them")
    return _Part(label, is_multi, edges, columns, weights)


def _weights(rows: list[dict[Any, Any]], name: str, owners: list[Any]) -> list[float] | None:
    """Returns the weights of edges; None if an edge has none, or something else than a number."""
    found = [row.get(name) for row in rows]
    if not found or not all(_kind(value) in ("i64", "f64") for value in found):
        return None
    for value, owner in zip(found, owners, strict=True):
        if value != value or not _is_exact(value):
            why = "NaN is no weight" if value != value else f"a float does not have {value} exactly"
            raise DataError(f"edge {owner!r}, attribute {name}: {why}; with weight=None the attribute is a property")
    return [float(value) for value in found]


def _check(parameter: str, wanted: Sequence[str] | None, rows: list[dict[Any, Any]]) -> None:
    """Refuses names that no row has."""
    if isinstance(wanted, str):
        raise TypeError(f"{parameter} must be a sequence of names, found str")
    if wanted is not None:
        known = {name for row in rows for name in row}
        for name in wanted:
            if name not in known:
                raise DataError(f"{parameter} has {name!r}, which is no attribute")


def _columns(
    rows: list[dict[Any, Any]], wanted: Sequence[str] | None, what: str, owners: list[Any], without: str | None = None
) -> dict[str, _Column]:
    """Returns the attributes as columns, those without a value left out."""
    first: dict[Any, int] = {}
    for at, row in enumerate(rows):
        for name in row:
            first.setdefault(name, at)
    columns = {}
    for name in first if wanted is None else dict.fromkeys(wanted):
        if name == without or name not in first:
            continue
        owner = f"{what} {owners[first[name]]!r}"
        if not isinstance(name, str):
            raise DataError(f"{owner} has the attribute {name!r}, which is no str: {what}_properties= chooses attributes")
        if not _is_name(name):
            raise DataError(f"{owner} has the attribute {name!r}: a name has 1 to {_LONGEST_NAME} bytes of Unicode")
        values = [row.get(name) for row in rows]
        if (column := _column(values, lambda at, name=name: f"{what} {owners[at]!r}, attribute {name}", what)) is not None:
            columns[name] = column
    return columns


def _column(values: list[Any], owner: Callable[[int], str], what: str) -> _Column | None:
    kinds: dict[str, int] = {}
    for at, value in enumerate(values):
        if value is None:
            continue
        kind = _kind(value)
        if kind is None:
            other = " without a time zone" if isinstance(value, datetime) else ""
            raise DataError(f"{owner(at)}: a {type(value).__name__}{other} is no value of a property; {what}_properties= chooses attributes")
        kinds.setdefault(kind, at)
        if kind == "i64" and not -(2**63) <= value < 2**63:
            raise DataError(f"{owner(at)}: {value} is out of range: ints of properties have 64 bits")
        if kind == "utf8" and not _is_unicode(value):
            raise DataError(f"{owner(at)}: the text is not valid Unicode")
    if not kinds:
        return None
    of = "f64" if kinds.keys() == {"i64", "f64"} else min(kinds, key=kinds.__getitem__)
    if of == "f64":
        for at, value in enumerate(values):
            if _kind(value) == "i64" and not _is_exact(value):
                raise DataError(f"{owner(at)}: {value} is beside floats, and a float does not have it exactly")
    elif len(kinds) > 1:
        one, other = sorted(kinds.values())[:2]
        found, expected = type(values[other]).__name__, type(values[one]).__name__
        raise DataError(f"{owner(other)}: the value is a {found}, and that of {owner(one)} is a {expected}")
    convert: Any = {"bool": bool, "i64": int, "f64": float, "utf8": str, "bytes": bytes, "timestamp": _time}[of]
    return _Column(of, [None if value is None else convert(value) for value in values])


def _kind(value: Any) -> str | None:
    """Returns the type of property for a value; None if there is none."""
    if isinstance(value, (bool, np.bool_)):
        return "bool"
    if type(value) is int or isinstance(value, np.integer) and not isinstance(value, np.timedelta64):
        return "i64"
    if type(value) is float or isinstance(value, (np.float16, np.float32, np.float64)):
        return "f64"
    if type(value) is str or isinstance(value, np.str_):
        return "utf8"
    if type(value) is bytes:
        return "bytes"
    # A time of pandas may have nanoseconds, which the store has not.
    is_time = isinstance(value, datetime) and value.utcoffset() is not None and not getattr(value, "nanosecond", 0)
    return "timestamp" if is_time else None


def _is_exact(number: Any) -> bool:
    """True if a float has the number exactly."""
    if _kind(number) == "f64":
        return True
    try:
        return int(float(int(number))) == int(number)
    except OverflowError:
        return False


def _time(value: Any) -> datetime:
    plain: datetime = value.to_pydatetime() if hasattr(value, "to_pydatetime") else value
    return plain


def _is_name(text: str) -> bool:
    return _is_unicode(text) and 0 < len(text.encode()) <= _LONGEST_NAME


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
