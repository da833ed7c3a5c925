"""`Snapshot.sql`: DuckDB over the tables of a snapshot."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ._native import DataError, NotSupportedError, ProgrammingError, Snapshot, _table_kernels  # type: ignore[attr-defined]

__all__: list[str] = []

# The names of the tables without a name of their own.
_EDGES, _VERTICES = "edges", "vertices"

_INSTEAD = "give the streams names of your own by tables="


def sql(self: Snapshot, query: str, *, parameters: Any = None, tables: Mapping[str, Any] | None = None) -> Any:
    """Run a query of DuckDB over this snapshot. Needs the package ``duckdb``: ``pip install hedgerow[sql]``.

    Each kind is a table of vertices and each label a table of edges, under its name, with the columns of
    ``vertex_stream`` and ``edge_stream``; ``vertices`` is the default kind, and ``edges`` the default label.
    A kernel whose arguments all have defaults, such as ``pagerank``, is a table of its result over the edges
    of all labels; it runs in this call if the query names it.

    DuckDB reads the store when it reads the result. For each table that the query names, Hedgerow makes all
    columns and rows on one thread, and DuckDB then filters them. A stream with ``columns`` and ``where`` in
    ``tables`` makes less.

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
    given = dict(tables or {})
    if len({_folded(name) for name in given}) < len(given):
        raise DataError("tables: two names differ in upper and lower case alone, which SQL does not distinguish")
    # A connection of its own: a result reads the tables by their names, and must not find those of another snapshot.
    connection = duckdb.connect(config={"python_enable_replacements": False})
    for name, table in given.items():
        connection.register(name, table)
    known, own = _tables(self), {_folded(name) for name in given}
    used: dict[str, tuple[str, str, str]] = {}
    names, defined = _names(connection, query)
    for name in sorted(names):
        found = None if _folded(name) in own else _find(known, name, _folded(name) in defined)
        if found is not None:
            before = used.setdefault(_folded(name), (name, *found))
            if before[1:] != found:
                raise ProgrammingError(f"{before[2]!r} and {found[1]!r} are one name in SQL: {_INSTEAD}")
    for name, what, of in used.values():
        connection.register(name, _stream(self, what, of))
    return connection.sql(query, params=parameters)


def _folded(name: str) -> str:
    """Returns a name as DuckDB compares it: without the case of ASCII letters."""
    return "".join(char.lower() if char.isascii() else char for char in name)


def _names(connection: Any, query: str) -> tuple[set[str], set[str]]:
    """Returns the names of the tables that a query reads, and the folded names of those that it defines by WITH."""
    ((text,),) = connection.execute("SELECT json_serialize_sql(?)", [query]).fetchall()
    parsed = json.loads(text)
    if parsed["error"]:
        # This raises the error of a wrong query, and knows statements that are no SELECT.
        return set(connection.get_table_names(query)), set()
    found, defined, rest = set(), set(), [parsed]
    while rest:
        node = rest.pop()
        if isinstance(node, dict):
            if node.get("type") == "BASE_TABLE" and not node.get("schema_name"):
                found.add(node["table_name"])
            ctes = node.get("cte_map")
            if isinstance(ctes, dict):
                defined.update(_folded(entry["key"]) for entry in ctes.get("map", []))
            rest.extend(node.values())
        elif isinstance(node, list):
            rest.extend(node)
    return found, defined


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


def _stream(snapshot: Snapshot, what: str, of: str) -> Any:
    if what == "label":
        return snapshot.edge_stream(of)
    return snapshot.vertex_stream(of) if what == "kind" else snapshot.run(of)
