"""The conditions that lazy tables of other packages give to the store, and those that a program gave."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ._native import Snapshot
from ._predicate import Property, Pushed

__all__: list[str] = []


def pushable(snapshot: Snapshot, label: str, columns: list[str]) -> tuple[dict[str, Property], str | None]:
    """Returns the columns of a label's table that the store can test: those of properties, and that of ranks."""
    of = snapshot.schema().labels[label]
    types = of.properties
    # Columns of properties come last, in the order of the schema.
    named = zip(columns[len(columns) - len(types) :], types.items(), strict=True)
    properties = {column: Property(name, kind) for column, (name, kind) in named if column in (name, f"{name}:{kind}")}
    if "weight" in columns and "weight" not in types:
        properties["weight"] = Property("weight", "f64")
    return properties, "rank" if of.multi else None


def kept(where: Any) -> Any:
    """Returns conditions that can be read several times: the values of `in` may be an iterator."""
    if isinstance(where, tuple) and len(where) == 3 and isinstance(where[1], str) and where[1] in ("in", "not in"):
        values = where[2]
        is_iterable = isinstance(values, Iterable) and not isinstance(values, (str, bytes))
        return (*where[:2], list(values)) if is_iterable else where
    return type(where)(map(kept, where)) if type(where) in (tuple, list) else where


def joined(rank_range: Any, where: Any, push: Pushed) -> tuple[Any, Any]:
    """Returns the ranks and the conditions of a program together with those of a query."""
    return _intersection(rank_range, push.ranks), [*_listed(where), *_listed(push.where)] or None


def _listed(where: Any) -> list[Any]:
    return [] if where is None else where if isinstance(where, list) else [where]


def _intersection(one: Any, other: tuple[int, int | None]) -> Any:
    if other == (0, None):
        return one
    first, stop = one or (None, None)
    stops = [bound for bound in (stop, other[1]) if bound is not None]
    return max(first or 0, other[0]), min(stops, default=None)
