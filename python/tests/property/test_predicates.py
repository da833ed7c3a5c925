"""Predicates of Polars over `scan_edges`: a frame that Hedgerow filters has the rows of a frame that Polars filters.

HEDGEROW_PREDICATES asks for that many predicates, all of them new.
"""

from __future__ import annotations

import datetime
import json
import os
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hedgerow
from hedgerow import _lazy, _predicate, _pushdown
from hedgerow._predicate import Pushed

pl = pytest.importorskip("polars", reason="polars cannot be installed here")

PREDICATES = int(os.environ.get("HEDGEROW_PREDICATES", "400"))
SETTINGS = settings(
    max_examples=PREDICATES, deadline=None, derandomize="HEDGEROW_PREDICATES" not in os.environ, suppress_health_check=list(HealthCheck)
)

AT = datetime.datetime(2024, 2, 29, 12, tzinfo=datetime.UTC)
SECOND = datetime.timedelta(seconds=1)
# Values of each property that edges have, and with which predicates compare.
VALUES: dict[str, list[Any]] = {
    "i": [-(2**63), -1, 0, 1, 2, 2**53 + 1, 2**63 - 1],
    "f": [float("-inf"), -1.5, -0.0, 0.0, 1.0, 2.0**60, float("inf"), float("nan")],
    "s": ["", "a", "ab", "b", "é", "\U0001f989"],
    "raw": [b"", b"\0", b"a", b"ab", b"\xff"],
    "ok": [False, True],
    "at": [AT, AT + SECOND, AT - SECOND],
    "src": [0, 1],
}
RANKS = [0, 1, 5, 2**53 + 1, 2**64 - 1]
COLUMNS = {name: "src:i64" if name == "src" else name for name in VALUES}


@pytest.fixture(scope="module")
def graph() -> Iterator[hedgerow.Snapshot]:
    rng = np.random.default_rng(3)
    with hedgerow.open() as db:
        db.define_label("e", multi=True)
        rows = 300
        places = {name: rng.integers(0, len(values), rows) for name, values in VALUES.items()}
        columns = {name: [None if rng.random() < 0.2 else VALUES[name][at] for at in drawn] for name, drawn in places.items()}
        ranks = np.array([RANKS[at] for at in rng.integers(0, len(RANKS), rows)], np.uint64)
        db.add_edges(np.arange(rows), np.arange(rows) % 7, label="e", ranks=ranks, properties=columns)
        yield db.snapshot()


GRAPH_TYPES = {
    "i": pl.Int64,
    "f": pl.Float64,
    "s": pl.String,
    "raw": pl.Binary,
    "ok": pl.Boolean,
    "at": pl.Datetime("us", "UTC"),
    "src": pl.Int64,
    "rank": pl.UInt64,
}


def comparison(rng: random.Random) -> Any:
    """Makes a predicate of one column, sometimes in a form that Hedgerow does not read."""
    name = rng.choice([*VALUES, "rank", "rank", "i", "f"])
    values = RANKS if name == "rank" else VALUES[name]
    dtype = GRAPH_TYPES[name]
    column, value = pl.col(COLUMNS.get(name, name)), rng.choice(values)
    one, other = (pl.lit(it, dtype) for it in (value, rng.choice(values)))
    operator = rng.choice(["__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"])
    form = rng.choice(["compare", "compare", "flipped", "missing", "in", "null", "between", "own", "mixed"])
    if form == "compare":
        return getattr(column, operator)(one)
    if form == "flipped":
        return getattr(one, operator)(column)
    if form == "missing":
        return rng.choice([column.eq_missing, column.ne_missing])(one)
    if form == "in":
        listed = pl.Series(rng.choices([*values, None], k=rng.randrange(4)), dtype=dtype)
        return column.is_in(listed.implode(), nulls_equal=rng.random() < 0.5)
    if form == "null":
        return rng.choice([column.is_null(), column.is_not_null()])
    if form == "between":
        return column.is_between(one, other, closed=rng.choice(["both", "left", "right", "none"]))
    if form == "own":
        of_types = {"s": column.str.starts_with(value), "raw": column.bin.starts_with(value), "ok": column, "f": column.is_nan()}
        return of_types.get(name, column == column)
    # Not one column and one value of its type.
    others = {"i": column > 0.5, "f": column == 1, "s": column.str.len_bytes() > 1, "rank": column % 2 == 0}
    return others.get(name, pl.lit(True))


def tree(rng: random.Random, depth: int = 3) -> Any:
    """Makes a predicate of several comparisons."""
    form = rng.choice(["leaf", "leaf", "and", "and", "or", "or", "not", "xor"]) if depth else "leaf"
    if form == "leaf":
        return comparison(rng)
    if form == "not":
        return ~tree(rng, depth - 1)
    one, other = tree(rng, depth - 1), tree(rng, depth - 1)
    return {"and": lambda: one & other, "or": lambda: one | other, "xor": lambda: one.xor(other)}[form]()


TREES = st.integers(0, 2**64 - 1).map(lambda seed: tree(random.Random(seed)))


def test_all_predicates_choose_the_rows_that_polars_chooses(graph: hedgerow.Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, seen = graph.scan_edges("e").collect(), list[Pushed]()
    assert {name: whole.schema[COLUMNS.get(name, name)] for name in GRAPH_TYPES} == GRAPH_TYPES
    read = _lazy.pushed

    def note(*arguments: Any) -> Pushed:
        seen.append(read(*arguments))
        return seen[-1]

    monkeypatch.setattr(_lazy, "pushed", note)

    @SETTINGS
    @given(predicate=TREES, columns=st.sampled_from([None, ["dst"], ["rank", "src"]]))
    def check(predicate: Any, columns: list[str] | None) -> None:
        chosen = pl.all() if columns is None else pl.col(columns)
        expected = whole.filter(predicate).select(chosen)
        found = graph.scan_edges("e").filter(predicate).select(chosen).collect()
        assert found.equals(expected), seen[-1:]

    check()
    # The check would hold without conditions, too.
    assert sum(push.where is not None for push in seen) > PREDICATES // 3
    assert sum(push.ranks != (0, None) for push in seen) > PREDICATES // 40


compared: list[Any] = []


@SETTINGS
@given(predicate=TREES)
def test_conditions_are_equal_to_their_predicates(graph: hedgerow.Snapshot, predicate: Any) -> None:
    taken = list[Any]()

    def source(columns: Any, given: Any, n_rows: Any, batch_size: Any) -> Iterator[Any]:
        taken.append(given)
        yield from ()

    schema = graph.scan_edges("e").collect_schema()
    pl.io.plugins.register_io_source(source, schema=schema).filter(predicate).collect()
    if not taken or taken[0] is None:
        return
    properties = _pushdown.pushable(graph, "e", list(schema))[0]
    try:
        condition = _predicate._exact(json.loads(taken[0].meta.serialize(format="json")), properties)
    except (_predicate.Unknown, KeyError, TypeError, AttributeError):
        return
    # The frame of Polars has no source, so Polars evaluates the predicate as it passed it, to true, false and null.
    whole = graph.scan_edges("e").collect()
    values = whole.select(taken[0].alias("value")).get_column("value")
    for wanted, where in ((True, condition), (False, ("not", condition))):
        expected = whole.filter(values.eq_missing(wanted)).get_column("src").to_list()
        assert graph.edge_table("e", where=where).src.tolist() == expected, where
    compared.append(condition)


def test_predicates_were_compared() -> None:
    assert len(compared) > PREDICATES // 8
