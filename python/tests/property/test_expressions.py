"""Expressions of PyArrow over `edge_dataset`: a dataset that Hedgerow filters has the rows of a table that PyArrow filters.

HEDGEROW_PREDICATES asks for that many expressions, all of them new.
"""

from __future__ import annotations

import datetime
import os
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hedgerow
from hedgerow import _dataset
from hedgerow._predicate import Pushed

pa = pytest.importorskip("pyarrow", reason="PyArrow cannot be installed here")
ds = pytest.importorskip("pyarrow.dataset", reason="PyArrow cannot be installed here")
pl = pytest.importorskip("polars", reason="polars cannot be installed here")
pc = pytest.importorskip("pyarrow.compute", reason="PyArrow cannot be installed here")

EXPRESSIONS = int(os.environ.get("HEDGEROW_PREDICATES", "400"))
SETTINGS = settings(
    max_examples=EXPRESSIONS, deadline=None, derandomize="HEDGEROW_PREDICATES" not in os.environ, suppress_health_check=list(HealthCheck)
)

AT = datetime.datetime(2024, 2, 29, 12, tzinfo=datetime.UTC)
SECOND = datetime.timedelta(seconds=1)
# Values of each property that edges have, and with which expressions compare.
VALUES: dict[str, list[Any]] = {
    "i": [-(2**63), -1, 0, 1, 2, 2**53 + 1, 2**63 - 1],
    "f": [float("-inf"), -1.5, -0.0, 0.0, 1.0, 2.0**60, float("inf"), float("nan")],
    "s": ["", "a", "ab", "b", "é", "\U0001f989"],
    "raw": [b"", b"\0", b"a", b"ab", b"\xff"],
    "ok": [False, True],
    "at": [AT, AT + SECOND, AT - SECOND],
}
RANKS = [0, 1, 5, 2**53 + 1, 2**64 - 1]


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


def comparison(rng: random.Random, schema: Any) -> Any:
    """Makes an expression of one column, sometimes in a form that Hedgerow does not read."""
    name = rng.choice([*VALUES, "rank", "rank", "i", "f"])
    values = RANKS if name == "rank" else VALUES[name]
    of = schema.field(name).type
    column, value = ds.field(name), pa.scalar(rng.choice(values), of)
    operator = rng.choice(["__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"])
    form = rng.choice(["compare", "compare", "flipped", "in", "null", "own", "mixed"])
    if name == "ok" and form in ("compare", "flipped"):
        operator = rng.choice(["__eq__", "__ne__"])
    if form == "compare":
        return getattr(column, operator)(value)
    if form == "flipped":
        return getattr(pc.scalar(value), operator)(column)
    if form == "in":
        known = [v for v in values if v == v]
        listed = pa.array(rng.choices([*known, None], k=rng.randrange(4)), of)
        if rng.random() < 0.3:
            # As DuckDB writes it.
            return pc.if_else(column.is_valid(), pc.is_in(column, listed.drop_null()), pa.scalar(None, pa.bool_()))
        return pc.is_in(column, listed, skip_nulls=rng.random() < 0.5)
    if form == "null":
        return rng.choice([column.is_null(), column.is_null(nan_is_null=True), column.is_valid()])
    if form == "own":
        own = {"s": pc.starts_with(column, "a", ignore_case=rng.random() < 0.3), "ok": column, "f": pc.is_nan(column)}
        return own.get(name, column == column)
    # Not one column and one value of its type.
    others = {"i": pc.abs_checked(pc.divide(column, 2)) > 0, "f": column == 1, "s": pc.utf8_length(column) > 1, "rank": column == pa.scalar(5, pa.uint32())}
    return others.get(name, pc.scalar(True))


def tree(rng: random.Random, schema: Any, depth: int = 3) -> Any:
    """Makes an expression of several comparisons."""
    form = rng.choice(["leaf", "leaf", "and", "and", "or", "or", "not", "and not"]) if depth else "leaf"
    if form == "leaf":
        return comparison(rng, schema)
    if form == "not":
        return ~tree(rng, schema, depth - 1)
    one, other = tree(rng, schema, depth - 1), tree(rng, schema, depth - 1)
    return {"and": one & other, "or": one | other, "and not": pc.and_not(one, other)}[form]


def test_all_expressions_choose_the_rows_that_pyarrow_chooses(graph: hedgerow.Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, seen = pa.table(graph.edge_stream("e")), list[Pushed]()
    read = _dataset.pushed

    def note(*arguments: Any) -> Pushed:
        seen.append(read(*arguments))
        return seen[-1]

    monkeypatch.setattr(_dataset, "pushed", note)
    dataset = graph.edge_dataset("e")

    @SETTINGS
    @given(seed=st.integers(0, 2**64 - 1), columns=st.sampled_from([None, ["dst"], ["rank", "src"]]))
    def check(seed: int, columns: list[str] | None) -> None:
        expression = tree(random.Random(seed), whole.schema)
        expected = whole.filter(expression)
        found = dataset.to_table(columns=columns, filter=expression)
        # For PyArrow, tables with NaN differ from themselves.
        assert pl.DataFrame(found).equals(pl.DataFrame(expected if columns is None else expected.select(columns))), (expression, seen[-1:])
        assert dataset.filter(expression).count_rows() == len(expected)

    check()
    # The check would hold without conditions, too.
    assert sum(push.where is not None for push in seen) > EXPRESSIONS // 3
    assert sum(push.ranks != (0, None) for push in seen) > EXPRESSIONS // 40
    assert sum(push.is_whole for push in seen) > EXPRESSIONS // 5
