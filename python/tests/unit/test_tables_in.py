"""Tables of other libraries in `add_edges` and `add_vertices`: which columns become what, what is refused, and what stays when a
row does not fit.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import hedgerow

_ROWS = {"payer": [1, 2, 3], "payee": [2, 3, 1], "amount": [1.5, 2.5, None], "note": ["a", None, "c"]}

_MAKERS: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "polars": pl.DataFrame,
    "pandas": pd.DataFrame,
    "pyarrow": pa.table,
    "record batch": pa.RecordBatch.from_pydict,
    "reader": lambda rows: pa.table(rows).to_reader(max_chunksize=1),
}


def _rows(db: hedgerow.Database, label: str) -> list[tuple[Any, ...]]:
    """Returns the edges of a label with their properties, sorted by their ends."""
    return sorted(pl.DataFrame(db.snapshot().edge_stream(label)).rows(), key=lambda row: row[:2])


@pytest.mark.parametrize("library", _MAKERS)
def test_columns_of_a_table_become_ends_and_properties(library: str) -> None:
    db = hedgerow.open()
    added = db.add_edges(_MAKERS[library](_ROWS), src="payer", dst="payee", label="pays")
    assert (int(added), added.repeated, added.new) == (3, 0, None)
    # pandas passes NaN on as null.
    assert _rows(db, "pays") == [(1, 2, 1.5, "a"), (2, 3, 2.5, None), (3, 1, None, "c")]


def test_only_the_named_columns_become_properties() -> None:
    db = hedgerow.open()
    db.add_edges(pl.DataFrame(_ROWS), src="payer", dst="payee", label="pays", properties=["note"])
    assert list(db.snapshot().edge_table("pays").properties) == ["note"]
    db.add_edges(pl.DataFrame(_ROWS), src="payer", dst="payee", label="plain", properties=[])
    assert not db.snapshot().edge_table("plain").properties


@pytest.mark.parametrize("form", ["database", "transaction"])
def test_streams_of_a_store_add_equal_edges_to_another_one(form: str) -> None:
    db = hedgerow.open(weighted=True)
    db.define_kind("page", "str")
    db.define_label("calls", multi=True)
    db.define_label("views", src="", dst="page")
    db.add_edges([1, 2], [2, 1], [0.5, 2.0])
    db.add_edges([1, 1], [2, 2], label="calls", ranks=[7, 9], properties={"at": np.array([1, 2], "M8[s]")})
    db.add_edges([("page", "a"), 4], [5, ("page", "b")], label="mixed")
    db.add_edges([1], ["owl"], label="views", properties={"weight": [3.5], "src": ["x"]})
    db.add_vertices(["owl"], kind="page", properties={"title": ["Owls"]})
    other = hedgerow.open(weighted=True)
    other.define_kind("page", "str")
    other.define_label("calls", multi=True)
    other.define_label("views", src="", dst="page")
    before, into = db.snapshot(), other.write() if form == "transaction" else other
    for label in before.labels():
        into.add_edges(before.edge_stream(label), label=label)
    into.add_vertices(before.vertex_stream("page"), kind="page")
    if isinstance(into, hedgerow.Transaction):
        into.commit()
    after = other.snapshot()
    for label in before.labels():
        one, two = pl.DataFrame(before.edge_stream(label)), pl.DataFrame(after.edge_stream(label))
        assert one.sort(one.columns).equals(two.sort(two.columns)), label
    one, two = pl.DataFrame(before.vertex_stream("page")), pl.DataFrame(after.vertex_stream("page"))
    assert one.sort("id").equals(two.sort("id"))


def test_weights_and_ranks_are_named_columns_or_the_usual_ones() -> None:
    db = hedgerow.open(weighted=True)
    db.add_edges(pl.DataFrame({"src": [1], "dst": [2], "weight": [2.5]}))
    assert db.snapshot().weight(1, 2) == 2.5
    db.add_edges(pl.DataFrame({"src": [1], "dst": [2], "cost": [4]}), weight="cost")
    assert db.snapshot().weight(1, 2) == 4.0
    db.define_label("calls", multi=True)
    db.add_edges(pl.DataFrame({"src": [1, 1], "dst": [2, 2], "at": [70, 50]}), label="calls", rank="at")
    assert db.snapshot().edge_table("calls").ranks.tolist() == [50, 70]
    db.add_edges(pl.DataFrame({"src": [1, 1], "dst": [3, 3], "cost": [1, 2]}), label="calls", weight="cost")
    assert sorted(pl.DataFrame(db.snapshot().edge_stream("calls", where=("weight", ">", 0)))["weight"]) == [1.0, 2.0]
    # Only one of two columns can be the weight.
    both = pl.DataFrame({"src": [1], "dst": [9], "cost": [5.0], "weight": [70.0]})
    for label in ("", "calls"):
        with pytest.raises(hedgerow.DataError, match="two columns are the weights"):
            db.add_edges(both, weight="cost", label=label)
    db.add_edges(both, weight="cost", properties=[])
    assert db.snapshot().weight(1, 9) == 5.0


def test_rows_without_ranks_are_new_edges_over_all_parts_of_a_table() -> None:
    db = hedgerow.open()
    db.define_label("calls", multi=True)
    rows = pa.table({"src": [1] * 7, "dst": [2] * 7})
    assert int(db.add_edges(rows, label="calls", batch=3)) == 7
    assert int(db.add_edges(rows, label="calls", batch=3)) == 7
    assert db.snapshot().edge_table("calls").ranks.tolist() == list(range(14))


def test_whole_numbers_become_floats_only_if_they_are_exact() -> None:
    db = hedgerow.open()
    db.define_label("rates", properties={"score": float})
    db.add_edges(pl.DataFrame({"src": [1], "dst": [2], "score": [3]}), label="rates")
    assert _rows(db, "rates") == [(1, 2, 3.0)]
    with pytest.raises(hedgerow.DataError, match=r"row 1 of the table: column score has a number that a 64-bit float"):
        db.add_edges(pl.DataFrame({"src": [1, 1], "dst": [2, 3], "score": [3, 2**53 + 1]}), label="rates")


_TIMES = pa.array([1], pa.timestamp("ns"))
_REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any], type[Exception], str]] = {
    "no source": ({"a": [1], "dst": [2]}, {}, hedgerow.DataError, "the table has no column src: src= names one of a, dst"),
    "no such column": ({"src": [1], "dst": [2]}, {"dst": "to"}, hedgerow.DataError, "no column to: dst= names one of src, dst"),
    "texts": ({"src": ["a"], "dst": [2]}, {}, hedgerow.DataError, "column src: has the type .*Utf8.*, but the keys are whole numbers"),
    "missing id": ({"src": [1, None], "dst": [2, 3]}, {}, hedgerow.DataError, "row 1 of the table: column src has no key"),
    "negative id": ({"src": [1, 2], "dst": [2, -3]}, {}, hedgerow.DataError, "row 1 of the table: column dst has a negative key"),
    "date": (
        {"src": [1], "dst": [2], "day": [datetime.date(2020, 1, 1)]},
        {},
        hedgerow.DataError,
        "column day: no property has the type Date32: cast it to a timestamp",
    ),
    "lists": ({"src": [1], "dst": [2], "all": [[1]]}, {}, hedgerow.DataError, "column all: no property has the type List"),
    "fine time": ({"src": [1], "dst": [2], "at": _TIMES}, {}, hedgerow.DataError, "row 0 of the table: column at has a time finer"),
    "other type": (
        {"src": [1], "dst": [2], "since": ["x"]},
        {"label": "knows"},
        hedgerow.DataError,
        "column since has the type Utf8, but property since has i64",
    ),
    "no such property": ({"src": [1], "dst": [2]}, {"properties": ["x"]}, hedgerow.DataError, "no column x: properties= names one of"),
    "weights": ({"src": [1], "dst": [2], "w": [1.0]}, {"weight": "w"}, hedgerow.NotSupportedError, "the graph has no weights"),
    "columns": ({"src": [1], "dst": [2]}, {"weights": [1.0]}, TypeError, "got weights= or ranks= with a table"),
    "array of sources": ({"src": [1], "dst": [2]}, {"src": [1]}, TypeError, "src= names a column of the table, found list"),
    "mapping": ({"src": [1], "dst": [2]}, {"properties": {"x": [1]}}, TypeError, "names of its columns, found dict"),
    "one name": ({"src": [1], "dst": [2]}, {"properties": "src"}, TypeError, "must be names of its columns, found str"),
}


@pytest.mark.parametrize("case", _REFUSED)
@pytest.mark.parametrize("form", ["database", "transaction"])
def test_what_does_not_fit_is_refused(case: str, form: str) -> None:
    rows, arguments, error, message = _REFUSED[case]
    db = hedgerow.open()
    db.define_label("knows", properties={"since": int})
    with pytest.raises(error, match=message), db.write() as tx:
        (db if form == "database" else tx).add_edges(pa.table(rows), **arguments)
    assert db.snapshot().edge_count == 0


def test_columns_are_not_mistaken_for_tables() -> None:
    db = hedgerow.open()
    rows = pl.DataFrame(_ROWS)
    db.add_edges(rows["payer"], rows["payee"], label="a")
    db.add_edges(rows.to_pandas()["payer"], rows.to_pandas()["payee"], label="b")
    db.add_edges(rows.to_arrow()["payer"], dst=rows.to_arrow()["payee"], label="c")
    db.add_edges(src=[1], dst=[2], label="d")
    assert [db.snapshot().edge_count_of(label) for label in "abcd"] == [3, 3, 3, 1]
    for call in (lambda: db.add_edges(), lambda: db.add_edges([1]), lambda: db.add_edges([1], [2], [3], [4]), lambda: db.add_edges([1], src=[2])):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(TypeError, match="but no table"):
        db.add_edges([1], [2], weight="w")
    with pytest.raises(TypeError, match="if it is a table"):
        db.add_edges(rows, "payer", "payee")


def test_a_row_that_does_not_fit_leaves_the_transactions_before_it() -> None:
    ids = np.arange(10)
    ids[7] = -1
    db, table = hedgerow.open(), pa.table({"src": ids, "dst": ids})
    with pytest.raises(hedgerow.DataError, match="row 7 of the table") as caught:
        db.add_edges(table, batch=3)
    assert caught.value.__notes__ == ["At least the first 6 rows of the table are committed."]
    assert db.snapshot().edge_count == 6
    with pytest.raises(hedgerow.DataError, match="row 2 of the table") as caught:
        db.add_edges(table.slice(5), batch=3)
    assert not hasattr(caught.value, "__notes__")


def test_a_transaction_adds_all_rows_of_a_table_or_none() -> None:
    rows = 1 << 17
    ids = np.arange(rows)
    ids[rows - 1] = -1
    db, table = hedgerow.open(), pa.table({"src": ids, "dst": ids})
    tx = db.write()
    with pytest.raises(hedgerow.DataError, match=f"row {rows - 1} of the table"):
        tx.add_edges(table)
    with pytest.raises(hedgerow.ProgrammingError, match="add_edges failed"):
        tx.commit()
    assert db.snapshot().edge_count == 0
    with db.write() as tx:
        with pytest.raises(hedgerow.DataError):
            tx.add_edges(table.slice(rows - 5))
        tx.add_edges(table.slice(0, rows - 5))
    assert db.snapshot().edge_count == rows - 5


def test_an_error_of_the_stream_is_an_error_of_the_call() -> None:
    def batches() -> Iterator[pa.RecordBatch]:
        yield pa.RecordBatch.from_pydict({"src": [1], "dst": [2]})
        raise ValueError("the source is gone")

    db = hedgerow.open()
    reader = pa.RecordBatchReader.from_batches(pa.schema({"src": pa.int64(), "dst": pa.int64()}), batches())
    with pytest.raises(hedgerow.DataError, match="the source is gone"):
        db.add_edges(reader, batch=1)
    assert db.snapshot().edge_count == 1


@pytest.mark.parametrize("conflict", ["merge", "skip", "raise"])
def test_rows_of_existing_edges(conflict: Any) -> None:
    db = hedgerow.open()
    db.add_edges([1], [2], label="knows", properties={"since": [1], "note": ["x"]})
    table = pa.table({"src": [3, 1], "dst": [4, 2], "since": [7, 8]})
    if conflict == "raise":
        with pytest.raises(hedgerow.DataError, match="row 1 of the table: the edge from 1 to 2 exists"):
            db.add_edges(table, label="knows", on_conflict=conflict, batch=1)
        return
    added = db.add_edges(table, label="knows", on_conflict=conflict, batch=1)
    assert (int(added), added.new, added.existing, added.repeated) == (2 if conflict == "merge" else 1, 1, 1, None)
    assert db.snapshot().edge_properties(1, 2, label="knows") == {"since": 8 if conflict == "merge" else 1, "note": "x"}


def test_kinds_and_ranks_of_a_table_are_not_lost_in_silence() -> None:
    db, plain = hedgerow.open(), hedgerow.open()
    db.define_kind("page")
    db.define_label("views", src="", dst="page")
    one = pa.table({"src": [1], "dst": [2], "dst_kind": ["page"]})
    both = one.append_column("src_kind", pa.array([""]))
    for store, rows, label, why in (
        (db, one, "z", "it has only one of them"),
        (plain, both, "z", "the graph has no kinds"),
        (db, both.set_column(2, "dst_kind", pa.array([""])), "views", 'has kind "", but the label states "page"'),
        (db, pa.table({"src": [1], "dst": [2], "rank": [7]}), "new", r'define_label\("new", multi=True\)'),
    ):
        with pytest.raises(hedgerow.DataError, match=why):
            store.add_edges(rows, label=label)
    missing = both.set_column(2, "dst_kind", pa.array([None], pa.string()))
    with pytest.raises(hedgerow.DataError, match="row 0 of the table: column dst_kind names no kind"):
        db.add_edges(missing, label="z")
    db.add_edges(both, label="views")
    assert db.snapshot().has_edge(1, ("page", 2), label="views")
    again = hedgerow.open()
    again.define_kind("page")
    again.define_label("views", src="", dst="page")
    again.add_edges(db.snapshot().edge_table("views"), label="views")
    assert _rows(again, "views") == _rows(db, "views")
    # A caller who names such a column wants a property.
    plain.add_edges(one, label="z", properties=["dst_kind"])
    plain.add_edges(pa.table({"src": [1], "dst": [2], "rank": [7]}), label="new", properties=["rank"])
    assert plain.snapshot().edge_properties(1, 2, label="new") == {"rank": 7}


def test_calls_without_a_table_say_what_is_missing() -> None:
    db = hedgerow.open()
    for given, found in ((pl.LazyFrame({"src": [1], "dst": [2]}), "LazyFrame"), ([(1, 2), (3, 4)], "list"), ({"src": [1]}, "dict")):
        with pytest.raises(TypeError, match=f"found one {found}: a lazy frame has one after collect"):
            db.add_edges(given)
        with pytest.raises(TypeError, match=f"{found} is no table with an Arrow stream: a lazy frame is one after collect"):
            db.add_edges(given, src="src", dst="dst")
    with pytest.raises(TypeError, match="missing 1 required argument: 'src'"):
        db.add_edges()


def test_tables_of_a_store_are_tables() -> None:
    db, other = hedgerow.open(), hedgerow.open()
    db.add_edges([1, 2], [2, 3], label="knows", properties={"since": [1, None]})
    other.add_edges(db.snapshot().edge_table("knows"), label="knows")
    other.add_edges(db.snapshot().edges(label="knows"), label="plain", properties=[])
    assert _rows(other, "knows") == _rows(db, "knows") and _rows(other, "plain") == [(1, 2), (2, 3)]
    frame = pd.DataFrame({"src": [1], "dst": [2], "dtype": ["x"], "num_chunks": [3]})
    other.add_edges(frame, label="odd")
    assert _rows(other, "odd") == [(1, 2, "x", 3)]


def test_slices_of_a_large_table_fill_transactions() -> None:
    db, rows = hedgerow.open(), 300_000
    table = pa.table({"src": np.arange(rows), "dst": np.arange(rows), **{f"p{n}": np.arange(rows) for n in range(30)}})
    before = db.published_ts
    db.add_edges(table.to_reader(max_chunksize=1000), label="wide", properties=[])
    assert db.published_ts - before <= 2 + rows // 65_536 * 2


def test_columns_of_nulls_and_unnamed_indexes_are_left_out() -> None:
    db = hedgerow.open()
    frame = pd.DataFrame({"src": [1, 2], "dst": [2, 3], "x": [1, 2]})
    db.add_edges(frame[frame.x > 1], label="a")
    db.add_edges(pa.table({"src": [1], "dst": [2], "none": pa.nulls(1)}), label="b")
    db.add_edges(pl.DataFrame({"src": [1], "dst": [2], "none": [None]}), label="c")
    db.add_vertices(pl.DataFrame({"id": [1], "none": [None]}))
    assert [list(db.snapshot().edge_table(label).properties) for label in "abc"] == [["x"], [], []]


def test_a_table_of_vertices() -> None:
    db = hedgerow.open()
    db.define_kind("page", "str")
    frame = pl.DataFrame({"title": ["Owls", "Birds"], "views": [3, None], "name": ["owl", "bird"]})
    assert db.add_vertices(frame, key="name", kind="page").new == 2
    assert db.snapshot().vertex_properties(("page", "owl")) == {"title": "Owls", "views": 3}
    assert db.add_vertices(pl.DataFrame({"id": ["owl"], "views": [4]}), kind="page").existing == 1
    assert db.snapshot().vertex_properties(("page", "owl")) == {"title": "Owls", "views": 4}
    assert int(db.add_vertices(frame, key="name", kind="page", properties=[])) == 2


def test_repeated_ids_in_a_table_of_vertices() -> None:
    db, table = hedgerow.open(), pa.table({"id": [1, 2, 1], "x": [1, 2, 3]})
    with pytest.raises(hedgerow.DataError, match="row 2 of the table: vertex 1 comes twice") as caught:
        db.add_vertices(table, batch=1)
    assert caught.value.__notes__ == ["At least the first 2 rows of the table are committed."]
    added = db.add_vertices(table, batch=1, duplicates="first")
    assert (int(added), added.repeated) == (2, 1)
    assert db.snapshot().vertex_properties(1) == {"x": 1}
    with pytest.raises(hedgerow.NotSupportedError, match="needs all rows at once"):
        db.add_vertices(table, duplicates="last")
    with pytest.raises(hedgerow.DataError, match="row 0 of the table: vertex 1 exists"):
        db.add_vertices(table, duplicates="first", on_conflict="raise")
    with pytest.raises(hedgerow.DataError, match="the table has no column name: key= names one of id, x"):
        db.add_vertices(table, key="name")
    tx = db.write()
    with pytest.raises(hedgerow.DataError, match="comes twice"):
        tx.add_vertices(table)
    tx.commit()


def test_texts_are_ids_of_a_graph_with_texts() -> None:
    db = hedgerow.open(keys="str")
    db.add_edges(pl.DataFrame({"src": ["a", "b"], "dst": ["b", "c"]}))
    assert db.snapshot().neighbors("a") == ["b"]
    categories = pd.DataFrame({"src": pd.Categorical(["a", "b"]), "dst": ["x", "y"]})
    db.add_edges(categories)
    assert sorted(db.snapshot().neighbors("a")) == ["b", "x"]
    with pytest.raises(hedgerow.DataError, match="row 0 of the table: column dst has an id of more than 65536 bytes"):
        db.add_edges(pl.DataFrame({"src": ["a"], "dst": ["b" * 70000]}))
