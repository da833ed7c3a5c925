"""Results of calls: Python classes around NumPy arrays."""

from __future__ import annotations

import itertools
import sys
import weakref
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from ._report import (
    Added,
    Backup,
    Checkpoint,
    CheckReport,
    Exported,
    Kind,
    Label,
    Loaded,
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
    "Exported",
    "Kind",
    "Label",
    "Limited",
    "Loaded",
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
    """Returns the native half. It imports this module, so it is loaded, and the call imports nothing."""
    return sys.modules[f"{__package__}._native"]


class _Table:
    """A base class with Arrow's PyCapsule interface: other packages read columns of equal length, as copies.

    Polars, pandas, PyArrow and DuckDB accept such an object: ``polars.DataFrame(table)``,
    ``pyarrow.table(table)``. The copy of a batch is made when the package pulls it.
    """

    __slots__ = ()

    def _arrow_columns(self) -> list[_ArrowColumn]:
        raise NotImplementedError

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Returns a stream of batches of at most 65,536 rows, which are made when they are pulled.

        Columns have the types of ``requested_schema`` where the conversion loses nothing: texts and bytes in
        other layouts, and wider numbers.
        """
        return _native()._arrow_stream(self._arrow_columns(), requested_schema)

    def __arrow_c_schema__(self) -> object:
        """Returns the names and types of the columns."""
        return _native()._arrow_schema(self._arrow_columns())

    def _vertex_ids(self) -> Any:
        """Returns the vertex ids that a call uses if this object is its argument."""
        raise TypeError(f"{type(self).__name__} has several columns: name one of them, such as .src, .dst, .ids or .neighbors")


def _is_pair(key: object) -> bool:
    return type(key) is tuple


def _id_columns(name: str, ids: Any, *, kinds: bool = False, keys: str | None = None) -> list[_ArrowColumn]:
    """Returns columns of vertex ids for other packages. With several kinds, the kind is a separate column.

    So the ids can be joined with those of `vertex_table`. `ids` may be offsets and values of lists. There are
    two columns if an id is a pair, or if `kinds` is true. `keys` is the type of ids for an array without ids.
    The native half divides ids of its own.
    """
    if not isinstance(ids, (tuple, np.ndarray)):
        return [(name, ids, False)]
    offsets, values = ids if isinstance(ids, tuple) else (None, ids)
    if not kinds and (values.dtype.kind != "O" or not any(map(_is_pair, values))):
        return [(name, ids, False)]
    listed = _objects(values)
    of_kind = np.fromiter((key[0] if _is_pair(key) else None if key is None else "" for key in listed), object, len(listed))
    alone = _id_array([key[1] if _is_pair(key) else key for key in listed], keys)
    columns = [(f"{name}_kind", of_kind), (name, alone)]
    return [(of, column if offsets is None else (offsets, column), False) for of, column in columns]


def _id_array(keys: list[Any], of: str | None) -> npt.NDArray[Any]:
    """Returns ids as numbers if all are numbers, otherwise as texts."""
    found = {type(key) for key in keys if key is not None}
    if found == {int} or (not found and of == "u64"):
        numbers = np.fromiter((key or 0 for key in keys), np.uint64, len(keys))
        missing = np.fromiter((key is None for key in keys), bool, len(keys))
        return np.ma.MaskedArray(numbers, missing) if missing.any() else numbers
    return np.fromiter((None if key is None else str(key) for key in keys), object, len(keys))


def _objects(column: npt.NDArray[Any]) -> list[Any]:
    """Returns the values as Python objects: None for a missing value, and times with a zone."""
    values: list[Any] = column.tolist()
    if column.dtype.kind != "M":
        return values
    # For a time outside the years of datetime, NumPy returns its number.
    zoned = (at.replace(tzinfo=UTC) if isinstance(at, datetime) else at and np.datetime64(at, "us") for at in values)
    return list(zoned)


def _rows(columns: list[_ArrowColumn]) -> Iterator[tuple[Any, ...]]:
    """Yields rows as tuples with names in `_fields`: a property's name may be no name of an attribute."""
    names = tuple(name for name, _, _ in columns)
    row = type("Row", (tuple,), {"__slots__": (), "_fields": names})
    return (row(values) for values in zip(*(_objects(column) for _, column, _ in columns), strict=True))


def _columns(properties: dict[str, npt.NDArray[Any]], types: dict[str, str]) -> list[_ArrowColumn]:
    return [(name, column, types.get(name) == "bytes") for name, column in properties.items()]


def _no_array(what: str, instead: str) -> TypeError:
    """Returns the error of `__array__`: NumPy would mix numbers of different meanings in one table."""
    return TypeError(f"{what} are no single array: take {instead}")


def _as_array(values: npt.NDArray[Any], dtype: Any, copy: bool | None) -> npt.NDArray[Any]:
    """Returns the values as an array without a mask: NaN or NaT for a missing value.

    Raises
    ------
    ValueError
        A value is missing, and the type has no NaN or NaT; or a copy is needed and forbidden.
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

    It unpacks into the first three arrays, ``src, dst, weights``. ``labels`` and ``ranks`` are attributes.

    Attributes
    ----------
    src, dst : numpy.ndarray
        Vertex ids: ``uint64``, or str objects for a graph with str ids.
    weights : numpy.ndarray or None
        ``float64``: the weights of a weighted graph's default label, and the numbers in the property
        ``weight`` of other labels. NaN for an edge without one; None if none of the labels read has weights.
    labels : numpy.ndarray or None
        The label of each edge, as str objects, ``""`` for the default one; None if no other label is defined.
    ranks : numpy.ndarray or None
        ``uint64``; 0 for edges of labels that are not ``multi``, and None if none of the labels read is
        ``multi``.

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
        """Iterates over the arrays ``src``, ``dst`` and ``weights``, so that they can be unpacked."""
        return iter((self.src, self.dst, self.weights))

    def __getitem__(self, column: int | slice) -> Any:
        """Returns one or several of the arrays ``src``, ``dst`` and ``weights``; not an edge."""
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
        Masked arrays of ``bool``, ``int64``, ``float64`` or ``datetime64[us]`` (UTC), masked if an edge has
        no value; for text and bytes, arrays of objects in which a missing value is None.
    types : dict of str to str
        The types of the properties by name, as in ``Schema``.
    kinds : bool
        True if the graph has kinds. Then rows for other packages have the kind of each end in ``src_kind``
        and ``dst_kind``.
    key_types : tuple of (str, str), optional
        The types of the ids at both ends, if the label states their kinds.
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
        """Iterates over rows as tuples. Their ``_fields`` are the names for ``pandas.DataFrame(table)``."""
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
        Masked arrays of ``bool``, ``int64``, ``float64`` or ``datetime64[us]`` (UTC), masked if a vertex has
        no value; for text and bytes, arrays of objects in which a missing value is None.
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
        """Iterates over rows as tuples. Their ``_fields`` are the names for ``pandas.DataFrame(table)``."""
        return _rows(self._arrow_columns())

    def _vertex_ids(self) -> Any:
        if not self.kind:
            return self.ids
        return np.fromiter(((self.kind, key) for key in self.ids.tolist()), object, len(self.ids))

    def _arrow_columns(self) -> list[_ArrowColumn]:
        return [("id", self.ids, False), *_columns(self.properties, self.types)]


def _row(values: npt.NDArray[Any], offsets: npt.NDArray[np.int64], row: int, what: str) -> npt.NDArray[Any]:
    """Returns a view of one of the lists, which are one after another in ``values``."""
    count = len(offsets) - 1
    if not -count <= row < count:
        raise IndexError(f"row {row} of {count} {what}")
    row %= count
    return values[offsets[row] : offsets[row + 1]]


@dataclass(frozen=True, slots=True, eq=False)
class NeighborLists(_Table):
    """The neighbors of many vertices, one list after another.

    Attributes
    ----------
    ids : numpy.ndarray
        The ids of the vertices to which the lists belong.
    offsets : numpy.ndarray
        ``int64``, one element more than there are lists: list ``i`` is
        ``neighbors[offsets[i]:offsets[i + 1]]``.
    neighbors : numpy.ndarray
        Vertex ids, ascending within a list; one entry for each edge.
    """

    ids: npt.NDArray[Any]
    offsets: npt.NDArray[np.int64]
    neighbors: npt.NDArray[Any]

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, row: int) -> npt.NDArray[Any]:
        """Returns the neighbors of the vertex ``ids[row]``, as a view of the array.

        Raises
        ------
        IndexError
            There is no such row.
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
        """Iterates over triples: both vertex ids and the number."""
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
        The vertex ids of all paths, one path after another.
    offsets : numpy.ndarray
        ``int64``, one element more than there are paths: path ``i`` is ``ids[offsets[i]:offsets[i + 1]]``.
    lengths : numpy.ndarray
        ``float64``: the length of each path, as the sum of weights or the number of edges.
    count : int or None
        The number of all paths, including paths that a limit left out; None if the search stopped at its
        limit.
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
        """Returns the vertices of one path in order, as a view of the array.

        Raises
        ------
        IndexError
            There is no such row.
        """
        return _row(self.ids, self.offsets, row, "paths")

    def __iter__(self) -> Iterator[npt.NDArray[Any]]:
        return (self[row] for row in range(len(self)))

    def to_lists(self) -> list[list[Any]]:
        """Returns each path as a list of vertex ids.

        Examples
        --------
        >>> import numpy as np
        >>> Paths(np.array([1, 2, 4, 1, 4]), np.array([0, 3, 5]), np.array([2.0, 1.0]), 2).to_lists()
        [[1, 2, 4], [1, 4]]
        """
        ids, offsets = self.ids.tolist(), self.offsets.tolist()
        return [ids[start:stop] for start, stop in itertools.pairwise(offsets)]

    def edge_lists(self) -> list[list[tuple[Any, Any]]]:
        """Returns the edges of each path as a list of pairs of vertex ids, in the order and direction of the path.

        A path does not have labels, ranks or properties of its edges: ``edge_properties`` reads them.

        Examples
        --------
        >>> import numpy as np
        >>> Paths(np.array([1, 2, 4, 1, 4]), np.array([0, 3, 5]), np.array([2.0, 1.0]), 2).edge_lists()
        [[(1, 2), (2, 4)], [(1, 4)]]
        """
        return [list(itertools.pairwise(path)) for path in self.to_lists()]

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
    """The edges of a label as compressed rows, in read-only arrays. There is a row for each vertex.

    If the label states the kinds of its ends, only vertices of these kinds have a row. The matrix is
    ``scipy.sparse.csr_array((csr.weights, csr.targets, csr.offsets), copy=True)``, with ones if ``weights`` is
    None. Without the copy, SciPy fails when it sums parallel edges in place; ``Snapshot.to_scipy`` makes it.

    Attributes
    ----------
    ids : numpy.ndarray
        The vertex id of each row: ``uint64``, or str objects for a graph with str ids.
    offsets : numpy.ndarray
        ``int64``, one element more than there are rows: the neighbors of row ``r`` are
        ``targets[offsets[r]:offsets[r + 1]]``.
    targets : numpy.ndarray
        ``uint32``: neighbors as rows, ascending within a row; one entry for each edge of a ``multi`` label.
    weights : numpy.ndarray or None
        ``float64``: the weights of the edges, parallel to ``targets``; None if they have no weights.
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


# The arrays that snapshots of one timestamp share while a program uses them; the native half adds to it.
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
    """The sample from which a result was estimated.

    Attributes
    ----------
    samples : int
        The number of vertices from which searches began.
    of : int
        The number of vertices with edges, among which these were drawn.
    bound : float
        The error bound for the value of one vertex, as a share of the largest possible value. By Hoeffding's
        inequality, the error is within the bound with a probability of 95 %.
    """

    samples: int
    of: int
    bound: float


class VertexResult(_Table):
    """One value for every vertex of a snapshot.

    It is a mapping from vertex id to value for ``in``, ``result[key]``, ``keys()``, ``items()`` and
    ``dict(result)``, and iterates over pairs of id and value. NumPy reads only its values, as in
    ``numpy.sum(result)`` and ``numpy.asarray(result)``.

    Parameters
    ----------
    ids : numpy.ndarray
        Vertex ids: ``uint64``, or str objects for a graph with str ids.
    values : numpy.ndarray
        ``values[i]`` belongs to the vertex ``ids[i]``.
    type : str, optional
        The type, as in ``Schema``, if the values are of a property. It cannot be derived from objects if all
        values are missing.
    estimate : Estimate, optional
        The sample from which a kernel estimated the values; None if they are exact.
    more : bool
        True if a limit left out other vertices, as of ``k_hop(..., partial=True)``.
    modularity : float, optional
        For ``louvain`` and ``leiden``, the share of weight inside the communities minus the share expected at
        random; None for other kernels.

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

    __slots__ = ("_ids", "_positions", "_values", "estimate", "modularity", "more", "type")

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
        # Ids that are texts may be columns of the native half, which become objects when they are read.
        self._ids: Any = ids
        self._values: Any = values
        self.type = type
        self.estimate = estimate
        self.more = more
        self.modularity = modularity
        self._positions = None

    @property
    def ids(self) -> npt.NDArray[Any]:
        """The vertex ids, read-only. Ids that are texts become objects when they are first read."""
        if not isinstance(self._ids, np.ndarray):
            return cast("npt.NDArray[Any]", self._ids.array())
        return self._ids

    @property
    def values(self) -> npt.NDArray[Any]:
        """The values: ``values[i]`` belongs to the vertex ``ids[i]``."""
        if not isinstance(self._values, np.ndarray):
            # A program may write into the array, and every reader then sees it.
            self._values = self._values.array()
        return cast("npt.NDArray[Any]", self._values)

    def __len__(self) -> int:
        return len(self._ids)

    def __reduce__(self) -> tuple[Any, ...]:
        """Returns what a copy is made from: all but the index of look-ups."""
        return VertexResult, (self.ids, self.values, self.type, self.estimate, self.more, self.modularity)

    def _vertex_ids(self) -> Any:
        return self.ids

    def _arrow_columns(self) -> list[_ArrowColumn]:
        is_bytes = self.type == "bytes"
        if self.type is None and isinstance(self._values, np.ndarray) and self._values.dtype.kind == "O":
            is_bytes = any(isinstance(value, bytes) for value in self._values)
        values = [("value", self._values, True)] if is_bytes else _id_columns("value", self._values)
        return [*_id_columns("id", self._ids), *values]

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        """Iterates over pairs of vertex id and value; a missing value is None."""
        return zip(self.ids.tolist(), self.values.tolist(), strict=True)

    def __array__(self, dtype: Any = None, *, copy: bool | None = None) -> npt.NDArray[Any]:
        """Returns the values in the order of ``ids``: NaN or ``NaT`` for vertices without one.

        Raises
        ------
        ValueError
            A vertex has no value, and the values are bools or ints, which have no NaN.
        """
        return _as_array(self.values, dtype, copy)

    def keys(self) -> list[Any]:
        """Returns the vertex ids as a list, in the order of the values."""
        return list(self.ids.tolist())

    def items(self) -> Iterator[tuple[Any, Any]]:
        """Returns an iterator over pairs of vertex id and value."""
        return iter(self)

    def __getitem__(self, key: int | str) -> Any:
        """Returns the value of one vertex. The first look-up builds an index.

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
        """True if there is such a vertex."""
        return key in self._index()

    def _index(self) -> dict[Any, int]:
        """Returns the position of every vertex."""
        if self._positions is None:
            self._positions = {key: at for at, key in enumerate(self.ids.tolist())}
        return self._positions

    def _has_value(self) -> npt.NDArray[np.bool_]:
        """Returns a mask: True for vertices with a value."""
        present = ~np.ma.getmaskarray(self.values)
        if self.values.dtype.kind == "O":
            present &= np.fromiter((value is not None for value in self.values), bool, len(self.values))
        return present

    def to_dict(self) -> dict[Any, Any]:
        """Returns a dictionary from vertex id to value."""
        return dict(self.items())

    def top(self, k: int) -> list[tuple[Any, Any]]:
        """Returns the ``k`` vertices with the highest values, highest first; fewer if there are fewer.

        Vertices without a value, or with NaN, are left out.

        Parameters
        ----------
        k : int
            The number of vertices. Vertices with equal values are in the order of ``ids``.
        """
        if k <= 0:
            return []
        values, present = np.ma.getdata(self.values), self._has_value()
        if values.dtype.kind == "f":
            present &= ~np.isnan(values)
        rows = np.flatnonzero(present)
        # Rows are reversed, sorted stably and reversed again, so that equal values stay in order.
        order = np.argsort(values[rows[::-1]], kind="stable")[::-1][:k]
        best = rows[::-1][order]
        return list(zip(self.ids[best].tolist(), values[best].tolist(), strict=True))

    def counts(self) -> dict[Any, int]:
        """Returns the number of vertices with each value, such as the sizes of components; None is for no value.

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
        dtype = self._values.dtype if isinstance(self._values, np.ndarray) else "object"
        return f"<hedgerow.VertexResult of {len(self)} vertices, {dtype}>"
