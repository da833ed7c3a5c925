"""`Snapshot.edge_dataset` and `Snapshot.vertex_dataset`: datasets of PyArrow over a snapshot."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ._expression import fields, pushed
from ._native import DataError, NotSupportedError, Snapshot
from ._predicate import Pushed
from ._pushdown import joined, kept, pushable

if TYPE_CHECKING:
    import pyarrow.dataset

__all__: list[str] = []

_Read = Callable[[list[str] | None, Pushed], Any]

# The batches that PyArrow reads ahead.
_AHEAD = 4

# PyArrow opens this path if it reads a dataset without its scanner.
_NO_FILE = "a dataset of Hedgerow has no files: use its scanner(), or to_table()"


def edge_dataset(
    self: Snapshot, label: str | None = None, *, rank_range: Any = None, where: Any = None, part: Any = None
) -> pyarrow.dataset.Dataset:
    """Return the edges of a label as a dataset of PyArrow. Needs the package: ``pip install hedgerow[arrow]``.

    The call reads no edges. DuckDB, Polars (``scan_pyarrow_dataset``) and PyArrow read the dataset batch by
    batch while the snapshot is open, and tell it their columns and conditions. Hedgerow makes only these
    columns. It tests the conditions that ``where`` can express: comparisons of a property with a value of its
    type, ``is_in``, ``is_null``, ``is_valid``, ``starts_with``, their combinations by and, or and not, and
    ranges of ``rank``. PyArrow tests a filter with any other condition on each batch.

    Parameters
    ----------
    label : str, optional
        The label; by default the label that all edges have.
    rank_range : tuple of (int or None, int or None), optional
        Only edges with a rank from the first number on and below the second one.
    where : tuple or list, optional
        A condition on properties, or several, as of ``neighbors``.
    part : tuple, optional
        Only edges whose source is in this part of the graph, one of ``partitions``.

    Returns
    -------
    pyarrow.dataset.Dataset
        The columns of ``edge_stream``, in its order of rows. It has no fragments, and its methods ``join``,
        ``sort_by`` and ``replace_schema`` are those of the table that ``to_table`` returns.

    Raises
    ------
    NotSupportedError
        The package ``pyarrow`` is not installed.
    ProgrammingError
        There is no such label, or the edges have several labels and ``label`` is not given.

    Examples
    --------
    >>> import hedgerow, pyarrow.dataset as ds
    >>> db = hedgerow.open()
    >>> db.add_edges([1, 1, 2], [2, 3, 3], label="pays", properties={"amount": [5, 20, 7]})
    3
    >>> pays = db.snapshot().edge_dataset("pays")
    >>> pays.to_table(columns=["src", "amount"], filter=ds.field("amount") > 5).to_pylist()
    [{'src': 1, 'amount': 20}, {'src': 2, 'amount': 7}]
    """
    where = kept(where)
    stream = self.edge_stream(label, rank_range=rank_range, where=where, part=part)
    schema = _pyarrow("edge_dataset").schema(stream)
    properties, rank = pushable(self, stream._label, schema.names)

    def read(columns: list[str] | None, push: Pushed) -> Any:
        ranks, both = joined(rank_range, where, push)
        return self.edge_stream(stream._label, columns=columns, rank_range=ranks, where=both, part=part)

    return _class()(schema, read, lambda expression: pushed(expression, properties, rank))  # type: ignore[no-any-return]


def vertex_dataset(self: Snapshot, kind: str | None = None, *, part: Any = None) -> pyarrow.dataset.Dataset:
    """Return the vertices of a kind as a dataset of PyArrow. Needs the package: ``pip install hedgerow[arrow]``.

    The call reads no vertices. DuckDB, Polars (``scan_pyarrow_dataset``) and PyArrow read the dataset batch by
    batch while the snapshot is open. Hedgerow makes only the columns that they need, and PyArrow tests their
    conditions.

    Parameters
    ----------
    kind : str, optional
        The kind of the vertices; by default vertices of the default kind.
    part : tuple, optional
        Only vertices in this part of the graph, one of ``partitions``.

    Returns
    -------
    pyarrow.dataset.Dataset
        The columns of ``vertex_stream``, in its order of rows.

    Raises
    ------
    NotSupportedError
        The package ``pyarrow`` is not installed.
    ProgrammingError
        There is no such kind.

    Examples
    --------
    >>> import hedgerow, pyarrow.dataset as ds
    >>> db = hedgerow.open()
    >>> db.add_vertices([1, 2, 3], properties={"name": ["Ann", "Bob", "Cem"], "age": [30, 40, None]})
    3
    >>> db.snapshot().vertex_dataset().to_table(columns=["name"], filter=ds.field("age") > 35).to_pylist()
    [{'name': 'Bob'}]
    """
    schema = _pyarrow("vertex_dataset").schema(self.vertex_stream(kind, part=part))
    return _class()(schema, lambda columns, _: self.vertex_stream(kind, columns=columns, part=part), lambda _: Pushed())  # type: ignore[no-any-return]


def _pyarrow(call: str) -> Any:
    try:
        import pyarrow
        import pyarrow.dataset  # noqa: F401: a version may be built without it
    except ImportError as error:
        raise NotSupportedError(f"{call} needs PyArrow: pip install hedgerow[arrow]") from error
    return pyarrow


@functools.cache
def _class() -> Any:
    """Returns the class of datasets, which needs PyArrow."""
    import pyarrow as pa
    import pyarrow.dataset as ds
    import pyarrow.fs as fs

    class SnapshotDataset(ds.UnionDataset):  # type: ignore[misc]
        """A table of a snapshot as a dataset.

        PyArrow's own class has a dataset of C++, which this one does not use: it has one file, which does not
        exist. So a function that reads the dataset without calling its methods gets an error with an advice.
        """

        def __init__(self, schema: Any, read: _Read, translate: Callable[[Any], Pushed], expression: Any = None) -> None:
            file = ds.IpcFileFormat().make_fragment(_NO_FILE, filesystem=fs.LocalFileSystem())
            super().__init__(schema, [ds.FileSystemDataset([file], schema, ds.IpcFileFormat())])
            self._table_schema = schema
            self._read = read
            self._translate = translate
            self._expression = expression

        def scanner(self, columns: Any = None, filter: Any = None, **options: Any) -> Any:
            """Return a scanner that reads the table once.

            Parameters
            ----------
            columns : sequence of str or mapping of str to Expression, optional
                The columns of the result; all if not given.
            filter : Expression, optional
                Only rows for which this is true.
            **options
                The other options of ``pyarrow.dataset.Scanner.from_batches``.
            """
            stream, rest = self._open(columns, filter)
            wanted = list(columns) if columns is not None and not isinstance(columns, Mapping) else columns
            # A batch may have 64 MiB of texts, and PyArrow would read 16 of them ahead.
            options.setdefault("batch_readahead", _AHEAD)
            return ds.Scanner.from_batches(
                pa.RecordBatchReader.from_stream(stream),
                columns=wanted if wanted is not None else self._table_schema.names,
                filter=rest,
                **options,
            )

        def _open(self, columns: Any, filter: Any) -> tuple[Any, Any]:
            """Returns the stream of the columns and rows that a scan needs, and the filter that is left."""
            expression = self._both(filter)
            push = Pushed(is_whole=True) if expression is None else self._translate(expression)
            try:
                return self._read(self._needed(columns, None if push.is_whole else expression), push), None if push.is_whole else expression
            except DataError:
                # The condition is larger than the store takes: PyArrow alone tests it.
                return self._read(self._needed(columns, expression), Pushed()), expression

        def _needed(self, columns: Any, expression: Any) -> list[str] | None:
            """Returns the columns that a scan reads; None for all."""
            if columns is None:
                return None
            needed: set[str] = set() if isinstance(columns, Mapping) else set(columns)
            expressions: Iterable[Any] = columns.values() if isinstance(columns, Mapping) else ()
            for of in (*expressions, *([] if expression is None else [expression])):
                found = fields(of)
                if found is None:
                    return None
                needed |= found
            names: list[str] = self._table_schema.names
            if unknown := needed - set(names):
                raise DataError(f"columns: there is no column {min(unknown)!r}: there are {', '.join(names)}")
            # A table needs a column even if only its rows are counted.
            return [name for name in names if name in needed] or names[:1]

        def _both(self, filter: Any) -> Any:
            if self._expression is None or filter is None:
                return filter if self._expression is None else self._expression
            return self._expression & filter

        def count_rows(self, filter: Any = None, **options: Any) -> int:
            """Return the number of rows for which the filter is true."""
            return sum(batch.num_rows for batch in self.scanner(self._table_schema.names[:1], filter, **options).to_reader())

        def filter(self, expression: Any) -> Any:
            """Return the dataset of the rows for which this is true as well."""
            return type(self)(self._table_schema, self._read, self._translate, self._both(expression))

        def get_fragments(self, filter: Any = None) -> Any:
            """Refused: the table has no fragments.

            Raises
            ------
            NotSupportedError
                Always.
            """
            raise NotSupportedError("a dataset of Hedgerow has no fragments: Snapshot.partitions and part= divide it")

        def _table(self, name: str, *arguments: Any, **named: Any) -> Any:
            return ds.dataset(getattr(self.to_table(), name)(*arguments, **named))

        def join(self, *arguments: Any, **named: Any) -> Any:
            """Return the join of the table in memory with another one."""
            return self._table("join", *arguments, **named)

        def join_asof(self, *arguments: Any, **named: Any) -> Any:
            """Return the join by the nearest key of the table in memory with another one."""
            return self._table("join_asof", *arguments, **named)

        def sort_by(self, *arguments: Any, **named: Any) -> Any:
            """Return the table in memory, sorted."""
            return self._table("sort_by", *arguments, **named)

        def replace_schema(self, schema: Any) -> Any:
            """Return the table in memory with another schema."""
            return self._table("cast", schema)

        def __reduce__(self) -> Any:
            raise TypeError("a dataset of Hedgerow is not pickled: it reads an open snapshot; pickle its to_table()")

    return SnapshotDataset
