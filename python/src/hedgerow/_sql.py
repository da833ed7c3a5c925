"""`Snapshot.sql`: DuckDB over the tables of a snapshot."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ._native import NotSupportedError, ProgrammingError, Snapshot, _kernel_names  # type: ignore[attr-defined]

__all__: list[str] = []

# The names of the tables without a name of their own.
_EDGES, _VERTICES = "edges", "vertices"

_INSTEAD = "give the streams names of your own by tables="


def sql(self: Snapshot, query: str, *, parameters: Any = None, tables: Mapping[str, Any] | None = None) -> Any:
    """Run a query of DuckDB over this snapshot. Needs the package ``duckdb``: ``pip install hedgerow[sql]``.

    Each kind is a table of vertices and each label a table of edges, under its name, with the columns of
    ``vertex_stream`` and ``edge_stream``; ``vertices`` is the default kind, and ``edges`` the default label.
    A kernel is a table of its result with default arguments, such as ``pagerank``; it runs in this call if
    the query names it.

    DuckDB pulls rows when the result is read, without a copy of the graph. It makes all columns of a table,
    and tests conditions itself; ``tables={"pays": g.edge_stream("pays", columns=["dst"])}`` makes less.

    Parameters
    ----------
    query : str
        A query. As in SQL, names of tables do not distinguish upper and lower case, and a name with other
        characters than letters, digits and ``_`` is in double quotes.
    parameters : sequence or mapping, optional
        The values of the query's parameters, ``?`` or ``$name``.
    tables : mapping of str to table, optional
        More tables by name: streams, results of kernels, frames of Polars, pandas or PyArrow. They come
        before those of the graph.

    Returns
    -------
    duckdb.DuckDBPyRelation
        The result, which is read by ``fetchall``, ``pl``, ``df``, ``arrow`` and others while the snapshot is
        open. The query runs again each time that it is read.

    Raises
    ------
    NotSupportedError
        The package ``duckdb`` is not installed.
    ProgrammingError
        A table could be a kind as well as a label, or two whose names differ in upper and lower case alone.

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
    given = dict(tables or {})
    # A connection of its own: a result reads the tables by their names, and must not find those of another snapshot.
    connection = duckdb.connect()
    for name, table in given.items():
        connection.register(name, table)
    known, own = _tables(self), {name.lower() for name in given}
    used: dict[str, tuple[str, str]] = {}
    for name in sorted(_names(connection, query)):
        found = None if name.lower() in own else _find(known, name)
        if found is not None and used.setdefault(name.lower(), found) != found:
            raise ProgrammingError(f"{used[name.lower()][1]!r} and {found[1]!r} are one name in SQL: {_INSTEAD}")
    for name, (what, of) in used.items():
        connection.register(name, _stream(self, what, of))
    return connection.sql(query, params=parameters)


def _names(connection: Any, query: str) -> set[str]:
    """Returns the names of the tables that a query reads, among them those that it defines itself."""
    ((text,),) = connection.execute("SELECT json_serialize_sql(?)", [query]).fetchall()
    parsed = json.loads(text)
    if parsed["error"]:
        # This raises the error of a wrong query, and knows statements that are no SELECT.
        names: set[str] = connection.get_table_names(query)
        return names
    found, rest = set(), [parsed]
    while rest:
        node = rest.pop()
        if isinstance(node, dict):
            if node.get("type") == "BASE_TABLE" and not node.get("schema_name"):
                found.add(node["table_name"])
            rest.extend(node.values())
        elif isinstance(node, list):
            rest.extend(node)
    return found


def _tables(snapshot: Snapshot) -> list[tuple[str, str, str]]:
    """Returns the tables: the name in SQL, what it is, and its name in the graph."""
    schema = snapshot.schema()
    return [
        *((label or _EDGES, "label", label) for label in schema.labels),
        (_VERTICES, "kind", ""),
        *((kind, "kind", kind) for kind in schema.kinds),
        *((kernel, "kernel", kernel) for kernel in _kernel_names()),
    ]


def _find(tables: list[tuple[str, str, str]], name: str) -> tuple[str, str] | None:
    """Returns the table with this name. Names that a program chose come first; of these, the one that is spelled alike."""
    alike = [table for table in tables if table[0].lower() == name.lower()]
    exact = [table for table in alike if table[0] == name]
    chosen = [table for table in exact or alike if table[2] and table[1] != "kernel"]
    found = chosen or exact or alike
    if len(found) > 1:
        shown = " and ".join(f"{what} {of!r}" for _, what, of in found)
        raise ProgrammingError(f"table {name} may be {shown}: {_INSTEAD}")
    return (found[0][1], found[0][2]) if found else None


def _stream(snapshot: Snapshot, what: str, of: str) -> Any:
    if what == "label":
        return snapshot.edge_stream(of)
    return snapshot.vertex_stream(of) if what == "kind" else snapshot.run(of)
