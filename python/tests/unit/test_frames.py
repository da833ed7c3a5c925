"""Data frames of other libraries as arguments and as answers; single values for all rows; columns without a value."""

import datetime
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hedgerow

pd = pytest.importorskip("pandas", reason="pandas cannot be installed here")
pl = pytest.importorskip("polars", reason="polars cannot be installed here")
pa = pytest.importorskip("pyarrow", reason="PyArrow cannot be installed here")

COLUMNS = {"name": ["Ann", "Bob"], "age": [30, 31]}
FRAMES: dict[str, Callable[[], Any]] = {
    "pandas": lambda: pd.DataFrame(COLUMNS),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "pyarrow table": lambda: pa.table(COLUMNS),
    "pyarrow batch": lambda: pa.record_batch(COLUMNS),
    "pyarrow reader": lambda: pa.table(COLUMNS).to_reader(),
    "records": lambda: np.array([("Ann", 30), ("Bob", 31)], [("name", "U3"), ("age", "i8")]),
    "mapping": lambda: COLUMNS,
}


@pytest.mark.parametrize("frame", FRAMES)
def test_a_frame_is_columns(db: hedgerow.Database, frame: str) -> None:
    assert db.add_vertices([1, 2], properties=FRAMES[frame]()) == 2
    assert db.snapshot().vertex_properties(2) == {"name": "Bob", "age": 31}
    assert db.set_vertex_properties([2, 1], FRAMES[frame]()) == 2
    assert db.snapshot().vertex_properties(2) == {"name": "Ann", "age": 30}
    assert db.add_edges([1, 1], [2, 3], label="knows", properties=FRAMES[frame]()) == 2
    assert db.update_edges([1, 1], [3, 2], FRAMES[frame](), label="knows") == 2
    assert db.snapshot().edge_properties(1, 3, label="knows") == {"name": "Ann", "age": 30}


def test_a_frame_with_its_ids(db: hedgerow.Database) -> None:
    for frame in (pd.DataFrame({"id": [1, 2], **COLUMNS}), pl.DataFrame({"id": [1, 2], **COLUMNS})):
        assert db.add_vertices(frame["id"], properties=frame) == 2
    assert db.snapshot().vertex_properties(1) == {"id": 1, "name": "Ann", "age": 30}


def test_what_is_no_frame_is_refused(db: hedgerow.Database) -> None:
    twice = pd.DataFrame([[1, 2]], columns=["a", "a"])
    for properties, message in (
        ([1, 2], "properties must map names to arrays, or be a data frame, found list"),
        (5, "or be a data frame, found int"),
        (twice, "the column a comes twice"),
        (pd.DataFrame({"a": [1, 2]}), r'properties\["a"\] has 2 elements'),
    ):
        with pytest.raises(hedgerow.DataError, match=message):
            db.add_vertices([1], properties=properties)  # type: ignore[arg-type]
    assert db.snapshot().vertex_count == 0 and db.schema().vertex_properties == {}


def test_a_single_value_is_one_for_each_row(db: hedgerow.Database) -> None:
    at = datetime.datetime(2024, 2, 29, tzinfo=datetime.UTC)
    values = {"name": "Ann", "raw": b"x", "ok": True, "age": 30, "score": 0.5, "at": at, "small": np.int8(3), "none": None}
    db.define_property("exact", float)
    db.add_vertices([1, 2, 3], properties={**values, "exact": 3, "mixed": [1, 2, 3]})
    del values["none"]
    assert db.snapshot().vertex_properties(2) == {**values, "exact": 3.0, "mixed": 2}
    assert "none" not in db.schema().vertex_properties
    db.add_edges([1, 2], [2, 3], label="knows", properties={"since": 2001})
    assert db.snapshot().edge_table("knows").properties["since"].tolist() == [2001, 2001]
    assert db.set_vertex_properties([1, 2], {"age": None}) == 2
    assert db.snapshot().vertex_property("age").to_dict() == {1: None, 2: None, 3: 30}
    with pytest.raises(hedgerow.DataError, match=r'properties\["at"\]: a datetime needs a time zone'):
        db.add_vertices([1], properties={"at": datetime.datetime(2024, 1, 1)})


TYPES = {"flag": "bool", "whole": "i64", "real": "f64", "text": "utf8", "blob": "bytes", "at": "timestamp"}


def test_a_column_of_nulls_is_of_the_type_of_its_property(db: hedgerow.Database) -> None:
    for name, kind in TYPES.items():
        db.define_property(name, kind)  # type: ignore[arg-type]
    for nulls in ([None, None], pd.Series([None, None]), pl.Series([None, None]), pa.nulls(2), pd.Series([pd.NA, pd.NA])):
        assert db.add_vertices([1, 2], properties=dict.fromkeys(TYPES, nulls)) == 2
        assert db.add_edges([1, 2], [2, 1], properties={"new": nulls}) == 2
    assert db.schema().labels[""].properties == {}
    # Nor does a column without a value say the type of a property that is new.
    db.add_vertices([1, 2], properties={"later": [None, None]})
    db.add_vertices([1, 2], properties={"later": ["a", None]})
    assert db.schema().vertex_properties == {**TYPES, "later": "utf8"}
    nulls = db.snapshot()
    db.set_vertex_properties([1], {"blob": [b"x"], "text": ["y"]})
    full = db.snapshot()
    for name in TYPES:
        read = [pa.schema(g.vertex_property(name)).field("value").type for g in (nulls, full)]
        assert read[0] == read[1], name


def test_tables_are_rows_for_pandas(db: hedgerow.Database) -> None:
    at = datetime.datetime(2024, 2, 29, tzinfo=datetime.UTC)
    db.add_edges([1, 2], [2, 3], label="knows", properties={"since": [2001, 2002], "first name": ["Ann", None], "at": [at, None]})
    frame = pd.DataFrame(db.snapshot().edge_table("knows"))
    assert list(frame.columns) == ["src", "dst", "since", "first name", "at"]
    assert frame["since"].tolist() == [2001, 2002] and frame["since"].dtype == np.int64
    assert frame["at"][0] == at and frame["at"].isna().tolist() == [False, True]
    db.add_vertices([1, 2], properties={"name": ["Ann", "Bob"]})
    table = db.snapshot().vertex_table()
    assert list(table) == [(1, "Ann"), (2, "Bob"), (3, None)]
    assert pd.DataFrame(table)["id"].tolist() == [1, 2, 3]
    again = hedgerow.open()
    again.add_vertices(table, properties=pd.DataFrame(table)[["name"]])
    assert again.snapshot().vertex_properties(2) == {"name": "Bob"}


def test_a_time_beyond_the_years_of_python_stays_one(db: hedgerow.Database) -> None:
    db.add_edges([1], [2], label="l", properties={"at": np.array(["20000-01-01"], "datetime64[s]")})
    assert list(db.snapshot().edge_table("l")) == [(1, 2, np.datetime64("20000-01-01", "us"))]


def test_a_result_is_a_column_about_its_vertices(db: hedgerow.Database) -> None:
    db.add_edges([1, 2, 3], [2, 3, 1])
    g = db.snapshot()
    ranks, ages = g.pagerank(), g.bfs(1)
    db.set_vertex_properties(ranks, {"rank": ranks, "hops": ages})
    db.set_vertex_properties(g.vertices(), {"rank": ranks})
    assert db.snapshot().vertex_property("rank").to_dict() == ranks.to_dict()
    with pytest.raises(hedgerow.DataError, match="about other vertices than keys, or in another order"):
        db.set_vertex_properties([3, 2, 1], {"rank": ranks})
    with pytest.raises(hedgerow.DataError, match=r"take its \.values"):
        db.update_edges([1, 2, 3], [2, 3, 1], {"rank": ranks})
    db.update_edges([1, 2, 3], [2, 3, 1], {"rank": ranks.values})
