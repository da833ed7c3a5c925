"""Snapshots as graphs of other packages: NetworkX, igraph, and matrices of SciPy."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from ._native import DataError, NotSupportedError, Snapshot
from ._result import Csr, EdgeTable, _objects

__all__: list[str] = []

_SIMPLIFY = ("sum", "count", "newest")


def to_networkx(
    self: Snapshot,
    *,
    label: Any = None,
    rank_range: Any = None,
    where: Any = None,
    properties: bool = True,
    simplify: str | None = None,
) -> Any:
    """Return the graph of NetworkX. Needs the package ``networkx``: ``pip install hedgerow[networkx]``.

    It is a ``DiGraph``, or a ``Graph`` if the store is undirected. It is a ``MultiDiGraph`` or ``MultiGraph``
    if two vertices may have several of the chosen edges: if a label is ``multi``, or if there are several
    labels. Then the key of an edge is the pair of its label and its rank.

    Nodes are vertex ids, and pairs of kind and id for vertices of a kind. If ``label`` is given and all labels
    state the kinds of their ends, the nodes are the vertices of these kinds; otherwise all vertices. A vertex
    or an edge without a value of a property does not have the attribute. A graph of NetworkX
    takes many times the memory of the store.

    Parameters
    ----------
    label : str or sequence of str, optional
        The label of the edges, or several; by default all labels that have edges.
    rank_range : tuple of (int or None, int or None), optional
        Only edges with a rank from the first number on and below the second one.
    where : tuple or list, optional
        A condition on properties, or several, as of ``neighbors``.
    properties : bool
        True for properties as attributes, and the weights of a weighted store as ``weight``. Without them
        edges have only ``weight``.
    simplify : {"sum", "count", "newest"}, optional
        Makes one edge of all edges between two vertices, and a ``DiGraph`` or ``Graph``. With ``"sum"`` the
        edge has the sum of their weights as ``weight``, with ``"count"`` their number, and no other
        attributes. With ``"newest"`` it is the edge with the greatest rank.

    Returns
    -------
    networkx.Graph, networkx.DiGraph, networkx.MultiGraph or networkx.MultiDiGraph
        The graph.

    Raises
    ------
    NotSupportedError
        The package ``networkx`` is not installed.
    DataError
        ``simplify="sum"`` finds an edge without a weight, or ``simplify="newest"`` finds several labels,
        whose ranks have no common order.

    Examples
    --------
    >>> import hedgerow
    >>> db = hedgerow.open()
    >>> db.define_label("pays", multi=True)
    >>> db.add_edges([1, 1, 2], [2, 2, 3], label="pays", ranks=[7, 9, 8], properties={"amount": [5, 20, 7]})
    3
    >>> g = db.snapshot()
    >>> graph = g.to_networkx()
    >>> graph.edges[1, 2, ("pays", 9)]
    {'amount': 20}
    >>> g.to_networkx(simplify="count").edges[1, 2]
    {'weight': 2}
    """
    if simplify is not None and simplify not in _SIMPLIFY:
        raise DataError(f'simplify must be "sum", "count" or "newest", found {simplify!r}')
    chosen = _choose(self, label, rank_range, where, properties)
    nx = _package("networkx", "to_networkx")
    kinds = {(True, True): nx.MultiDiGraph, (True, False): nx.DiGraph, (False, True): nx.MultiGraph, (False, False): nx.Graph}
    graph = kinds[chosen.is_directed, chosen.is_multi and simplify is None]()
    for keys, columns in chosen.vertices:
        graph.add_nodes_from(zip(keys, _attributes(columns, len(keys)), strict=True))
    if simplify is not None:
        graph.add_edges_from(_simplified(chosen, simplify))
    else:
        for part in chosen.edges:
            attributes = _attributes(part.columns, len(part.src))
            keys = [zip(part.labels, part.ranks, strict=True)] if chosen.is_multi else []
            graph.add_edges_from(zip(part.src, part.dst, *keys, attributes, strict=True))
    return graph


def to_igraph(
    self: Snapshot, *, label: Any = None, rank_range: Any = None, where: Any = None, properties: bool = True
) -> Any:
    """Return the graph of igraph. Needs the package ``igraph``: ``pip install hedgerow[igraph]``.

    It is directed if the store is. Vertices are numbered in the order of their ids in results, and have their
    ids as the attribute ``key``: pairs of kind and id for vertices of a kind. The vertices are those of
    ``to_networkx``. If two vertices may have several of the chosen edges, edges have the attributes ``label``
    and ``rank``. A missing value is None.

    Parameters
    ----------
    label : str or sequence of str, optional
        The label of the edges, or several; by default all labels that have edges.
    rank_range : tuple of (int or None, int or None), optional
        Only edges with a rank from the first number on and below the second one.
    where : tuple or list, optional
        A condition on properties, or several, as of ``neighbors``.
    properties : bool
        True for properties as attributes, and the weights of a weighted store as ``weight``. Without them
        edges have only ``weight``.

    Returns
    -------
    igraph.Graph
        The graph.

    Raises
    ------
    NotSupportedError
        The package ``igraph`` is not installed.
    DataError
        A property has the name of one of the attributes ``key``, ``label`` and ``rank``.

    Examples
    --------
    >>> import hedgerow
    >>> db = hedgerow.open()
    >>> db.add_edges([7, 9], [9, 5])
    2
    >>> graph = db.snapshot().to_igraph()                # doctest: +SKIP
    >>> graph.vs["key"], graph.get_edgelist()            # doctest: +SKIP
    ([5, 7, 9], [(1, 2), (2, 0)])
    """
    chosen = _choose(self, label, rank_range, where, properties)
    of_vertices = _joined(chosen.vertices)
    of_edges = _joined([(part.src, part.columns) for part in chosen.edges])
    own = {"key": [key for keys, _ in chosen.vertices for key in keys]}
    own_of_edges: dict[str, list[Any]] = {}
    if chosen.is_multi:
        own_of_edges["label"] = [it for part in chosen.edges for it in part.labels]
        own_of_edges["rank"] = [it for part in chosen.edges for it in part.ranks]
    for what, one, other in (("vertices", of_vertices, own), ("edges", of_edges, own_of_edges)):
        if taken := one.keys() & other.keys():
            name = min(taken)
            raise DataError(f"a property of {what} has the name {name}, which is an attribute of all {what}: pass properties=False")
    igraph = _package("igraph", "to_igraph")
    rows = {key: row for row, key in enumerate(own["key"])}
    pairs = [(rows[src], rows[dst]) for part in chosen.edges for src, dst in zip(part.src, part.dst, strict=True)]
    return igraph.Graph(len(rows), pairs, chosen.is_directed, vertex_attrs=own | of_vertices, edge_attrs=own_of_edges | of_edges)


def to_scipy(
    self: Snapshot, label: str | None = None, *, direction: str = "out", weight: str | None = None, order: str = "id"
) -> tuple[Any, Any]:
    """Return the edges of a label as a sparse matrix of SciPy. Needs it: ``pip install hedgerow[scipy]``.

    Row and column ``r`` are the vertex ``ids[r]``; an entry is the weight of an edge, or 1 if the label has no
    weights. The weights of several edges from one vertex to another are added. The matrix is a copy, which the
    program may change.

    Parameters
    ----------
    label : str, optional
        The label; by default the label that all edges have.
    direction : {"out", "in"}
        Rows have the edges from their vertex, or the edges to it.
    weight : str, optional
        The property with the weights; by default those that the label has, as of ``csr``.
    order : {"id", "key"}
        The order of the rows: that of ``vertices``, or by key.

    Returns
    -------
    tuple of (scipy.sparse.csr_array, numpy.ndarray)
        The matrix, and the vertex id of each row.

    Raises
    ------
    NotSupportedError
        The package ``scipy`` is not installed.
    DataError
        An edge has no value of the property with the weights.

    Examples
    --------
    >>> import hedgerow
    >>> db = hedgerow.open(weighted=True)
    >>> db.add_edges([7, 9], [9, 5], [0.5, 2.0])
    2
    >>> matrix, ids = db.snapshot().to_scipy()
    >>> ids.tolist(), matrix.toarray().tolist()
    ([5, 7, 9], [[0.0, 0.0, 0.0], [0.0, 0.0, 0.5], [2.0, 0.0, 0.0]])
    """
    csr: Csr = self.csr(label, direction=direction, weight=weight, order=order)  # type: ignore[arg-type]
    sparse = _package("scipy.sparse", "to_scipy")
    values = np.ones(len(csr.targets)) if csr.weights is None else csr.weights
    # SciPy changes its arrays in place, and snapshots of one timestamp share ours.
    matrix = sparse.csr_array((values, csr.targets, csr.offsets), shape=(len(csr.ids),) * 2, copy=True)
    matrix.sum_duplicates()
    return matrix, csr.ids


def _package(name: str, call: str) -> Any:
    package = name.partition(".")[0]
    try:
        return __import__(name, fromlist=["*"] if "." in name else [])
    except ImportError as error:
        raise NotSupportedError(f"{call} needs the package {package}: pip install hedgerow[{package}]") from error


_Columns = dict[str, list[Any]]


class _Part(NamedTuple):
    """Edges, as columns of Python objects of equal length."""

    src: list[Any]
    dst: list[Any]
    labels: list[str]
    ranks: list[int]
    columns: _Columns


class _Chosen(NamedTuple):
    """The vertices and edges of a graph. A column has None for a missing value."""

    is_directed: bool
    is_multi: bool
    labels: list[str]
    vertices: list[tuple[list[Any], _Columns]]
    edges: list[_Part]


def _choose(snapshot: Snapshot, label: Any, rank_range: Any, where: Any, properties: bool) -> _Chosen:
    if not isinstance(properties, (bool, np.bool_)):
        raise TypeError(f"properties must be True or False, found {type(properties).__name__}")
    schema = snapshot.schema()
    chosen = label
    if label is None:
        chosen = [name for name in schema.labels if snapshot.edge_count_of(name)] or [""]
        chosen = chosen[0] if len(chosen) == 1 else chosen
    tables = _tables(snapshot, chosen, properties, rank_range, where)
    labels = [chosen] if isinstance(chosen, str) else list(dict.fromkeys(chosen))
    edges = []
    for name, table in zip(labels, tables, strict=False):
        count = len(table)
        of_rows = [name] * count if table.labels is None else table.labels.tolist()
        ranks = [0] * count if table.ranks is None else table.ranks.tolist()
        columns = {of: _objects(column) for of, column in table.properties.items()}
        edges.append(_Part(table.src.tolist(), table.dst.tolist(), of_rows, ranks, columns))
    of_labels = [schema.labels[name] for name in labels]
    ends = {end for of in of_labels for end in (of.src, of.dst)}
    kinds = {"", *schema.kinds} if label is None or None in ends else ends
    vertices = []
    for kind in ("", *schema.kinds):
        if kind in kinds:
            of_kind = snapshot.vertex_table(kind, properties=None if properties else [])
            found = {of: _objects(column) for of, column in of_kind.properties.items()}
            vertices.append((of_kind._vertex_ids().tolist(), found))
    is_multi = len(labels) > 1 or any(of.multi for of in of_labels)
    return _Chosen(snapshot.directed, is_multi, labels, vertices, edges)


def _tables(snapshot: Snapshot, labels: Any, properties: bool, rank_range: Any, where: Any) -> list[EdgeTable]:
    """Returns the edges of the labels in one table, or in one for each label if they have properties of different types."""
    options: dict[str, Any] = {"rank_range": rank_range, "where": where}
    if not properties:
        try:
            return [snapshot.edge_table(labels, properties=["weight"], **options)]
        except DataError:
            return [snapshot.edge_table(labels, properties=[], **options)]
    try:
        return [snapshot.edge_table(labels, **options)]
    except DataError:
        if where is not None or isinstance(labels, str) or len(labels) < 2:
            raise
        return [snapshot.edge_table(label, **options) for label in dict.fromkeys(labels)]


def _attributes(columns: _Columns, count: int) -> Iterator[dict[str, Any]]:
    """Yields the attributes of each row: those that have a value."""
    if not columns:
        return repeat({}, count)
    names = tuple(columns)
    rows = zip(*columns.values(), strict=True)
    return ({name: value for name, value in zip(names, row, strict=True) if value is not None} for row in rows)


def _joined(parts: list[tuple[list[Any], _Columns]]) -> _Columns:
    """Returns the columns of several tables, one table after another."""
    names = dict.fromkeys(name for _, columns in parts for name in columns)
    return {name: [it for rows, columns in parts for it in columns.get(name, repeat(None, len(rows)))] for name in names}


def _simplified(chosen: _Chosen, how: str) -> Iterator[tuple[Any, Any, dict[str, Any]]]:
    """Yields one edge for each pair of vertices with edges."""
    if how == "newest":
        if len(chosen.labels) > 1:
            shown = ", ".join(f'"{label}"' for label in chosen.labels)
            raise DataError(f'simplify="newest": ranks of several labels have no common order, name one of {shown} with label=')
        (part,) = chosen.edges
        newest: dict[tuple[Any, Any], int] = {}
        for row, pair in enumerate(zip(part.src, part.dst, strict=True)):
            if pair not in newest or part.ranks[row] > part.ranks[newest[pair]]:
                newest[pair] = row
        attributes = list(_attributes(part.columns, len(part.src)))
        return ((src, dst, attributes[row]) for (src, dst), row in newest.items())
    totals: dict[tuple[Any, Any], Any] = {}
    for part in chosen.edges:
        weights = repeat(1) if how == "count" else part.columns.get("weight", repeat(None))
        for src, dst, label, weight in zip(part.src, part.dst, part.labels, weights, strict=False):
            if isinstance(weight, bool) or not isinstance(weight, (int, float)):
                raise DataError(f'simplify="sum": the edge from {src!r} to {dst!r} of label "{label}" has no weight')
            totals[src, dst] = totals.get((src, dst), 0) + weight
    return ((src, dst, {"weight": total}) for (src, dst), total in totals.items())
