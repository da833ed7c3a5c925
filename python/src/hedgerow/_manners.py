"""Methods that Python's own operations call: lengths, look-ups, iteration, copies, and tables in notebooks."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from html import escape
from typing import Any, Literal, NoReturn

from ._native import DataError, IntegrityError, ProgrammingError, Snapshot
from ._result import VertexResult, _objects

__all__: list[str] = []

# The ids that an iteration makes at once.
_BATCH = 1 << 16
# The rows, the labels and kinds, and the characters of a cell that a notebook shows.
_ROWS, _NAMES, _WIDTH = 10, 20, 60


def length(self: Snapshot) -> int:
    """Return the number of vertices."""
    return self.vertex_count


def truth(self: Snapshot) -> Literal[True]:
    """Return True, also for a graph without vertices."""
    return True


def contains(self: Snapshot, key: Any) -> bool:
    """True if there is such a vertex. An object that cannot be an id is none; an unknown kind is an error."""
    try:
        return self.has_vertex(key)
    except (DataError, TypeError):
        return False


def iterate(self: Snapshot) -> Iterator[Any]:
    """Iterate over the vertex ids in the order of ``vertices``, which is read when the iteration begins."""
    ids = self.vertices()
    return (key for at in range(0, len(ids), _BATCH) for key in ids[at : at + _BATCH].tolist())


def item(self: Snapshot, key: Any) -> list[Any]:
    """Return the neighbors of a vertex along its edges, as ``neighbors(key)`` does.

    Raises
    ------
    KeyError
        There is no such vertex.

    Examples
    --------
    >>> import hedgerow
    >>> db = hedgerow.open()
    >>> db.add_edges([1, 1, 2], [2, 3, 3])
    3
    >>> g = db.snapshot()
    >>> g[1], 3 in g, len(g), list(g)
    ([2, 3], True, 3, [1, 2, 3])
    """
    try:
        return self.neighbors(key)
    except (DataError, IntegrityError):
        raise KeyError(key) from None


_INSTEAD = {
    "Database": "send results, or close it and open its path in the other process",
    "Snapshot": "send a result of it, such as edges() or vertex_table(), or the files of export()",
    "Transaction": "a transaction belongs to its process; send the data, and write it there",
    "TableStream": "read it, as polars.DataFrame(stream) does, and send the frame",
    "Ticket": "wait for it, and send its timestamp",
    "Pipeline": "flush it, and send the result of flush()",
    "Maintained": "send a result of at()",
}


def refuse_copies(self: Any, protocol: Any = None) -> NoReturn:
    """Refuse copies and pickles of an object that is bound to its process.

    Raises
    ------
    TypeError
        Always.
    """
    name = type(self).__name__
    raise TypeError(f"a {name} cannot be copied or pickled: {_INSTEAD[name]}")


def snapshot_html(self: Snapshot) -> str:
    """Return the counts, labels and kinds of a snapshot for a notebook. Reads no vertex and no edge."""
    title = _element("p", _text(repr(self)))
    try:
        schema = self.schema()
    except ProgrammingError:
        # The snapshot is closed, or of another process.
        return title
    labels = [(label.name, "yes" if label.multi else "no", _types(label.properties)) for label in _some(schema.labels)]
    kinds = [("", _types(schema.vertex_properties)), *((kind.name, _types(kind.properties)) for kind in _some(schema.kinds))]
    return (
        title
        + _grid(("label", "multi", "properties"), labels, len(schema.labels))
        + _grid(("kind", "properties"), kinds, len(schema.kinds) + 1)
    )


def table_html(self: Any) -> str:
    """Return the first rows for a notebook."""
    columns = _first(self)._arrow_columns()
    rows = zip(*(_objects(column) for _, column, _ in columns), strict=True)
    return _element("p", _text(f"{type(self).__name__}: {len(self)} rows")) + _grid([name for name, *_ in columns], rows, len(self))


def _first(table: Any) -> Any:
    """Returns a table of the first rows, whose arrays are views."""
    if isinstance(table, VertexResult):
        return VertexResult(_head(table._ids), _head(table._values), table.type)
    values = {field.name: getattr(table, field.name) for field in dataclasses.fields(table)}
    for name, value in values.items():
        if hasattr(value, "dtype"):
            values[name] = value[:_ROWS]
        elif name == "properties":
            values[name] = {of: column[:_ROWS] for of, column in value.items()}
    return type(table)(**values)


def _head(column: Any) -> Any:
    return column[:_ROWS] if hasattr(column, "dtype") else column.head(_ROWS)


def _grid(names: Iterable[str], rows: Iterable[Iterable[Any]], count: int) -> str:
    head = _element("tr", *(_element("th", _text(name)) for name in names))
    lines = [_element("tr", *(_element("td", _text(value)) for value in row)) for row in rows]
    left = count - len(lines)
    more = _element("p", f"… and {left} more") if left else ""
    return _element("table", _element("thead", head), _element("tbody", *lines)) + more


def _some(named: dict[str, Any]) -> list[Any]:
    return list(named.values())[:_NAMES]


def _types(properties: dict[str, str]) -> str:
    shown = [f"{name}: {of}" for name, of in list(properties.items())[:_NAMES]]
    return ", ".join(shown + ["…"] * (len(properties) > _NAMES))


def _text(value: Any) -> str:
    # The beginning suffices, since a text may be long.
    text = value[: _WIDTH + 1] if isinstance(value, (str, bytes)) else value
    text = text if isinstance(text, str) else str(text)
    return escape(text if len(text) <= _WIDTH else text[:_WIDTH] + "…")


def _element(name: str, *content: str) -> str:
    return f"<{name}>{''.join(content)}</{name}>"
