"""What calls return: plain Python around NumPy arrays."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ._report import (
    Added,
    Backup,
    Checkpoint,
    CheckReport,
    Kind,
    Label,
    SalvageReport,
    Schema,
    Stats,
    _file_bytes,  # noqa: F401: the native half calls it
)

__all__ = [
    "Added",
    "Backup",
    "CheckReport",
    "Checkpoint",
    "Csr",
    "EdgeTable",
    "Edges",
    "Estimate",
    "Kind",
    "Label",
    "Limited",
    "NeighborLists",
    "Pairs",
    "Paths",
    "SalvageReport",
    "Schema",
    "Stats",
    "VertexResult",
    "VertexTable",
]


_ArrowColumn = tuple[str, Any, bool]


def _native() -> Any:
    """The native half. It imports this module, and calls import nothing."""
    return sys.modules[f"{__package__}._native"]


class _Table:
    """What other packages read through Arrow's PyCapsule interface: columns of equal length, copied when they are read.

    Polars, pandas, PyArrow and DuckDB take such an object as it is: ``polars.DataFrame(table)``, ``pyarrow.table(table)``.
    """

    __slots__ = ()

    def _arrow_columns(self) -> list[_ArrowColumn]:
        raise NotImplementedError

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """A stream of batches of at most 65,536 rows."""
        return _native()._arrow_stream(self._arrow_columns())

    def __arrow_c_schema__(self) -> object:
        """The names and types of the columns."""
        return _native()._arrow_schema(self._arrow_columns())

    def _vertex_ids(self) -> Any:
        """The vertices that a call means whose argument is this object."""
        raise TypeError(f"{type(self).__name__} has several columns: name one of them, such as .src, .dst, .ids or .neighbors")


def _is_pair(key: object) -> bool:
    return type(key) is tuple


def _id_columns(name: str, ids: Any, *, kinds: bool = False, keys: str | None = None) -> list[_ArrowColumn]:
    """Vertex ids for other packages: of several kinds the kind in a column of its own, so that ids join with those of `vertex_table`.

    `ids` may be offsets and values of lists. There are two columns where an id is a pair, or if there are `kinds`. `keys` is the type
    of ids where the array, for want of any, does not tell it.
    """
    offsets, values = ids if isinstance(ids, tuple) else (None, ids)
    if not kinds and (values.dtype.kind != "O" or not any(map(_is_pair, values))):
        return [(name, ids, False)]
    listed = _objects(values)
    of_kind = np.fromiter((key[0] if _is_pair(key) else None if key is None else "" for key in listed), object, len(listed))
    alone = _id_array([key[1] if _is_pair(key) else key for key in listed], keys)
    columns = [(f"{name}_kind", of_kind), (name, alone)]
    return [(of, column if offsets is None else (offsets, column), False) for of, column in columns]


def _id_array(keys: list[Any], of: str | None) -> npt.NDArray[Any]:
    """Ids that are all numbers as numbers; else, those of several types among them, as texts."""
    found = {type(key) for key in keys if key is not None}
    if found == {int} or (not found and of == "u64"):
        numbers = np.fromiter((key or 0 for key in keys), np.uint64, len(keys))
        missing = np.fromiter((key is None for key in keys), bool, len(keys))
        return np.ma.MaskedArray(numbers, missing) if missing.any() else numbers
    return np.fromiter((None if key is None else str(key) for key in keys), object, len(keys))


def _objects(column: npt.NDArray[Any]) -> list[Any]:
    """The values as Python objects: None where there is none, times with their zone."""
    values: list[Any] = column.tolist()
    if column.dtype.kind != "M":
        return values
    # NumPy gives the number of a time whose year no datetime has.
    zoned = (at.replace(tzinfo=UTC) if isinstance(at, datetime) else at and np.datetime64(at, "us") for at in values)
    return list(zoned)


def _rows(columns: list[_ArrowColumn]) -> Iterator[tuple[Any, ...]]:
    """Rows with the names of their values, as named tuples have them: names of properties may be no names of attributes."""
    names = tuple(name for name, _, _ in columns)
    row = type("Row", (tuple,), {"__slots__": (), "_fields": names})
    return (row(values) for values in zip(*(_objects(column) for _, column, _ in columns), strict=True))


def _columns(properties: dict[str, npt.NDArray[Any]], types: dict[str, str]) -> list[_ArrowColumn]:
    return [(name, column, types.get(name) == "bytes") for name, column in properties.items()]


def _no_array(what: str, instead: str) -> TypeError:
    """The refusal of `__array__`: NumPy would make one table of numbers of different meanings."""
    return TypeError(f"{what} are no single array: take {instead}")


def _as_array(values: npt.NDArray[Any], dtype: Any, copy: bool | None) -> npt.NDArray[Any]:
    """The values for NumPy, which knows no masks: NaN and NaT stand where there is none.

    Raises
    ------
    ValueError
        A value is missing and the type has no number for that; or a copy is forbidden and needed.
    """
    if np.ma.is_masked(values):
        missing = int(np.ma.getmaskarray(values).sum())
        if values.dtype.kind not in "fM":
            some = f"{missing} of {len(values)} vertices have no value"
            raise ValueError(f"{some}, for which {values.dtype} has no number: take .values, which masks them, or .items()")
        if copy is False:
            raise ValueError("vertices without a value need a copy: take .values, which masks them")
        values = values.filled(np.nan if values.dtype.kind == "f" else np.datetime64("NaT"))
    return np.array(np.ma.getdata(values), dtype=dtype, copy=copy)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Edges(_Table):
    """Edges of a snapshot: arrays of equal length. ``len`` is the number of edges.

    It unpacks into the first three, ``src, dst, weights``, whatever the number of edges; ``labels`` and ``ranks`` are had by their
    names.

    Attributes
    ----------
    src, dst : numpy.ndarray
        Vertex ids: ``uint64``, or str objects for a graph with str ids.
    weights : numpy.ndarray or None
        ``float64``: the weights of a weighted graph's default label, and the numbers in the property ``weight`` of other labels. NaN for
        an edge without one; None where no label that was read has weights.
    labels : numpy.ndarray or None
        The label of each edge, as str objects, ``""`` for the default one; None where no other label is defined.
    ranks : numpy.ndarray or None
        ``uint64``; 0 for edges of labels that are not ``multi``, and None where no label that was read is.

    Examples
    --------
    >>> import numpy as np
    >>> edges = Edges(np.array([1, 2]), np.array([2, 4]), None)
    >>> src, dst, weights = edges
    >>> len(edges), src.tolist(), dst.tolist(), weights
    (2, [1, 2], [2, 4], None)
    """

    src: npt.NDArray[Any]
    dst: npt.NDArray[Any]
    weights: npt.NDArray[np.float64] | None
    labels: npt.NDArray[Any] | None = None
    ranks: npt.NDArray[np.uint64] | None = None

    def __len__(self) -> int:
        return len(self.src)

    def __iter__(self) -> Iterator[Any]:
        """The arrays ``src``, ``dst`` and ``weights``, so that they can be unpacked."""
        return iter((self.src, self.dst, self.weights))

    def __getitem__(self, column: int | slice) -> Any:
        """One of the arrays that are unpacked, or several; not an edge."""
        return (self.src, self.dst, self.weights)[column]

    def __array__(self, dtype: Any = None, *, copy: bool | None = None) -> npt.NDArray[Any]:
        """Refused: sources, destinations and weights are no table of numbers.

        Raises
        ------
        TypeError
            Always.
        """
        raise _no_array("edges", ".src, .dst or .weights, or all columns by Arrow, as pandas.DataFrame.from_arrow does")

    def _arrow_columns(self) -> list[_ArrowColumn]:
        named = {"weight": self.weights, "label": self.labels, "rank": self.ranks}
        others = [(name, column, False) for name, column in named.items() if column is not None]
        return [*_id_columns("src", self.src), *_id_columns("dst", self.dst), *others]


@dataclass(frozen=True, slots=True)
class EdgeTable(_Table):
    """All edges of a label, or of several: arrays of equal length.

    Attributes
    ----------
    src, dst : numpy.ndarray
        Vertex ids: ``uint64``, or str objects for a graph with str ids.
    ranks : numpy.ndarray or None
        ``uint64``; None unless the label is ``multi``.
    properties : dict of str to numpy.ndarray
        Masked arrays of ``bool``, ``int64``, ``float64`` or ``datetime64[us]`` (UTC), masked where an edge has no value;
        of text and bytes, arrays of objects with None.
    types : dict of str to str
        The types of the properties by name, as in ``Schema``.
    kinds : bool
        Whether the graph has kinds: then rows for other packages have the kind of each end in ``src_kind`` and ``dst_kind``.
    key_types : tuple of (str, str), optional
        The types of the ids at both ends, if the label says the kinds there.
    labels : numpy.ndarray or None
        The label of each edge, as str objects; None in a table of one label.
    """

    src: npt.NDArray[Any]
    dst: npt.NDArray[Any]
    ranks: npt.NDArray[np.uint64] | None
    properties: dict[str, npt.NDArray[Any]]
    types: dict[str, str] = field(default_factory=dict)
    kinds: bool = False
    key_types: tuple[str, str] | None = None
    labels: npt.NDArray[Any] | None = None

    def __len__(self) -> int:
        return len(self.src)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """Rows: tuples of the values, with their names in ``_fields``, so that ``pandas.DataFrame(table)`` has them."""
        return _rows(self._arrow_columns())

    def _arrow_columns(self) -> list[_ArrowColumn]:
        ranks = [] if self.ranks is None else [("rank", self.ranks, False)]
        of_src, of_dst = self.key_types or (None, None)
        src = _id_columns("src", self.src, kinds=self.kinds, keys=of_src)
        dst = _id_columns("dst", self.dst, kinds=self.kinds, keys=of_dst)
        labels = [] if self.labels is None else [("label", self.labels, False)]
        return [*src, *dst, *labels, *ranks, *_columns(self.properties, self.types)]


@dataclass(frozen=True, slots=True)
class VertexTable(_Table):
    """All vertices with their properties: arrays of equal length.

    Attributes
    ----------
    ids : numpy.ndarray
        Vertex ids: ``uint64``, or str objects for a graph with str ids; the order of ``Snapshot.vertices``.
    properties : dict of str to numpy.ndarray
        Masked arrays of ``bool``, ``int64``, ``float64`` or ``datetime64[us]`` (UTC), masked where a vertex has no value;
        of text and bytes, arrays of objects with None.
    types : dict of str to str
        The types of the properties by name, as in ``Schema``.
    kind : str
        The kind of the vertices, ``""`` for the default one.
    """

    ids: npt.NDArray[Any]
    properties: dict[str, npt.NDArray[Any]]
    types: dict[str, str]
    kind: str = ""

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """Rows: tuples of the values, with their names in ``_fields``, so that ``pandas.DataFrame(table)`` has them."""
        return _rows(self._arrow_columns())

    def _vertex_ids(self) -> Any:
        if not self.kind:
            return self.ids
        return np.fromiter(((self.kind, key) for key in self.ids.tolist()), object, len(self.ids))

    def _arrow_columns(self) -> list[_ArrowColumn]:
        return [("id", self.ids, False), *_columns(self.properties, self.types)]


def _row(values: npt.NDArray[Any], offsets: npt.NDArray[np.int64], row: int, what: str) -> npt.NDArray[Any]:
    """One of the lists that stand in ``values`` one after another, as a view."""
    count = len(offsets) - 1
    if not -count <= row < count:
        raise IndexError(f"row {row} of {count} {what}")
    row %= count
    return values[offsets[row] : offsets[row + 1]]


@dataclass(frozen=True, slots=True, eq=False)
class NeighborLists(_Table):
    """The neighbors of many vertices, one list behind the other.

    Attributes
    ----------
    ids : numpy.ndarray
        The vertices that were asked for.
    offsets : numpy.ndarray
        ``int64``, one more than there are lists: list ``i`` is ``neighbors[offsets[i]:offsets[i + 1]]``.
    neighbors : numpy.ndarray
        Vertex ids, ascending within a list; one entry for each edge.
    """

    ids: npt.NDArray[Any]
    offsets: npt.NDArray[np.int64]
    neighbors: npt.NDArray[Any]

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, row: int) -> npt.NDArray[Any]:
        """The neighbors of the vertex ``ids[row]``: a view of the array.

        Raises
        ------
        IndexError
            There are not so many rows.
        """
        return _row(self.neighbors, self.offsets, row, "lists")

    def __iter__(self) -> Iterator[npt.NDArray[Any]]:
        return (self[row] for row in range(len(self)))

    def __array__(self, dtype: Any = None, *, copy: bool | None = None) -> npt.NDArray[Any]:
        """Refused: lists of ids are no table of numbers.

        Raises
        ------
        TypeError
            Always.
        """
        raise _no_array("lists of neighbors", ".neighbors and .offsets, or .ids")

    def _arrow_columns(self) -> list[_ArrowColumn]:
        return [*_id_columns("id", self.ids), *_id_columns("neighbors", (self.offsets, self.neighbors))]


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Pairs(_Table):
    """Pairs of vertices with a number each: edges with their weights, or vertices that are compared with their scores.

    Attributes
    ----------
    src, dst : numpy.ndarray
        The vertex ids of each pair.
    values : numpy.ndarray
        ``float64``: the number of each pair.

    Examples
    --------
    >>> import numpy as np
    >>> pairs = Pairs(np.array([1, 2]), np.array([2, 4]), np.array([0.5, 1.5]))
    >>> list(pairs)
    [(1, 2, 0.5), (2, 4, 1.5)]
    >>> len(pairs), pairs.values.sum().item()
    (2, 2.0)
    """

    src: npt.NDArray[Any]
    dst: npt.NDArray[Any]
    values: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[tuple[Any, Any, float]]:
        """Triples of both vertex ids and the number."""
        return zip(self.src.tolist(), self.dst.tolist(), self.values.tolist(), strict=True)

    def __array__(self, dtype: Any = None, *, copy: bool | None = None) -> npt.NDArray[Any]:
        """Refused: pairs of ids with a number are no table of numbers.

        Raises
        ------
        TypeError
            Always.
        """
        raise _no_array("pairs", ".values, .src or .dst, or all columns by Arrow, as pandas.DataFrame.from_arrow does")

    def _arrow_columns(self) -> list[_ArrowColumn]:
        return [*_id_columns("src", self.src), *_id_columns("dst", self.dst), ("value", self.values, False)]


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Paths(_Table):
    """Paths, cycles or walks: the vertices of each in order, and a length.

    Attributes
    ----------
    ids : numpy.ndarray
        The vertex ids of all, one path behind another.
    offsets : numpy.ndarray
        ``int64``, one more than there are paths: path ``i`` is ``ids[offsets[i]:offsets[i + 1]]``.
    lengths : numpy.ndarray
        ``float64``: of each the sum of weights, or the number of edges.
    count : int or None
        The number of all paths, including those that a limit left out; None if the search ended at its limit without counting on.
    more : bool
        True if a limit left out other paths.

    Examples
    --------
    >>> import numpy as np
    >>> paths = Paths(np.array([1, 2, 4, 1, 3, 5, 4]), np.array([0, 3, 7]), np.array([2.0, 3.0]), 9, more=True)
    >>> paths[1].tolist()
    [1, 3, 5, 4]
    >>> [path.tolist() for path in paths]
    [[1, 2, 4], [1, 3, 5, 4]]
    >>> len(paths), paths.count, paths.more
    (2, 9, True)
    """

    ids: npt.NDArray[Any]
    offsets: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.float64]
    count: int | None
    more: bool = False

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, row: int) -> npt.NDArray[Any]:
        """The vertices of one path in order: a view of the array.

        Raises
        ------
        IndexError
            There are not so many rows.
        """
        return _row(self.ids, self.offsets, row, "paths")

    def __iter__(self) -> Iterator[npt.NDArray[Any]]:
        return (self[row] for row in range(len(self)))

    def __array__(self, dtype: Any = None, *, copy: bool | None = None) -> npt.NDArray[Any]:
        """Refused: lists of ids are no table of numbers.

        Raises
        ------
        TypeError
            Always.
        """
        raise _no_array("paths", ".lengths, or .ids and .offsets")

    def _arrow_columns(self) -> list[_ArrowColumn]:
        return [("length", self.lengths, False), *_id_columns("path", (self.offsets, self.ids))]


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Csr(_Table):
    """The edges of a label as compressed rows, a row for each vertex, or for each of the kinds that the label states of its ends. The arrays are read-only.

    ``scipy.sparse.csr_array((csr.weights, csr.targets, csr.offsets))`` is its matrix, with ones where weights are None.

    Attributes
    ----------
    ids : numpy.ndarray
        The vertex id of each row: ``uint64``, or str objects for a graph with str ids.
    offsets : numpy.ndarray
        ``int64``, one more than there are rows: the neighbors of row ``r`` are ``targets[offsets[r]:offsets[r + 1]]``.
    targets : numpy.ndarray
        ``uint32``: neighbors as rows, ascending within a row; one entry for each edge of a ``multi`` label.
    weights : numpy.ndarray or None
        ``float64``: the weights of the edges, parallel to ``targets``; None where they have none.
    """

    ids: npt.NDArray[Any]
    offsets: npt.NDArray[np.int64]
    targets: npt.NDArray[np.uint32]
    weights: npt.NDArray[np.float64] | None

    def __len__(self) -> int:
        return len(self.ids)

    def _arrow_columns(self) -> list[_ArrowColumn]:
        weights = [] if self.weights is None else [("weights", (self.offsets, self.weights), False)]
        return [*_id_columns("id", self.ids), ("targets", (self.offsets, self.targets), False), *weights]


# What snapshots of one timestamp share while somebody uses it; the native half adds to it.
_copies: weakref.WeakValueDictionary[tuple[Any, ...], Csr] = weakref.WeakValueDictionary()


class Limited(list[Any]):
    """A list that ends at a limit.

    Attributes
    ----------
    more : bool
        True if the limit left out others.

    Examples
    --------
    >>> first = Limited([3, 5], more=True)
    >>> first, first.more
    ([3, 5], True)
    """

    __slots__ = ("more",)

    more: bool

    def __init__(self, found: Iterable[Any] = (), more: bool = False) -> None:
        super().__init__(found)
        self.more = more


class Estimate(NamedTuple):
    """What a result was estimated from.

    Attributes
    ----------
    samples : int
        How many vertices were searched from.
    of : int
        How many there are with edges, among which they were drawn.
    bound : float
        How far the value of one vertex may be off, as a share of the largest value that it could have: no farther with a probability of
        95 %, by Hoeffding's inequality.
    """

    samples: int
    of: int
    bound: float


class VertexResult(_Table):
    """One value for every vertex of a snapshot.

    It is a mapping from vertex id to value for ``in``, ``result[key]``, ``keys()``, ``items()`` and ``dict(result)``, and iterates over
    pairs of both. NumPy takes it for its values: ``numpy.sum(result)`` and ``numpy.asarray(result)`` leave the ids out.

    Parameters
    ----------
    ids : numpy.ndarray
        Vertex ids: ``uint64``, or str objects for a graph with str ids.
    values : numpy.ndarray
        ``values[i]`` belongs to the vertex ``ids[i]``.
    type : str, optional
        The type of the property that the values are, as in ``Schema``. Objects without any value do not tell it.
    estimate : Estimate, optional
        What the values were estimated from, of a kernel that draws a sample; None where they are exact.
    more : bool
        Whether there are other vertices, which a limit left out: of ``k_hop(..., partial=True)``.
    modularity : float, optional
        How much more weight lies inside the communities than would at random, of ``louvain`` and ``leiden``; None for other kernels.

    Examples
    --------
    >>> import numpy as np
    >>> result = VertexResult(np.array([7, 5, 9]), np.array([0.2, 0.5, 0.3]))
    >>> result[5]
    0.5
    >>> result.top(2)
    [(5, 0.5), (9, 0.3)]
    >>> len(result)
    3
    >>> np.sum(result).item(), result.keys(), list(result.items())
    (1.0, [7, 5, 9], [(7, 0.2), (5, 0.5), (9, 0.3)])
    """

    __slots__ = ("_positions", "estimate", "ids", "modularity", "more", "type", "values")

    ids: npt.NDArray[Any]
    values: npt.NDArray[Any]
    type: str | None
    estimate: Estimate | None
    more: bool
    modularity: float | None
    _positions: dict[int | str, int] | None

    def __init__(
        self,
        ids: npt.NDArray[Any],
        values: npt.NDArray[Any],
        type: str | None = None,
        estimate: Estimate | None = None,
        more: bool = False,
        modularity: float | None = None,
    ) -> None:
        self.ids = ids
        self.values = values
        self.type = type
        self.estimate = estimate
        self.more = more
        self.modularity = modularity
        self._positions = None

    def __len__(self) -> int:
        return len(self.ids)

    def _vertex_ids(self) -> Any:
        return self.ids

    def _arrow_columns(self) -> list[_ArrowColumn]:
        values = np.ma.getdata(self.values)
        is_bytes = values.dtype.kind == "O" and any(isinstance(value, bytes) for value in values)
        is_bytes = is_bytes if self.type is None else self.type == "bytes"
        values_of_ids = [("value", self.values, True)] if is_bytes else _id_columns("value", self.values)
        return [*_id_columns("id", self.ids), *values_of_ids]

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        """Pairs of vertex id and value; None where there is no value."""
        return zip(self.ids.tolist(), self.values.tolist(), strict=True)

    def __array__(self, dtype: Any = None, *, copy: bool | None = None) -> npt.NDArray[Any]:
        """The values, in the order of ``ids``: NaN or ``NaT`` for vertices without one.

        Raises
        ------
        ValueError
            A vertex has no value, and values are bools or ints, which have no number for that.
        """
        return _as_array(self.values, dtype, copy)

    def keys(self) -> list[Any]:
        """The vertex ids as a list, in the order of the values."""
        return list(self.ids.tolist())

    def items(self) -> Iterator[tuple[Any, Any]]:
        """Pairs of vertex id and value, as iteration gives them."""
        return iter(self)

    def __getitem__(self, key: int | str) -> Any:
        """The value of one vertex; the first look-up builds an index.

        Raises
        ------
        KeyError
            There is no such vertex.
        """
        value = self.values[self._index()[key]]
        if value is np.ma.masked:
            return None
        return value.item() if isinstance(value, np.generic) else value

    def __contains__(self, key: object) -> bool:
        """Whether there is such a vertex."""
        return key in self._index()

    def _index(self) -> dict[Any, int]:
        """The position of every vertex."""
        if self._positions is None:
            self._positions = {key: at for at, key in enumerate(self.ids.tolist())}
        return self._positions

    def _has_value(self) -> npt.NDArray[np.bool_]:
        """Which vertices have a value."""
        present = ~np.ma.getmaskarray(self.values)
        if self.values.dtype.kind == "O":
            present &= np.fromiter((value is not None for value in self.values), bool, len(self.values))
        return present

    def to_dict(self) -> dict[Any, Any]:
        """A dictionary from vertex id to value."""
        return dict(self.items())

    def top(self, k: int) -> list[tuple[Any, Any]]:
        """The ``k`` vertices with the highest values, best first; fewer where there are fewer.

        Vertices without a value, or with NaN, are left out.

        Parameters
        ----------
        k : int
            How many. Vertices with equal values come in the order of ``ids``.
        """
        if k <= 0:
            return []
        values, present = np.ma.getdata(self.values), self._has_value()
        if values.dtype.kind == "f":
            present &= ~np.isnan(values)
        rows = np.flatnonzero(present)
        # Sorting the reverse makes a stable sort keep equal values in order after turning it round again.
        order = np.argsort(values[rows[::-1]], kind="stable")[::-1][:k]
        best = rows[::-1][order]
        return list(zip(self.ids[best].tolist(), values[best].tolist(), strict=True))

    def counts(self) -> dict[Any, int]:
        """How many vertices have each value: sizes of components, widths of levels. Those without one count as None.

        Examples
        --------
        >>> import numpy as np
        >>> VertexResult(np.array([1, 2, 3]), np.array([1, 2, 1])).counts()
        {1: 2, 2: 1}
        """
        present = self._has_value()
        values, counts = np.unique(np.ma.getdata(self.values)[present], return_counts=True)
        found = dict(zip(values.tolist(), counts.tolist(), strict=True))
        without = len(present) - int(present.sum())
        return found | {None: without} if without else found

    def __repr__(self) -> str:
        return f"<hedgerow.VertexResult of {len(self)} vertices, {self.values.dtype}>"
