"""`Snapshot.scan_edges` and `Snapshot.scan_vertices`: lazy frames of Polars over a snapshot."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ._native import DataError, NotSupportedError, Snapshot
from ._predicate import Pushed, pushed
from ._pushdown import joined, kept, pushable

__all__: list[str] = []

_Read = Callable[[list[str] | None, Pushed], Any]


def scan_edges(self: Snapshot, label: str | None = None, *, rank_range: Any = None, where: Any = None) -> Any:
    """Return the edges of a label as a lazy frame of Polars. Needs the package: ``pip install hedgerow[polars]``.

    The call reads no edges; the frame reads them when it is collected, batch by batch, while the snapshot is
    open. Hedgerow makes only the columns that the query uses. It tests the conditions of the query that
    ``where`` can express: comparisons of a property with a value of its type, ``is_in``, ``is_between``,
    ``is_null``, ``starts_with``, their combinations by and, or and not, and ranges of ``rank``. Polars tests
    all others on each batch. A query for the first rows ends early.

    Parameters
    ----------
    label : str, optional
        The label; by default the label that all edges have.
    rank_range : tuple of (int or None, int or None), optional
        Only edges with a rank from the first number on and below the second one.
    where : tuple or list, optional
        A condition on properties, or several, as of ``neighbors``.

    Returns
    -------
    polars.LazyFrame
        The columns of ``edge_stream``, in its order of rows.

    Raises
    ------
    NotSupportedError
        The package ``polars`` is not installed, or is older than 2.1.
    ProgrammingError
        There is no such label, or the edges have several labels and ``label`` is not given.

    Examples
    --------
    >>> import hedgerow, polars as pl
    >>> db = hedgerow.open()
    >>> db.add_edges([1, 1, 2], [2, 3, 3], label="pays", properties={"amount": [5, 20, 7]})
    3
    >>> pays = db.snapshot().scan_edges("pays")
    >>> pays.filter(pl.col("amount") > 5).select("src", "amount").collect().rows()
    [(1, 20), (2, 7)]
    """
    where = kept(where)
    stream = self.edge_stream(label, rank_range=rank_range, where=where)
    pl, register = _polars("scan_edges")
    schema = pl.Schema(stream)
    properties, rank = pushable(self, stream._label, list(schema))

    def read(columns: list[str] | None, push: Pushed) -> Any:
        ranks, both = joined(rank_range, where, push)
        return self.edge_stream(stream._label, columns=columns, rank_range=ranks, where=both)

    return _frame(register, read, schema, lambda predicate: pushed(predicate, properties, rank))


def scan_vertices(self: Snapshot, kind: str | None = None) -> Any:
    """Return the vertices of a kind as a lazy frame of Polars. Needs the package: ``pip install hedgerow[polars]``.

    The call reads no vertices; the frame reads them when it is collected, batch by batch, while the snapshot
    is open. Hedgerow makes only the columns that the query uses, and Polars tests the conditions. A query for
    the first rows ends early.

    Parameters
    ----------
    kind : str, optional
        The kind of the vertices; by default vertices of the default kind.

    Returns
    -------
    polars.LazyFrame
        The columns of ``vertex_stream``, in its order of rows.

    Raises
    ------
    NotSupportedError
        The package ``polars`` is not installed, or is older than 2.1.
    ProgrammingError
        There is no such kind.

    Examples
    --------
    >>> import hedgerow, polars as pl
    >>> db = hedgerow.open()
    >>> db.add_vertices([1, 2, 3], properties={"name": ["Ann", "Bob", "Cem"], "age": [30, 40, None]})
    3
    >>> db.snapshot().scan_vertices().filter(pl.col("age") > 35).select("name").collect().rows()
    [('Bob',)]
    """
    stream = self.vertex_stream(kind)
    pl, register = _polars("scan_vertices")
    return _frame(register, lambda columns, _: self.vertex_stream(kind, columns=columns), pl.Schema(stream), lambda _: Pushed())


def _polars(call: str) -> tuple[Any, Any]:
    """Returns Polars and its function that registers a source of rows."""
    try:
        import polars as pl
        from polars.io.plugins import register_io_source
    except ImportError as error:
        raise NotSupportedError(f"{call} needs Polars 2.1 or later: pip install hedgerow[polars]") from error
    return pl, register_io_source


def _frame(register: Any, read: _Read, schema: Any, translate: Callable[[Any], Pushed]) -> Any:
    """Returns the lazy frame of the streams that `read` opens, with the columns and conditions of a query."""

    def rows(columns: list[str] | None, predicate: Any, n_rows: int | None, batch_size: int | None) -> Iterator[Any]:
        # If Polars passes both, it wants the first rows, and of these the rows that meet the predicate.
        push = Pushed() if predicate is None or n_rows is not None else translate(predicate)
        try:
            stream = read(columns or None, push)
        except DataError:
            # The condition is larger than the store takes: Polars alone tests it.
            stream = read(columns or None, Pushed())
        left = n_rows
        for frame in _batches(stream, columns or None):
            if left is not None:
                frame = frame.head(left)
                left -= frame.height
            # The pushed conditions are a part of the predicate, so all of it is tested here.
            yield frame if predicate is None else frame.filter(predicate)
            if left == 0:
                return

    # A snapshot does not change, so a query that has the frame twice reads it once.
    return register(rows, schema=schema, is_pure=True)


def _batches(stream: Any, columns: list[str] | None) -> Iterator[Any]:
    """Yields the batches of a stream with the columns in this order."""
    import polars as pl

    try:
        from polars._plr import PyArrowCStreamReader
    except ImportError:
        # This version of Polars has no reader of batches, so it collects the stream.
        frame = pl.DataFrame(stream)
        yield frame if columns is None else frame.select(columns)
        return
    reader = PyArrowCStreamReader(stream)
    while (batch := reader.next_batch(columns)) is not None:
        yield pl.DataFrame._from_pydf(batch)
