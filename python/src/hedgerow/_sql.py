"""`Snapshot.sql`: DuckDB over the tables of a snapshot."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from typing import Any

from ._native import DataError, NotSupportedError, ProgrammingError, Snapshot, _table_kernels  # type: ignore[attr-defined]

__all__: list[str] = []

# The names of the tables without a name of their own.
_EDGES, _VERTICES = "edges", "vertices"

# The rows from which on a table is divided for the threads of DuckDB.
_LARGE = 100_000

_INSTEAD = "give the streams names of your own by tables="


def sql(self: Snapshot, query: str, *, parameters: Any = None, tables: Mapping[str, Any] | None = None) -> Any:
    """Run a query of DuckDB over this snapshot. Needs the package ``duckdb``: ``pip install hedgerow[sql]``.

    Each kind is a table of vertices and each label a table of edges, under its name, with the columns of
    ``vertex_stream`` and ``edge_stream``; ``vertices`` is the default kind, and ``edges`` the default label,
    unless a kind or a label has that name. A result of a kernel in a graph with kinds is joined by ``id`` and
    ``id_kind``. Times are in UTC.
    A kernel whose arguments all have defaults, such as ``pagerank``, is a table of its result over the edges
    of all labels; it runs in this call if the query names it.

    DuckDB reads the store when it reads the result, large tables by all of its threads. With the package
    ``pyarrow`` it reads datasets, as of ``edge_dataset``: Hedgerow makes only the columns that the query
    uses, and tests conditions on properties and ranks. Without PyArrow, Hedgerow makes the columns that the
    query names, or all columns for ``*``, natural joins and the like, and all rows, which DuckDB then filters.

    Parameters
    ----------
    query : str
        A query. As in SQL, names of tables do not distinguish upper and lower case, and a name with other
        characters than letters, digits and ``_`` is in double quotes.
    parameters : sequence or mapping, optional
        The values of the query's parameters, ``?`` or ``$name``.
    tables : mapping of str to table, optional
        More tables by name: streams, results of kernels, frames of Polars, pandas or PyArrow. They come
        before those of the graph. The variables of the caller are no tables.

    Returns
    -------
    duckdb.DuckDBPyRelation
        The result, which is read by ``fetchall``, ``pl``, ``df``, ``arrow`` and others while the snapshot is
        open. The query runs again each time that it is read. One thread at a time may read it.

    Raises
    ------
    NotSupportedError
        The package ``duckdb`` is not installed.
    ProgrammingError
        A table could be a kind as well as a label, or two whose names differ in upper and lower case alone;
        or it is a kernel with an argument that has no default.
    duckdb.Error
        DuckDB refuses the query, or a result is read after the snapshot was closed.

    Examples
    --------
    >>> import hedgerow
    >>> db = hedgerow.open()
    >>> db.add_edges([1, 1, 2], [2, 3, 3], label="pays", properties={"amount": [5, 20, 7]})
    3
    >>> db.snapshot().sql("SELECT dst, sum(amount) FROM pays GROUP BY dst ORDER BY dst").fetchall()
    [(2, 5), (3, 27)]
    """
    try:
        import duckdb
    except ImportError as error:
        raise NotSupportedError("sql needs DuckDB: pip install hedgerow[sql]") from error
    if tables is not None and not isinstance(tables, Mapping):
        raise DataError(f"tables must map names to tables, found {type(tables).__name__}")
    given = dict(tables or {})
    if len({_folded(name) for name in given}) < len(given):
        raise DataError("tables: two names differ in upper and lower case alone, which SQL does not distinguish")
    # A connection of its own: a result reads the tables by their names, and must not find those of another snapshot.
    connection = duckdb.connect(config={"python_enable_replacements": False})
    # Times of the store are in UTC, and so is a text or a time without a zone that is compared with them.
    connection.execute("SET TimeZone = 'UTC'").fetchall()
    for name, table in given.items():
        # A relation belongs to its own connection, but any connection reads its stream.
        connection.register(name, _Stream(table) if isinstance(table, duckdb.DuckDBPyRelation) else table)
    known, own = _tables(self), {_folded(name) for name in given}
    used: dict[str, tuple[str, str, str]] = {}
    try:
        names, defined, columns = _names(connection, query)
    except duckdb.Error as error:
        error.add_note(_told(known, given))
        raise
    for name in sorted(names):
        found = None if _folded(name) in own else _find(known, name, _folded(name) in defined)
        if found is not None:
            before = used.setdefault(_folded(name), (name, *found))
            if before[1:] != found:
                raise ProgrammingError(f"{before[2]!r} and {found[1]!r} are one name in SQL: {_INSTEAD}")
    for name, what, of in used.values():
        if what == "kernel":
            connection.register(name, self.run(of))
        else:
            _register(connection, name, self, what, of, columns)
    try:
        return connection.sql(query, params=parameters)
    except duckdb.Error as error:
        error.add_note(_told(known, given))
        raise


class _Stream:
    """The rows of another object with an Arrow stream."""

    def __init__(self, of: Any) -> None:
        self._of = of

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._of.__arrow_c_stream__(requested_schema)


def _told(known: list[tuple[str, str, str]], given: dict[str, Any]) -> str:
    """Returns the note of an error of DuckDB: the tables that there are."""
    names = [*given, *(name for name, what, _ in known if what in ("label", "kind"))]
    return f"The tables are {', '.join(map(_quoted, names))}, and kernels; tables= adds others."


def _register(connection: Any, name: str, snapshot: Snapshot, what: str, of: str, wanted: set[str] | None) -> None:
    """Makes a table of a connection from a label or a kind, with the wanted columns; with all if these are None.

    DuckDB passes its columns and conditions to a dataset, and none to a stream.
    """
    table: Callable[..., Any]
    if _has_datasets():
        table = functools.partial(snapshot.edge_dataset if what == "label" else snapshot.vertex_dataset, of)
    else:
        columns = _columns(connection, name, snapshot, what, of, wanted)
        table = functools.partial(snapshot.edge_stream if what == "label" else snapshot.vertex_stream, of, columns=columns)
    rows = snapshot.edge_count_of(of) if what == "label" else snapshot.vertex_count
    ((threads,),) = connection.execute("SELECT current_setting('threads')").fetchall()
    parts = snapshot.partitions(threads) if rows >= _LARGE else []
    if len(parts) < 2:
        connection.register(name, table())
        return
    # DuckDB reads a table by one thread, and the parts of a union by several.
    names = [f"hedgerow part {at} of {name}" for at in range(len(parts))]
    for part, its_name in zip(parts, names, strict=True):
        connection.register(its_name, table(part=part))
    union = " UNION ALL ".join(f"SELECT * FROM {_quoted(its_name)}" for its_name in names)
    connection.execute(f"CREATE TEMP VIEW {_quoted(name)} AS {union}").fetchall()


def _has_datasets() -> bool:
    try:
        import pyarrow.dataset  # noqa: F401
    except ImportError:
        return False
    return True


def _columns(connection: Any, name: str, snapshot: Snapshot, what: str, of: str, wanted: set[str] | None) -> list[str] | None:
    """Returns the wanted columns of a stream; None for all."""
    if wanted is None:
        return None
    stream = snapshot.edge_stream if what == "label" else snapshot.vertex_stream
    connection.register(name, stream(of))
    every = [column for (column,) in connection.execute(f"SELECT column_name FROM (DESCRIBE {_quoted(name)})").fetchall()]
    connection.unregister(name)
    # A table needs a column even if the query only counts its rows.
    return [column for column in every if _folded(column) in wanted] or every[:1]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _folded(name: str) -> str:
    """Returns a name as DuckDB compares it: without the case of ASCII letters."""
    return "".join(char.lower() if char.isascii() else char for char in name)


def _names(connection: Any, query: str) -> tuple[set[str], set[str], set[str] | None]:
    """Returns the names of the tables that a query reads, the folded names of those that it defines by WITH, and the
    folded names of the columns that it may read: None if it may read any column.
    """
    ((text,),) = connection.execute("SELECT json_serialize_sql(?)", [query]).fetchall()
    parsed = json.loads(text)
    if parsed["error"]:
        # This raises the error of a wrong query, and knows statements that are no SELECT.
        return set(connection.get_table_names(query)), set(), None
    found, defined, columns, single, rows, rest = set(), set(), set(), set(), set(), [parsed]
    reads_all = False
    while rest:
        node = rest.pop()
        if isinstance(node, list):
            rest.extend(node)
        if not isinstance(node, dict):
            continue
        rest.extend(node.values())
        what = node.get("type")
        if what == "BASE_TABLE":
            if not node.get("schema_name"):
                found.add(node["table_name"])
            # A table's name or alias is a row of all columns, and an alias may rename columns by their places.
            rows.update((_folded(node["table_name"]), _folded(node.get("alias") or "")))
            reads_all = reads_all or bool(node.get("column_name_alias"))
        if node.get("class") == "COLUMN_REF":
            names = [_folded(name) for name in node["column_names"]]
            columns.update(names)
            single.update(names[:1] if len(names) == 1 else [])
        columns.update(_folded(name) for name in node.get("using_columns") or [])
        reads_all = reads_all or node.get("class") in ("STAR", "POSITIONAL_REFERENCE") or what in ("SHOW_REF", "PIVOT")
        reads_all = reads_all or node.get("ref_type") == "NATURAL"
        ctes = node.get("cte_map")
        if isinstance(ctes, dict):
            defined.update(_folded(entry["key"]) for entry in ctes.get("map", []))
    return found, defined, None if reads_all or single & rows else columns


def _tables(snapshot: Snapshot) -> list[tuple[str, str, str]]:
    """Returns the tables: the name in SQL, what it is, and its name in the graph."""
    schema, kernels = snapshot.schema(), _table_kernels()
    return [
        *((label or _EDGES, "label", label) for label in schema.labels),
        (_VERTICES, "kind", ""),
        *((kind, "kind", kind) for kind in schema.kinds),
        *((name, "kernel" if ready else "arguments", kernel) for kernel, function, ready in kernels for name in {kernel, function}),
    ]


def _find(tables: list[tuple[str, str, str]], name: str, is_defined: bool) -> tuple[str, str] | None:
    """Returns the table with this name. Names that a program chose come first; of these, the one that is spelled alike.

    If the query defines the name itself, it may read a label or a kind to do so, but no kernel.
    """
    alike = [table for table in tables if _folded(table[0]) == _folded(name)]
    of_graph = [table for table in alike if table[1] in ("label", "kind")]
    chosen = [table for table in of_graph if table[2]] or of_graph
    found = [table for table in chosen if table[0] == name] or chosen or ([] if is_defined else alike)
    if not found or is_defined and len(found) > 1:
        return None
    shown = " and ".join(f"{what} {of!r}" for _, what, of in found)
    if len(found) > 1:
        raise ProgrammingError(f"table {name} may be {shown}: {_INSTEAD}")
    _, what, of = found[0]
    if what == "arguments":
        raise ProgrammingError(f"kernel {of} has arguments without defaults, or no table as its result: tables={{{name!r}: g.run({of!r}, ...)}} makes one")
    return what, of
